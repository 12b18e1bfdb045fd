"""Take people out of receipts: what an owner does whom somebody asks to be forgotten.

What is published stays so, and a receipt is what tells whose record is whose. Without its user a
record is nobody's, as if it had been invented, and the next release that continues this one treats
them as having left. Only their group stays known, by its number: it must go on allowing what it
allowed, or what it says no more would have been theirs.
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
    """What one receipt held of the people.

    `release`: the SHA-256 that it names; `folders`: those given that are that release. `records`:
    people who have a record in it; `gone`: people of earlier releases, known as having left.
    """

    receipt: str
    release: str
    folders: tuple[str, ...]
    records: int
    gone: int


@dataclass(frozen=True)
class Forgotten:
    """Who was taken out of which receipts.

    `people`: who was to be forgotten. `unknown`: the places (from 1) of those whom no receipt
    holds. `rewritten`: whether the receipts were rewritten. `leftovers`: what runs that were
    killed, or still go on, keep beside the receipts and releases, and may hold these people.
    """

    people: int
    unknown: tuple[int, ...]
    receipts: tuple[Held, ...]
    rewritten: bool
    leftovers: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, without an id."""
        return {
            "people": self.people,
            "unknown": list(self.unknown),
            "receipts": [vars(held) for held in self.receipts],
            "rewritten": self.rewritten,
            "leftovers": list(self.leftovers),
        }


@typed
@announced("forgetting")
def forget(
    users: Sequence[str],
    receipts: Sequence[str | Path],
    *,
    releases: Sequence[str | Path] = (),
    dry_run: bool = False,
) -> Forgotten:
    """Take people out of receipts: all are written before the first takes its place.

    A receipt that was rewritten has no digest of ratings any more, as theirs are in it: whether
    ratings are those that a release was made of is told by less. Killed in between, the same again
    ends it.

    Parameters
    ----------
    users : sequence of str
        Original ids.
    receipts : sequence of path
        All that may hold them: those of releases that still are continued or audited.
    releases : sequence of path
        Release folders, to be told which of them have records of these people.
    dry_run : bool
        Only tell.

    Raises
    ------
    ConfigError
        Nobody, no receipt, or one twice.
    ReleaseError
        A damaged receipt, no release, or a release of which no receipt was given; nothing is
        rewritten.
    OutputError
        A receipt cannot be rewritten.
    """
    ids = list(dict.fromkeys(users))
    places = [Path(os.path.realpath(place)) for place in _paths("receipts", receipts)]
    if not ids or not places or len(set(places)) < len(places):
        lacking = "nobody is named" if not ids else "no receipt, or one twice"
        raise ConfigError(
            f"{lacking}: nothing to forget",
            advice="Give the ids of those who are to be forgotten, and each receipt once.",
        )
    folders = [(_hash(release), str(release)) for release in _paths("releases", releases)]
    wanted, known, of = set(ids), set[str](), set[str]()
    held: list[Held] = []
    changed: list[tuple[Path, str]] = []
    with task("reading receipts", len(places)) as advance:
        for receipt, place in zip(receipts, places, strict=True):
            read_receipt(place)
            facts = load(place)
            gone = (facts.get("chain") or {}).get("gone", [])
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
            f"{strange[0]}: none of the receipts is of this release",
            advice="Give the receipt that was written with it, or leave the release out.",
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
            f"{release}: is no release (no readable release.json there)",
            advice="Give the folder that `starshade anonymize --out` wrote.",
        ) from None


def _without(facts: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    """Return what a receipt says without these people."""
    users, records = facts["users"], facts["records"]
    stay = [i for i, user in enumerate(users) if user not in ids]
    go = [i for i, user in enumerate(users) if user in ids]
    before = facts.get("forgotten") or []
    out = facts | {
        "users": [users[i] for i in stay],
        "records": [records[i] for i in stay],
        "forgotten": [*before, *(records[i] for i in go)],
        # by a fingerprint of ratings that include theirs a guess of these could be tried
        "digest": "",
        "ratings": "" if go else facts["ratings"],
    }
    if (ends := facts.get("partitions")) is not None:
        out["partitions"] = [end - sum(i < end for i in go) for end in ends]
    chain = facts.get("chain")
    if chain is None:
        return out
    gone, known = list(zip(chain["gone"], chain["gone_groups"], strict=True)), len(before)
    rest = [(user, group) for user, group in gone if user not in ids]
    forgotten = chain.get("forgotten", [])
    return out | {
        "chain": chain
        | {
            "groups": [chain["groups"][i] for i in stay],
            "gone": [user for user, _ in rest],
            "gone_groups": [group for _, group in rest],
            "forgotten": [
                *forgotten[:known],
                *(chain["groups"][i] for i in go),
                *forgotten[known:],
                *(group for user, group in gone if user in ids),
            ],
        }
    }


def _rewrite(texts: Sequence[tuple[Path, str]]) -> None:
    """Write all, then give each its name."""
    with ExitStack() as held, task("rewriting receipts", len(texts)) as advance:
        ready = [(held.enter_context(_sibling(place, text)), place) for place, text in texts]
        for temporary, place in ready:
            with _in_words(place):
                os.replace(temporary, place)
                flush(place.parent)
            advance(1)


@contextmanager
def _sibling(place: Path, text: str) -> Iterator[Path]:
    """Write a file beside another one; what has not got its name by the end is removed."""
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
