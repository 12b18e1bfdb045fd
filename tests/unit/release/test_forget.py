"""People who are taken out of receipts: what is left of them, and what the next release says."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.baselines import Mondrian
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.composition.composed import composition_of
from starshade.attack.composition.people import Part
from starshade.errors import ConfigError, OutputError, ReleaseError, UnmetError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import ratings_digest
from starshade.release.folder.forget import forget
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import read_receipt
from starshade.release.match.match import Match
from starshade.release.table import Release, chain_of
from starshade.release.verify.verify import verify_folder
from tests.strategies import at_least, table
from tests.unit.anonymize.test_again import Story, stories
from tests.unit.attack.parts import cells_told
from tests.unit.release.damage import signed

ROWS = [{0: float(1 + u % 5), 1: float(1 + u % 3)} for u in range(12)]
EVERYBODY = table(ROWS, Scale(1, 5, 1))


def without(ratings: Ratings, *users: str) -> Ratings:
    return ratings.keep_users(np.flatnonzero([user not in users for user in ratings.users]))


def saved(release: Release, folder: Path, name: str) -> Release:
    release.save(folder / name, private=folder / f"{name}.json")
    return back(folder, name)


def back(folder: Path, name: str) -> Release:
    return read_release(folder / name, private=folder / f"{name}.json")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two releases, of which the second continues the first; 1 and 2 left."""
    first = saved(KExchange(4).anonymize(EVERYBODY, rng=0), tmp_path, "a")
    rest = without(EVERYBODY, "1", "2")
    saved(KExchange(4).anonymize(rest, rng=0, after=first), tmp_path, "b")
    return tmp_path


def receipts(folder: Path) -> list[Path]:
    return [folder / "a.json", folder / "b.json"]


def test_a_receipt_without_its_people(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(two))
    left = [two / f".runs-store-{'1' * 16}", two / f".tmp-a.json-{'2' * 16}"]
    for path in left:
        path.mkdir()
    before = [json.loads(path.read_text()) for path in receipts(two)]
    published = {path: path.read_bytes() for path in two.glob("?/*")}
    found = forget(["1", "7", "nobody", "7"], receipts(two), releases=[two / "b"])
    assert found.to_dict() == {
        "people": 3,
        "unknown": [3],
        "key_files": [
            {
                "key_file": str(two / "a.json"),
                "release": before[0]["release"],
                "folders": (),
                "records": 2,
                "left_before": 0,
            },
            {
                "key_file": str(two / "b.json"),
                "release": before[1]["release"],
                "folders": (str(two / "b"),),
                "records": 1,
                "left_before": 1,
            },
        ],
        "rewritten": True,
        "leftovers": [str(left[0])],  # what a killed writer of the same left is swept
    }
    left[0].rmdir()
    assert {path: path.read_bytes() for path in published} == published
    assert sorted(path.name for path in two.iterdir()) == ["a", "a.json", "b", "b.json"]
    for path, was in zip(receipts(two), before, strict=True):
        facts = json.loads(path.read_text())
        assert not {"1", "7"} & {*facts["users"], *facts.get("chain", {}).get("left_before", [])}
        assert facts["release"] == was["release"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert facts["ratings"] == facts["digest"] == ""
        kept = {u: r for u, r in zip(was["users"], was["records"], strict=True) if u not in "17"}
        assert dict(zip(facts["users"], facts["records"], strict=True)) == kept
    own = read_receipt(two / "b.json")
    groups = dict(zip(before[1]["users"], before[1]["chain"]["groups"], strict=True))
    gone = dict(
        zip(
            before[1]["chain"]["left_before"], before[1]["chain"]["left_before_groups"], strict=True
        )
    )
    assert own.chain.forgotten.tolist() == [groups["7"], gone["1"]]
    assert own.chain.gone_group.tolist() == [gone["2"]]
    assert [back(two, name).n_people for name in "ab"] == [10, 9]


def test_the_same_again_changes_nothing(two: Path) -> None:
    forget(["1", "7"], receipts(two))
    before = [path.read_bytes() for path in receipts(two)]
    again = forget(["1", "7"], receipts(two))
    assert (again.rewritten, again.unknown) == (False, (1, 2))
    assert [path.read_bytes() for path in receipts(two)] == before


def test_one_after_the_other_is_both_at_once(two: Path) -> None:
    kept = [path.read_bytes() for path in receipts(two)]
    forget(["7", "1", "9"], receipts(two))
    at_once = [json.loads(path.read_text()) for path in receipts(two)]
    for path, raw in zip(receipts(two), kept, strict=True):
        path.write_bytes(raw)
    for user in ("7", "1", "9"):
        forget([user], receipts(two))
    for path, facts in zip(receipts(two), at_once, strict=True):
        later = json.loads(path.read_text())
        assert later["users"] == facts["users"]
        assert sorted(later["erased"]) == sorted(facts["erased"])
        if "chain" in facts:
            known = len(facts["erased"])
            for part in (slice(known), slice(known, None)):
                own, other = (each["chain"]["erased"][part] for each in (later, facts))
                assert sorted(own) == sorted(other)


def test_a_dry_run_only_tells(two: Path) -> None:
    before = [path.read_bytes() for path in receipts(two)]
    found = forget(["7"], receipts(two), dry_run=True)
    assert [held.records for held in found.key_files] == [1, 1]
    assert not found.rewritten
    assert [path.read_bytes() for path in receipts(two)] == before


def test_the_next_release_treats_them_as_having_left(two: Path) -> None:
    """Their 5 was told of their class, and is told on, though they are nobody now."""
    first = back(two, "a")
    row = first.class_of_record[first.private.link.record]
    own = cells_told(first.classes)[row[first.private.link.users.index("7")]]
    forget(["7"], receipts(two))
    first = back(two, "a")
    second = KExchange(4).anonymize(without(EVERYBODY, "7"), rng=0, after=first)
    chain = second.private.chain
    assert chain.forgotten.tolist() == chain_of(first).forgotten.tolist()
    assert own in cells_told(second.classes)
    assert second.exact.dummy_records == 1
    assert "7" not in [*second.private.link.users, *chain.gone]
    found = composition_of([first, second], without(EVERYBODY, "7"), "none")
    assert found.counts.smallest == 4
    third = KExchange(4).anonymize(without(EVERYBODY, "7"), rng=0, after=second)
    assert own in cells_told(third.classes)  # who is forgotten stays forgotten


def test_who_is_still_in_the_data_is_a_newcomer(two: Path) -> None:
    more = table([*ROWS, *ROWS[:3]], Scale(1, 5, 1))
    forget(["7"], receipts(two))
    second = KExchange(4).anonymize(more, rng=0, after=back(two, "a"))
    chain = second.private.chain
    group = dict(zip(second.private.link.users, chain.group.tolist(), strict=True))
    assert {user for user, g in group.items() if g == group["7"]} == {"7", "13", "14", "15"}


def test_what_else_reads_receipts_goes_on(two: Path) -> None:
    forget(["7"], receipts(two))
    rest = without(EVERYBODY, "7")
    release = back(two, "a")
    for ratings in (EVERYBODY, rest):  # taken out of the data or not yet
        match = Match(release, ratings)
        assert ratings_digest(match.made_of) == ratings_digest(rest)
        assert (match.row_of_user >= 0).sum() == 11
        private = read_receipt(two / "a.json")
        facts = vars(private) | {"original": match.made_of}
        assert verify_folder(two / "a", type(private)(**facts))["smallest_class"] == 4
    part = Part.of(release)
    assert part.nobodys.sum() == 1
    with pytest.raises(ConfigError):
        _ = Match(release, without(EVERYBODY, "7", "8")).made_of
    other = table([{0: float(1 + u % 4), 1: 2.0} for u in range(12)], Scale(1, 5, 1))
    facts = vars(release.private) | {"original": without(other, "7")}
    with pytest.raises(ReleaseError, match="truth"):  # by the cells, as no digest tells
        verify_folder(two / "a", type(release.private)(**facts))


@pytest.mark.parametrize(
    "method",
    [IntervalAnonymizer(3, 2, rare_items="keep"), PredictiveAnonymizer(4, profile="simple")],
    ids=["record", "profile"],
)
def test_releases_of_other_layouts(method: Any, tmp_path: Path) -> None:
    saved(method.anonymize(EVERYBODY, rng=0), tmp_path, "a")
    forget(["7"], [tmp_path / "a.json"])
    release = back(tmp_path, "a")
    rest = without(EVERYBODY, "7")
    for ratings in (EVERYBODY, rest):
        match = Match(release, ratings)
        assert ratings_digest(match.made_of) == ratings_digest(rest)
        private = vars(release.private) | {"original": rest}
        verify_folder(tmp_path / "a", type(release.private)(**private))
    if release.manifest.layout == "profile":
        with pytest.raises(UnmetError, match="lost members"):
            method.anonymize(rest, rng=0, after=release)


def test_everybody_is_forgotten(two: Path) -> None:
    forget(list(EVERYBODY.users), receipts(two))
    for name in "ab":
        assert back(two, name).n_people == 0
    with pytest.raises(ConfigError, match="none of the people"):
        KExchange(4).anonymize(EVERYBODY, rng=0, after=back(two, "b"))


@pytest.mark.parametrize(
    ("users", "names", "message"),
    [
        ([], ["a.json"], "no user given"),
        (["7"], [], "no key file given"),
        (["7"], ["a.json", "./a.json"], "a key file twice"),
        (["7"], ["a.json", "nowhere"], "cannot be read"),
        (["7"], ["a.json", "damaged"], "damaged"),
        (["7"], ["a.json", "a/release.json"], "not a private key file"),
    ],
)
def test_what_is_refused_changes_nothing(
    users: list[str], names: list[str], message: str, two: Path
) -> None:
    facts = json.loads((two / "b.json").read_text())
    (two / "damaged").write_text(signed(facts | {"records": facts["records"][1:]}))
    before = (two / "a.json").read_bytes()
    with pytest.raises((ConfigError, ReleaseError), match=message):
        forget(users, [f"{two}/{name}" for name in names])
    assert (two / "a.json").read_bytes() == before


def test_a_release_of_no_receipt_is_refused(two: Path) -> None:
    with pytest.raises(ReleaseError, match="none of the key files belongs to this release"):
        forget(["7"], [two / "a.json"], releases=[two / "b"])
    with pytest.raises(ReleaseError, match="not a release"):
        forget(["7"], [two / "a.json"], releases=[two / "nowhere"])
    assert "7" in json.loads((two / "a.json").read_text())["users"]


def test_a_link_leads_to_the_receipt(two: Path) -> None:
    (two / "link").symlink_to("a.json")
    forget(["7"], [two / "link"])
    assert (two / "link").is_symlink()
    assert "7" not in json.loads((two / "a.json").read_text())["users"]


def test_a_failure_before_the_end_changes_no_receipt(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [path.read_bytes() for path in receipts(two)]
    written = []
    true = Path.write_text

    def full(self: Path, *args: Any, **more: Any) -> int:
        written.append(self)
        if len(written) == 2:
            raise OSError(28, "full")
        return true(self, *args, **more)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match="no space left"):
        forget(["7"], receipts(two))
    monkeypatch.undo()
    assert [path.read_bytes() for path in receipts(two)] == before
    assert sorted(path.name for path in two.iterdir()) == ["a", "a.json", "b", "b.json"]


KILLED = """
import os, signal, sys
from starshade.release.folder.forget import forget
true, left = os.replace, int(sys.argv[1])
def replace(*names):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    true(*names)
os.replace = replace
forget(["7", "1"], sys.argv[2:])
"""


@pytest.mark.parametrize("done", [0, 1])
def test_killed_in_between_the_same_again_ends_it(done: int, two: Path) -> None:
    words = [sys.executable, "-c", KILLED, str(done), *map(str, receipts(two))]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    held = ["7" in json.loads(path.read_text())["users"] for path in receipts(two)]
    assert held == [done == 0, True]  # each is whole, and has them or has them not
    forget(["7", "1"], receipts(two))
    assert not any("7" in json.loads(path.read_text())["users"] for path in receipts(two))
    assert sorted(os.listdir(two)) == ["a", "a.json", "b", "b.json"]  # swept


@at_least(40)
@given(stories(), st.randoms(use_true_random=False), st.booleans())
def test_nobody_hides_among_fewer_for_it(story: Story, random: Any, first_too: bool) -> None:
    """Of a chain some are forgotten between two releases; their ratings are in no later data."""
    method = Mondrian(story.k, "ndgh", rare_items="keep", slack=story.slack)
    with tempfile.TemporaryDirectory() as name:
        folder, lost = Path(name), set[str]()
        for year, ratings in enumerate(story.tables()):
            places = [folder / f"{i}.json" for i in range(year)]
            if year and (year > 1 or first_too):
                some = read_receipt(places[-1]).link.users
                lost |= {user for user in some if random.random() < 0.2}
                if lost:
                    forget(sorted(lost), places)
            rest = without(ratings, *lost)
            try:
                after = back(folder, str(year - 1)) if year else None
                made = method.anonymize(rest, rng=0, after=after, shortfall=story.shortfall)
            except (ConfigError, UnmetError):
                return
            saved(made, folder, str(year))
            releases = [back(folder, str(i)) for i in range(year + 1)]
            found = composition_of(releases, rest, story.changes)
            assert found.counts.people_below_k == 0
            told = [user for each in releases for user in each.private.link.users]
            assert not lost.intersection(told)
