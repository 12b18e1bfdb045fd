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
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.audit.dossier.public import Judgement, public_edition
from starshade.audit.questions.limits import LIMITED
from starshade.audit.verdict import Audit
from starshade.errors import InternalError
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from starshade.release.promise import QUESTIONS
from starshade.release.table import Release
from starshade.report.page import render_report
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
    audit = Audit(**{"known": (1, 2), "targets": 12, "shadows": 0} | asked)
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
        found.append(told(ratings, tmp_path / "a", receipt, known=(1,), limit={"record": 0.5}))
    assert contents_of(tmp_path / "a") == contents_of(tmp_path / "b")
    one, other = found
    assert Judgement.of(one.audit) == Judgement.of(other.audit)
    assert pages(one) == pages(other)
    assert one.passed == linked
    assert one.internal()["histogram"] != other.internal()["histogram"]


def test_nothing_else_can_get_in() -> None:
    hints = get_type_hints(public_edition)
    assert list(signature(public_edition).parameters) == ["release", "folder", "judgement"]
    assert (hints["release"], hints["folder"], hints["judgement"]) == (Release, Path, Judgement)
    assert is_dataclass(Judgement)
    assert Judgement.__dataclass_params__.frozen
    said = {field.name: field.type for field in fields(Judgement)}
    assert said == {
        "answers": "tuple[tuple[str, bool], ...]",
        "limits": "tuple[tuple[str, int], ...]",
        "caveats": "tuple[str, ...]",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("release")
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    KLikeness(k=4).anonymize(ratings, rng=1).save(place / "out", private=place / "out.json")
    return place / "out"


YES = (("claims", True), ("k-anonymity", True), ("attack", True), ("audience", True))


def test_a_receipt_is_refused(folder: Path) -> None:
    linked = read_release(folder, private=folder.with_suffix(".json"))
    with pytest.raises(InternalError, match="private facts"):
        public_edition(linked, folder, Judgement(YES))


def test_of_an_answer_nothing_but_yes_or_no_is_told(folder: Path) -> None:
    release = read_release(folder)
    odd = Judgement((*YES, ("found 37.5% of 8", True)))
    plain = public_edition(release, folder, Judgement(YES))
    assert public_edition(release, folder, odd) == plain
    assert [row["name"] for row in plain["findings"]] == [name for name, _ in YES]


@pytest.mark.parametrize(
    ("asked", "told_as"),
    [(0.05, 5), (0.0501, 10), (0.15, 15), (0.55, 55), (0.001, 5), (1.0, 100), (0.96, 100)],
)
def test_limits_are_on_a_grid(asked: float, told_as: int, folder: Path) -> None:
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    audit = Audit(known=(1,), targets=2, shadows=0, limit={"record": asked, "disclosed": asked})
    found = audit.run(ratings, folder, private=folder.with_suffix(".json"), rng=0)
    judgement = Judgement.of(found)
    assert judgement.limits == (("record", told_as), ("disclosed", told_as))
    told = public_edition(read_release(folder), folder, judgement)
    rows = {row["name"]: row for row in told["limits"]}
    attack, shown = rows["attack"], rows["disclosed"]
    # k = 4: whoever asks for more than 1 in 4 is held to that
    assert attack["limit"] == (f"{told_as}%" if told_as < 25 else "1 in 4")
    assert attack["by"] == ("the owner" if told_as < 25 else "the claim")
    assert shown["limit"] == f"{told_as}%"
    held = dict(judgement.answers)["disclosed"]
    assert shown["held"] == ("held" if held else "not shown to hold")


def test_no_question_is_answered_by_a_limit(folder: Path) -> None:
    """Everybody may be linked where the limit is 100 %: that answers nothing."""
    ratings = synthesize(n_users=40, n_items=9, n_ratings=200, rng=2)
    limits = dict.fromkeys(LIMITED, 1.0)
    del limits["joint-class"]
    audit = Audit(known=(1,), targets=20, shadows=12, limit=limits)
    dossier = compile_dossier(
        ratings, folder, private=folder.with_suffix(".json"), audit=audit, rng=0, command="x"
    )
    questions = {each["name"]: each["answer"] for each in dossier.public()["questions"]}
    assert questions["singled-out"] == "within limits"
    for public in (True, False):
        page = render_report(dossier, public=public)
        for title in QUESTIONS.values():
            about = page.partition(f"{title}")[2][:120]
            assert "within limits" in about.lower() or "not " in about.lower()
            assert f"{title} <strong>No." not in page
            assert f"{title} <strong>No<" not in page
            assert f"\u2713</span>{title}" not in page
    assert all(f"{title} No" not in str(dossier.audit) for title in QUESTIONS.values())


def test_the_internal_caveats_are_told(folder: Path) -> None:
    told = public_edition(read_release(folder), folder, Judgement(YES, (), ("stopped", "few")))
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


def test_utility_and_items_left_out_are_told(folder: Path) -> None:
    release = read_release(folder)
    holds = public_edition(release, folder, Judgement(YES))["holds"]
    assert holds["useful"].startswith("Utility: its cells say one rating in ")
    assert holds["left_out"].startswith(f"Items: {release.classes.n_items} released; left out")


def test_no_limit_is_not_judged(folder: Path) -> None:
    told = public_edition(read_release(folder), folder, Judgement(YES))
    (attack, *others) = told["limits"]
    assert [row["name"] for row in others] == [
        name
        for name in list(LIMITED)[1:]
        if name != "joint-class"  # of one release alone
    ]
    assert (attack["held"], attack["limit"]) == ("held", "1 in 4")
    assert {row["held"] for row in others} == {"not judged"}
    assert all(row["limit"] == "none" for row in others)
    beside = public_edition(read_release(folder), folder, Judgement((*YES, ("earlier", True))))
    (row,) = (row for row in beside["limits"] if row["name"] == "earlier")
    assert (row["held"], row["limit"]) == ("held", "none may be")


OWN = [name for name in LIMITED if name not in ("record", "joint-class")]


@pytest.mark.parametrize("name", [*dict(YES), "earlier", "scale", "settings", *OWN, *QUESTIONS])
def test_a_no_is_told_in_words_of_its_own(name: str, folder: Path) -> None:
    release = read_release(folder)
    limits = ((name, 20),) if name in OWN else ()
    answers = tuple({**dict(YES), name: False}.items())
    told = public_edition(release, folder, Judgement(answers, limits))
    assert told["verdict"]["passed"] is False
    (row,) = (row for row in told["findings"] if row["name"] == name)
    assert not row["passed"]
    assert row["text"] in told["verdict"]["paragraph"]
    assert told["holds"] is None  # what is kept private is not described
    alone = "alone, not beside an earlier one" in told["verdict"]["headline"]
    assert alone == (name == "earlier")


def test_what_the_folder_holds_is_counted(folder: Path) -> None:
    release = read_release(folder)
    told = public_edition(release, folder, Judgement(YES))["holds"]
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
    told = public_edition(release, tmp_path / "out", Judgement(YES))
    assert [kind["name"] for kind in told["holds"]["cells"]["kinds"]] == ["one_rating", "no_rating"]
    assert told["holds"]["disclosure"]["rows"] == []
    assert [row["value"] for row in told["holds"]["inside"]][-1] in ("under 20 %", "20 % or more")
    assert any("No model limits how often" in text for text in told["open"])
    assert any("of the filled cells rest on one person's rating" in t for t in told["warnings"])
