"""What a public edition tells, less what the release tells, is about nobody alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.suppress.suppress import SuppressAnonymizer
from starshade.audit.dossier.data import data_section
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.dossier.losses import loss_rows
from starshade.audit.few import in_words
from starshade.audit.verdict import Audit
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.origin.origin import Origin
from starshade.release.table import Release

SCALE = Scale(1, 5, 1)
K = 5  # the fewest people behind a figure, whatever smaller k is claimed
QUICK = Audit(known=(2,), targets=60)


def table(rows: list[tuple[int, int, int]]) -> Ratings:
    users, items, given = np.array(rows).T
    return Ratings.from_arrays(users, items, given.astype(float), scale=SCALE)


def with_a_loner() -> Ratings:
    """Forty who rate nearly alike, and one who does not."""
    rows = [(i, item, 3 + i // 10 % 2) for i in range(40) for item in range(4)]
    return table([*rows, (40, 0, 1), (40, 1, 1), (40, 2, 5), (40, 3, 2)])


def with_rare_items() -> Ratings:
    """Forty who rate five items; one, and three others, rate one more each."""
    rows = [(i, item, 1 + (i + item) % 4) for i in range(40) for item in range(5) if i % 7 != item]
    return table([*rows, (0, 5, 5), *((i, 6, 1) for i in (1, 2, 3))])


def with_a_giant() -> Ratings:
    """Twelve who rate three of six items, and one who rates twenty."""
    rng = np.random.default_rng(3)
    rows = [
        (i, int(item), int(rng.integers(3, 5)))
        for i in range(12)
        for item in rng.choice(6, 3, replace=False)
    ]
    return table([*rows, *((12, item, 5 if item == 3 else 1) for item in range(20))])


CASES: dict[str, tuple[Any, Ratings]] = {
    "somebody left out": (SuppressAnonymizer(k=3, eps=1), with_a_loner()),
    "rare items left out": (KLikeness(k=5), with_rare_items()),
    "nothing left out": (KLikeness(k=2, rare_items="keep"), with_a_giant()),
}


def told_of(case: str, folder: Path, *, linked: bool = True) -> tuple[Dossier, Ratings, Release]:
    method, ratings = CASES[case]
    method.anonymize(ratings, rng=1).save(folder / "out", private=folder / "r.json")
    receipt = folder / "r.json" if linked else None
    found = compile_dossier(ratings, folder / "out", private=receipt, audit=QUICK, rng=1)
    return found, ratings, read_release(folder / "out", private=receipt)


@pytest.mark.parametrize("case", CASES)
def test_the_report_less_the_release_leaves_nobody(case: str, tmp_path: Path) -> None:
    dossier, ratings, release = told_of(case, tmp_path)
    told, part = dossier.public()["data"], Origin(release, ratings).made_of
    assert told["users"] == release.n_records
    assert told["items"] == release.classes.n_items
    assert told["ratings"] == part.n_ratings
    shown = {bin_["label"]: bin_["ratings"] for bin_ in told["histogram"]["bins"]}
    assert sum(shown.values()) == part.n_ratings
    if release.manifest.layout == "record":  # the very ratings are in the files
        codes = release.cells().codes
        values = release.cells().symbols.low[codes]
        for bin_ in told["histogram"]["bins"]:
            inside = (values >= bin_["low"]) & (values <= bin_["high"])
            left = bin_["ratings"] - int(inside.sum())
            assert left == 0 or abs(left) >= K, bin_
    if ratings.n_users + ratings.n_items > part.n_users + part.n_items:
        own = dossier.internal()["data"]
        assert own["ratings"] == ratings.n_ratings > told["ratings"] == own["released"]["ratings"]
        assert own["of"].startswith("All your data")


def test_who_was_left_out_cannot_be_told_without_the_receipt(tmp_path: Path) -> None:
    dossier, ratings, release = told_of("somebody left out", tmp_path, linked=False)
    told = dossier.public()
    assert release.manifest.users_deleted == 1
    assert told["data"]["ratings"] is told["data"]["sparsity"]["value"] is told["histogram"] is None
    assert told["data"]["histogram"]["bins"] == told["data"]["long_tail"]["points"] == []
    assert told["stand_out"]["steps"] == []
    assert not [row for row in told["losses"] if row["name"].startswith("histogram")]
    said = json.dumps(told)
    assert "1 person was left out" not in said
    assert "fewer than 5 people were left out" in said
    assert "1 person was left out" in json.dumps(dossier.internal())
    assert ratings.n_users == told["data"]["users"] + 1


@pytest.mark.parametrize("name", ["users_deleted", "users_without_rating"])
def test_a_few_people_are_fewer_than_five(name: str, tmp_path: Path) -> None:
    dossier, _, release = told_of("somebody left out", tmp_path)
    true = getattr(release.manifest, name)
    assert dossier.internal()["method"][name] == true
    assert dossier.public()["method"][name] == ("fewer than 5" if true else 0)
    losses = {row["name"]: row["value"] for row in dossier.public()["losses"]}
    assert losses["users_deleted"] == "fewer than 5"


@pytest.mark.parametrize("case", CASES)
def test_no_step_of_the_long_tail_is_of_few(case: str) -> None:
    ratings = CASES[case][1]
    order = np.argsort(-ratings.item_support, kind="stable")
    rank = np.argsort(order)[ratings.columns]
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    ends = [
        int(np.ceil(point["items"] * ratings.n_items - 1e-9))
        for point in data_section(ratings, SCALE, K)["long_tail"]["points"]
    ]
    assert ends[-1] == ratings.n_items
    for start, end in zip([0, *ends], [*ends, ratings.n_items], strict=True):
        people = len(np.unique(users[(rank >= start) & (rank < end)]))
        assert people == 0 or people >= K
    assert len(data_section(ratings, SCALE, 1)["long_tail"]["points"]) >= len(ends)


def test_rates_of_few_people_are_bounds(tmp_path: Path) -> None:
    dossier, ratings, _ = told_of("nothing left out", tmp_path)
    own, public = dossier.internal(), dossier.public()
    hidden = 0
    for mine, told in zip(own["attacks"], public["attacks"], strict=True):
        for side in ("before", "after", "profile"):
            found = mine[side]["rate"] * mine["targets"]
            few = 0 < found < K - 1e-9 or 0 < mine["targets"] - found < K - 1e-9
            assert (told[side] is None) == few == (side in told["withheld"])
            hidden += few
        assert mine["withheld"] == {}
    assert hidden
    said = json.dumps(public)
    secret = {
        f"{row[side]['rate']:.1%}"
        for at, row in enumerate(own["attacks"])
        for side in public["attacks"][at]["withheld"]
    }
    texts = [public["verdict"]["paragraph"], *(f["text"] for f in public["findings"])]
    assert not [share for share in secret for text in texts if share in text], texts
    assert 'identified": null' in said
    assert len(public["stand_out"]["steps"]) == len(own["stand_out"]["steps"])
    assert ratings.n_users == 13


def test_whoever_could_not_be_tried_is_counted(tmp_path: Path) -> None:
    dossier, _, _ = told_of("rare items left out", tmp_path)
    strict = Audit(known=(5,), targets=60)
    found = compile_dossier(
        CASES["rare items left out"][1],
        tmp_path / "out",
        private=tmp_path / "r.json",
        audit=strict,
        rng=1,
    ).internal()
    row = found["attacks"][0]
    assert row["targets"] < row["people"] == 40
    said = f"{row['targets']} of 40 people have 5 ratings or more on these items; the others"
    assert row["tried"].startswith(said)
    assert said in found["verdict"]["paragraph"]
    assert dossier.public()["fewest"] == K


def test_who_stands_alone_with_exact_attributes_is_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(i, item, int(rng.integers(1, 6))) for i in range(40) for item in range(5)]
    ages = [30] * 20 + [40] * 17 + [50, 51, 52]
    ratings = table(rows)
    people = pa.table({"age": ages, "sex": ["f"] * 40})
    method = KLikeness(k=5, attributes="exact")
    method.anonymize(replace(ratings, attributes=people), rng=1).save(
        tmp_path / "out", private=tmp_path / "r.json"
    )
    found = compile_dossier(
        replace(ratings, attributes=people),
        tmp_path / "out",
        private=tmp_path / "r.json",
        audit=QUICK,
        rng=1,
    )
    for told, value in ((found.internal(), 3 / 40), (found.public(), "less than 12.5%")):
        (row,) = (r for r in told["disclosure"]["rows"] if r["name"] == "unique_by_attributes")
        assert row["value"] == value
        assert row["title"] == "Records that no other equals in age, sex"
        assert told["query_error"] is not None


def test_why_no_averages_were_compared(tmp_path: Path) -> None:
    dossier, _, _ = told_of("nothing left out", tmp_path)
    assert "without personal attributes" in dossier.public()["query_error_how"]


def test_a_found_group_is_told_with_its_figures(tmp_path: Path) -> None:
    ratings = with_a_loner()
    method = PredictiveAnonymizer(k=5, profile="padded")
    method.anonymize(ratings, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        ratings, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, rng=1
    )
    given = found.audit.gives_away
    assert given is not None
    assert given.group is not None
    for told, k in ((found.internal(), 1), (found.public(), 5)):
        share = in_words(given.group.share.rate, given.group.targets, k)
        said = f"must name one group names the right one in {share} of the cases"
        assert said in told["verdict"]["paragraph"]
        assert f"names the right group in {share} of the cases" in told["gives_away"]["text"]


def test_warnings_count_no_few_people(tmp_path: Path) -> None:
    ratings = with_a_giant()
    method = PredictiveAnonymizer(k=2, profile="simple", rare_items="keep")
    method.anonymize(ratings, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        ratings, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, rng=1
    )
    own, public = found.internal()["warnings"], found.public()["warnings"]
    for said in ("the interval is wide", "of the filled cells rest on one person's rating"):
        assert any(said in text for text in own)
    assert "Some of the attacks had few targets, so that their intervals are wide." in public
    assert any(text.startswith("Some of the filled cells rest on one") for text in public)
    assert not any(re.search(r"\d+ targets|\d%", text) for text in public)


def test_before_beside_after_tells_of_no_single_move(tmp_path: Path) -> None:
    # sixty rate alike, but for one rating: it is moved near the others'
    rows = [(i, item, (4, 3, 5, 2)[item]) for i in range(60) for item in range(4)]
    ratings = table([(*row[:2], 5) if row[:2] == (17, 1) else row for row in rows])
    method = IntervalAnonymizer(k=5, eps=1)
    method.anonymize(ratings, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        ratings, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, rng=1
    )
    own, told = found.internal(), found.public()
    assert {row["name"]: row["value"] for row in own["losses"]}["ratings_moved"] == 1
    before, after = (np.array(told["histogram"][side]) * 240 for side in ("before", "after"))
    away = np.abs(before - after)
    assert all(away[away > 1e-6] >= K)
    levels = told["histogram"]["levels"]
    assert [each["label"] for each in told["data"]["histogram"]["bins"]] == levels
    losses = {row["name"]: row["value"] for row in told["losses"]}
    assert losses["ratings_moved"] == "fewer than 5"
    for name in ("distortion_per_record", "histogram_distance", "histogram_distance_rated"):
        assert losses[name] == "withheld: fewer than 5 people"


def test_ratings_of_few_people_are_withheld() -> None:
    figures = {"ratings_moved": 8, "distortion_per_record": 0.1, "ratings_moved of people": 2}
    (row, each) = loss_rows(figures, 5)[::-1]
    assert {row["name"]: row["value"], each["name"]: each["value"]} == {
        "ratings_moved": "withheld: fewer than 5 people",
        "distortion_per_record": 0.1,
    }


def test_a_suppressed_rating_is_not_told_by_the_number_of_ratings(tmp_path: Path) -> None:
    rows = [(i, item, 4 - item) for i in range(60) for item in range(3)]
    ratings = table([row for row in rows if row != (0, 0, 4)])
    IntervalAnonymizer(k=5, eps=1, nulls="zero").anonymize(ratings, rng=1).save(
        tmp_path / "out", private=tmp_path / "r.json"
    )
    found = compile_dossier(
        ratings, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, rng=1
    )
    losses = {row["name"]: row["value"] for row in found.internal()["losses"]}
    told = found.public()
    if losses["ratings_suppressed"] + losses["ratings_invented"]:
        assert told["data"]["ratings"] is told["data"]["sparsity"]["value"] is None
        assert told["histogram"] is None
        assert "fewer than 5 people" in told["data"]["of"]
    assert losses["ratings_suppressed"] + losses["ratings_invented"]


def grid(lacking: list[tuple[int, int]], people: int = 60, items: int = 4) -> Ratings:
    """Return ratings of all items by all people, but for these."""
    cells = [(i, item) for i in range(people) for item in range(items)]
    return table([(*cell, 1 + sum(cell) % 5) for cell in cells if cell not in lacking])


def test_the_least_and_the_most_of_single_people_are_not_told() -> None:
    # one rated one item, one rated all eight, and forty rated three
    rows = [(i, (i + j) % 8, 3) for i in range(40) for j in range(3)]
    ratings = table([*rows, (40, 0, 3), *((41, item, 3) for item in range(8))])
    told = data_section(ratings, SCALE, K)["ratings_per_user"]["bins"]
    assert [(each["low"], each["high"], each["users"]) for each in told] == [(1, 8, 42)]
    ratings = table([*rows, *((40 + i, item, 3) for i in range(5) for item in range(6))])
    told = data_section(ratings, SCALE, K)["ratings_per_user"]["bins"]
    ends = [(each["low"], each["high"], each["users"]) for each in told]
    assert ends[0] == (3, 3, 40)  # five people or more stand at both ends
    assert ends[-1] == (6, 6, 5)


def test_who_did_not_rate_an_item_is_not_told_of_few() -> None:
    # of two items, all but one rated the first; ten rated the second
    ratings = grid([(0, 0), *((i, 1) for i in range(10, 60))], items=2)
    tail = data_section(ratings, SCALE, K)["long_tail"]
    assert min(point["items"] for point in tail["points"]) > 0.5
    assert tail["top_10_percent"] is None
    assert len(data_section(ratings, SCALE, 1)["long_tail"]["points"]) > 1


@pytest.mark.parametrize(("lacking", "told"), [(0, True), (1, False), (4, False), (5, True)])
def test_few_empty_cells_are_not_told(lacking: int, told: bool) -> None:
    found = data_section(grid([(i, 0) for i in range(lacking)]), SCALE, K)
    assert (found["ratings"] is not None) == told
    assert (found["sparsity"]["value"] is not None) == told
    assert (found["ratings_per_user"]["mean"] is not None) == told
    assert bool(found["histogram"]["bins"]) == told
    assert bool(found["long_tail"]["points"]) == told


@pytest.mark.parametrize(("people", "told"), [(3, False), (9, True)])
def test_what_a_recommender_loses_rests_on_enough_people(
    people: int, told: bool, tmp_path: Path
) -> None:
    train, held = hold_out(synthesize(n_users=60, n_items=12, n_ratings=420, rng=0), 0.1, rng=0)
    aside = held.keep_users(np.flatnonzero(held.user_support)[:people])
    KLikeness(k=5).anonymize(train, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        train, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, probe=aside, rng=1
    )
    assert found.internal()["recommender"] is not None
    assert (found.public()["recommender"] is not None) == told
    assert "too few people" in found.public()["recommender_how"]


def test_cells_that_few_members_lack_are_withheld(tmp_path: Path) -> None:
    # twelve who rate all of six items, but for one who lacks one
    ratings = grid([(0, 0)], people=12, items=6)
    method = PredictiveAnonymizer(k=5, profile="simple", rare_items="keep")
    method.anonymize(ratings, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        ratings, tmp_path / "out", private=tmp_path / "r.json", audit=QUICK, rng=1
    )
    own, public = found.internal()["gives_away"], found.public()["gives_away"]
    withheld = "withheld: fewer than 5 people"
    values = {row["name"]: row["value"] for row in public["rows"]}
    assert {row["name"]: row["value"] for row in own["rows"]}["member_rated"] < 1
    assert values["member_rated"] == values["everybody_rated"] == withheld
    assert f"How sure a filled cell makes the reader is {withheld}." in public["text"]
    assert "A given member did" in own["text"]


def test_no_bound_means_one_number_of_people() -> None:
    for people in range(1, 10):
        said = {in_words(found / people, people, K) for found in range(1, people)}
        assert said <= {"withheld: fewer than 5 people"}
    assert in_words(1 / 10, 10, K) == in_words(4 / 10, 10, K) == "less than 50.0%"
