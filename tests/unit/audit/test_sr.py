"""Sun & Sun's study on small data: what is run, what is left out, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade import budget
from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.audit.reproduction.claims import judge
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.figures import Series
from starshade.audit.reproduction.parts import Part, Parts
from starshade.audit.reproduction.sq.study import reproduce_sq
from starshade.audit.reproduction.sr.charted import accuracy_figure, jobs_of
from starshade.audit.reproduction.sr.claims import CLAIMS, WAYS
from starshade.audit.reproduction.sr.grids import predictions
from starshade.audit.reproduction.sr.measured import (
    Job,
    Workload,
    grid_of,
    run_jobs,
    workloads_of,
)
from starshade.audit.reproduction.sr.measures import accuracy_after
from starshade.audit.reproduction.sr.study import Study, bench_of, reproduce_sr
from starshade.audit.reproduction.study import known_data
from starshade.errors import ConfigError
from starshade.naming import speak
from starshade.privacy.k_eps import KEpsLAnonymity
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.strategies import table

STARS = Scale(1, 5, 1)
SURVEY_FIGURES = ["3a", "3b", "4a", "4b", "5a", "5ac", "5b", "5bc", "6a", "6ac", "6b", "6bc"]
SURVEY_FIGURES += ["7a", "7b", "8"]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=150, n_items=60, n_ratings=3000, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> Study:
    return reproduce_sr(ratings, top=6, trials=2, repeats=1, runs=2, rng=5)


def line_of(found: Study, number: str, measure: str, name: str) -> Series:
    (figure,) = [figure for figure in found.figures if figure.number == number]
    (series,) = [s for s in figure.series if (s.measure, s.name) == (measure, name)]
    return series


def test_every_figure_is_there_in_order(found: Study) -> None:
    assert [figure.number for figure in found.figures] == SURVEY_FIGURES
    assert found.figures[0].file_name == "figure-03a"
    assert {(s.figure, s.what) for s in found.skipped} >= {("7, 8", "nulls = zero")}


def test_it_goes_into_json_and_names_nobody(found: Study) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "sr"
    assert told["seed"] == 5
    parts = told["data"]["parts"]
    assert [(p["name"], p["items"], p["sensitive_items"]) for p in parts] == [
        ("top 6 items", 6, 1),
        ("all 60 items", 60, 1),
    ]
    assert [p["nulls"] for p in parts] == [["strict", "ignore", "zero"], ["strict"]]
    assert "depend on the machine" in str(found)


def test_times_and_work_are_over_what_the_paper_varies(found: Study) -> None:
    def xs(number: str, measure: str, name: str) -> list[float]:
        return [point.x for point in line_of(found, number, measure, name).points]

    assert xs("3a", "top 6 items", "strict") == list(range(10, 101, 10))
    # 10 % are 15 records, fewer than k = 20
    assert xs("5ac", "top 6 items, strict", "slicing") == list(range(20, 101, 10))
    assert xs("3b", "top 6 items", "strict") == [0, 1, 2, 3, 4, 5]
    assert xs("4a", "top 6 items", "strict") == [10, 20, 30, 40, 50, 60]
    assert xs("4b", "top 6 items", "strict") == [0, 0.5, 1, 1.5, 2]
    assert any("no table of this size" in entry.reason for entry in found.skipped)


def test_every_line_says_its_configuration(found: Study) -> None:
    for figure in found.figures:
        for series in figure.series:
            plain = series.name in ("original", "always the most frequent class")
            assert bool(series.configuration) != plain, (figure.number, series.name)


def test_slicing_alone_is_the_slicing_of_the_comparison(found: Study) -> None:
    for alone, compared in (("3a", "5a"), ("4b", "6b")):
        one = line_of(found, alone, "all 60 items", "strict")
        name = "slicing, pairwise-near groups"
        assert one.points == line_of(found, compared, "all 60 items, strict", name).points


def test_a_line_keeps_its_colour_from_figure_to_figure(found: Study) -> None:
    def names(number: str) -> list[str]:
        (figure,) = [figure for figure in found.figures if figure.number == number]
        return list(dict.fromkeys(series.name for series in figure.series))

    assert names("5a") == names("5b")[:-1]  # a name's place is its colour
    assert max(map(len, names("5b"))) < 30  # the legend of a narrow page


def grid(found: Study, title: str) -> list[dict[str, str]]:
    (table,) = [table for table in found.grids if table.title.startswith(title)]
    return [dict(zip(table.head, row, strict=True)) for row in table.rows]


def test_the_verdicts_are_the_models(ratings: Ratings, found: Study) -> None:
    rows = grid(found, "Whether the data are (20, 1, 2)-anonymous")
    assert len(rows) == 4
    top, everything = workloads_of(ratings, 6)
    for row in rows:
        part = top if row["data"] == top.name else everything
        nulls: Any = row["nulls"]
        verdict = KEpsLAnonymity(k=20, eps=1, l=2, sensitive=part.sensitive, nulls=nulls).check(
            part.ratings
        )
        assert row["satisfied"] == ("yes" if verdict.satisfied else "no")
        assert row["failing"] == str(verdict.failing_records)
        assert row["smallest ball"] == str(verdict.smallest_class)
        assert row["records"] == str(part.ratings.n_users)


def test_losses_are_the_methods(ratings: Ratings, found: Study) -> None:
    part = workloads_of(ratings, 6)[0]
    method = IntervalAnonymizer(
        k=40, eps=1, sensitive=part.sensitive, partition="whole", rare_items="keep"
    )
    lost = []
    for seed in (5, 6):
        release = method.anonymize(part.ratings, rng=seed)
        assert release.private is not None
        moved = release.classes
        dense = np.full((moved.n_groups, moved.n_items), np.nan)
        rows = np.repeat(np.arange(moved.n_groups), np.diff(moved.indptr))
        dense[rows, moved.columns] = moved.symbols.bounds[0][moved.codes]
        before, after = part.ratings.dense(), dense[release.private.link.record]
        odd = np.isnan(before) != np.isnan(after)
        total = np.nansum(np.abs(before - after)) + 5 * odd.sum()
        lost.append(total / part.ratings.n_users)
    point = next(p for p in line_of(found, "7a", "strict", "whole").points if p.x == 1)
    assert (point.y, point.low, point.high) == pytest.approx((np.mean(lost), min(lost), max(lost)))


def test_nulls_as_zero_are_anonymized_as_under_strict(ratings: Ratings) -> None:
    part = workloads_of(ratings, 6)[0]
    options: dict[str, Any] = {"k": 20, "eps": 1, "sensitive": part.sensitive}
    strict, zero = (
        IntervalAnonymizer(nulls=nulls, **options).anonymize(part.ratings, rng=0).classes
        for nulls in ("strict", "zero")
    )
    np.testing.assert_array_equal(strict.indptr, zero.indptr)
    np.testing.assert_array_equal(strict.codes, zero.codes)


def test_predictions_stand_beside_the_original(found: Study) -> None:
    rows = grid(found, "Accuracy of predicting an attribute")
    first = [row for row in rows if row["attribute"] == "Gender"]
    assert {(row["k"], row["clipped group"], row["nulls"]) for row in first} == {
        (k, partition, nulls)
        for k in ("5", "20")
        for partition in ("whole", "cluster")
        for nulls in ("strict", "ignore")
    }
    assert found.data["attributes"] == ["Gender", "Age"]
    assert len({row["right before (points beyond it)"] for row in first}) == 1
    for row in rows:  # points beyond the most frequent class, with their sign
        right, beyond = row["right after"].rstrip(")").split("% (")
        most = float(row["most frequent class"].rstrip("%"))
        assert float(right) - most == pytest.approx(float(beyond), abs=0.11)
        assert beyond[0] in "+-"


class KilledError(Exception):
    """As a kill comes: between two parts."""


class Dying(Parts):
    """Is killed when it is about to measure another part than the first so many."""

    left = 40

    def of(self, name: str, make: Callable[[], Part]) -> Part:
        def made() -> Part:
            self.left -= 1
            if self.left < 0:
                raise KilledError
            return make()

        return super().of(name, made)


@pytest.mark.slow
def test_what_goes_on_after_a_kill_is_the_same_but_for_times(
    ratings: Ratings, found: Study, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"top": 6, "trials": 2, "repeats": 1, "runs": 2, "rng": 5}
    with pytest.raises(KilledError):
        reproduce_sr(ratings, parts=Dying(tmp_path / "parts"), **options)
    assert len(list((tmp_path / "parts").glob("*.part"))) == Dying.left
    again = reproduce_sr(ratings, parts=Parts(tmp_path / "parts"), **options)
    assert json.dumps(again.apart()[0]) == json.dumps(found.apart()[0])


def test_workloads() -> None:
    rows = [{0: 1, 1: 2, 2: 3}, {0: 1, 1: 2}, {0: 5}, {3: 1}]
    top, everything = workloads_of(table(rows, STARS), 2)
    assert (list(top.ratings.items), top.sensitive) == (["1", "2"], ("2",))
    assert top.ratings.n_users == 3
    assert (everything.ratings.n_items, everything.ratings.n_users) == (4, 4)
    assert everything.sensitive == ("2",)
    named, _ = workloads_of(table(rows, STARS), 2, ["4"])
    assert list(named.ratings.items) == ["1", "2", "4"]
    assert named.name == "top 2 items and 1 sensitive"
    (single,) = workloads_of(table(rows, STARS), 9)
    assert single.rules == ("strict", "ignore", "zero")
    assert single.sensitive == ("4",)


@pytest.mark.parametrize(
    ("scale", "star", "last"),
    [
        (STARS, 1, 5),
        (Scale(0.5, 5, 0.5), 1, 5),
        (Scale(1, 6, 1), 1, 6),
        (Scale(-10, 10), 5, 20),
        (Scale(0, 100, 1), 25, 100),
        (Scale(0, 1, 1), 1, 2),
        (Scale(3, 3, 1), 1, 3),
    ],
)
def test_the_grid_reaches_the_cost_of_a_null(scale: Scale, star: float, last: float) -> None:
    grid = grid_of(scale)
    assert grid.star == star
    assert (grid.eps[0], grid.eps[-1]) == (0, last)
    assert last >= scale.cost_of_null
    assert (grid.l[0], grid.l[-1]) == (0, 2 * star)


def test_jobs_run_in_turns_and_only_once_if_equal() -> None:
    rows = [{0: float(1 + u % 5), 1: float(1 + u % 3)} for u in range(30)]
    part = Workload("all", table(rows, STARS), ("2",), ("strict",))
    job = Job(part, "strict", "tree", 2, 1.0, 0.0)
    huge = replace(job, k=31)
    timed, refused = run_jobs([job, job, huge], repeats=3, seed=0)
    assert list(timed) == [job]
    assert len(timed[job].seconds) == 3
    assert min(timed[job].seconds) <= timed[job].median <= max(timed[job].seconds)
    assert [(r, "k = 31" in reason) for r, reason in refused] == [(huge, True)]


def test_a_share_is_of_the_records() -> None:
    rows = [{0: float(1 + u % 5), 1: 1.0} for u in range(200)]
    part = Workload("all", table(rows, STARS), ("2",), ("strict",))
    jobs = [Job(part, "strict", "tree", 2, 1.0, 0.0, share) for share in (10, 50, 100)]
    timed, _ = run_jobs(jobs, repeats=1, seed=0)
    assert [timed[job].records for job in jobs] == [20, 100, 200]


def test_every_search_is_timed_on_the_same_settings() -> None:
    part = Workload("all", table([{0: 1.0, 1: 2.0}] * 3, STARS), ("2",), ("strict", "zero"))
    jobs = list(jobs_of([part], grid_of(STARS)))
    settings = {
        search: {(j.nulls, j.k, j.eps, j.l, j.share) for j in jobs if j.search == search}
        for search in ("pairwise", "slicing", "tree")
    }
    assert settings["pairwise"] == settings["slicing"] == settings["tree"]
    # (20, 1, 2) over the data; ε = 2 over k and l
    papers = {(20, 1.0, 2.0, 100), (20, 1.0, 2.0, 10), (60, 2.0, 2.0, 100), (20, 2.0, 0.5, 100)}
    assert {("zero", *setting) for setting in papers} <= settings["tree"]
    assert ("zero", 60, 1.0, 2.0, 100) not in settings["tree"]


def of_numbers(n: int, levels: Any, scale: Scale) -> Ratings:
    """Make ratings of people and five items, most cells filled."""
    rng = np.random.default_rng(0)
    rows = [
        {i: float(rng.choice(levels)) for i in range(5) if rng.random() < 0.8} for _ in range(n)
    ]
    return table(rows, scale)


@pytest.mark.parametrize(
    "odd",
    [
        of_numbers(4, [1, 2, 3, 4, 5], STARS),
        table([{0: 3.0, 1: 3.0, 2: 3.0}] * 60, STARS),
        table([{}, {0: 1.0, 1: 5.0}, {}, dict.fromkeys(range(12), 2.0)], STARS),
        of_numbers(45, np.round(np.linspace(-10, 10, 97), 2), Scale(-10, 10)),
        of_numbers(45, np.arange(0.5, 5.5, 0.5), Scale(0.5, 5, 0.5)),
    ],
    ids=["four users", "equal users", "empty and giant users", "jokes", "half stars"],
)
def test_odd_data_come_through(odd: Ratings) -> None:
    found = reproduce_sr(odd, repeats=1, trials=1, runs=1, rng=0)
    json.dumps(found.to_dict(), allow_nan=False)
    assert "8" not in [figure.number for figure in found.figures]
    assert any("no attribute" in entry.reason for entry in found.skipped)
    for each in found.claims:
        assert each.reason or each.verdict != "cannot be tested"
    promised = next(each for each in found.claims if each.claim.number == "sr-44")
    assert promised.verdict == ("cannot be tested" if odd.n_users < 10 else "holds")


def test_what_does_not_fit_the_memory_is_left_out_by_name(ratings: Ratings) -> None:
    with budget.limits(memory=40_000):
        found = reproduce_sq(ratings, top=6, repeats=1, runs=1, rng=5)
    left = {entry.what: entry.reason for entry in found.skipped}
    graph = left["top 6 items, ignore: slicing, members skipped"]
    assert "edges" in graph
    assert "the budget is 40 kB" in graph
    (beyond,) = [each for each in found.claims if each.claim.number == "sq-05"]
    assert (beyond.verdict, "edges" in beyond.reason) == ("cannot be tested", True)
    assert {figure.number for figure in found.figures} >= {"1a", "1b", "2a", "2b"}


def test_refusals_are_in_no_doors_words() -> None:
    few = synthesize(n_users=8, n_items=6, n_ratings=40, rng=1)
    options: dict[str, Any] = {"top": 4, "trials": 1, "repeats": 1, "runs": 1, "rng": 5}
    found = reproduce_sr(few, **options)
    with speak(lambda setting, value: f"--{setting}"):
        again = reproduce_sr(few, **options)
    assert again.skipped == found.skipped
    assert any("k = 20" in each.reason for each in again.skipped)
    words = [*again.skipped, *again.claims]
    assert not [each.reason for each in words if "--" in each.reason or "only the" in each.reason]


def test_sq_is_the_part_of_sr_that_it_speaks_of(ratings: Ratings, found: Study) -> None:
    short = reproduce_sq(ratings, top=6, repeats=1, runs=2, rng=5)
    assert [figure.number for figure in short.figures] == ["1a", "1b", "2a", "2ac", "2b", "2bc"]
    assert short.figures[4].series == next(f for f in found.figures if f.number == "5b").series
    same = {"sq-06": "sr-23", "sq-07": "sr-24", "sq-08": "sr-25", "sq-09": "sr-30"}
    one, other = ({c.claim.number: c.found for c in study.claims} for study in (short, found))
    assert all(one[a] == other[b] for a, b in same.items())
    assert "Wang" in str(short)
    # its text has neither a §4.1 nor an example of (2, 5)
    assert [each.number for each in short.worked] == ["Table 1, as in Sun & Sun"]


def test_without_scikit_learn_figure_8_is_left_out(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = bench_of(ratings, (), 3, "Gender", trials=1, repeats=1, runs=1, parts=None, seed=5)
    monkeypatch.setitem(__import__("sys").modules, "sklearn.naive_bayes", None)
    assert not list(accuracy_figure(bench))
    assert not list(predictions(bench))
    assert "pip install 'starshade[compare]'" in str(bench.predicted("strict", "whole", 5, 5))
    with pytest.raises(Untestable, match="scikit-learn"):
        accuracy_after(bench, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 1}, "top 1"),
        ({"repeats": 0}, "repeats 0"),
        ({"trials": 0}, "trials 0"),
        ({"sensitive": ["nothing"]}, "not among the items"),
        ({"attribute": "Height"}, "the data have Age, Gender"),
    ],
)
def test_what_cannot_be_reproduced_is_refused(
    ratings: Ratings, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        reproduce_sr(ratings, **options)


def test_one_item_or_one_user_is_too_little() -> None:
    for rows, said in (
        ([{0: 1.0}, {0: 2.0}], "2 users, 1 item, 2 ratings: nothing to reproduce"),
        ([{0: 1.0, 1: 2.0}], "1 user, 2 items, 2 ratings: nothing"),
    ):
        with pytest.raises(ConfigError, match=said):
            reproduce_sr(table(rows, STARS))


@pytest.mark.slow
@pytest.mark.real
def test_movielens(ml100k_dir: Path) -> None:
    ratings = read_ratings(ml100k_dir)
    found = reproduce_sq(ratings, repeats=1, runs=1, rng=0)
    rows = grid(found, "Whether the data are")
    everything = next(row for row in rows if row["data"] == "all 1,682 items")
    # no two users rated the same items
    assert (everything["failing"], everything["smallest ball"]) == ("943", "1")
    top = {row["nulls"]: int(row["failing"]) for row in rows if row["data"] == "top 20 items"}
    assert top["ignore"] < top["zero"]
    # counts that anybody can make: 943 users, 20 ratings or more, nothing lost at the scale's width
    bench = bench_of(ratings, (), 20, None, trials=1, repeats=1, runs=1, parts=None, seed=0)
    some = [each for each in CLAIMS if each.number in ("sr-03", "sr-04", "sr-38")]
    judged = judge(some, bench, data=known_data(ratings), ways=WAYS)
    assert [each.verdict for each in judged] == ["holds"] * 3
