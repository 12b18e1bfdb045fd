"""Audits of releases whose records differ: what is tried, who is asked for, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.attack.knowledge import Knowledge
from starshade.audit.checks.check import Check
from starshade.audit.evidence import attack_both, knowledge_to_try
from starshade.audit.made import Made
from starshade.audit.make import make_release
from starshade.audit.measure import measure_all
from starshade.audit.original.table import OneTable, knowable_of
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from tests.policies import NO_LIMITS
from tests.strategies import table

STARS = Scale(1, 5, 1)


def people(near: int = 30, odd: int = 6) -> Ratings:
    """Many whose ratings are near each other's, and a few who are like nobody."""
    rng = np.random.default_rng(0)
    rows = [{i: float(3 + rng.integers(0, 2)) for i in range(5)} for _ in range(near)]
    rows += [{i: float(1 + (u * (i + 1)) % 2) for i in range(5)} for u in range(odd)]
    for u, row in enumerate(rows[near:]):  # each rated items of their own choice
        row.pop(u % 5)
    return table(rows, STARS)


def saved(tmp_path: Path, method: Any, ratings: Ratings) -> Made:
    return make_release(ratings, method, out=tmp_path / "out", private=tmp_path / "receipt", rng=0)


def audited(tmp_path: Path, ratings: Ratings, *, receipt: bool = True, **asked: Any) -> AuditResult:
    private = tmp_path / "receipt" if receipt else None
    return Audit(**{"known": (2,), "shadows": 0, "threshold": NO_LIMITS} | asked).run(
        ratings, tmp_path / "out", private=private, rng=1
    )


def found_by(result: AuditResult) -> Check:
    return result.check("re-identification")


def card(tmp_path: Path) -> str:
    return (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_who_was_left_out_is_not_told_from_who_stays_without_the_receipt(tmp_path: Path) -> None:
    ratings = people()
    made = saved(tmp_path, SuppressAnonymizer(k=5, eps=1), ratings)
    assert made.figures["users_deleted"] == 6
    alone = audited(tmp_path, ratings, receipt=False)
    assert found_by(alone).rate is None
    assert "People were left out; without the private key file" in found_by(alone).text
    (told,) = [text for text in alone.warnings if "counts as correct" in text]
    assert "can overstate and, as people were left out, understate the attack" in told
    assert found_by(audited(tmp_path, ratings)).rate is not None


def test_where_nobody_was_left_out_it_can_only_overstate(tmp_path: Path) -> None:
    ratings = people(odd=0)
    assert saved(tmp_path, SuppressAnonymizer(k=5, eps=1), ratings).figures["users_deleted"] == 0
    alone = audited(tmp_path, ratings, receipt=False)
    assert found_by(alone).rate is not None
    (told,) = [text for text in alone.warnings if "counts as correct" in text]
    assert "can only overstate" in told
    linked = audited(tmp_path, ratings)
    for a, b in zip(linked.evidence, alone.evidence, strict=True):
        assert a.after.expected_top1.rate <= b.after.expected_top1.rate + 1e-12


def test_before_is_on_the_same_people_only_with_the_receipt(tmp_path: Path) -> None:
    ratings = people()
    saved(tmp_path, SuppressAnonymizer(k=5, eps=1), ratings)
    linked = audited(tmp_path, ratings)
    assert linked.same_people
    assert linked.worst.before.records == 30
    assert "of targets (original data of the same people: " in str(linked)
    alone = audited(tmp_path, ratings, receipt=False)
    assert not alone.same_people
    assert alone.worst.before.records == 36
    assert "of targets (original data: " in str(alone)


def test_with_everybody_released_the_ratings_are_everybodys(tmp_path: Path) -> None:
    ratings = people(odd=0)
    saved(tmp_path, SuppressAnonymizer(k=5, eps=1), ratings)
    linked = audited(tmp_path, ratings)
    assert not linked.same_people
    assert "of targets (original data: " in str(linked)


def claimed(model: str, eps: float, *sensitive: str) -> Claim:
    keys: dict[str, Any] = {"sensitive": list(sensitive)} if sensitive else {}
    more: dict[str, Any] = {"l": 1.0} if model == "k-eps-l" else {}
    return Claim(model=model, parameters={"k": 5, "eps": eps, "nulls": "strict", **more, **keys})


@pytest.mark.parametrize(("eps", "tried"), [(0.5, 9), (1.0, 8), (0.0, 6), (2.0, 9), (1e6, 9)])
def test_the_models_own_adversary_is_tried_once(eps: float, tried: int) -> None:
    ratings = table([dict.fromkeys(range(9), float(1 + u % 5)) for u in range(7)], STARS)
    tries = knowledge_to_try(STARS, 9, (2, 4, 8), [claimed("k-eps", eps), claimed("k-eps-l", eps)])
    # a blur of 1 with two known cells, none wrong, is tried anyway
    assert len(tries) == len(set(tries)) == tried
    for known in (2, 4, 8):
        assert Knowledge(known=known, rating_error=eps, dates=False) in tries
    release = KLikeness(k=2).anonymize(ratings, rng=0)
    found = attack_both(OneTable(ratings, release), tries, targets=5, seed=0)
    labels = [e for e in found if e.after.attack == "label"]
    for known in (2, 4, 8):
        assert [known, eps] in [[e.knowledge.known, e.after.config["tolerance"]] for e in labels]


def test_other_models_have_no_adversary_within_eps() -> None:
    odd = Claim(model="other", parameters={"k": 2, "eps": 0.25})
    assert knowledge_to_try(STARS, 2, (2,), [odd]) == knowledge_to_try(STARS, 2, (2,))


@pytest.mark.parametrize(
    "method",
    [
        IntervalAnonymizer(k=5, eps=0.5, nulls="ignore"),
        SuppressAnonymizer(k=5, eps=2),
    ],
    ids=["interval", "suppress"],
)
def test_the_models_own_adversary_is_among_the_settings(tmp_path: Path, method: Any) -> None:
    ratings = people()
    saved(tmp_path, method, ratings)
    shown = audited(tmp_path, ratings).to_dict()["attack_after"]["settings"]
    labels = [s for s in shown if s["attack"] == "label"]
    within = [(s["knowledge"]["rating_error"], s["config"]["tolerance"]) for s in labels]
    assert (method.eps, method.eps) in within


def test_sensitive_items_are_not_known() -> None:
    ratings = people()
    most = knowable_of(ratings, ("1", "3")).most
    tries = knowledge_to_try(STARS, most, (2, 4, 8), [claimed("k-eps", 1, "1", "3")])
    assert {t.except_items for t in tries} == {("1", "3")}
    assert {t.known for t in tries} == {2}  # three items are left, and nobody has four
    for knowledge in tries:
        users = np.flatnonzero(knowledge.eligible_users(ratings))
        assert not {0, 2} & set(knowledge.draw(ratings, users, 0).items.ravel().tolist())


def test_an_audit_draws_what_is_known_from_items_that_are_not_sensitive(tmp_path: Path) -> None:
    ratings = people(odd=0)
    saved(tmp_path, SuppressAnonymizer(k=5, eps=1, sensitive=["2"]), ratings)
    result = audited(tmp_path, ratings)
    for e in result.evidence:
        assert e.before.knowledge["except_items"] == e.after.knowledge["except_items"] == ("2",)
    assert "ratings of a person, none of a sensitive item, re-identifies" in str(result)
    (tmp_path / "plain").mkdir()
    saved(tmp_path / "plain", SuppressAnonymizer(k=5, eps=1), ratings)
    assert "sensitive" not in str(audited(tmp_path / "plain", ratings))


def rare_in_the_core() -> Ratings:
    """Everybody rated item 6, but of those who can stay only two did."""
    ratings = people(odd=0)
    rows = [dict(zip(range(5), row, strict=True)) for row in ratings.dense().tolist()]
    rows[0][5] = rows[1][5] = 3.0
    corners = [(1.0, 1.0), (1.0, 5.0), (5.0, 1.0)] * 2
    far = [{0: a, 1: b, 5: 3.0} for a, b in corners]
    return table([*rows, *far], STARS)


def test_items_that_those_who_stay_did_not_rate(tmp_path: Path) -> None:
    ratings = rare_in_the_core()
    assert (ratings.item_support >= 5).all()
    made = saved(tmp_path, SuppressAnonymizer(k=5, eps=1, nulls="ignore"), ratings)
    n = made.figures["rare_items_dropped"]
    assert n == 1, "the example is to drop an item"
    assert "1 item that fewer than 5 of those who stay rated" in str(made)
    assert "Items suppressed for too few raters: under 20 %" in card(tmp_path)


def test_items_that_few_rated_where_everybody_stays(tmp_path: Path) -> None:
    rows = [{0: 3.0, 1: 3.0}] * 5 + [{0: 3.0, 2: 1.0}]
    made = saved(tmp_path, KLikeness(k=3), table(rows, STARS))
    assert "1 item that fewer than 3 users rated" in str(made)
    assert "Items suppressed for too few raters: 20 % or more" in card(tmp_path)


def spread() -> Ratings:
    """People alike on two items, who disagree about a third."""
    return table([{0: 3.0 + u % 2, 1: 3.0, 2: 1.0 + 4 * (u // 2 % 2)} for u in range(20)], STARS)


def test_what_was_made_names_sensitive_items_and_their_spread(tmp_path: Path) -> None:
    told = str(saved(tmp_path, SuppressAnonymizer(k=5, eps=1, l=1, sensitive=["3"]), spread()))
    assert "by at most 1 on every item that is not sensitive" in told
    assert "sensitive item have a standard deviation of at least 1" in told
    (tmp_path / "two").mkdir()
    told = str(saved(tmp_path / "two", SuppressAnonymizer(k=5, eps=1, sensitive=["3"]), spread()))
    assert "on every item that is not sensitive" in told
    assert "standard deviation" not in told
    (tmp_path / "three").mkdir()
    told = str(saved(tmp_path / "three", SuppressAnonymizer(k=5, eps=1), people()))
    assert "by at most 1." in told


def equals(each: int = 6) -> Ratings:
    """Three kinds of equal people, and two people like nobody else."""
    rows = [{0: float(1 + kind), 1: 3.0} for kind in range(3) for _ in range(each)]
    return table([*rows, {0: 5.0, 1: 1.0}, {0: 4.0, 1: 5.0}], STARS)


def test_records_that_are_equal_are_not_said_to_differ(tmp_path: Path) -> None:
    ratings = equals()
    told = str(saved(tmp_path, SuppressAnonymizer(k=5, eps=0), ratings))
    assert "not equal" not in told
    assert "Smallest class: 6." in told
    assert "An adversary who finds a class reads its ratings" in told
    text = card(tmp_path)
    assert "Near is not equal" not in text
    assert "may differ" not in text
    assert "the smallest class has 6" in text
    result = audited(tmp_path, ratings)
    assert result.passed
    assert "is in an equivalence class (records that are equal) of at least 5, counted" in str(
        result
    )
    assert "no attack finds the right record more often than 1 in 5" in str(result)
    assert "Records differ," not in found_by(result).text
    assert "no attack finds a record more often than 1 in 6" in found_by(result).text
    assert "Near records are not equal" not in str(result)


def test_records_that_are_near_are_said_to_differ(tmp_path: Path) -> None:
    ratings = people()
    told = str(saved(tmp_path, SuppressAnonymizer(k=5, eps=1), ratings))
    assert "near, not equal" in told
    assert "Near is not equal" in card(tmp_path)
    result = audited(tmp_path, ratings)
    assert "Records differ," in found_by(result).text
    assert "Guaranteed" not in str(result)


def test_the_card_says_that_nulls_were_moved_only_where_they_can_be(tmp_path: Path) -> None:
    ratings = people()
    said = "may be suppressed or imputed"
    for nulls in ("strict", "ignore", "zero"):
        (tmp_path / nulls).mkdir()
        saved(tmp_path / nulls, IntervalAnonymizer(k=5, eps=1, nulls=nulls), ratings)  # type: ignore[arg-type]
        assert (said in card(tmp_path / nulls)) == (nulls != "ignore"), nulls
        assert "shifted until others are near" in card(tmp_path / nulls)


def test_measures_say_what_was_left_out(tmp_path: Path) -> None:
    ratings = rare_in_the_core()
    made = saved(tmp_path, SuppressAnonymizer(k=5, eps=1, nulls="ignore"), ratings)
    assert made.figures["users_deleted"] > 0
    for private in (None, tmp_path / "receipt"):
        found = measure_all(read_release(tmp_path / "out", private=private), ratings)
        for name in ("users_deleted", "rare_items_dropped"):
            assert made.figures[name] > 0
            assert found[name] == (made.figures[name] if private else None)
    whole = KLikeness(k=3).anonymize(listed_items(["1", "2"]).apply(ratings), rng=0)
    found = measure_all(whole, ratings)
    assert (found["users_deleted"], found["rare_items_dropped"]) == (0, 0)
