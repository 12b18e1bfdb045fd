"""The private key file: the link from users to records, kept outside the release.

It also holds what it takes to make the same release again byte for byte. It is created with mode
0600 and refused inside a release folder, however the path is written.
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

from starshade.errors import OutputError, ReleaseError
from starshade.files.checksum import Listed, parse, texts_with_checksum, without_checksum
from starshade.files.side import KEY_FILE, RELEASE_MANIFEST, open_side, read_side, read_stream
from starshade.naming import named
from starshade.progress import note
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.band import Exact
from starshade.release.folder.digest import digest_of_any, ratings_digest
from starshade.release.folder.earlier import key_file_facts
from starshade.release.manifest import FORMAT_VERSION, Manifest, refuse_format
from starshade.release.table import Chain, Link, Private

if TYPE_CHECKING:
    from starshade.release.table import Release

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "key_file": int,
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
    "erased": (list, NoneType),
    "partitions": (list, NoneType),
}
_CHAIN: dict[str, tuple[type, ...]] = {
    "after": (str,),
    **dict.fromkeys(("groups", "left_before", "left_before_groups", "dummies", "erased"), (list,)),
    "earlier": (int, NoneType),
}
_EXACT = tuple(field.name for field in fields(Exact))
_LATER = {
    "lineage",
    "dummy_records",
    "chain",
    "erased",
    "partitions",
}  # which a key file may lack
_SHARED = ("starshade", "method", "lineage")  # release.json says it as well; of _EXACT the bands
_BESIDE = ("method", "rare_items", "attributes")  # settings that it says beside its `config`


def refuse_inside(private: Where, release: Place) -> None:
    """Refuse a key file inside the release, or inside any other one."""
    given = Path(private)
    place = (
        Path(os.path.realpath(given.parent)) / given.name
    )  # in a release that is not there yet, it may be
    inside = place == release.path or release.path in place.parents
    if inside or any((folder / "release.json").is_file() for folder in place.parents):
        raise OutputError(
            f"{private}: the private key file must not lie inside a release",
            advice="Keep it where only you can read it, outside published folders.",
        )


def write_receipt(release: Release, path: Where, release_hash: str) -> None:
    """Write the key file of a release just made, mode 0600, whole or not at all.

    `release_hash`: SHA-256 of ``release.json``, by which a key file names its release.
    """
    private = release.private
    if private is None:
        raise ReleaseError("this release carries no private facts to write a key file from")
    digest, released = private.digest, private.ratings
    table = private.original if private.divided is None else private.divided.table
    if table is not None:
        digest, released = digest or digest_of_any(table), released or ratings_digest(table)
    facts = {
        "key_file": FORMAT_VERSION,
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
        facts["erased"] = private.forgotten.tolist()
    if private.partitions is not None:
        facts["partitions"] = list(private.partitions)
    with atomic_file(path, 0o600) as file, file.open("w", encoding="utf-8") as out:
        out.writelines(texts_of(facts))


def texts_of(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the text of a key file, in pieces."""
    yield from texts_with_checksum(facts)
    yield "\n"


def text_of(facts: dict[str, Any]) -> str:
    """Return the text of a key file."""
    return "".join(texts_of(facts))


def _told(chain: Chain) -> dict[str, Any]:
    return {
        "after": chain.after,
        "groups": chain.group.tolist(),
        "left_before": list(chain.gone),
        "left_before_groups": chain.gone_group.tolist(),
        "dummies": chain.invented.tolist(),
        "erased": chain.forgotten.tolist(),
        "earlier": chain.earlier,
    }


def read_receipt(path: Path, release: Path | None = None) -> Private:
    """Read a key file; `release`: the release folder that it must belong to."""
    facts = load(Path(path))
    users = Vocabulary.of(facts["users"])
    record = np.array(facts["records"], dtype=np.int64)
    forgotten = np.array(facts.get("erased") or [], dtype=np.int64)
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
    """Return where the partitions end that the release was made of; None: not recorded."""
    ends = facts.get("partitions")
    if ends is None:
        return None
    people = len(facts["users"])
    whole = ends and all(type(end) is int and 0 <= end <= people for end in ends)
    if not whole or ends[-1] != people or sorted(ends) != ends:
        raise _damaged(path, "the partitions do not fit its users")
    return tuple(ends)


def _chain(path: Path, facts: dict[str, Any]) -> Chain | None:
    if facts.get("chain") is None:
        return None
    told = {"erased": [], **facts["chain"]}
    if any(type(told.get(name)) not in kinds for name, kinds in _CHAIN.items()):
        raise _damaged(path, "the chain of earlier releases is incomplete")
    lists = [told[name] for name in ("groups", "left_before_groups", "dummies", "erased")]
    most = sum(map(len, lists))
    if any(type(group) is not int or not -1 < group < most for each in lists for group in each):
        raise _damaged(path, "a group in its chain is not a group number")
    earlier = told.get("earlier")
    if earlier is not None and not -1 < earlier <= most:
        raise _damaged(path, "its chain counts more groups than possible")
    if any(type(user) is not str for user in told["left_before"]):
        raise _damaged(path, "a user id in its chain is not a text")
    gone = Vocabulary.of(told["left_before"])
    group, gone_group, invented, forgotten = (np.array(each, dtype=np.int64) for each in lists)
    fit = len(group) == len(facts["users"]) and len(gone_group) == len(gone)
    known = np.isin(invented, np.concatenate([group, gone_group, forgotten])).all()
    twice = not set(told["left_before"]).isdisjoint(facts["users"])
    lost = len(facts.get("erased") or []) > len(forgotten)
    if not fit or not known or twice or lost or list(gone) != told["left_before"]:
        raise _damaged(path, "its chain of earlier releases does not fit its users")
    if len(invented) != facts.get("dummy_records"):
        raise _damaged(path, "the number of dummy records is not the number listed")
    return Chain(told["after"], group, gone, gone_group, invented, forgotten, earlier)


def named_release(path: Path) -> str:
    """Return the SHA-256 of the ``release.json`` that a key file belongs to."""
    return str(load(path)["release"])


def _exact(facts: dict[str, Any]) -> Exact:
    return Exact(**{name: facts[name] for name in _EXACT if name in facts})


def _refuse_of_another(path: Path, facts: dict[str, Any], release: Path) -> None:
    try:
        raw = read_side(release / "release.json", RELEASE_MANIFEST)
    except ReleaseError:
        raise ReleaseError(f"{release}: not a release (no release.json)") from None
    if hashlib.sha256(raw).hexdigest() != facts["release"]:
        raise ReleaseError(
            f"{path}: the key file belongs to another release, not to {release}",
            advice="Give the key file that was written together with this release.",
        )
    differing = ", ".join(_differing(Manifest.from_json(raw, str(release)), facts))
    if differing:
        raise ReleaseError(
            f"{release}: release.json and the key file differ in {differing}; one of them was "
            "changed",
            advice="Make the release again from the ratings (starshade anonymize).",
        )


def _differing(manifest: Manifest, facts: dict[str, Any]) -> Iterator[str]:
    """Name what ``release.json`` and the key file record differently."""
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
        return all(key in own for key in said)  # an item that was left out is in the key file alone
    own = list(own) if isinstance(own, dict) else own  # of files release.json has the names
    return json.dumps(said) == json.dumps(own)  # true is not 1


def load(path: Path) -> dict[str, Any]:
    """Return the facts of a key file by today's keys; `read_receipt` checks how they fit."""
    with open_side(path, KEY_FILE) as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        raw = read_stream(file, KEY_FILE, str(path))
    if mode & 0o077:
        note(f"{path}: other users can read this key file (mode {mode:04o}); chmod 600 it.")
    try:
        facts = parse(raw)
    except ValueError:
        raise _damaged(path, "it is not unambiguous JSON") from None
    facts = facts if isinstance(facts, dict) else {}
    key = "receipt" if "receipt" in facts else "key_file"
    if type(version := facts.get(key)) is not int:
        raise _damaged(path, "it has no format version")
    refuse_format(f"{path}: key file", version)
    if (key == "receipt") != (version < FORMAT_VERSION):
        raise _damaged(path, f"{key} does not belong to format {version}")
    try:
        facts = key_file_facts(without_checksum(facts))
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    for name, kind in _FIELDS.items():
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if name not in {*facts, *_LATER} or type(facts.get(name)) not in kinds:
            raise _damaged(path, f"its key {name} is missing or not of type {kinds[0].__name__}")
    if any((facts.get(name) or 0) < 0 for name in _EXACT):
        raise _damaged(path, "it states a negative count")
    if set(facts) - set(_FIELDS) or set(facts.get("chain") or {}) - set(_CHAIN):
        raise _damaged(path, "it has unknown keys")
    _check_lists(path, facts)
    _check_config(path, facts["config"])
    return facts | {"key_file": FORMAT_VERSION}


def _check_config(path: Path, config: dict[str, Any]) -> None:
    """Check the settings that hold what stood in files: lists of lines, by attribute or alone."""
    files = config.get("attribute_hierarchies", {})
    if not isinstance(files, dict):
        raise _damaged(path, "attribute_hierarchies in its config is not an object")
    for name, lines in files.items():
        if not isinstance(lines, str) and not _are_texts(lines):
            raise _damaged(
                path, f"attribute_hierarchies of {name} in its config is not a list of lines"
            )
    for name in ("levels", "item_keys"):
        if not _are_texts(config.get(name) or []):
            raise _damaged(path, f"{name} in its config is not a list of texts")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is str for each in value)


def _check_lists(path: Path, facts: dict[str, Any]) -> None:
    for name, kind in (("users", str), ("records", int), ("erased", int)):
        given = facts.get(name) or []
        wrong = next((i for i, v in zip(count(), given) if type(v) is not kind), None)
        if wrong is not None:
            raise _damaged(path, f"entry {wrong + 1} of {name} is not of type {kind.__name__}")
    if any(not -1 < r < 2**62 for r in (*facts["records"], *(facts.get("erased") or ()))):
        raise _damaged(path, "users and records do not correspond one to one")


def _damaged(path: Path, what: str) -> ReleaseError:
    return ReleaseError(
        f"{path}: not a private key file, or damaged: {what}",
        advice=f"Give the file that {named('private')} wrote when the release was made.",
    )
