"""Who is identified by how little, and the list of those to hold back."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack import risk, risk_result
from starshade.attack.knowledge import Knowledge
from starshade.attack.risk import Risk
from starshade.attack.risk_result import RiskResult, save_risk_list
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.view import look
from starshade.errors import ConfigError, OutputError
from starshade.progress import watch
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.read import read_release
from tests.naive import risk as naive
from tests.strategies import ratings_tables, table
from tests.unit.attack.test_scoreboard_rh import some_table, twin

FIVE = Scale(1, 5, 1)


@settings(max_examples=15)
@given(
    ratings_tables(min_users=2, max_users=6, max_items=5),
    st.sampled_from([0.3, 1.0]),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(7, 10)]),
    st.integers(0, 9),
    st.sampled_from([{}, {"wrong": 1}, {"rating_error": 1.0, "day_error": 3}]),
)
def test_the_least_number_is_the_twin_s(
    ratings: Ratings, phi: float, share: Fraction, seed: int, errors: dict[str, Any]
) -> None:
    assume(ratings.user_support.max() > 0)
    numbers, draws = (1, 2, 4), 4
    attack = ScoreboardRH(phi=phi)
    knowledge = Knowledge(**errors)
    result = Risk(draws, numbers, float(share), attack).run(ratings, knowledge, rng=seed)
    told = {"day_error": 14} | errors
    slow = [
        naive.least_known(
            ratings,
            user,
            twin(attack, look(ratings, None, None), 20),
            seed,
            draws=draws,
            share=share,
            numbers=list(numbers),
            dated=ratings.has_days,
            **told,
        )
        for user in result.users.tolist()
    ]
    assert result.least.tolist() == [least for least, _ in slow]
    assert result.identified.tolist() == pytest.approx([hits for _, hits in slow])
    support = ratings.user_support[result.users].tolist()
    steps = naive.table_of_steps(result.least.tolist(), support, list(numbers))
    assert [dataclasses.astuple(step) for step in result.steps] == steps
    assert result.ineligible == (ratings.user_support == 0).sum()


@pytest.fixture(scope="module")
def people() -> Ratings:
    return synthesize(n_users=120, n_items=80, n_ratings=3000, rng=5)


@pytest.fixture(scope="module")
def found(people: Ratings) -> RiskResult:
    return Risk(draws=10).run(people, Knowledge(day_error=3), rng=1)


def test_a_user_s_result_depends_on_seed_and_user_alone(
    people: Ratings, found: RiskResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(set(found.least.tolist())) > 2  # or what follows would prove nothing
    few = Risk(draws=10).run(people, Knowledge(day_error=3), targets=30, rng=1)
    assert len(few.users) == 30
    among = np.searchsorted(found.users, few.users)
    assert np.array_equal(found.least[among], few.least)
    assert np.array_equal(found.identified[among], few.identified)
    monkeypatch.setattr(risk, "_BLOCK", 7)
    blocks = Risk(draws=10).run(people, Knowledge(day_error=3), rng=1)
    assert np.array_equal(blocks.least, found.least)
    told = Knowledge(day_error=3, about_count=True)  # each target its own number
    assert sum(Risk(draws=10).run(people, told, rng=1).least) < sum(found.least)
    other = Risk(draws=10).run(people, Knowledge(day_error=3), rng=2)
    assert not np.array_equal(other.identified, found.identified)


def test_the_attack_is_the_one_given(people: Ratings, found: RiskResult) -> None:
    strict = Risk(draws=10, attack=ScoreboardRH(phi=4, absent=True)).run(
        people, Knowledge(day_error=3), rng=1
    )
    assert strict.never > found.never
    assert strict.config["phi"] == 4
    assert strict.config["absent"] is False
    assert strict.config["rho0"] == 1.5


def test_it_says_how_many_and_nobody_in_particular(found: RiskResult) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [step["known"] for step in told["steps"]] == [1, 2, 4, 8, 16]
    assert sum(step["identified"] for step in told["steps"]) + told["never"] == found.targets
    assert len(json.dumps(told)) < 2000  # no list over users
    assert not {"users", "least", "identified"} & told.keys()
    assert "least=" not in repr(found)
    shares = [step["at_most"]["rate"] for step in told["steps"]]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1 - found.never / found.targets)
    assert told["knowledge"]["name"] == "ratings exact, days ±3"
    assert "known" not in told["knowledge"]
    last = found.to_dict()["steps"][-1]["at_most"]
    assert f"{last['rate']:.1%} [{last['low']:.1%}, {last['high']:.1%}] by 16" in str(found)
    assert "<p>scoreboard-rh on 120 records" in found._repr_html_()


def test_users_with_few_cells_are_not_tried_with_more() -> None:
    rows: list[dict[int, float]] = [{0: 5, 1: 3}, {0: 5}, {1: 3, 2: 1}, {}]
    result = Risk(draws=3, known=(1, 2, 3)).run(table(rows, FIVE), rng=0)
    assert (result.targets, result.ineligible) == (3, 1)
    assert result.steps[0].ineligible == 0
    assert result.steps[-1].tried == 0
    assert result.steps[-1].ineligible == result.never
    assert "have fewer than 3 ratings" in str(result)


def test_draws_end_when_the_share_is_out_of_reach(
    people: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    attacked = []
    judge = ScoreboardRH.judge
    monkeypatch.setattr(
        ScoreboardRH, "judge", lambda *args: attacked.append(len(args[2])) or judge(*args)
    )
    # nobody ever stands out by 1000 standard deviations: the first miss settles it, or the third
    Risk(draws=20, known=(2,), share=1, attack=ScoreboardRH(phi=1000)).run(people, rng=0)
    assert attacked == [120]
    attacked.clear()
    Risk(draws=20, known=(2,), share=0.9, attack=ScoreboardRH(phi=1000)).run(people, rng=0)
    assert attacked == [360]


class Watcher:
    """Counts what a watcher sees."""

    def __init__(self) -> None:
        self.tasks: list[list[float]] = []

    def start(self, label: str, total: float | None) -> int:
        self.tasks.append([total or 0, 0])
        return len(self.tasks) - 1

    def advance(self, handle: int, amount: float) -> None:
        self.tasks[handle][1] += amount

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None: ...


def test_progress_is_one_bar_per_number_and_reaches_its_end(people: Ratings) -> None:
    watcher = Watcher()
    with watch(watcher):
        Risk(draws=10, known=(1, 4, 16)).run(people, rng=0)
    whole, *numbers = watcher.tasks
    assert whole == [0, 0]  # the job as such has no end that is known
    assert len(numbers) == 3
    assert all(total == done > 0 for total, done in numbers)


@pytest.fixture(scope="module")
def release_of(people: Ratings) -> Any:
    return KLikeness(k=3).anonymize(people.keep_items(people.most_rated(5)), rng=0)


def test_on_a_release_with_groups_nobody_is_identified(
    people: Ratings, release_of: Any, tmp_path: Path
) -> None:
    original = people.keep_items(people.most_rated(5))
    result = Risk(draws=3, known=(1, 2)).run(release_of, original=original, rng=0)
    assert result.never == result.targets
    assert result.knowledge["name"] == "ratings exact, no days"
    release_of.save(tmp_path / "out", private=tmp_path / "receipt")
    back = read_release(tmp_path / "out", private=tmp_path / "receipt")
    assert Risk(draws=3, known=(1, 2)).run(back, original=original, rng=0).steps == result.steps
    with pytest.raises(ConfigError, match="needs the private key file of the release") as caught:
        Risk().run(read_release(tmp_path / "out"), original=original)
    assert "private key file" in caught.value.advice


@pytest.mark.parametrize(
    "wrong",
    [
        {"draws": 0},
        {"draws": 2.5},
        {"draws": True},
        {"known": ()},
        {"known": (0, 1)},
        {"known": (2, 1)},
        {"known": (1, 1)},
        {"known": (1, 2.5)},
        {"share": 0},
        {"share": 1.01},
        {"share": float("nan")},
    ],
)
def test_settings_outside_their_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Risk(**wrong)


def test_more_wrong_cells_than_known_ones_are_refused(people: Ratings) -> None:
    with pytest.raises(
        ConfigError, match="wrong 2: must be at most 1, the fewest known ratings"
    ) as caught:
        Risk().run(people, Knowledge(wrong=2))
    assert "Omit wrong" in caught.value.advice
    Risk(draws=1, known=(2, 4)).run(people, Knowledge(wrong=2))


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_the_list_names_those_to_hold_back(
    people: Ratings, found: RiskResult, tmp_path: Path
) -> None:
    n = save_risk_list(found, people, tmp_path / "list.csv")
    header, *rows = rows_of(tmp_path / "list.csv")
    assert header == ["user", "least_known", "share_identified"]
    assert n == len(rows) == found.targets - found.never > 50
    expected = sorted(
        (least, user, share)
        for least, user, share in zip(found.least, found.users, found.identified, strict=True)
        if least
    )
    assert [(int(m), user, float(share)) for user, m, share in rows] == [
        (least, people.users[user], share) for least, user, share in expected
    ]
    assert all(float(share) >= 0.9 for _, _, share in rows)


def test_ids_of_all_kinds_come_back(tmp_path: Path) -> None:
    ids = ["7", "007", "a,b", 'say "x"', "line\nbreak", "carriage\rreturn", "ü", " =1+1 "]
    rows = [{j: 5.0} for j in range(len(ids))]
    ratings = dataclasses.replace(table(rows, FIVE), users=Vocabulary.of(ids))
    result = Risk(draws=2, known=(1,), attack=ScoreboardRH(phi=0.5)).run(ratings, rng=0)
    save_risk_list(result, ratings, tmp_path / "list.csv")
    assert [row[0] for row in rows_of(tmp_path / "list.csv")[1:]] == list(ratings.users)
    assert set(ratings.users) == set(ids)


def test_the_list_is_its_owner_s_alone_from_the_first_byte(
    people: Ratings, found: RiskResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []

    def spy(*args: Any) -> Any:
        modes.extend(stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir())
        return write(*args)

    write = risk_result.write_table
    monkeypatch.setattr(risk_result, "write_table", spy)
    before = os.umask(0)
    try:
        save_risk_list(found, people, tmp_path / "list.csv")
    finally:
        os.umask(before)
    assert modes == [0o600]  # the file, empty yet
    assert stat.S_IMODE((tmp_path / "list.csv").stat().st_mode) == 0o600


def test_nothing_is_left_of_a_list_that_failed(
    people: Ratings, found: RiskResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, *args: Any) -> None:
        path.write_text("half")
        raise OSError(28, "full")

    monkeypatch.setattr(risk_result, "write_table", fail)
    with pytest.raises(OutputError, match="no space"):
        save_risk_list(found, people, tmp_path / "list.csv")
    assert not list(tmp_path.iterdir())


def test_the_list_never_lies_in_a_release_nor_over_a_file(
    people: Ratings, found: RiskResult, release_of: Any, tmp_path: Path
) -> None:
    release_of.save(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "deep").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for place in ("out/list.csv", "link/list.csv", "out/deep/list.csv", "link/deep/../list.csv"):
        with pytest.raises(OutputError, match="inside the release"):
            save_risk_list(found, people, tmp_path / place)
    with atomic_file(tmp_path / "there.csv") as file:
        file.write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "out" / "list.csv")
    for place in ("there.csv", "dangling"):
        with pytest.raises(OutputError, match="exists already"):
            save_risk_list(found, people, tmp_path / place)
    assert (tmp_path / "there.csv").read_text() == "mine"
    created = {tmp_path / "there.csv", tmp_path / "dangling"}
    assert set(tmp_path.rglob("*")) == {*before, *created}


def test_a_list_of_other_ratings_is_refused(found: RiskResult, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="do not belong"):
        save_risk_list(found, some_table(120, 12), tmp_path / "list.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.real
def test_movielens(ml100k_dir: Path) -> None:
    from starshade.ratings.read import read_ratings

    result = Risk().run(read_ratings(ml100k_dir / "u.data"), rng=0)
    shares = [step["at_most"]["rate"] for step in result.to_dict()["steps"]]
    # by the reference values: with 8 exact cells and ±14 days nearly all stand out
    assert shares[0] < 0.05 < shares[2] < shares[3]
    assert shares[4] > 0.95
