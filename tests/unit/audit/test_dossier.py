"""A dossier: what it holds, for whom, and that it is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.k_member import KMember
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.risk.result import RiskResult, RiskStep
from starshade.audit.dossier.attacks import tracker_row
from starshade.audit.dossier.data import bins_of, data_section, pooled
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.dossier.losses import LOSSES
from starshade.audit.dossier.people import at_risk, stand_out
from starshade.audit.dossier.release import claim_rows
from starshade.audit.few import in_words
from starshade.audit.measure import measure_all
from starshade.audit.verdict import Audit
from starshade.figure import Rate
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release

RATINGS = synthesize(n_users=60, n_items=12, n_ratings=420, rng=0)
QUICK = Audit(known=(2, 4), targets=60)
SEED = 918_273_645


def compiled(
    method: Any, folder: Path, ratings: Ratings = RATINGS, *, linked: bool = True, **more: Any
) -> Dossier:
    method.anonymize(ratings, rng=1).save(folder / "out", private=folder / "out.json")
    receipt = folder / "out.json" if linked else None
    return compile_dossier(ratings, folder / "out", private=receipt, audit=QUICK, rng=SEED, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dossier")


@pytest.fixture(scope="module")
def dossier(folder: Path) -> Dossier:
    return compiled(KLikeness(k=5, items=top_items(5)), folder)


def documented(after: str, until: str) -> set[str]:
    text = (Dossier.__doc__ or "").partition(after)[2].partition(until)[0]
    heads = re.findall(r"^    (``\w+``(?:, ``\w+``)*)$", text, re.M)
    return set(re.findall(r"\w+", " ".join(heads)))


def test_its_keys_are_the_documented_ones(dossier: Dossier) -> None:
    common = documented("Keys of both editions.", "Internal besides:\n")
    own = documented("Internal besides:\n\n", "\x00")
    assert set(dossier.public()) == common
    assert set(dossier.internal()) == common | own
    assert len(common) > 15
    assert own == {"people", "run"}


def test_it_is_plain_data(dossier: Dossier) -> None:
    for told in (dossier.public(), dossier.internal()):
        assert json.loads(json.dumps(told, allow_nan=False)) == told
    changed = dossier.public()
    changed["data"]["users"] = -1
    assert dossier.public()["data"]["users"] != -1


def test_the_public_edition_names_nothing_of_the_owner(dossier: Dossier, folder: Path) -> None:
    public, own = (json.dumps(told) for told in (dossier.public(), dossier.internal()))
    secret = [str(SEED), str(folder), dossier.audit.digest]
    for text in secret:
        assert text in own
        assert text not in public
    assert not {"first_day", "notes"} & set(dossier.public()["data"])
    assert {"first_day", "notes"} <= set(dossier.internal()["data"])


def meanings(told: Any) -> list[str]:
    """Find every sentence that says what a figure means."""
    if isinstance(told, dict):
        found = [told["meaning"]] if "meaning" in told else []
        return found + [each for value in told.values() for each in meanings(value)]
    return [each for value in told for each in meanings(value)] if isinstance(told, list) else []


def wide_real() -> Ratings:
    rng = np.random.default_rng(3)
    users, items = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    return Ratings.from_arrays(users, items, np.round(rng.normal(0, 3, 160), 3))


def halves() -> Ratings:
    rng = np.random.default_rng(2)
    users, items = np.nonzero(rng.random((50, 8)) < 0.6)
    return Ratings.from_arrays(users, items, rng.integers(1, 11, len(users)) / 2)


TRAIN, PROBE = hold_out(RATINGS, 0.1, rng=0)
CASES: dict[str, tuple[Any, Ratings, dict[str, Any]]] = {
    "half stars": (KLikeness(k=5), halves(), {}),
    "any value": (KMember(k=5), wide_real(), {}),
    "records moved": (IntervalAnonymizer(k=4, eps=2, nulls="zero"), RATINGS, {}),
    "records moved, no receipt": (
        IntervalAnonymizer(k=4, eps=2, nulls="zero"),
        RATINGS,
        {"linked": False},
    ),
    "profiles": (PredictiveAnonymizer(k=5, profile="pooled"), TRAIN, {"probe": PROBE}),
    "profiles, no receipt": (
        PredictiveAnonymizer(k=5, profile="simple"),
        RATINGS,
        {"linked": False},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_release_is_told_calmly(case: str, tmp_path: Path) -> None:
    method, ratings, more = CASES[case]
    found = compiled(method, tmp_path, ratings, **more)
    told = found.internal()
    json.dumps(told, allow_nan=False)
    assert told["verdict"]["passed"] is found.passed
    assert told["verdict"]["advice"]
    assert all(text.endswith(".") and "nan" not in text.split() for text in meanings(told))
    assert told["losses"]
    assert (told["histogram"] is None) == (ratings.scale.step is None)
    assert (told["recommender"] is not None) == ("probe" in more)
    rates = [row[side] for row in told["attacks"] for side in ("before", "after")]
    assert all(rate is None or 0 <= rate["low"] <= rate["rate"] <= 1 for rate in rates)
    if case == "records moved":
        assert "near a record" in told["verdict"]["paragraph"]
    if not more.get("linked", True):
        assert "not known" in told["verdict"]["paragraph"]
        assert "receipt" in told["verdict"]["advice"][0]
        assert not found.passed
        assert all(row["class_size"] is None for row in told["people"]["rows"])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 8))
def test_bins_hold_nobody_or_enough(counts: list[int], k: int) -> None:
    people = np.array(counts, dtype=np.int64)
    ranges = pooled(people, k)
    if people.sum() < k:
        assert ranges == []
        return
    assert [a for a, _ in ranges] == [0, *(b for _, b in ranges[:-1])]
    assert ranges[-1][1] == len(people)
    assert all(people[a:b].sum() == 0 or people[a:b].sum() >= k for a, b in ranges)


def test_a_rating_of_few_is_not_told() -> None:
    # everybody gives 1, 2 and 3; one single user gives 5
    users = np.concatenate([np.repeat(np.arange(6), 3), [0]])
    items = np.concatenate([np.tile(np.arange(3), 6), [3]])
    ratings = Ratings.from_arrays(
        users, items, np.r_[np.tile([1.0, 2, 3], 6), 5], scale=Scale(1, 5, 1)
    )
    bins, counts = bins_of(ratings, ratings.scale, 5)
    assert bins.labels == ["1", "2", "3 to 5"]
    assert counts.tolist() == [6, 6, 7]
    fine = bins_of(ratings, Scale(0, 30, 1), 5)  # more levels than a histogram shows
    assert fine[0].labels[:3] == ["0 to 2", "3 to 5", "6 to 8"]
    assert fine[0].labels[-1] == "27 to 30"
    assert fine[1].tolist() == [12, 7, *[0] * 8]
    assert fine[0].of_level.tolist() == [*np.repeat(np.arange(10), 3).tolist(), 9]
    told = data_section(ratings, Scale(1, 3, 1), 5)  # as published without it
    assert [bin_["label"] for bin_ in told["histogram"]["bins"]] == ["1", "2", "3"]
    assert told["ratings_per_user"]["bins"] == [
        {"label": "3 to 4", "low": 3, "high": 4, "users": 6, "share": 1.0}
    ]


def test_people_in_two_bins_are_counted_once() -> None:
    # the same three people gave 4 and 5: together that is three, and not six
    users = np.concatenate([np.repeat(np.arange(7), 2), np.repeat(np.arange(3), 2)])
    items = np.concatenate([np.tile([0, 1], 7), np.tile([2, 3], 3)])
    ratings = Ratings.from_arrays(
        users, items, np.r_[np.tile([1.0, 2], 7), np.tile([4.0, 5], 3)], scale=Scale(1, 5, 1)
    )
    bins, counts = bins_of(ratings, ratings.scale, 5)
    assert bins.labels == ["1", "2 to 5"]
    assert counts.tolist() == [7, 13]


def test_people_are_counted_by_how_much_they_rated() -> None:
    told = data_section(RATINGS, RATINGS.scale, 5)["ratings_per_user"]
    given_by = RATINGS.user_support
    for bin_ in told["bins"]:
        inside = (given_by >= bin_["low"]) & (given_by <= bin_["high"])
        assert bin_["users"] == inside.sum()
        assert bin_["users"] >= 5
    assert sum(bin_["users"] for bin_ in told["bins"]) == RATINGS.n_users
    few = data_section(RATINGS.keep_users(np.arange(4)), RATINGS.scale, 5)
    assert few["ratings_per_user"]["mean"] is None
    assert few["ratings_per_user"]["bins"] == few["histogram"]["bins"] == []


def test_losses_are_figures_that_there_are(dossier: Dossier) -> None:
    release = read_release(dossier.internal()["run"]["release"])
    assert set(LOSSES) <= set(measure_all(release, RATINGS))
    named = {row["name"]: row["value"] for row in dossier.public()["losses"]}
    assert named["classes"] == release.classes.n_groups
    assert named["gen_iloss"] == pytest.approx(dossier.audit.utility["gen_iloss"], abs=5e-4)


def test_a_histogram_sums_to_one(dossier: Dossier) -> None:
    told = dossier.public()["histogram"]
    part = top_items(5).apply(RATINGS)
    share = np.bincount(part.codes, minlength=5) / part.n_ratings
    assert sum(told["before"]) == pytest.approx(1, abs=5e-3)
    assert sum(told["after"]) == pytest.approx(1, abs=5e-3)
    assert len(told["levels"]) <= 5
    if len(told["levels"]) == 5:
        np.testing.assert_allclose(told["before"], share, atol=5e-4)


def test_who_is_at_risk_and_what_is_still_told(dossier: Dossier, folder: Path) -> None:
    told = dossier.internal()["people"]
    release = read_release(folder / "out", private=folder / "out.json")
    assert release.private is not None
    cells, link = release.cells(), release.private.link
    records = dict(zip(link.users, release.class_of_record[link.record].tolist(), strict=True))
    assert 0 < told["listed"] == len(told["rows"]) <= told["total"]
    assert [row["known"] for row in told["rows"]] == sorted(row["known"] for row in told["rows"])
    for row in told["rows"]:
        if row["user"] not in records:
            assert row["class_size"] is row["told"] is row["exists"] is None
            continue
        group = records[row["user"]]
        shown = [
            (cells.symbols.n_members[code], cells.symbols.null[code])
            for code in cells.codes[cells.indptr[group] : cells.indptr[group + 1]]
        ]
        assert row["class_size"] == cells.sizes[group] >= 5
        assert row["told"] == sum(members == 1 and not null for members, null in shown)
        assert row["exists"] == sum(not null for _, null in shown)


def risk(*identified: int, targets: int) -> RiskResult:
    steps = tuple(RiskStep(2**i, targets, found, 0) for i, found in enumerate(identified))
    nobody = np.empty(0, dtype=np.int64)
    return RiskResult(
        "label", targets, targets, 0, 10, 0.9, steps, {}, {}, 0, "", 0.0, nobody, nobody,
        nobody.astype(float),
    )  # fmt: skip


def known(told: dict[str, Any]) -> list[int]:
    return [step["known"] for step in told["steps"]]


def test_steps_of_too_few_people_are_without_a_figure() -> None:
    # 1 known: nobody; 2: three people; 4: three more; 8: ten more; 16: all but two
    found = risk(0, 3, 3, 10, 4, targets=22)
    assert known(stand_out(found, 20)) == [1, 2, 4, 8, 16]
    assert stand_out(found, 20)["withheld"] == ""
    public = stand_out(found, 20, 5)
    assert known(public) == [1, 2, 4, 8, 16]
    told = [step["identified"] and step["identified"]["rate"] for step in public["steps"]]
    assert told == [0, None, 6 / 22, 16 / 22, None]  # six at once; then two would be left
    assert "fewer than 5 people more" in public["withheld"]
    assert known(stand_out(risk(4, 0, targets=4), 20, 5)) == []
    assert stand_out(None, 0)["steps"] == []


def test_nobody_knows_more_ratings_than_there_are() -> None:
    assert known(stand_out(risk(0, 3, 3, 10, 4, targets=22), 6)) == [1, 2, 4]


def test_nobody_to_attack(dossier: Dossier) -> None:
    assert at_risk(None, RATINGS, read_release(dossier.internal()["run"]["release"])) is None


def test_a_share_of_too_few_people_is_not_told(dossier: Dossier) -> None:
    asked = dossier.audit.tracker
    assert asked is not None
    few = replace(asked, before=replace(asked.before, targets=60, at_risk=Rate(2 / 60, 0, 0.1)))
    odd = replace(dossier.audit, tracker=few)
    own, public = tracker_row(odd), tracker_row(odd, 5)
    assert own is not None
    assert public is not None
    assert own["before"]["rate"] == 2 / 60
    assert public["before"] is None
    assert public["withheld"] == {"before": "less than 8.4%"}
    assert public["after"]["rate"] == 0


def test_a_failed_release_comes_with_what_to_do(folder: Path, tmp_path: Path) -> None:
    strict = Audit(known=(4,), targets=60, max_success=0.001, max_disclosed=0.0)
    found = compile_dossier(
        RATINGS, folder / "out", private=folder / "out.json", audit=strict, rng=0
    )
    own, public = found.internal()["verdict"], found.public()["verdict"]
    assert not found.passed
    assert "should not leave" in own["headline"]
    assert "more often than the limit of 0.1% allows" in own["paragraph"]
    assert "1 in 5" not in own["paragraph"]
    assert any("a larger k, fewer items (items=top_items(N))" in text for text in own["advice"])
    assert any("raise max_disclosed." in text for text in own["advice"])
    assert public["advice"] == [
        "Do not use it, and tell its owner: by this report it should not have been given."
    ]


def test_an_earlier_release_is_told_without_its_path(tmp_path: Path) -> None:
    RATINGS.save(tmp_path / "store")
    stored = read_ratings(tmp_path / "store")
    for name, k in (("secret-first", 6), ("out", 5)):
        KLikeness(k=k, items=top_items(5)).anonymize(stored, rng=1).save(tmp_path / name)
    earlier = [tmp_path / "secret-first"]
    found = compile_dossier(stored, tmp_path / "out", audit=QUICK, earlier=earlier, rng=0)
    assert "secret-first" in json.dumps(found.internal())
    public = json.dumps(found.public())
    assert "secret-first" not in public
    assert str(tmp_path) not in public
    assert not found.passed
    for told in (found.public(), found.internal()):
        assert told["verdict"]["headline"].endswith("alone, not beside an earlier one")
        assert "nobody hides among k any more" in told["verdict"]["paragraph"]
        assert "has this release alone can" in told["verdict"]["paragraph"]
    assert "An earlier release is of the same data, or may be" in public
    assert found.public()["verdict"]["advice"][0].startswith("Do not use it")
    assert any("Choose one" in text for text in found.internal()["verdict"]["advice"])
    same = compile_dossier(stored, tmp_path / "out", audit=QUICK, earlier=[tmp_path / "out"], rng=0)
    assert same.passed
    assert str(tmp_path) not in json.dumps(same.public())


def test_the_paragraph_says_what_holds_and_what_is_told(dossier: Dossier) -> None:
    text = dossier.public()["verdict"]["paragraph"]
    best = dossier.audit.worst
    assert text.startswith("This release may leave the house. Each of its ")
    assert f"{in_words(best.before.expected_top1.rate, best.before.targets, 5)} of the cas" in text
    after = in_words(best.after.expected_top1.rate, best.after.targets, 5)
    assert f"and in {after} in this release" in text
    assert "more often than 1 in 5" in text
    shown = in_words(dossier.audit.disclosure["users_rating_disclosed"], dossier.audit.records, 5)
    assert f"{shown} of the people" in text
    assert "scoreboard" not in text


def test_claims_say_what_they_ask(dossier: Dossier) -> None:
    (claim,) = dossier.public()["claims"]
    assert claim["asked"] == "k = 5: every record equals at least 4 others"
    assert claim["verified"].startswith("the smallest group of such records has ")
    odd = replace(
        dossier.audit,
        claims=(
            {"model": "of-elsewhere", "parameters": {"q": 2}, "verified": {}, "holds": False},
            {"model": "k-eps", "parameters": {"k": 3}, "verified": {"x": 1}, "holds": False},
        ),
    )
    assert [row["asked"] for row in claim_rows(odd)] == ["q = 2", "k = 3"]
    assert [row["verified"] for row in claim_rows(odd)] == [
        "nothing that the files would show",
        "x = 1",
    ]
