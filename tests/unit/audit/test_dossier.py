"""A dossier: what it holds, for whom, and that it is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.baselines import KMember
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.risk_result import RiskResult, RiskStep
from starshade.audit.dossier.data import Bins, at_risk, data_section, stand_out
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.dossier.release import claim_rows, method_section
from starshade.audit.measure import measure_all
from starshade.audit.verdict import Audit
from starshade.plain import counted, percent
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from tests.policies import NO_LIMITS

RATINGS = synthesize(n_users=60, n_items=12, n_ratings=420, rng=0)
QUICK = Audit(threshold=NO_LIMITS, known=(2, 4), targets=60, shadows=0)
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
    common = documented("Keys of both reports.", "Public report only:\n")
    everybodys = documented("Public report only:\n\n", "Internal report only:\n")
    own = documented("Internal report only:\n\n", "\x00")
    assert set(dossier.public()) == common | everybodys
    assert set(dossier.internal()) == common | own
    assert len(common) > 5
    assert everybodys == {"checks", "holds", "omitted", "open", "uses"}
    assert {"people", "run", "attacks", "data"} < own


def test_it_is_plain_data(dossier: Dossier) -> None:
    for told in (dossier.public(), dossier.internal()):
        assert json.loads(json.dumps(told, allow_nan=False)) == told
    changed = dossier.public()
    changed["holds"]["scale"] = ""
    assert dossier.public()["holds"]["scale"]


def test_the_public_edition_names_nothing_of_the_owner(dossier: Dossier, folder: Path) -> None:
    public, own = (json.dumps(told) for told in (dossier.public(), dossier.internal()))
    secret = [str(SEED), str(folder), dossier.audit.digest]
    for text in secret:
        assert text in own
        assert text not in public
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
        assert "Near records are not equal" in told["verdict"]["paragraph"]
    if not more.get("linked", True):
        (check,) = (each for each in told["checks"] if each["name"] == "re-identification")
        assert check["value"] is None
        assert "key file" in check["advice"]
        assert all(row["class_size"] is None for row in told["people"]["rows"])


def test_bins_are_those_of_the_scale() -> None:
    assert Bins.of(Scale(1, 5, 1)).labels == ["1", "2", "3", "4", "5"]
    fine = Bins.of(Scale(0, 30, 1))  # more levels than a histogram shows
    assert fine.labels[:3] == ["0 to 2", "3 to 5", "6 to 8"]
    assert fine.labels[-1] == "27 to 30"
    of_level = fine.place(Scale(0, 30, 1).levels)
    assert of_level.tolist() == [*np.repeat(np.arange(10), 3).tolist(), 9]
    assert Bins.of(Scale(-1, 1)).place(np.array([-1.0, -0.81, 0.0, 1.0])).tolist() == [0, 0, 5, 9]


def test_ratings_are_counted_in_the_bins_of_the_published_scale() -> None:
    users, items = np.repeat(np.arange(6), 3), np.tile(np.arange(3), 6)
    ratings = Ratings.from_arrays(users, items, np.tile([1.0, 2, 5], 6), scale=Scale(1, 5, 1))
    told = data_section(ratings, ratings, ratings.scale)
    assert [bin_["ratings"] for bin_ in told["histogram"]["bins"]] == [6, 6, 0, 0, 6]
    published = data_section(ratings, ratings, Scale(1, 3, 1))  # as published without the fives
    assert [bin_["ratings"] for bin_ in published["histogram"]["bins"]] == [6, 6, 6]
    assert told["ratings_per_user"]["bins"] == [
        {"label": "3", "low": 3, "high": 3, "users": 6, "share": 1.0}
    ]


def test_people_are_counted_by_how_much_they_rated() -> None:
    told = data_section(RATINGS, RATINGS, RATINGS.scale)["ratings_per_user"]
    given_by = RATINGS.user_support
    for bin_ in told["bins"]:
        inside = (given_by >= bin_["low"]) & (given_by <= bin_["high"])
        assert bin_["users"] == inside.sum()
    assert sum(bin_["users"] for bin_ in told["bins"]) == RATINGS.n_users


def test_losses_are_figures_that_there_are(dossier: Dossier) -> None:
    release = read_release(dossier.internal()["run"]["release"])
    named = {row["name"]: row["value"] for row in dossier.internal()["losses"]}
    assert named["classes"] == release.classes.n_groups
    assert set(named) <= set(measure_all(release, RATINGS))
    assert named["gen_iloss"] == dossier.audit.utility["gen_iloss"]


def test_a_histogram_sums_to_one(dossier: Dossier) -> None:
    told = dossier.internal()["histogram"]
    part = top_items(5).apply(RATINGS)
    share = np.bincount(part.codes, minlength=5) / part.n_ratings
    assert sum(told["before"]) == pytest.approx(1)
    assert sum(told["after"]) == pytest.approx(1)
    assert len(told["levels"]) == 5
    np.testing.assert_allclose(told["before"], share)


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
            assert row["class_size"] is row["disclosed"] is row["exists"] is None
            continue
        group = records[row["user"]]
        shown = [
            (cells.symbols.n_members[code], cells.symbols.null[code])
            for code in cells.codes[cells.indptr[group] : cells.indptr[group + 1]]
        ]
        assert row["class_size"] == cells.sizes[group] >= 5
        assert row["disclosed"] == sum(members == 1 and not null for members, null in shown)
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


def test_every_step_has_its_figure() -> None:
    # 1 known: nobody; 2: three people; 4: three more; 8: ten more; 16: all but two
    found = risk(0, 3, 3, 10, 4, targets=22)
    told = stand_out(found, 20)["steps"]
    assert [step["known"] for step in told] == [1, 2, 4, 8, 16]
    assert [step["identified"]["rate"] for step in told] == [n / 22 for n in (0, 3, 6, 16, 20)]
    assert stand_out(None, 0)["steps"] == []


def test_nobody_knows_more_ratings_than_there_are() -> None:
    assert known(stand_out(risk(0, 3, 3, 10, 4, targets=22), 6)) == [1, 2, 4]


def test_nobody_to_attack(dossier: Dossier) -> None:
    assert at_risk(None, RATINGS, read_release(dossier.internal()["run"]["release"])) is None


def test_a_failed_release_comes_with_what_to_do(folder: Path, tmp_path: Path) -> None:
    limits = NO_LIMITS | {"re-identification": 0.001, "attribute": 0.0}
    strict = Audit(threshold=limits, known=(4,), targets=60, shadows=0)
    found = compile_dossier(
        RATINGS, folder / "out", private=folder / "out.json", audit=strict, rng=0
    )
    own, public = found.internal()["verdict"], found.public()["verdict"]
    assert not found.passed
    assert own["headline"].startswith("FAIL (5 checks without effective threshold): policy partner")
    assert "(threshold 0.1%)" in own["paragraph"]
    assert any("make the release with method = predictive." in text for text in own["advice"])
    assert public["advice"][0].startswith("Do not use the release, and inform its owner")


def test_what_was_not_measured_comes_with_what_measures_it(folder: Path) -> None:
    limits = {**NO_LIMITS, "inference": 0.5}
    audit = Audit(threshold=limits, known=(4,), targets=60, shadows=0)
    found = compile_dossier(
        RATINGS, folder / "out", private=folder / "out.json", audit=audit, rng=0
    )
    own = found.internal()
    assert own["verdict"]["verdict"] == "INCOMPLETE"
    (advice,) = own["verdict"]["advice"]
    assert "make shadow releases: shadows = 16." in advice


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
        assert told["verdict"]["headline"].startswith("FAIL")
        (check,) = (each for each in told["checks"] if each["name"] == "composition")
        assert check["status"] == "fail"
    assert (
        "Guaranteed for this release alone: no attack" in found.internal()["verdict"]["paragraph"]
    )
    assert any("for this release alone: no attack" in text for text in found.public()["open"])
    assert found.public()["verdict"]["advice"][0].startswith("Do not use the release")
    same = compile_dossier(stored, tmp_path / "out", audit=QUICK, earlier=[tmp_path / "out"], rng=0)
    assert same.passed
    assert str(tmp_path) not in json.dumps(same.public())


def test_the_paragraph_says_what_holds_and_what_is_told(dossier: Dossier) -> None:
    text = dossier.internal()["verdict"]["paragraph"]
    best = dossier.audit.worst
    assert text.startswith("Every check of the policy is within its threshold (policy partner v1")
    before, after = best.before.expected_top1.rate, best.after.expected_top1.rate
    assert f"re-identifies {percent(after)} of targets in this release" in text
    assert f"and {percent(before)} in the original data" in text
    assert "more often than 1 in 5" in text
    assert "group" not in text
    assert "looks like" not in text
    shown = percent(dossier.audit.disclosure["users_rating_disclosed"])
    assert f"{shown} of people" in text
    assert "scoreboard" not in text
    public = dossier.public()["verdict"]["paragraph"]
    assert "for this release: no attack finds" in str(dossier.public()["open"])
    assert f"{shown} of people" in public


def test_claims_say_what_they_ask(dossier: Dossier) -> None:
    (claim,) = dossier.public()["claims"]
    assert claim["asked"] == "k = 5: every record equals at least 4 others in every cell"
    assert claim["verified"].startswith("smallest class ")
    odd = (
        {"model": "of-elsewhere", "parameters": {"q": 2}, "verified": {}, "holds": False},
        {"model": "k-eps", "parameters": {"k": 3}, "verified": {"x": 1}, "holds": False},
    )
    assert [row["asked"] for row in claim_rows(odd, beside=False)] == ["q = 2", "k = 3"]
    assert [row["verified"] for row in claim_rows(odd, beside=False)] == [
        "nothing: the files do not show it",
        "x 1",
    ]


def test_whoever_could_not_be_tried_is_counted(tmp_path: Path) -> None:
    rows = [(i, item) for i in range(40) for item in range(5) if i % 7 != item]
    users, items = np.array(rows).T
    ratings = Ratings.from_arrays(users, items, 1.0 + (users + items) % 4, scale=Scale(1, 5, 1))
    KLikeness(k=5).anonymize(ratings, rng=1).save(tmp_path / "out", private=tmp_path / "r.json")
    found = compile_dossier(
        ratings,
        tmp_path / "out",
        private=tmp_path / "r.json",
        audit=Audit(threshold=NO_LIMITS, known=(5,), shadows=0),
        rng=1,
    ).internal()
    row = next(each for each in found["attacks"] if each["known"] == 5)
    assert row["targets"] < row["people"] == 40
    said = f"{row['targets']} of 40 people have 5 ratings or more on these items; the others"
    assert row["tried"].startswith(said)


def test_who_stands_alone_with_exact_attributes_is_counted(tmp_path: Path) -> None:
    ages = [30.0] * 20 + [40.0] * 37 + [50.0, 51.0, 52.0]
    ratings = RATINGS.annotate(attributes=pa.table({"age": ages, "sex": ["f"] * 60}))
    found = compiled(KLikeness(k=5, attributes="exact"), tmp_path, ratings).internal()
    rows = {row["name"]: row for row in found["disclosure"]["rows"]}
    assert rows["unique_by_attributes"]["value"] == 3 / 60
    assert rows["unique_by_attributes"]["title"] == "Records that are unique by age, sex"
    assert found["query_error"] is not None


def test_why_no_averages_were_compared(dossier: Dossier) -> None:
    assert "without personal attributes" in dossier.internal()["query_error_how"]


def test_a_found_group_is_told_with_its_figures(tmp_path: Path) -> None:
    found = compiled(PredictiveAnonymizer(k=5, profile="padded"), tmp_path)
    given = found.audit.profile_disclosure
    assert given is not None
    assert given.group is not None
    told, share = found.internal(), percent(given.group.share.rate)
    said = f"the right class is found for {share} of targets"
    assert said in told["verdict"]["paragraph"]
    assert f"names the right class for {share} of targets" in told["profile_disclosure"]["text"]


def test_figures_of_the_receipt_are_bands_without_it(dossier: Dossier, folder: Path) -> None:
    own, public = dossier.internal()["method"], dossier.public()["method"]
    names = ("users_deleted", "users_without_rating", "rare_items_dropped")
    assert all(isinstance(own[name], int) for name in names)
    assert all(
        public[name] in ("none", "under 5 %", "under 20 %", "20 % or more") for name in names
    )
    alone = compile_dossier(RATINGS, folder / "out", audit=QUICK, rng=0)
    assert {name: alone.internal()["method"][name] for name in names} == {
        name: public[name] for name in names
    }
    losses = {row["name"] for row in alone.internal()["losses"]}
    assert not losses & set(names)  # nobody can tell


def test_records_of_nobody_and_people_left_out_are_counted(tmp_path: Path) -> None:
    ratings = synthesize(n_users=60, n_items=4, rng=0)
    folders, receipts = zip(
        *((tmp_path / str(year), tmp_path / f"{year}.json") for year in range(2)), strict=True
    )
    last, staying = None, range(60)
    for folder, receipt in zip(folders, receipts, strict=True):
        table = ratings.keep_users(np.array(staying))
        KLikeness(k=3).anonymize(table, rng=0, after=last).save(folder, private=receipt)
        last, staying = read_release(folder, private=receipt), range(4, 60)
    assert last is not None
    assert last.exact is not None
    nobodys = last.exact.dummy_records or 0
    assert nobodys > 0
    own = compile_dossier(
        table,
        folders[1],
        private=receipts[1],
        audit=replace(QUICK, known=(1,)),
        earlier=[folders[0]],
        earlier_private=[receipts[0]],
        rng=0,
    ).internal()
    people = last.n_records - nobodys
    dummies = counted(nobodys, "dummy record")
    assert own["method"]["whose"] == (
        f"{people} people and {dummies} (the release continues an earlier one)"
    )
    told = own["method"]["left_out"]
    assert sum(map(int, re.findall(r"\d+(?= pe)", told))) == table.n_users - people
    joint = next(each["text"] for each in own["checks"] if each["name"] == "composition")
    assert "in at least one release (" in joint
    assert " in all)" in joint
    alone = method_section(read_release(folders[1]))
    assert alone["whose"].endswith(
        "of them are dummy records (the release continues an earlier one)"
    )
    assert alone["left_out"] == ""


def test_where_every_record_is_somebodys_nothing_is_said(dossier: Dossier) -> None:
    method = dossier.internal()["method"]
    assert method["whose"] == ""
    missing = 60 - dossier.audit.records  # among them who rated none of the five items
    assert method["left_out"] == f"Left out: {missing} person without a rating on these items."
