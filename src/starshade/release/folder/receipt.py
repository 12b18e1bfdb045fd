"""The owner's private receipt: what never enters a release, kept apart and only when asked.

It links users to records and holds what it takes to make the same release again byte for byte.
It is created with mode 0600 and refused inside a release folder, however the path is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import asdict, fields
from itertools import count
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.checksum import Listed, parse, texts_with_checksum, without_checksum
from starshade.errors import OutputError, ReleaseError
from starshade.files.side import KEY_FILE, RELEASE_MANIFEST, open_side, read_side, read_stream
from starshade.naming import named
from starshade.progress import note
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.band import Exact
from starshade.release.folder.digest import digest_of_any, ratings_digest
from starshade.release.manifest import Manifest, refuse_format
from starshade.release.table import Chain, Link, Private

if TYPE_CHECKING:
    from starshade.release.table import Release

_FORMAT = 3
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "receipt": int,
    "starshade": str,
    "release": str,
    "method": str,
    "lineage": (str, NoneType),
    "seed": int,
    "config": dict,
    "source": str,
    "digest": str,
    "ratings": str,
    "groups": int,
    "users_without_rating": int,
    "users_deleted": int,
    "rare_items_dropped": int,
    "imputed_cells": (float, NoneType),
    "single_rater_cells": (float, NoneType),
    "dummy_records": (int, NoneType),
    "users": list,
    "records": list,
    "chain": (dict, NoneType),
    "forgotten": (list, NoneType),
    "partitions": (list, NoneType),
}
_CHAIN: dict[str, tuple[type, ...]] = {
    "after": (str,),
    **dict.fromkeys(("groups", "gone", "gone_groups", "invented", "forgotten"), (list,)),
    "earlier": (int, NoneType),
}
_EXACT = tuple(field.name for field in fields(Exact))
_LATER = {
    "lineage",
    "dummy_records",
    "chain",
    "forgotten",
    "partitions",
}  # which receipts of this format may lack
_SHARED = ("starshade", "method", "lineage")  # release.json says it as well; of _EXACT the bands
_BESIDE = ("method", "rare_items", "attributes")  # settings that it says beside its `config`


def refuse_inside(private: Where, release: Place) -> None:
    """Refuse a receipt that would lie inside the release, or inside any other one."""
    given = Path(private)
    place = (
        Path(os.path.realpath(given.parent)) / given.name
    )  # in a release that is not there yet, it may be
    inside = place == release.path or release.path in place.parents
    if inside or any((folder / "release.json").is_file() for folder in place.parents):
        raise OutputError(
            f"{private}: the private receipt would lie inside a release",
            advice="Keep it where only you can read it, away from what is published.",
        )


def write_receipt(release: Release, path: Where, release_hash: str) -> None:
    """Write the receipt of a release just made, mode 0600, whole or not at all.

    `release_hash`: SHA-256 of ``release.json``, by which a receipt and its release find each other.
    """
    private = release.private
    if private is None:
        raise ReleaseError("this release carries no private facts to write a receipt of")
    digest, released = private.digest, private.ratings
    table = private.original if private.divided is None else private.divided.table
    if table is not None:
        digest, released = digest or digest_of_any(table), released or ratings_digest(table)
    facts = {
        "receipt": _FORMAT,
        "starshade": release.manifest.starshade,
        "release": release_hash,
        "method": release.manifest.method,
        "lineage": release.manifest.lineage,
        "seed": private.seed,
        "config": private.config,
        "source": private.source,
        "digest": digest,
        "ratings": released,
        **asdict(private.exact),
        "users": Listed(lambda: (list(link.users) for link in private.links())),
        "records": Listed(lambda: (link.record.tolist() for link in private.links())),
        "chain": None if private.chain is None else _told(private.chain),
    }
    if private.chain is None:
        del facts["chain"], facts["dummy_records"]
    if len(private.forgotten):
        facts["forgotten"] = private.forgotten.tolist()
    if private.partitions is not None:
        facts["partitions"] = list(private.partitions)
    with atomic_file(path, 0o600) as file, file.open("w", encoding="utf-8") as out:
        out.writelines(texts_of(facts))


def texts_of(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the text of a receipt."""
    yield from texts_with_checksum(facts)
    yield "\n"


def text_of(facts: dict[str, Any]) -> str:
    """Return it in one."""
    return "".join(texts_of(facts))


def _told(chain: Chain) -> dict[str, Any]:
    return {
        "after": chain.after,
        "groups": chain.group.tolist(),
        "gone": list(chain.gone),
        "gone_groups": chain.gone_group.tolist(),
        "invented": chain.invented.tolist(),
        "forgotten": chain.forgotten.tolist(),
        "earlier": chain.earlier,
    }


def read_receipt(path: Path, release: Path | None = None) -> Private:
    """Read a receipt back; `release`: a release folder that it must belong to."""
    facts = load(Path(path))
    users = Vocabulary.of(facts["users"])
    record = np.array(facts["records"], dtype=np.int64)
    forgotten = np.array(facts.get("forgotten") or [], dtype=np.int64)
    chain = _chain(path, facts)
    known = np.concatenate([record, forgotten])
    records = len(known) + (0 if chain is None else len(chain.invented))
    once = len(record) == len(users) and len(np.unique(known)) == len(known)
    if list(users) != facts["users"] or not once or known.max(initial=-1) >= records:
        raise _damaged(path, "users and records do not correspond one to one")
    if release is not None:
        _refuse_of_another(path, facts, Path(release))
    return Private(
        link=Link(users, record),
        seed=facts["seed"],
        config=facts["config"],
        source=facts["source"],
        digest=facts["digest"],
        ratings=facts["ratings"],
        exact=_exact(facts),
        release=facts["release"],
        chain=chain,
        forgotten=forgotten,
        partitions=_partitions(path, facts),
    )


def _partitions(path: Path, facts: dict[str, Any]) -> tuple[int, ...] | None:
    """Return where the partitions end that the release was made of; None: it is not said."""
    ends = facts.get("partitions")
    if ends is None:
        return None
    people = len(facts["users"])
    whole = ends and all(type(end) is int and 0 <= end <= people for end in ends)
    if not whole or ends[-1] != people or sorted(ends) != ends:
        raise _damaged(path, "the ends of its partitions do not belong to its users")
    return tuple(ends)


def _chain(path: Path, facts: dict[str, Any]) -> Chain | None:
    if facts.get("chain") is None:
        return None
    told = {"forgotten": [], **facts["chain"]}
    if any(type(told.get(name)) not in kinds for name, kinds in _CHAIN.items()):
        raise _damaged(path, "what it says of earlier releases is not complete")
    lists = [told[name] for name in ("groups", "gone_groups", "invented", "forgotten")]
    most = sum(map(len, lists))
    if any(type(group) is not int or not -1 < group < most for each in lists for group in each):
        raise _damaged(path, "a group of earlier releases is no number of one")
    earlier = told.get("earlier")
    if earlier is not None and not -1 < earlier <= most:
        raise _damaged(path, "it counts more groups of earlier releases than there can be")
    if any(type(user) is not str for user in told["gone"]):
        raise _damaged(path, "an id of earlier releases is no str")
    gone = Vocabulary.of(told["gone"])
    group, gone_group, invented, forgotten = (np.array(each, dtype=np.int64) for each in lists)
    fit = len(group) == len(facts["users"]) and len(gone_group) == len(gone)
    known = np.isin(invented, np.concatenate([group, gone_group, forgotten])).all()
    twice = not set(told["gone"]).isdisjoint(facts["users"])
    lost = len(facts.get("forgotten") or []) > len(forgotten)
    if not fit or not known or twice or lost or list(gone) != told["gone"]:
        raise _damaged(path, "what it says of earlier releases does not belong to its users")
    if len(invented) != facts.get("dummy_records"):
        raise _damaged(path, "it counts other invented records than it lists")
    return Chain(told["after"], group, gone, gone_group, invented, forgotten, earlier)


def named_release(path: Path) -> str:
    """Return which release a receipt is of: the SHA-256 of its ``release.json``."""
    return str(load(path)["release"])


def _exact(facts: dict[str, Any]) -> Exact:
    return Exact(**{name: facts[name] for name in _EXACT if name in facts})


def _refuse_of_another(path: Path, facts: dict[str, Any], release: Path) -> None:
    try:
        raw = read_side(release / "release.json", RELEASE_MANIFEST)
    except ReleaseError:
        raise ReleaseError(f"{release}: no release.json there") from None
    if hashlib.sha256(raw).hexdigest() != facts["release"]:
        raise ReleaseError(
            f"{path}: is the receipt of another release than {release}",
            advice="Give the receipt that was written together with this release.",
        )
    differing = ", ".join(_differing(Manifest.from_json(raw, str(release)), facts))
    if differing:
        raise ReleaseError(
            f"{release}: release.json and its receipt differ in {differing}: one of them is not "
            "what was written",
            advice="Make the release again from the ratings (starshade anonymize).",
        )


def _differing(manifest: Manifest, facts: dict[str, Any]) -> Iterator[str]:
    """Name what ``release.json`` and the receipt both record and do not say alike."""
    said, settings = manifest.model_dump(mode="json"), facts["config"]
    known = {name: facts[name] for name in _SHARED if name in facts}
    known |= _exact(facts).bands(manifest.records, manifest.items)
    yield from (name for name, value in known.items() if said[name] != value)
    most = manifest.classes if manifest.layout == "record" else manifest.records
    if not manifest.classes <= facts["groups"] <= most:
        yield "groups"
    beside = [(name, said[name]) for name in _BESIDE if name in settings]
    for name, value in (*beside, *said["config"].items()):
        if name not in settings or not _same_setting(name, value, settings[name]):
            yield f"config: {name}"


def _same_setting(name: str, said: Any, own: Any) -> bool:
    if name == "sensitive" and isinstance(said, list) and isinstance(own, list):
        return all(key in own for key in said)  # an item that was left out is in the receipt alone
    own = list(own) if isinstance(own, dict) else own  # of files release.json has the names
    return json.dumps(said) == json.dumps(own)  # true is not 1


def load(path: Path) -> dict[str, Any]:
    """Return what a receipt says, of its fields and their kinds; `read_receipt` checks the rest."""
    with open_side(path, KEY_FILE) as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        raw = read_stream(file, KEY_FILE, str(path))
    if mode & 0o077:
        note(f"{path}: other people may read this private receipt (mode {mode:04o}); chmod 600 it.")
    try:
        facts = parse(raw)
    except ValueError:
        raise _damaged(path, "it is no JSON that can be read in one way only") from None
    if not isinstance(facts, dict) or "receipt" not in facts:
        raise _damaged(path, "it has no field receipt")
    if type(version := facts["receipt"]) is int:
        refuse_format(f"{path}: a receipt", version, _FORMAT)
    try:
        facts = without_checksum(facts)
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    for name, kind in _FIELDS.items():
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if name not in {*facts, *_LATER} or type(facts.get(name)) not in kinds:
            raise _damaged(path, f"its field {name} is missing or no {kinds[0].__name__}")
    if any((facts.get(name) or 0) < 0 for name in _EXACT):
        raise _damaged(path, "it counts fewer than none")
    if set(facts) - set(_FIELDS) or set(facts.get("chain") or {}) - set(_CHAIN):
        raise _damaged(path, "it has fields that a receipt does not have")
    _check_lists(path, facts)
    _check_config(path, facts["config"])
    return facts


def _check_config(path: Path, config: dict[str, Any]) -> None:
    """Check the settings that hold what stood in files: lists of lines, by attribute or alone."""
    files = config.get("attribute_hierarchies", {})
    if not isinstance(files, dict):
        raise _damaged(path, "attribute_hierarchies in its config is no object")
    for name, lines in files.items():
        if not isinstance(lines, str) and not _are_texts(lines):
            raise _damaged(path, f"attribute_hierarchies of {name} in its config are no lines")
    for name in ("levels", "item_keys"):
        if not _are_texts(config.get(name) or []):
            raise _damaged(path, f"{name} in its config is no list of texts")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is str for each in value)


def _check_lists(path: Path, facts: dict[str, Any]) -> None:
    for name, kind in (("users", str), ("records", int), ("forgotten", int)):
        given = facts.get(name) or []
        wrong = next((i for i, v in zip(count(), given) if type(v) is not kind), None)
        if wrong is not None:
            raise _damaged(path, f"entry {wrong + 1} of {name} is no {kind.__name__}")
    if any(not -1 < r < 2**62 for r in (*facts["records"], *(facts.get("forgotten") or ()))):
        raise _damaged(path, "users and records do not correspond one to one")


def _damaged(path: Path, what: str) -> ReleaseError:
    return ReleaseError(
        f"{path}: no private receipt of starshade, or a damaged one: {what}",
        advice=f"Give the file that {named('private')} wrote when the release was made.",
    )
