"""A project file for ratings that were read: what was recognised, said so that it stays."""

from __future__ import annotations

import datetime
import json
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.anonymize.registry import (
    FOR_ITEMS,
    suggested_k,
    suggested_method,
    usual_method,
)
from starshade.audit.checks.policy import DEFAULT, read_policy
from starshade.audit.dossier.context import NOT_STATED, Context
from starshade.errors import ConfigError, InputError
from starshade.files.side import PROJECT_FILE, read_side_text
from starshade.files.toml import load_toml
from starshade.naming import called, named, speak
from starshade.plain import counted, percent
from starshade.progress import silence
from starshade.project.accept import SECTION, Acceptance, read_acceptances, stated
from starshade.project.file import NAME, VERSION, key_of, keys_of, read_project
from starshade.project.settings import PublishSettings
from starshade.project.state import kept, replace_file
from starshade.ratings.readers.faults import suspect_codes
from starshade.ratings.readers.recognise.aliases import ROW_NUMBER
from starshade.ratings.select import parse_items
from starshade.ratings.settings import ReadingSettings
from starshade.setting import settings_of

if TYPE_CHECKING:
    from starshade.ratings.scale import Scale
    from starshade.ratings.table import Ratings

_TOP = 10
_MANY = 3 * _TOP  # of so many items or fewer all are released
_FEWEST = 2
_QUESTION = (
    (
        "# `starshade run` stops until this file has that line, or null-values = [] if "
        "these are ratings."
    ),
)


def suggested(ratings: Ratings, items: str | None = None) -> dict[str, Any]:
    """Return the usual ``method``, ``k``, ``items`` and settings for these ratings.

    `items`: a choice of items that is made already. Without one all are released, unless the
    ratings suit no profiles and have many items.

    Raises
    ------
    InputError
        The ratings are of one user, and no release can be made.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from starshade.ratings.read import read_ratings
    >>> few = {"user": ["a", "b", "c"], "item": [1, 1, 2], "rating": [4, 5, 3]}
    >>> suggested(read_ratings(pa.table(few)))
    {'method': 'k-exchange', 'k': 3, 'disclosure_weight': 0.2}
    """
    if ratings.n_users < _FEWEST:
        raise InputError(
            "the ratings are of one user; k-anonymity needs at least two users with a rating",
            advice="Check that the right column is read as user ids.",
        )
    usual = usual_method(items)
    if items is None:
        one_rating = len(np.unique(ratings.codes)) == 1
        usual = suggested_method(ratings.n_users, one_rating=one_rating)
        if usual == FOR_ITEMS and ratings.n_items > _MANY:
            items = f"top:{_TOP}"
    chosen = {"method": usual.method, "k": suggested_k(ratings.n_users, usual.method)}
    return chosen | ({} if items is None else {"items": items}) | dict(usual.settings)


def outwards(scale: Scale) -> str:
    """Write a scale that was found; without steps its ends are moved outwards to round numbers.

    Such an end may be one person's exact rating; a round number beyond it tells nobody's.

    Examples
    --------
    >>> from starshade.ratings.scale import Scale
    >>> outwards(Scale(0.314, 4.987)), outwards(Scale(-9.95, 9.17)), outwards(Scale(0.5, 5, 0.5))
    ('0:5', '-10:10', '0.5:5:0.5')
    """
    if scale.step is not None:
        return str(scale)
    # a unit as large as the first digit of the width; of one single rating 1
    width = Decimal(repr(scale.maximum)) - Decimal(repr(scale.minimum))
    unit = Decimal(1).scaleb(width.adjusted() if width else 0)
    low = (Decimal(repr(scale.minimum)) / unit).to_integral_value(ROUND_FLOOR) * unit
    high = (Decimal(repr(scale.maximum)) / unit).to_integral_value(ROUND_CEILING) * unit
    return f"{float(low):.15g}:{float(high):.15g}"


def project_text(
    ratings: Ratings,
    source: str,
    said: Mapping[str, Any],
    release: Mapping[str, Any],
    audit: Mapping[str, Any] | None = None,
) -> str:
    """Write a project file.

    `said`: what was said of how to read them, by setting; what was recognised besides is written
    down too: the columns by name and the scale, so that the next export is read alike. `release`:
    as `suggested` returns it. `audit`: what is said of limits.

    Raises
    ------
    ConfigError
        The items of `release` are not in the ratings, or nobody rated any.
    """
    data, about = {"ratings": source, **said, **_recognised(ratings, said)}, _about(ratings)
    if "null_values" not in said and (questions := open_questions(ratings)):
        del data["scale"]  # it would end the question
        about = [*about[:-1], *(f"# {each}." for each in questions), *_QUESTION]
    beside = [*_kept(ratings, release.get("items")), *_attributes(ratings)]
    return text_of(data, release, audit, about=about, beside=beside)


def open_questions(ratings: Ratings) -> tuple[str, ...]:
    """Return what has to be decided before a run, with the line that decides it."""
    with speak(
        lambda setting, value: (
            f"{key_of(setting)} = {toml(value if isinstance(value, list) else [])}"
        )
    ):
        return suspect_codes(ratings)


def text_of(
    data: Mapping[str, Any],
    release: Mapping[str, Any],
    audit: Mapping[str, Any] | None = None,
    *,
    about: Sequence[str] = (),
    beside: Sequence[str] = (),
    context: Mapping[str, Any] | None = None,
) -> str:
    r"""Write a project file that says these values of settings.

    `about`, `beside`: lines above the data's, and below the release's. `context`: what is stated
    of it; the other keys are comments.

    Examples
    --------
    >>> text = text_of({"ratings": "u.csv"}, {"method": "mondrian", "k": 3}, {"known": [2]})
    >>> from starshade.project.file import parse_project
    >>> parse_project(text, {})[0].release
    {'method': 'mondrian', 'k': 3}
    """
    names = ["ratings", *(setting.name for setting in settings_of(ReadingSettings))]
    data = {name: data[name] for name in names if data.get(name) not in (None, (), [])}
    return "\n".join(
        [
            "# Project file of these ratings. `starshade run` executes it; the "
            "other commands read it.",
            f"version = {VERSION}",
            "",
            "[data]",
            *about,
            *_lines(data),
            "",
            "[release]",
            *_lines(release),
            *beside,
            "",
            "[audit]",
            *_lines({"policy": DEFAULT} | dict(audit or {})),
            "# Policies: public, partner, controlled, or a file (starshade list policies).",
            "# Individual thresholds instead of the policy's:",
            '# threshold = ["class-size=11", "membership=5%"]',
            "",
            "[publish]",
            *_lines({"to": PublishSettings().to}),
            "# Earlier releases of the same people, and their private key files:",
            '# earlier = ["FOLDER"]',
            '# earlier-private = ["FILE"]',
            "",
            "[context]",
            f'# Printed in the reports; "{NOT_STATED}" where a line is missing.',
            *_context_lines(context or {}),
            "",
        ]
    )  # fmt: skip


def _recognised(ratings: Ratings, said: Mapping[str, Any]) -> dict[str, Any]:
    report = ratings.report
    wide = report.format == "wide"
    columns = (
        {"id_col": _id_of(report.mapping["user"])}
        if wide
        else {
            f"{role}_col": name
            for role, name in report.mapping.items()
            if role in ("user", "item", "rating", "day") and not name.startswith("column ")
        }
    )
    fixed = report.format not in (
        "csv",
        "parquet",
        "wide",
        "sqlite",
        "postgresql",
    )  # the format says its columns
    found = {} if fixed else columns
    return {"scale": outwards(ratings.scale)} | {n: v for n, v in found.items() if n not in said}


def _id_of(column: str) -> str:
    return ROW_NUMBER if column == "row number" else column


def _about(ratings: Ratings) -> list[str]:
    about = [
        f"# {counted(ratings.n_users, 'person', 'people')}, {counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_ratings, 'rating')} ({ratings.report.format})"
    ]
    merged = ratings.report.merged_duplicates
    if merged:
        about.append(
            f"# {counted(merged, 'rating')} merged: the same person had rated the item before"
        )
    if len(used := np.unique(ratings.codes)) == 1:
        about.append(
            f"# Every rating is {ratings.levels[used[0]]:g}: only who rated what differs, and "
            "measures on values are void."
        )
    if ratings.report.scale_inferred:
        about.append(
            "# The scale is inferred from the data: its ends may each be one person's rating."
            if ratings.scale.step is not None
            else "# The ends of the inferred scale were moved outwards to round numbers: enter "
            "the true ones."
        )
    return about


def _kept(ratings: Ratings, items: str | None) -> list[str]:
    """Say how much of the ratings the chosen items keep, and who has none of them."""
    if items is None:
        return []
    with silence():
        kept = parse_items(items).apply(ratings)
    lost = ratings.n_users - kept.n_users
    return [
        f"# {kept.n_items:,} of {counted(ratings.n_items, 'item')} keep "
        f"{percent(kept.n_ratings / ratings.n_ratings)} of the ratings.",
        *([f"# {left_out(lost, ratings.n_users)}"] if lost else []),
    ]


def left_out(people: int, of: int) -> str:
    """Say how many people are not in a release because of its items.

    >>> left_out(43, 400)
    '43 of 400 people rated none of these items and are left out.'
    """
    everybody = counted(of, "person", "people")
    return f"{people:,} of {everybody} rated none of these items and are left out."


def _attributes(ratings: Ratings) -> list[str]:
    if ratings.attributes is None:
        return []
    names = ratings.attributes.column_names
    return [
        f"# Personal attributes ({', '.join(map(toml, names))}) are not released.",
        "# To release coarsened attributes shared by k people, choose a method that forms "
        f"classes, such as {FOR_ITEMS.method},",
        "# and name the attributes and their finest level (such a release cannot be continued):",
        '# attributes = "generalized"',
        f"# quasi-identifiers = {toml(names)}",
        f'# attribute-hierarchies = {{ {toml(names[0])} = "bands:10" }}',
    ]


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{key_of(name)} = {toml(value)}" for name, value in values.items()]


def _context_lines(stated: Mapping[str, Any]) -> Iterator[str]:
    for key, setting in keys_of(Context).items():
        yield f"# {setting.help}"
        if setting.name in stated:
            yield f"{key} = {toml(stated[setting.name])}"
        else:
            usual = {"choice": toml(next(iter(setting.choices), "")), "date": "2027-06-30"}
            yield f"# {key} = {usual.get(setting.kind, toml('TEXT'))}"


def toml(value: Any) -> str:
    """Write a value as a project file has it.

    >>> toml({"zip": "prefix:3"}), toml(["a", 2]), toml(True)
    ('{ "zip" = "prefix:3" }', '["a", 2]', 'true')
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml(name)} = {toml(each)}" for name, each in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(toml, value))}]"
    # JSON's texts, numbers and flags are TOML's
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def add_acceptance(folder: Path, values: Mapping[str, Any]) -> Acceptance:
    """Write a decision on one check into the project file of a folder: all of it or nothing.

    `values`: by the keys of the file, but for the policy, which is that of the file.

    Raises
    ------
    ConfigError
        There is no project file, something is wrong in it or in a value, the decision has ended
        already, or the file accepts the same risk until then.
    """
    if not os.path.lexists(folder / NAME):
        raise ConfigError(
            f"{NAME}: no such file in this folder", advice="`starshade init RATINGS` writes one."
        )
    with kept(folder):  # one writer at a time
        return _added(folder, values)


def _named_here(key: str) -> str:
    """Name a key of a decision as it was typed; the check stands without an option."""
    return "check" if key == "risk" else called(key.replace("-", "_"))


def _added(folder: Path, values: Mapping[str, Any]) -> Acceptance:
    project = read_project(folder)
    assert project is not None
    policy = stated(read_policy(str(project.audit.get("policy", DEFAULT))))
    right, wrong = read_acceptances([{**values, "policy": policy}])
    for _, key, what, _ in wrong:
        raise ConfigError(
            what.replace(key, _named_here(key), 1) if key else what,
            advice="Checks: starshade list policies. "
            f"E.g. {named('up_to', '12%')}, {named('until', '2027-06-30')}.",
        )
    (acceptance,) = right
    if acceptance.until < datetime.date.today():
        raise ConfigError(
            f"{called('until')} {acceptance.until.isoformat()}: is in the past",
            advice="Name a later day.",
        )

    def kind(each: Acceptance) -> tuple[str, str, bool]:
        return each.risk, each.policy, each.up_to is None

    if any(kind(each) == kind(acceptance) for each in project.accepted):
        raise ConfigError(
            f"{NAME}: [[{SECTION}]] already has {acceptance.risk} for {acceptance.policy}",
            advice="Change that entry, or delete it first.",
        )
    place = Path(os.path.realpath(folder / NAME))
    text = read_side_text(place, PROJECT_FILE).rstrip("\n")
    text = f"{text}\n\n{_entry(acceptance)}"
    try:
        load_toml(text)
    except tomllib.TOMLDecodeError:
        raise ConfigError(
            f"{NAME}: {SECTION} is an inline list, to which no section can be added",
            advice=f"Write each of its entries as a section: [[{SECTION}]].",
        ) from None
    replace_file(place, text, stat.S_IMODE(place.stat().st_mode))
    return acceptance


def _entry(acceptance: Acceptance) -> str:
    values = acceptance.to_dict()
    until = values.pop("until")
    lines = [f"{key_of(key)} = {toml(value)}" for key, value in values.items()]
    return "\n".join([f"[[{SECTION}]]", *lines, f"until = {until}", ""])
