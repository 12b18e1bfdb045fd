"""The chain in a receipt: read back as it was written, and refused when it was tampered with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_exchange import KExchange
from starshade.errors import ConfigError, InternalError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import read_receipt
from starshade.release.match.match import Match
from starshade.release.table import Link, Release, chain_of
from starshade.release.verify.verify import verify_folder
from tests.strategies import table
from tests.unit.release.damage import say, signed

EVERYBODY = table([{0: float(1 + u % 5), 1: float(1 + u % 3)} for u in range(12)], Scale(1, 5, 1))


def continued() -> Release:
    """Of twelve people three leave."""
    first = KExchange(4).anonymize(EVERYBODY, rng=0)
    own = first.class_of_record[first.private.link.record]
    gone = [int(np.flatnonzero(own == c)[0]) for c in range(3)]
    rest = EVERYBODY.keep_users(np.setdiff1d(np.arange(12), gone))
    return KExchange(4).anonymize(rest, rng=0, after=first)


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Release]:
    release = continued()
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    return tmp_path, release


def test_what_was_written_is_read_back(saved: tuple[Path, Release]) -> None:
    folder, release = saved
    back = read_release(folder / "out", private=folder / "receipt")
    made, read = release.private.chain, back.private.chain
    assert read.after == made.after == ""  # the first was never saved
    assert list(read.gone) == list(made.gone)
    for name in ("group", "gone_group", "invented"):
        assert np.array_equal(getattr(made, name), getattr(read, name))
    assert made.earlier == read.earlier == 3  # all groups are of the first release
    assert back.manifest.dummy_records == "more"
    assert (back.n_records, back.n_people) == (12, 9)
    assert read_release(folder / "out").n_people is None  # the owner's to know
    again = KExchange(4).anonymize(EVERYBODY, rng=0, after=back)
    assert again.private.chain.after == back.private.release
    assert again.exact.dummy_records == 0


def test_an_older_receipt_does_not_say_who_was_in_the_earlier_release(
    saved: tuple[Path, Release],
) -> None:
    folder, _ = saved
    facts = json.loads((folder / "receipt").read_text())
    (folder / "receipt").write_text(signed(without("earlier")(facts)))
    assert read_receipt(folder / "receipt").chain.earlier is None


def chained(**change: Any) -> Any:
    return lambda facts: facts | {"chain": facts["chain"] | change}


def without(name: str) -> Any:
    return lambda facts: (
        facts | {"chain": {key: value for key, value in facts["chain"].items() if key != name}}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda facts: facts | {"dummy_records": 2}, "number of dummy records is not"),
        (lambda facts: facts | {"dummy_records": None}, "number of dummy records is not"),
        (chained(dummies=[0, 1]), "number of dummy records is not"),
        (chained(dummies=[0, 1, 9]), "does not fit its users"),
        (chained(dummies=[0, 1, -1]), "not a group number"),
        (chained(dummies=[0, 1, True]), "not a group number"),
        (chained(groups=[0] * 8), "does not fit its users"),
        (chained(groups=["0"] * 9), "not a group number"),
        (chained(left_before_groups=[0, 1]), "does not fit its users"),
        (chained(left_before_groups=[0, 1, 2**80]), "not a group number"),
        (chained(left_before=["1", "1", "2"]), "does not fit its users"),
        (chained(left_before=["2", "1", "3"]), "does not fit its users"),
        (chained(left_before=[1, 2, 3]), "not a text"),
        (chained(more=1), "unknown keys"),
        (chained(after=5), "is incomplete"),
        (chained(earlier="3"), "is incomplete"),
        (chained(earlier=True), "is incomplete"),
        (chained(earlier=-1), "more groups than possible"),
        (chained(earlier=2**70), "more groups than possible"),
        *(
            (without(name), "is incomplete")
            for name in ("after", "groups", "left_before", "dummies")
        ),
        (lambda facts: facts | {"records": [0] * 9}, "one to one"),
        (lambda facts: facts | {"records": [*facts["records"][:-1], 12]}, "one to one"),
        (lambda facts: facts | {"chain": []}, "chain is missing or not of type dict"),
    ],
)
def test_a_damaged_chain(saved: tuple[Path, Release], change: Any, message: str) -> None:
    folder, _ = saved
    facts = json.loads((folder / "receipt").read_text())
    (folder / "receipt").write_text(signed(change(facts)))
    with pytest.raises(ReleaseError, match=message):
        read_receipt(folder / "receipt")


def test_who_is_in_this_release_is_not_gone(saved: tuple[Path, Release]) -> None:
    folder, _ = saved
    facts = json.loads((folder / "receipt").read_text())
    forged = chained(left_before=facts["users"][:3])(facts)
    (folder / "receipt").write_text(signed(forged))
    with pytest.raises(ReleaseError, match="does not fit its users"):
        read_receipt(folder / "receipt")


def test_a_receipt_without_its_chain_is_of_another_release(saved: tuple[Path, Release]) -> None:
    folder, _ = saved
    facts = json.loads((folder / "receipt").read_text())
    del facts["chain"], facts["dummy_records"]
    (folder / "receipt").write_text(signed(facts))
    with pytest.raises(ReleaseError, match="one to one"):
        read_release(folder / "out", private=folder / "receipt")


def test_the_release_says_that_some_are_nobodys(saved: tuple[Path, Release]) -> None:
    folder, release = saved
    assert verify_folder(folder / "out", release.private)["smallest_class"] == 4
    say(folder / "out", dummy_records="none")
    with pytest.raises(ReleaseError, match="band"):
        verify_folder(folder / "out", release.private)


@pytest.mark.parametrize("change", ["another number", "a record twice", "beyond", "too many"])
def test_the_verifier_counts_for_itself(change: str, tmp_path: Path) -> None:
    release = continued()
    private = release.private
    record = private.link.record.copy()
    if change == "another number":
        private = replace(private, exact=replace(private.exact, dummy_records=2))
    elif change == "a record twice":
        record[0] = record[1]
    elif change == "beyond":
        record[0] = 12
    else:
        chain = replace(private.chain, invented=private.chain.invented[:-1])
        private = replace(private, chain=chain)
    private = replace(private, link=Link(private.link.users, record))
    with pytest.raises(InternalError, match="does not pass its check"):
        replace(release, private=private).save(tmp_path / "out", private=tmp_path / "receipt")
    assert not any(tmp_path.iterdir())


def test_ratings_are_matched_with_the_people_alone(saved: tuple[Path, Release]) -> None:
    folder, release = saved
    back = read_release(folder / "out", private=folder / "receipt")
    own = release.private.original
    assert Match(back, own).made_of == own
    assert (Match(back, EVERYBODY).row_of_user >= 0).sum() == 9
    with pytest.raises(ConfigError, match="do not belong together"):
        _ = Match(back, own, Link(own.users, np.arange(8))).row_of_user
    assert Match(read_release(folder / "out"), own).made_of.n_users == 9


def test_a_first_release_has_its_classes_as_groups() -> None:
    first = KExchange(4).anonymize(EVERYBODY, rng=0)
    chain = chain_of(first)
    assert np.array_equal(chain.group, first.class_of_record[first.private.link.record])
    assert (chain.after, chain.n_groups, len(chain.gone), len(chain.invented)) == (None, 3, 0, 0)
    with pytest.raises(ConfigError, match="private key file"):
        chain_of(replace(first, private=None))
