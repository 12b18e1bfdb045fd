"""A search for a policy: what is tried, what counts, what is said where nothing passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import starshade as ss
from starshade.audit.checks.check import Check
from starshade.audit.checks.policy import Threshold
from starshade.audit.compare.search import PolicySearch, search_policy, steps_of
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.figure import Rate
from starshade.ratings.table import Ratings
from tests.policies import NO_LIMITS

SEED = 3
SOME: list[AuditResult] = []  # a real audit, to be given other checks
LIMIT = Threshold(Fraction(1, 10))
#: what an audit measures, by k, item support and whether it is the first of the release
Rule = Callable[[int, str | None, bool], Check]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return ss.synthesize(n_users=120, n_items=12, n_ratings=420, rng=1)


def measured(high: float, name: str = "membership") -> Check:
    return Check(name, "Measured.", rate=Rate(high / 2, 0.0, high), threshold=LIMIT)


def ruled(monkeypatch: pytest.MonkeyPatch, rule: Rule) -> list[tuple[int, str | None, int]]:
    """Let audits come to what the rule says; returns what is audited, with which seed."""
    audited: list[tuple[int, str | None, int]] = []
    real = Audit.judge_release

    def judge(self: Audit, table: Ratings, release: Any, folder: Path, **rest: Any) -> AuditResult:
        if not SOME:
            SOME.append(real(replace(self, shadows=0, targets=5), table, release, folder, **rest))
        config, items = release.private.config, release.manifest.items
        result = replace(SOME[0], seed=rest["seed"], items=items)
        k, support = int(config["k"]), config.get("item_support")
        audited.append((k, support, rest["seed"]))
        return replace(result, checks=(rule(k, support, rest["seed"] == SEED),), findings=())

    monkeypatch.setattr(Audit, "judge_release", judge)
    return audited


def search(ratings: Ratings, **options: Any) -> PolicySearch:
    method: Any = partial(ss.PredictiveAnonymizer, sweeps=1, factors=1)
    return search_policy(ratings, method, **{"rng": SEED, **options})


def test_the_first_that_passes_twice(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    audited = ruled(monkeypatch, lambda k, _, first: measured(0.05 if k > 5 else 0.2))
    result = search(ratings)
    assert [(k, support) for k, support, _ in audited] == [(5, None), (7, None), (7, None)]
    seeds = [seed for *_, seed in audited]
    assert seeds[0] == seeds[1] == SEED != seeds[2]
    assert result.chosen is not None
    assert (result.chosen.k, result.chosen.item_support, result.verdict) == (7, None, "PASS")
    assert result.chosen.last.seed == seeds[2]
    assert result.anonymizer == ss.PredictiveAnonymizer(k=7, sweeps=1, factors=1)
    assert "k = 7 passes policy partner v1 in two audits" in str(result)


def test_what_passes_once_does_not_count(ratings: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(k: int, _: str | None, first: bool) -> Check:
        return measured(0.05 if first or k > 7 else 0.11)

    ruled(monkeypatch, rule)
    result = search(ratings)
    assert [(each.k, each.verdict) for each in result.attempts] == [
        (5, "FAIL"),
        (7, "FAIL"),
        (11, "PASS"),
    ]
    first = result.to_dict()["attempts"][0]
    assert first["verdict"] == "FAIL"
    assert first["first_audit"]["verdict"] == "PASS"


def test_none_passes(ratings: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    ruled(monkeypatch, lambda k, support, _: measured(0.9 - k / 100 + (support is not None) / 10))
    result = search(ratings)
    assert result.chosen is None
    assert result.anonymizer is None
    assert result.verdict == "FAIL"
    assert [each.k for each in result.attempts][:7] == [5, 7, 11, 15, 20, 30, 50]
    (obstacle,) = result.failing_checks
    assert obstacle == ("Membership, TPR at 1 % FPR: 20.0% (threshold 10%), with k = 50")
    assert obstacle in str(result)
    assert str(result).startswith("No release passes policy partner v1")


def test_what_is_never_measured(ratings: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Check("membership", "Not measured. Too few.", threshold=LIMIT, advice="Add people.")
    ruled(monkeypatch, lambda k, *_: none if k == 5 else measured(0.3))
    result = search(ratings)
    assert result.verdict == "INCOMPLETE"
    assert "Best verdict: INCOMPLETE (k = 5)" in str(result)
    ruled(monkeypatch, lambda *_: none)
    (obstacle,) = search(ratings).failing_checks
    assert obstacle == ("Membership, TPR at 1 % FPR: Not measured. Too few. Add people.")


def test_item_supports_come_after_every_k(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited = ruled(monkeypatch, lambda k, support, _: measured(0.05 if support else 0.2))
    result = search(ratings, threshold={"class-size": 5})
    assert [each[:2] for each in audited[:7]] == [(k, None) for k in (5, 7, 11, 15, 20, 30, 50)]
    # 2 % of 120 people are 3, fewer than k: such a release is the same
    same = {(step.k, step.item_support): why for step, why in result.skipped}
    assert same[5, "2%"] == "it leaves out the same items as with k = 5"
    assert all(each.item_support != "2%" for each in result.attempts)


def test_what_cannot_pass_is_not_tried(ratings: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    audited = ruled(monkeypatch, lambda *_: measured(0.05))
    result = search(ratings, policy="public")
    assert {k for k, *_ in audited} == {11}
    assert [(step.k, why) for step, why in result.skipped] == [
        (5, "the policy requires classes of 11 or more"),
        (7, "the policy requires classes of 11 or more"),
    ]
    assert {step.k for step in steps_of(Audit(threshold={"class-size": 57}).rules)} == {57}
    with pytest.raises(ss.ConfigError, match="class-size = '0': must be"):
        search(ratings, threshold={"class-size": 0})


def test_more_than_there_are_people(monkeypatch: pytest.MonkeyPatch) -> None:
    ten = ss.synthesize(n_users=10, n_items=6, n_ratings=40, rng=1)
    audited = ruled(monkeypatch, lambda *_: measured(0.3))
    result = search(ten)
    assert {k for k, *_ in audited} == {5}
    assert [step.k for step, why in result.skipped if "records = 10" in why][:2] == [7, 11]
    with pytest.raises(ss.ConfigError, match="records = 10"):
        search(ten, threshold={"class-size": 11})


def test_ten_people_and_one_item() -> None:
    ten = Ratings.from_arrays([f"u{n}" for n in range(10)], ["i"] * 10, [1.0, 2, 3, 4, 5] * 2)
    result = search(ten, targets=5)
    assert result.chosen is None
    assert result.failing_checks
    assert search(ten, threshold=NO_LIMITS, shadows=0, targets=5).chosen is not None


def test_a_stopped_search_is_resumed(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def rule(k: int, *_: Any) -> Check:
        return measured(0.05 if k == 11 else 0.2)

    whole = ruled(monkeypatch, rule)
    straight = search(ratings).to_dict()

    def stops(k: int, *rest: Any) -> Check:
        if k == 7:
            raise RuntimeError
        return rule(k)

    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ruled(monkeypatch, stops)
    with pytest.raises(RuntimeError), journal_in(tmp_path, resume=False) as journal:
        search(ratings, engine=Local(journal))
    again = ruled(monkeypatch, rule)
    with journal_in(tmp_path, resume=True) as journal:
        resumed = search(ratings, engine=Local(journal)).to_dict()
    assert resumed == straight
    assert [k for k, *_ in again] == [k for k, *_ in whole if k != 5]


def test_what_may_decide_is_part_of_a_kept_try(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    audited = ruled(monkeypatch, lambda *_: measured(0.05))
    others: list[Mapping[str, Any]] = [
        {},
        {"policy": "controlled"},
        {"threshold": {"membership": 0.4}},
        {"rng": 4},
        {"targets": 7},
    ]
    with journal_in(tmp_path, resume=False) as journal:
        for each in others:
            search(ratings, engine=Local(journal), **each)
        n = len(audited)
        search(ratings, engine=Local(journal))
    assert len(audited) == n >= 2 * len(others) - 1
