"""The public edition: whatever was private, the same folder and verdict are the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.registry import ENTRIES, Method
from starshade.audit.checks.policy import CHECKED
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.dossier.left_out import left_out_section
from starshade.audit.dossier.public import Judgement, PublicCheck, public_edition
from starshade.audit.dossier.release import uses_of
from starshade.audit.verdict import Audit
from starshade.errors import InternalError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from starshade.release.table import Release
from starshade.report.page import render_report
from tests.policies import NO_LIMITS
from tests.strategies import table
from tests.unit.release.changes import released
from tests.unit.release.profiled import profile
from tests.unit.release.samples import contents_of, covering

STARS = Scale(1, 5, 1)
K = 5
SPLIT = np.repeat([0, 1], 6)
#: what each class says of each item; None: nobody rated it
CELLS: list[list[tuple[int | None, ...]]] = [
    [(4, 5), (None, 2, 3), (1,), (None,)],
    [(1, None), (3, 4, 5), (None,), (2, 3)],
]


def released_of(ratings: Ratings) -> Release:
    claims = (Claim(model="k-anonymity", parameters={"k": K}),)
    more: dict[str, Any] = {"method": "k-likeness", "config": {"k": K}, "claims": claims}
    return covering(ratings, SPLIT, ranges=False).release(**more)


@st.composite
def rated_so(draw: st.DrawFn) -> Ratings:
    """Twelve people whose ratings the classes cover, each member of a cell given by somebody."""
    columns = []
    for cells in zip(*CELLS, strict=True):
        column: list[int | None] = []
        for cell in cells:
            rest = draw(st.lists(st.sampled_from(cell), min_size=6, max_size=6))
            column += draw(st.permutations([*cell, *rest[len(cell) :]]))
        columns.append(column)
    people = zip(*columns, strict=True)
    rows = [{i: v for i, v in enumerate(row) if v is not None} for row in people]
    return table(rows, STARS, n_items=4)


def told(
    ratings: Ratings, folder: Path, receipt: Path | None, *, seed: int = 1, **asked: Any
) -> Dossier:
    settings = {"known": (1, 2), "targets": 12, "shadows": 0, "threshold": NO_LIMITS}
    audit = Audit(**settings | asked)
    return compile_dossier(
        ratings, folder, private=receipt, audit=audit, rng=seed, command=f"again --seed {seed}"
    )


def pages(dossier: Dossier) -> tuple[str, str]:
    """All that can be published of a dossier: its data and its page, pictures included."""
    return json.dumps(dossier.public()), render_report(dossier, public=True)


@settings(max_examples=12, deadline=None)
@given(rated_so(), rated_so(), st.booleans(), st.integers(0, 99))
def test_whatever_was_rated_so_the_edition_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, one: Ratings, other: Ratings, linked: bool, seed: int
) -> None:
    place = tmp_path_factory.mktemp("public")
    for name, ratings in (("a", one), ("b", other)):
        released_of(ratings).save(place / name, private=place / f"{name}.json")
    assert contents_of(place / "a") == contents_of(place / "b")
    mine = told(one, place / "a", place / "a.json")
    theirs = told(
        other, place / "a", place / "b.json" if linked else None, seed=seed, targets=7, known=(1,)
    )
    assert mine.passed
    assert Judgement.of(mine.audit) == Judgement.of(theirs.audit)
    assert pages(mine) == pages(theirs)
    assert json.dumps(mine.internal()) != json.dumps(theirs.internal())


def moved(first: int) -> tuple[Ratings, Release]:
    """Forty records of one and the same rating, of which `first` are nobody's."""
    true: list[dict[int, float]] = [{1: 2}] * first + [{0: 4}] * (40 - first)
    ratings = table(true, STARS, n_items=2)
    shown: list[dict[int, float]] = [{0: 4}] * 40
    claims = (Claim(model="k-eps", parameters={"k": 3, "eps": 1, "nulls": "strict"}),)
    return ratings, released(ratings, shown, claims=claims, config={"k": 3})


def averaged(low: float) -> tuple[Ratings, Release]:
    """Two classes of means behind which other ratings stand."""
    rows: list[dict[int, float]] = [{0: 3, 1: 3}] * 4 + [{0: low, 1: 2}, {0: 6 - low}] * 2
    ratings = table(rows, STARS)
    claims = (Claim(model="k-anonymity", parameters={"k": 4}),)
    made = profile(ratings, [0] * 4 + [1] * 4, "simple", 0.5)
    return ratings, made.release(claims=claims, config={"k": 4})


PAIRS: dict[str, tuple[Callable[[int], tuple[Ratings, Release]], int, int]] = {
    "ratings moved": (moved, 2, 4),
    "ratings averaged": (averaged, 1, 2),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("linked", [True, False])
def test_other_layouts_likewise(pair: str, linked: bool, tmp_path: Path) -> None:
    make, *ways = PAIRS[pair]
    found = []
    for name, way in zip("ab", ways, strict=True):
        ratings, release = make(way)
        release.save(tmp_path / name, private=tmp_path / f"{name}.json")
        receipt = tmp_path / f"{name}.json" if linked else None
        found.append(told(ratings, tmp_path / "a", receipt, known=(1,)))
    assert contents_of(tmp_path / "a") == contents_of(tmp_path / "b")
    one, other = found
    assert Judgement.of(one.audit) == Judgement.of(other.audit)
    assert pages(one) == pages(other)
    assert one.passed
    assert one.internal()["histogram"] != other.internal()["histogram"]


def test_nothing_else_can_get_in() -> None:
    hints = get_type_hints(public_edition)
    assert list(signature(public_edition).parameters) == ["release", "folder", "judgement"]
    assert (hints["release"], hints["folder"], hints["judgement"]) == (Release, Path, Judgement)
    assert is_dataclass(Judgement)
    assert Judgement.__dataclass_params__.frozen
    said = {field.name: field.type for field in fields(Judgement)}
    assert said == {
        "verdict": "Verdict",
        "word": "str",
        "policy": "str",
        "checks": "tuple[PublicCheck, ...]",
        "answers": "tuple[tuple[str, bool], ...]",
        "alone": "bool",
        "caveats": "tuple[str, ...]",
        "accepted": "tuple[Accepted, ...]",
    }
    kept = {field.name for field in fields(PublicCheck)}
    assert kept == {"name", "threshold", "source", "status"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("release")
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    KLikeness(k=4).anonymize(ratings, rng=1).save(place / "out", private=place / "out.json")
    return place / "out"


YES = (("claims", True), ("k-anonymity", True), ("audience", True))


def judgement(
    answers: tuple[tuple[str, bool], ...] = YES, status: str = "pass", **more: Any
) -> Judgement:
    checks = tuple(
        PublicCheck(name, "20%", "a source", status if name == "membership" else "pass")  # type: ignore[arg-type]
        for name in CHECKED
    )
    holds = all(passed for _, passed in answers)
    verdict: Any = {"pass": "PASS" if holds else "FAIL", "not measured": "INCOMPLETE"}
    verdict = verdict.get(status, "FAIL")
    return Judgement(verdict, verdict, "partner v1", checks, answers, holds, **more)


def test_a_receipt_is_refused(folder: Path) -> None:
    linked = read_release(folder, private=folder.with_suffix(".json"))
    with pytest.raises(InternalError, match="private facts"):
        public_edition(linked, folder, judgement())


def test_of_an_answer_nothing_but_yes_or_no_is_told(folder: Path) -> None:
    release = read_release(folder)
    odd = judgement((*YES, ("found 37.5% of 8", True)))
    plain = public_edition(release, folder, judgement())
    assert public_edition(release, folder, odd) == plain
    assert [row["name"] for row in plain["findings"]] == [name for name, _ in YES]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [(0.05, 5), (0.0501, 10), (0.15, 15), (0.55, 55), (0.001, 5), (1.0, 100), (0.96, 100)],
)
def test_thresholds_of_the_owner_are_on_a_grid(asked: float, shown: int, folder: Path) -> None:
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    limits = {"re-identification": asked, "attribute": asked, "class-size": 1 / 7}
    audit = Audit(known=(1,), targets=2, shadows=0, threshold=limits)
    found = audit.run(ratings, folder, private=folder.with_suffix(".json"), rng=0)
    page = public_edition(read_release(folder), folder, Judgement.of(found))
    rows = {row["name"]: row for row in page["checks"]}
    assert rows["attribute"]["threshold"] == f"{shown}%"
    assert rows["attribute"]["source"] == "set by the owner"
    assert rows["re-identification"]["threshold"] == f"{shown}%"
    assert rows["membership"]["threshold"] == "10%"  # of the policy, exactly
    assert "v1, with overrides" in page["verdict"]["headline"]


def test_the_internal_caveats_are_told(folder: Path) -> None:
    told = public_edition(read_release(folder), folder, judgement(caveats=("stopped", "few")))
    stopped, few = told["warnings"]
    assert "stopped after 1,000,000 queries" in stopped
    assert "fewer than 100 people" in few
    found = Audit(known=(1,), targets=20, shadows=0).run(
        synthesize(n_users=40, n_items=9, n_ratings=200, rng=2), folder, rng=0
    )
    assert Judgement.of(found).caveats == ("few",)
    assert found.tracker is not None
    after = replace(found.tracker.after, complete=False)
    cut = replace(found, tracker=replace(found.tracker, after=after))
    assert Judgement.of(cut).caveats == ("stopped", "few")


def test_uses_and_items_left_out_are_stated(folder: Path) -> None:
    release = read_release(folder)
    page = public_edition(release, folder, judgement())
    assert page["uses"]["good_for"][0].startswith("Tables of a few items")
    assert page["uses"]["not_good_for"]
    assert page["omitted"]["text"].startswith(f"{release.classes.n_items} items are released")
    assert [row["value"] for row in page["omitted"]["rows"]][:2] == ["none", "none"]
    odd = replace(release, manifest=release.manifest.model_copy(update={"method": "another"}))
    assert uses_of(odd) == {"good_for": [], "not_good_for": []}


def test_every_method_states_its_uses() -> None:
    for entry in ENTRIES:
        assert isinstance(entry, Method)
        assert entry.uses, entry.name
        assert entry.not_for, entry.name


@pytest.mark.parametrize(
    ("items", "number", "band", "text"),
    [
        (
            "top:500",
            10,
            "more",
            "10 items are released; 490 of the 500 selected items are left out",
        ),
        ("listed:500", 10, "more", "The owner selected 500 by a list; all other items"),
        ("top:10", 10, "none", "10 items are released. The owner selected the 10 most rated;"),
        ("all", 1, "none", "1 item is released; no item is left out."),
        (None, 10, "more", "20 % or more of all items are left out, as too few people rated"),
        (None, 10, "under 5 %", "10 items are released; under 5 % of all items are left out, as"),
        ("top:5", 10, "none", "10 items are released; no item is left out."),  # continues another
        ("top:9e9", 10, "none", "10 items are released; no item is left out."),
        ([1], 10, "none", "10 items are released; no item is left out."),
    ],
)
def test_what_the_files_say_of_items_left_out(
    items: Any, number: int, band: str, text: str, folder: Path
) -> None:
    config = {} if items is None else {"items": items}
    facts = {"config": config, "items": number, "rare_items_dropped": band}
    section = left_out_section(read_release(folder).manifest.model_copy(update=facts))
    assert text in section["text"]
    assert section["rows"][-1]["value"] == ("20 % or more" if band == "more" else band)


@pytest.mark.parametrize("name", [*dict(YES), "scale", "settings"])
def test_a_condition_that_does_not_hold_has_a_sentence(name: str, folder: Path) -> None:
    release = read_release(folder)
    page = public_edition(release, folder, judgement(tuple({**dict(YES), name: False}.items())))
    assert page["verdict"]["passed"] is False
    (row,) = (row for row in page["findings"] if row["name"] == name)
    assert not row["passed"]
    assert row["text"] in page["verdict"]["paragraph"]
    assert page["holds"] is None  # what is kept private is not described


@pytest.mark.parametrize(
    ("status", "word"), [("fail", "FAIL"), ("not measured", "INCOMPLETE"), ("pass", "PASS")]
)
def test_a_check_is_shown_without_a_figure(status: str, word: str, folder: Path) -> None:
    page = public_edition(read_release(folder), folder, judgement(status=status))
    assert page["verdict"]["word"] == word
    (row,) = (row for row in page["checks"] if row["name"] == "membership")
    assert set(row) == {"name", "title", "threshold", "source", "status", "mark"}
    assert row["status"] == status
    assert (page["holds"] is None) == (word != "PASS")


def test_what_the_folder_holds_is_counted(folder: Path) -> None:
    release = read_release(folder)
    told = public_edition(release, folder, judgement())["holds"]
    cells, sizes = release.cells(), release.classes.sizes
    rated = np.concatenate(
        [
            np.repeat(cells.codes[a:b], size)
            for a, b, size in zip(cells.indptr, cells.indptr[1:], sizes, strict=False)
        ]
    )
    one = cells.symbols.is_single[rated].sum() / (release.n_records * cells.n_items)
    kinds = {kind["name"]: kind["share"] for kind in told["cells"]["kinds"]}
    assert kinds["one_rating"] == pytest.approx(one)
    assert sum(kinds.values()) == pytest.approx(1)
    assert sum(bin_["share"] for bin_ in told["cells"]["histogram"]) == pytest.approx(1)
    assert told["classes"]["smallest"] == sizes.min()
    assert told["classes"]["count"] == release.manifest.classes
    assert sum(bin_["share"] for bin_ in told["classes"]["bins"]) == pytest.approx(1)
    shown = {row["name"]: row["value"] for row in told["disclosure"]["rows"]}
    assert shown["users_rating_disclosed"] == release.manifest.users_rating_disclosed


def test_a_release_of_profiles_has_one(tmp_path: Path) -> None:
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    made = PredictiveAnonymizer(k=4, profile="simple").anonymize(ratings, rng=1)
    made.save(tmp_path / "out")
    release = replace(read_release(tmp_path / "out"), private=None)
    told = public_edition(release, tmp_path / "out", judgement())
    assert [kind["name"] for kind in told["holds"]["cells"]["kinds"]] == ["one_rating", "no_rating"]
    assert told["holds"]["disclosure"]["rows"] == []
    assert [row["value"] for row in told["holds"]["inside"]][-1] in ("under 20 %", "20 % or more")
    assert any("No privacy model bounds class linkage" in text for text in told["open"])
    assert any("of the filled cells show one person's exact rating" in t for t in told["warnings"])


def test_an_accepted_risk_allows_to_publish_and_is_on_the_grid(folder: Path) -> None:
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    audit = Audit(known=(1,), targets=2, shadows=0, threshold={"attribute": 0})
    found = audit.run(ratings, folder, private=folder.with_suffix(".json"), rng=0)
    open_ = dict.fromkeys(each.name for each in found.decisive)
    accepted = [
        {
            "risk": name,
            "up_to": "not measured",
            "policy": "partner v1",
            "reason": "agreed",
            "by": "the board",
            "until": "2027-06-30",
            "more": "37.5%",
        }
        for name in open_
    ]
    (attribute,) = (each for each in accepted if each["risk"] == "attribute")
    attribute["up_to"] = "12.3%"
    judged = Judgement.of(found, accepted)
    page = public_edition(read_release(folder), folder, judged)
    assert page["verdict"]["publishable"] == "acceptance"
    assert page["holds"] is not None
    assert [each["risk"] for each in page["accepted"]] == list(open_)
    assert {each["risk"]: each["up_to"] for each in page["accepted"]}["attribute"] == "15%"
    assert all("more" not in each for each in page["accepted"])
    assert Judgement.of(found, accepted[1:]).publishable == ""
    broken = replace(judged, answers=(*judged.answers, ("audience", False)))
    assert broken.publishable == ""
