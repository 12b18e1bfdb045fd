"""Dialects of known data sets: MovieLens and its kin, RecBole's atomic files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from starshade.ratings.readers.text import Dialect

USERS_100K = ("user", "Age", "Gender", "Occupation", "Zip code")
USERS_1M = ("user", "Gender", "Age", "Occupation", "Zip code")
_HEADER_20M = ("userId", "movieId", "rating", "timestamp")
_NAME_100K = re.compile(r"u\.data|u[1-5ab]\.(base|test)")
_ASIN = re.compile(r"B[0-9A-Z]{9}|\d{9}[\dX]")
_AMAZON_USER = re.compile(r"A[0-9A-Z]{9,27}")


@dataclass(frozen=True)
class Family:
    """One data set's files and how its ratings are written.

    `ratings`, `users`, `items`: file names; users "" where the data set has none.
    """

    format: str
    ratings: str
    users: str
    items: str
    dialect: Dialect


FAMILIES = (
    Family("movielens-100k", "u.data", "u.user", "u.item", Dialect("\t", False, False)),
    Family("movielens-dat", "ratings.dat", "users.dat", "movies.dat", Dialect("::", False, False)),
    Family("movielens-csv", "ratings.csv", "", "movies.csv", Dialect(",", True)),
)
#: format → how its text is written
DIALECTS = {family.format: family.dialect for family in FAMILIES} | {
    "csv": Dialect(",", True),
    "tsv": Dialect("\t", True),
    "recbole": Dialect("\t", True),
    "amazon": Dialect(",", False),
}


def name_format(name: str, dialect: Dialect, columns: Sequence[str]) -> str:
    """Name the format of a text file by its name, dialect and columns."""
    if dialect.header:
        if tuple(columns) == _HEADER_20M and dialect.delimiter == ",":
            return "movielens-csv"
    elif len(columns) == 4:
        if dialect.delimiter == "::":
            return "movielens-dat"
        if dialect.delimiter == "\t" and _NAME_100K.fullmatch(name):
            return "movielens-100k"
    return "tsv" if dialect.delimiter == "\t" else "csv"


def amazon_order(rows: Sequence[Sequence[str]]) -> tuple[str, str] | None:
    """Tell user and item of a file without a header by Amazon's forms of ids.

    Returns: the first two columns' roles; None where the ids are not Amazon's.
    """
    orders = {("user", "item"): (_AMAZON_USER, _ASIN), ("item", "user"): (_ASIN, _AMAZON_USER)}
    for order, forms in orders.items():
        if rows and all(
            form.fullmatch(cell.strip())
            for row in rows
            for form, cell in zip(forms, row[:2], strict=False)
        ):
            return order
    return None


_TYPES = ("token", "token_seq", "float", "float_seq")


def is_typed(columns: Sequence[str]) -> bool:
    """Tell whether every column is written ``name:type``.

    >>> is_typed(["user_id:token", "rating:float"]), is_typed(["user_id", "rating:float"])
    (True, False)
    """
    return all(name.rpartition(":")[2] in _TYPES and ":" in name for name in columns)


def untyped(columns: Sequence[str]) -> tuple[str, ...]:
    """Take the types off, where the columns have any.

    >>> untyped(["user_id:token", "a:b:float"])
    ('user_id', 'a:b')
    """
    return tuple(name.rpartition(":")[0] if is_typed(columns) else name for name in columns)
