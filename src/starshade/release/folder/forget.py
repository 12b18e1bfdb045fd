"""Erase users from private key files (GDPR Art. 17).

Published releases do not change. A key file links users to records; without its user a record is a
dummy record, and the next release that continues this one treats the user as having left. Only the
number of their group stays: the group must keep the values it allowed, or the values that vanish
would have been theirs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starshade.arguments import typed
from starshade.errors import ConfigError, ReleaseError
from starshade.naming import called
from starshade.progress import announced, task
from starshade.ratings.places.atomic import flush, hidden, make_file
from starshade.ratings.places.place import output_error
from starshade.release.folder.receipt import load, read_receipt, text_of
from starshade.release.folder.write import hash_of
from starshade.scratch import leftovers, own, remove, sweep
from starshade.setting import is_list


@dataclass(frozen=True)
class Held:
    """Users to erase that one key file holds.

    `release`: the SHA-256 that it names; `folders`: the given folders of that release. `records`:
    users who have a record in it; `left_before`: users of earlier releases who have left.
    """

    key_file: str
    release: str
    folders: tuple[str, ...]
    records: int
    left_before: int


@dataclass(frozen=True)
class Forgotten:
    """The outcome of `forget`.

    `people`: number of users to erase. `unknown`: the places (from 1) of ids that no key file
    holds. `rewritten`: whether key files were rewritten. `leftovers`: files of killed or active
    runs next to the key files and releases; they may hold these users.
    """

    people: int
    unknown: tuple[int, ...]
    key_files: tuple[Held, ...]
    rewritten: bool
    leftovers: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without ids."""
        return {
            "people": self.people,
            "unknown": list(self.unknown),
            "key_files": [vars(held) for held in self.key_files],
            "rewritten": self.rewritten,
            "leftovers": list(self.leftovers),
        }


@typed
@announced("erasing")
def forget(
    users: Sequence[str],
    receipts: Sequence[str | Path],
    *,
    releases: Sequence[str | Path] = (),
    dry_run: bool = False,
) -> Forgotten:
    """Erase users from private key files.

    All files are written before the first is replaced; after an interruption, run the same call
    again. A rewritten key file holds no digest of the ratings, because the digest covers the erased
    users: later commands compare ratings with the release by weaker evidence.

    Parameters
    ----------
    users : sequence of str
        Original ids.
    receipts : sequence of path
        Key files that may hold them, of all releases that are still continued or audited.
    releases : sequence of path
        Release folders; the result names those that have records of these users.
    dry_run : bool
        Report only; write nothing.

    Raises
    ------
    ConfigError
        No user, no key file, or a key file twice.
    ReleaseError
        A damaged key file, no release, or a release without its key file; nothing is rewritten.
    OutputError
        A key file cannot be rewritten.
    """
    ids = list(dict.fromkeys(users))
    places = [Path(os.path.realpath(place)) for place in _paths("receipts", receipts)]
    if not ids or not places or len(set(places)) < len(places):
        lacking = "no user" if not ids else "no key file" if not places else "a key file twice"
        raise ConfigError(
            f"{lacking} given: nothing to erase",
            advice="Give the ids of the users to erase, and each key file once.",
        )
    folders = [(_hash(release), str(release)) for release in _paths("releases", releases)]
    wanted, known, of = set(ids), set[str](), set[str]()
    held: list[Held] = []
    changed: list[tuple[Path, str]] = []
    with task("reading key files", len(places)) as advance:
        for receipt, place in zip(receipts, places, strict=True):
            read_receipt(place)
            facts = load(place)
            gone = (facts.get("chain") or {}).get("left_before", [])
            here, away = wanted.intersection(facts["users"]), wanted.intersection(gone)
            known |= here | away
            of.add(release := facts["release"])
            mine = tuple(folder for its, folder in folders if its == release)
            held.append(Held(str(receipt), release, mine, len(here), len(away)))
            if here or away:
                changed.append((place, text_of(_without(facts, wanted))))
            advance(1)
    strange = [folder for its, folder in folders if its not in of]
    if strange:
        raise ReleaseError(
            f"{strange[0]}: none of the key files belongs to this release",
            advice="Give its key file, or leave the release out.",
        )
    if not dry_run:
        _rewrite(changed)
    unknown = tuple(place for place, user in enumerate(users, 1) if user not in known)
    beside = {place.parent for place in (*places, *_paths("releases", releases))}
    left = tuple(map(str, leftovers([*beside, Path()])))
    return Forgotten(len(ids), unknown, tuple(held), not dry_run and bool(changed), left)


def _paths(name: str, given: Any) -> list[Path]:
    if not is_list(given) or not all(isinstance(each, str | os.PathLike) for each in given):
        raise ConfigError(f"{called(name)}: must be a list of paths", setting=name)
    return [Path(each) for each in given]


def _hash(release: Path) -> str:
    try:
        return hash_of(release / "release.json")
    except OSError:
        raise ReleaseError(
            f"{release}: not a release (no readable release.json)",
            advice="Give the folder that `starshade anonymize --out` wrote.",
        ) from None


def _without(facts: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    """Return the facts of a key file without these users."""
    users, records = facts["users"], facts["records"]
    stay = [i for i, user in enumerate(users) if user not in ids]
    go = [i for i, user in enumerate(users) if user in ids]
    before = facts.get("erased") or []
    out = facts | {
        "users": [users[i] for i in stay],
        "records": [records[i] for i in stay],
        "erased": [*before, *(records[i] for i in go)],
        # a fingerprint that includes their ratings would let guesses of these be tried
        "digest": "",
        "ratings": "" if go else facts["ratings"],
    }
    if (ends := facts.get("partitions")) is not None:
        out["partitions"] = [end - sum(i < end for i in go) for end in ends]
    chain = facts.get("chain")
    if chain is None:
        return out
    gone, known = (
        list(zip(chain["left_before"], chain["left_before_groups"], strict=True)),
        len(before),
    )
    rest = [(user, group) for user, group in gone if user not in ids]
    forgotten = chain.get("erased", [])
    return out | {
        "chain": chain
        | {
            "groups": [chain["groups"][i] for i in stay],
            "left_before": [user for user, _ in rest],
            "left_before_groups": [group for _, group in rest],
            "erased": [
                *forgotten[:known],
                *(chain["groups"][i] for i in go),
                *forgotten[known:],
                *(group for user, group in gone if user in ids),
            ],
        }
    }


def _rewrite(texts: Sequence[tuple[Path, str]]) -> None:
    """Write all, then give each its name."""
    with ExitStack() as held, task("rewriting key files", len(texts)) as advance:
        ready = [(held.enter_context(_sibling(place, text)), place) for place, text in texts]
        for temporary, place in ready:
            with _in_words(place):
                os.replace(temporary, place)
                flush(place.parent)
            advance(1)


@contextmanager
def _sibling(place: Path, text: str) -> Iterator[Path]:
    """Write a file next to another one; remove it unless it gets that name by the end."""
    prefix = hidden("tmp", place.name)
    with _in_words(place):
        sweep(place.parent, prefix)
        temporary, handle = own(place.parent, prefix, make_file)
    try:
        with _in_words(place):
            temporary.write_text(text, encoding="utf-8")
            flush(temporary)
        yield temporary
    finally:
        if temporary.exists():
            remove(temporary, handle)
        os.close(handle)


@contextmanager
def _in_words(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_error(error, place) from error
