"""The independent verifier: reads what was written and counts everything again.

Apart from the checksum and the earlier keys of ``release.json``, the bands of a share and the bound
on texts it shares no code with what builds, checks, writes and reads releases: plain PyArrow,
Python and NumPy, its own reading of the masks, its own comparison of rows. A release may claim only
what it counts. A check that fails on a release that was just written is a bug of ours
(`InternalError`); on a folder read from disk it is damage (`ReleaseError`). Messages name checks
and counts, never ids.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InternalError, ReleaseError
from starshade.files.checksum import parse, without_checksum
from starshade.progress import announced
from starshade.release.band import Band, Exact
from starshade.release.folder.earlier import release_facts
from starshade.release.verify.claims import (
    PROXIMITY_MODELS,
    VALUE_MODELS,
    Judged,
    check_claim,
    judge_diversity,
    judge_proximity,
    judge_values,
    name_of,
)
from starshade.release.verify.profiles import walk_profiles
from starshade.release.verify.quasi import after_recipes, check_quasi, declared, read_quasi
from starshade.release.verify.rare import after_blanks, count_alone, few_have
from starshade.release.verify.records import check_changes, check_classes, read_ratings_of
from starshade.release.verify.rows import Failed, Written, read_written, walk_classes
from starshade.release.verify.table import READABLE, check_readable
from starshade.release.verify.truth import check_truth

if TYPE_CHECKING:
    from starshade.release.table import Private

_TABLES = {"records.parquet", "items.parquet"}
_TEXTS = {"README.md", "croissant.json"}
_KEYS = (
    "format starshade method config layout audience lineage scale profile_step records items "
    "classes users_without_rating rare_items_dropped rare_items attributes "
    "attribute_columns claims imputed_cells users_rating_disclosed users_rating_exists files "
    "users_deleted"
)
# fields of releases with generalized attributes, of profiles, and of those that continue others
_SOME = {
    "quasi_identifiers",
    "sensitive_attributes",
    "records_alone_with_sensitive",
    "profile",
    "single_rater_cells",
    "dummy_records",
    "users_exact_values_listed",  # not of one that an earlier version made
}
_PERHAPS = ("imputed_cells", "single_rater_cells", "dummy_records")  # bands where they apply
_SHARES = (
    "users_rating_disclosed",
    "users_exact_values_listed",
    "users_rating_exists",
    "records_alone_with_sensitive",
)
_NEVER = {"seed", "rng", "path", "source", "digest", "input", "out", "private", "users"}


@dataclass(frozen=True)
class Counted:
    """The verifier's counts on the Parquet files.

    `users_rating_disclosed`, `users_exact_values_listed`, `users_rating_exists`: shares in [0, 1];
    None on layout "profile", to which they do not apply. `records_alone_with_sensitive`: likewise;
    None without sensitive attributes. `few_have`: released attributes with values that fewer than
    k people have, and how many, as text. `judged`: what was found of each claim that asks for
    more than equal records, by `name_of`.
    """

    records: int
    classes: int
    items: int
    smallest_class: int
    users_rating_disclosed: float | None
    users_exact_values_listed: float | None
    users_rating_exists: float | None
    attribute_columns: tuple[str, ...]
    records_alone_with_sensitive: float | None = None
    few_have: dict[str, str] = field(default_factory=dict)
    judged: dict[str, Judged] = field(default_factory=dict)

    def of_claim(self, model: str, parameters: dict[str, Any]) -> dict[str, float | int]:
        """Return what was counted for a claim."""
        judged = self.judge({"model": model, "parameters": parameters})
        if not judged.holds:
            raise InternalError(
                f"the release does not pass its check: claim {model}: {judged.verified}"
            )
        return judged.verified

    def judge(self, claim: dict[str, Any]) -> Judged:
        """Return the figures of a claim; one that was not counted does not hold."""
        if claim["model"] in ("k-anonymity", "review-graph"):
            k = claim["parameters"].get("k")
            holds = k is not None and self.smallest_class >= k
            return Judged({"smallest_class": self.smallest_class}, holds)
        return self.judged.get(name_of(claim), Judged({}, False))


@announced("counting what was written")
def recount(folder: Path, facts: dict[str, Any], private: Private | None = None) -> Counted:
    """Count a folder's Parquet files again, against the original if given.

    `facts`: what ``release.json`` says or is about to say. `private`: with its `original`, every
    original cell is checked to lie inside its generalized one. Its `groups` say where to look
    first; nothing is believed.
    """
    try:
        counted = _recount(folder, facts, private)
        if counted.few_have and "rare_values" in facts["config"]:
            raise Failed("rare values", "; ".join(counted.few_have.values()))
        return counted
    except Failed as failure:
        raise InternalError(f"the release does not pass its check: {failure}") from None


def check_folder(folder: Path, counted: Counted) -> None:
    """Check that ``release.json`` states what was counted, and the hashes of all other files."""
    try:
        facts = _read_facts(folder)
        _check_facts(folder, facts, counted)
        _check_claims(facts, counted)
    except Failed as failure:
        raise InternalError(f"the release does not pass its check: {failure}") from None


def check_tables(folder: Path, facts: dict[str, Any]) -> dict[str, int]:
    """Check the readable tables of a folder against its exact files.

    `facts`: as ``release.json`` says them. Returns: name of each table → rows.

    Raises
    ------
    ReleaseError
        A table contradicts them, or cannot be read.
    """
    if not any((folder / name).exists() for name in READABLE):
        return {}
    with _refused():
        return check_readable(read_written(folder, facts["scale"], declared(facts)[0]), facts)


def count_folder(folder: Path, facts: dict[str, Any]) -> Counted:
    """Count the exact files of a folder again, and compare the figures of ``release.json``.

    `facts`: what it says. Claims are counted and not compared.

    Raises
    ------
    ReleaseError
        The files contradict each other or a figure, or cannot be read.
    """
    with _refused():
        _check_config(facts["config"])
        counted = _count(folder, facts, None)[0]
        _check_figures(facts, counted)
    return counted


@contextmanager
def _refused() -> Iterator[None]:
    """Turn errors that a damaged folder may cause into one with the name of the check."""
    import pyarrow as pa

    try:
        yield
    except Failed as failure:
        raise ReleaseError(str(failure)) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError):
        raise ReleaseError("files: a table cannot be read") from None


def verify_folder(path: Path, private: Private | None = None) -> dict[str, Any]:
    """Verify a release on disk.

    `private`: the owner's facts; with its `original` the cells are checked against the truth.
    Returns: ``records, classes, items, smallest_class, users_rating_disclosed,
    users_exact_values_listed, users_rating_exists, records_alone_with_sensitive, few_have`` as
    counted, and ``claims``: for each ``model, parameters, verified`` (counted now) and ``holds``.
    """
    path = Path(path)
    try:
        with _refused():
            facts = _read_facts(path)
            counted = _recount(path, facts, private)
            _check_facts(path, facts, counted)
            _check_counts(facts, counted)
    except ReleaseError as error:
        raise ReleaseError(
            f"{path}: not the release that starshade wrote: {error.message}",
            advice="Ask its owner for an intact copy.",
        ) from None
    claims = [{**claim, **vars(counted.judge(claim))} for claim in facts["claims"]]
    found = (*("records", "classes", "items", "smallest_class"), *_SHARES, "few_have")
    return {name: getattr(counted, name) for name in found} | {"claims": claims}


def _recount(folder: Path, facts: dict[str, Any], private: Private | None) -> Counted:
    counted, written = _count(folder, facts, private)
    check_readable(written, facts)
    return counted


def _count(folder: Path, facts: dict[str, Any], private: Private | None) -> tuple[Counted, Written]:
    for claim in facts["claims"]:
        check_claim(claim)
    if facts["layout"] not in ("generalized", "record", "profile"):
        raise Failed("layout", f"{facts['layout']} cannot be verified by this version")
    quasi, sensitive = declared(facts)
    written = read_written(folder, facts["scale"], quasi)
    sizes = np.bincount(written.group_of_record)
    truth = private if private is not None and private.has_truth else None
    if truth is not None and len(truth.forgotten) and facts["layout"] != "generalized":
        truth = None  # a mean without one of its ratings is another, and a record is theirs alone
    judged: dict[str, Judged] = {}
    rare: dict[str, str] = {}
    if facts["layout"] == "profile":
        single = listed = certain = None
        shown = walk_profiles(written, truth, facts)
        known = None if truth is None else truth.original
        judged = {
            name_of(claim): judge_diversity(claim, shown, known)
            for claim in facts["claims"]
            if claim["model"] == "diversity"
        }
    elif facts["layout"] == "generalized":
        stated = read_quasi(written, quasi, sensitive)
        hierarchy = facts["config"].get("hierarchy")
        single, listed, certain = walk_classes(written, sizes, stated, hierarchy)
        known = None
        if truth is not None and truth.original is not None:
            truth = after_recipes(truth, facts)
            assert truth.original is not None
            known = after_blanks(truth.original, facts)
            truth = replace(truth, original=known)
            check_truth(written, truth, facts, quasi)
            if len(truth.forgotten):
                known = None  # not all of them
            else:
                check_quasi(written, stated, facts, truth)
        rare = few_have(written, stated, facts, known) if quasi or sensitive else {}
        judged = {
            name_of(claim): judge_values(claim, written, sensitive)
            for claim in facts["claims"]
            if claim["model"] in VALUE_MODELS
        }
    else:
        rows = read_ratings_of(written)
        check_classes(rows, written)
        single = certain = np.zeros(len(sizes), dtype=np.bool_)
        certain[written.group_of_record[np.diff(rows.indptr) > 0]] = True
        listed = certain if written.is_fine else certain & (sizes == 1)
        if truth is not None:
            check_changes(rows, written, truth, facts)
        groups = None if private is None else private.groups
        judged = {
            name_of(claim): judge_proximity(claim, rows, written, groups)
            for claim in facts["claims"]
            if claim["model"] in PROXIMITY_MODELS
        }
    _check_bands(facts, private, written)
    counted = Counted(
        records=len(written.group_of_record),
        classes=len(sizes),
        items=len(written.items),
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        users_rating_disclosed=_share(sizes, single, written),
        users_exact_values_listed=_share(sizes, listed, written),
        users_rating_exists=_share(sizes, certain, written),
        records_alone_with_sensitive=count_alone(written, sensitive),
        attribute_columns=tuple(written.attributes.column_names),
        few_have=rare,
        judged=judged,
    )
    return counted, written


def _check_bands(facts: dict[str, Any], private: Private | None, written: Written) -> None:
    """Check that bands are bands, and fit the owner's exact figures."""
    known = None if private is None else private.exact
    bands = (known or Exact()).bands(len(written.group_of_record), len(written.items))
    for name in bands:
        stated = facts.get(name)
        if stated not in (*get_args(Band), *([None] if name in _PERHAPS else [])):
            raise Failed("band", f"{name}: not a band")
        if known is not None and stated != bands[name]:
            raise Failed("band", f"{name}: {stated} stated, {bands[name]} true")


def _share(
    sizes: NDArray[np.int64], marked: NDArray[np.bool_] | None, written: Written
) -> float | None:
    if marked is None:
        return None
    return int(sizes[marked].sum()) / max(len(written.group_of_record), 1)


def _read_facts(folder: Path) -> dict[str, Any]:
    try:
        if any(entry.is_symlink() or not entry.is_file() for entry in folder.iterdir()):
            raise Failed("files", "one is not a regular file (a link or similar)")
        facts = parse((folder / "release.json").read_bytes())
        if not isinstance(facts, dict):
            raise Failed("release.json", "it is not a JSON object")
        facts = release_facts(without_checksum(facts))
        if set(facts) - _SOME != set(_KEYS.split()):
            raise Failed("release.json", "keys are missing or unknown")
        if not isinstance(facts["config"], dict):
            raise Failed("release.json", "the settings are not an object")
        _check_config(facts["config"])
    except (OSError, ValueError, RecursionError):
        raise Failed("release.json", "cannot be read") from None
    for claim in facts["claims"]:
        check_claim(claim)
    return facts


def _check_facts(folder: Path, facts: dict[str, Any], counted: Counted) -> None:
    present = {entry.name for entry in folder.iterdir()}
    cells = "profiles.parquet" if facts["layout"] == "profile" else "cells.parquet"
    files = _TABLES | _TEXTS | {cells} | READABLE & set(facts["files"])
    if set(facts["files"]) != files or present != files | {"release.json"}:
        raise Failed("files", "one is missing or unknown")
    for name, digest in facts["files"].items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                raise Failed("hash", name)
    _check_figures(facts, counted)


def _check_figures(facts: dict[str, Any], counted: Counted) -> None:
    """Check that counts, shares, settings and attributes are those that were counted."""
    for name in ("records", "classes", "items"):
        if facts[name] != getattr(counted, name):
            raise Failed("count", f"{name}: {facts[name]} stated, {getattr(counted, name)} counted")
    for name in _SHARES:
        if name == "users_exact_values_listed" and name not in facts:
            continue
        stated, value = facts.get(name), getattr(counted, name)
        if (stated is None) != (value is None) or abs((stated or 0) - (value or 0)) > 1e-12:
            raise Failed("disclosure share", name)
    if tuple(facts["attribute_columns"]) != counted.attribute_columns:
        raise Failed("forbidden column", "personal attributes other than those declared")
    for claim in facts["claims"]:
        for name, value in claim["parameters"].items():
            if name != "k" and facts["config"].get(name, value) != value:  # of k an audit speaks
                raise Failed("config", f"{name} differs from the claim of {claim['model']}")
    if (facts["attributes"] == "exact") != (facts["audience"] == "query"):
        raise Failed("audience", f"attributes {facts['attributes']} do not fit {facts['audience']}")
    if facts["attributes"] == "none" and counted.attribute_columns:
        raise Failed("forbidden column", "personal attributes in a release without any")


def _check_config(value: Any) -> None:
    if isinstance(value, dict):
        if _NEVER & {str(key).lower() for key in value}:
            raise Failed("config", "a private setting")
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            _check_config(part)
    if isinstance(value, str) and value.startswith(("/", "~", "./", "../")):
        raise Failed("config", "a path")


def _check_claims(facts: dict[str, Any], counted: Counted) -> None:
    for claim in facts["claims"]:
        judged = counted.judge(claim)
        if not judged.holds or claim["verified"] != judged.verified:
            raise Failed("claim", claim["model"])


def _check_counts(facts: dict[str, Any], counted: Counted) -> None:
    """Check that a claim states the figures counted now, if it still holds."""
    for claim in facts["claims"]:
        judged = counted.judge(claim)
        # a claim that was never saved states nothing
        stated = {name: judged.verified.get(name, math.nan) for name in claim["verified"]}
        if judged.holds and not replace(judged, verified=stated).agrees(claim["verified"]):
            raise Failed("claims", f"the figures of {claim['model']} are not those counted")
