"""The one door through which ratings come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from starshade.errors import ConfigError, InputError
from starshade.naming import called, named
from starshade.progress import announced, note
from starshade.ratings.build import build
from starshade.ratings.places.place import holds_release
from starshade.ratings.readers.beside import attach, attach_names, read_attributes, read_names
from starshade.ratings.readers.faults import suspect_codes
from starshade.ratings.readers.formats.plain import NotPlain
from starshade.ratings.readers.formats.shapes import WideTable
from starshade.ratings.readers.formats.tables import FrameSource, ParquetSource, is_frame
from starshade.ratings.readers.open import Opened, Request, open_table, open_text
from starshade.ratings.readers.recognise.detect import Recognised, as_format, find
from starshade.ratings.readers.recognise.inputs import Input
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.staging import Batch
from starshade.ratings.table import Ratings, ReadReport
from starshade.scratch import scratch_folder
from starshade.setting import is_list, shown

Names = str | Path | Input | Mapping[str, str] | None


@announced("reading")
def read_ratings(
    source: Any,
    *,
    users: Any = None,
    item_names: str | Path | Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - the word that people look for
    user_col: str | int | None = None,
    item_col: str | int | None = None,
    rating_col: str | int | None = None,
    day_col: str | int | None = None,
    wide: bool = False,
    id_col: str | int | None = None,
    attribute_cols: Sequence[str] = (),
    null_values: Sequence[str] = (),
    scale: Scale | str | None = None,
    on_duplicate: OnDuplicate = "error",
    delimiter: str | None = None,
    header: bool | None = None,
    dates: bool = True,
    show_values: bool = False,
) -> Ratings:
    """Read ratings from anything that holds them.

    The formats are listed in `starshade.ratings.readers`; they are recognised by content and
    name. What was chosen stands in `Ratings.report` and is told to the progress watcher.

    Parameters
    ----------
    source : path, pattern, list of paths, Arrow-capable frame, or SciPy sparse matrix
        A file (perhaps gz, bz2, xz or zst), a folder, a zip, a store; a frame of pandas, Polars,
        PyArrow or DuckDB; a sparse matrix of users × items, whose explicit zeros are ratings.
    users : path or frame, optional
        Personal attributes, one row per user.
    item_names : path or mapping of id to name, optional
    format : str, optional
        One of the formats' names, to overrule what would be recognised.
    user_col, item_col, rating_col, day_col : str or int, optional
        Columns by name, or by number (from 1) in a file without a header.
    wide : bool
        One row per respondent, a column per item.
    id_col : str or int, optional
        Wide tables: the column of the respondents' ids; ``#`` numbers the rows.
    attribute_cols : sequence of str
        Wide tables: columns of personal attributes.
    null_values : sequence of str
        Values that mean "not rated", e.g. ``99``; in a wide table a blank always does.
    scale : Scale or str, optional
        ``min:max:step`` or ``min:max``; None: inferred from all ratings.
    on_duplicate : {"error", "first", "last", "mean"}
        When a user rated an item more than once.
    delimiter : str, optional
        One ASCII character, ``::``, or ``tab``.
    header : bool, optional
        Whether the first line names the columns; None: told by what stands there.
    dates : bool
        Read the dates, if there are any.
    show_values : bool
        Let messages name users and items; otherwise they are named by line.

    Raises
    ------
    InputError
        What is wrong, with file, line, the value found and those allowed, how many rows, and
        the first five.
    ConfigError
        Options that are unknown or contradict each other.

    Examples
    --------
    >>> import pyarrow as pa
    >>> frame = pa.table({"user": ["a", "b"], "item": [1, 1], "stars": [4, 5]})
    >>> read_ratings(frame, scale="1:5:1")
    Ratings(2 users x 1 items, 2 ratings, scale 1:5:1)
    """
    request = Request(
        users=users,
        item_names=item_names,
        format=format,
        user_col=_column(user_col),
        item_col=_column(item_col),
        rating_col=_column(rating_col),
        day_col=_column(day_col),
        wide=wide,
        id_col=_column(id_col),
        attribute_cols=attribute_cols,
        null_values=[str(each) for each in null_values] if is_list(null_values) else null_values,
        scale=Scale.parse(scale) if isinstance(scale, str) else scale,
        on_duplicate=on_duplicate,
        delimiter=delimiter,
        header=header,
        dates=dates,
        show_values=show_values,
    )
    for setting, place in (("users", users), ("item_names", item_names)):
        if isinstance(place, str) and not place:
            raise ConfigError(
                f"{named(setting)}: an empty path", advice="Name a file.", setting=setting
            )
    with scratch_folder() as scratch:
        if is_frame(source) or hasattr(source, "tocsr"):
            inputs = Recognised("frame", ())
            if format not in (None, "wide"):
                raise ConfigError(
                    f"{called('format')} {format!r}: is for files, and this is a table in memory",
                    setting="format",
                )
        else:
            if isinstance(source, (str, Path)) and holds_release(Path(source)):
                raise InputError(
                    f"{source}: is a release, and ratings are asked for",
                    advice="Give the ratings that it was made from.",
                )
            inputs = as_format(find(source, scratch), format)
        names: Names = item_names
        ratings = _read(inputs, request, scratch) if inputs.files else _read_frame(source, request)
        # a file of the right name may still be of another kind
        if ratings.report.format == inputs.family:
            users = inputs.users if users is None else users
            names = inputs.names if item_names is None else item_names
        ratings = _with_names(_with_users(ratings, users, request, scratch), names, scratch)
    if suspects := suspect_codes(ratings):
        report = ratings.report
        ratings = ratings.annotate(report=replace(report, notes=(*report.notes, *suspects)))
    _tell(ratings)
    return ratings


def _column(column: str | int | None) -> str | None:
    return str(column) if isinstance(column, int) else column


def _read_frame(source: Any, request: Request) -> Ratings:
    if is_frame(source):
        return _built(open_table(FrameSource(source), request), request)
    from starshade.ratings.readers.formats.tables import ratings_from_scipy

    return ratings_from_scipy(source, scale=request.scale, on_duplicate=request.on_duplicate)


def _read(inputs: Recognised, request: Request, scratch: Path) -> Ratings:
    if inputs.kind == "text":
        return _built(open_text(inputs, request, scratch), request)
    if inputs.kind == "parquet":
        return _built(open_table(ParquetSource(inputs.files), request), request)
    shown = inputs.files[0].shown
    if request.names_columns or request.null_values:
        raise ConfigError(
            f"{shown}: is a {inputs.kind}, whose columns are fixed",
            advice="Leave out the options that name columns, delimiter, header or nulls.",
        )
    if inputs.kind == "store":
        return _from_store(inputs.files[0], request)
    from starshade.ratings.readers.formats.netflix import read_netflix

    return read_netflix(inputs.files[0].path, request)


def _from_store(item: Input, request: Request) -> Ratings:
    from starshade.ratings.store import open_store

    ratings = open_store(item.path)
    if request.scale not in (None, ratings.scale):
        raise ConfigError(
            f"{item.shown}: the store's scale is {ratings.scale}, not {request.scale}",
            advice="Read the original data again to declare another scale.",
            setting="scale",
        )
    return ratings if request.dates else replace(ratings, days=None, first_day=0)


def _built(opened: Opened, request: Request) -> Ratings:
    report = ReadReport(
        source=opened.where, format=opened.format, mapping=opened.mapping, notes=opened.notes
    )
    table = opened.table
    make = partial(
        build,
        scale=request.scale,
        on_duplicate=request.on_duplicate,
        locate=table.locate,
        report=report,
        show_values=request.show_values,
    )
    if opened.plain is not None:
        with suppress(NotPlain):
            return make(_some(opened.plain(), opened.where))
    ratings = make(_some(table.batches(), opened.where))
    report = replace(ratings.report, notes=(*ratings.report.notes, *table.notes))
    if not isinstance(table, WideTable):
        return ratings.annotate(report=report)
    report = replace(
        report,
        dropped_users=report.dropped_users + table.empty_rows,
        dropped_items=report.dropped_items + table.empty_columns,
    )
    ratings = ratings.annotate(report=report)
    if not table.attribute_cols:
        return ratings
    ids, attributes = table.attributes()
    return attach(ratings, ids, attributes, opened.where, request.nulls)


def _some(batches: Iterator[Batch], where: str) -> Iterator[Batch]:
    n_rows = 0
    for batch in batches:
        n_rows += len(batch)
        yield batch
    if not n_rows:
        raise InputError(f"{where}: no ratings in it", advice="Check what stands below its header.")


def _with_users(ratings: Ratings, users: Any, request: Request, scratch: Path) -> Ratings:
    if users is None:
        return ratings
    if request.attribute_cols:
        raise ConfigError(
            "personal attributes are in the wide table already",
            advice=f"Name them by {named('attribute_cols')} or give {named('users', 'FILE')}, not "
            "both.",
        )
    ids, table, where = read_attributes(
        users, scratch, user_col=request.user_col, show_values=request.show_values
    )
    return attach(ratings, ids, table, where, request.nulls)


def _with_names(ratings: Ratings, names: Names, scratch: Path) -> Ratings:
    if isinstance(names, (str, Path)):
        names = Input(Path(names), str(names))
    if isinstance(names, Input):
        names = read_names(names, scratch)
    return ratings if names is None else attach_names(ratings, names)


def _tell(ratings: Ratings) -> None:
    """Say in one line what was taken for what, then everything else worth knowing."""
    report = ratings.report
    columns = ", ".join(f"{role} = {column}" for role, column in report.mapping.items())
    inferred = " (found in the data)" if report.scale_inferred else ""
    note(
        f"{report.source}: {report.format}"
        + (f"; {columns}" if columns else "")
        + f"; scale {ratings.scale}{inferred}"
    )
    for sentence in report.notes:
        note(sentence)


def ratings_from_arrays(
    users: Any,
    items: Any,
    ratings: Any,
    days: Any = None,
    *,
    scale: Scale | str | None = None,
    on_duplicate: OnDuplicate = "error",
) -> Ratings:
    """Build a table from arrays, one rating per position.

    `users`, `items` (n,): text or whole numbers. `ratings` (n,). `days` (n,): dates (datetime64,
    datetime, ISO text), or integers: days since 1970-01-01. `scale`: None: inferred. `on_duplicate`
    ({"error", "first", "last", "mean"}).

    >>> ratings_from_arrays(["a", "b"], ["x", "x"], [4, 5], scale="1:5:1")
    Ratings(2 users x 1 items, 2 ratings, scale 1:5:1)
    """
    import pyarrow as pa

    columns = {"user": users, "item": items, "rating": ratings}
    if days is not None:
        days = np.atleast_1d(np.asarray(days))
        if days.dtype.kind in "iu":
            days = days.astype("datetime64[D]")
        columns["day"] = days
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            raise InputError(f"{name}s: {shown(column)}; an array or a list is needed")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"arrays of unequal length: {sizes}")
    try:
        frame = pa.table({name: pa.array(column) for name, column in columns.items()})
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"arrays: cannot be read as columns ({error})") from None
    return read_ratings(frame, scale=scale, on_duplicate=on_duplicate)
