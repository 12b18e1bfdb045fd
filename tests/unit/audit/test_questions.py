"""The three questions: what answers them, which limits there are, and what is shown to hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.composition.composed import Counts
from starshade.attack.predicate.result import PredicateResult
from starshade.attack.shadows.inference_result import Compared, InferenceResult, Way
from starshade.attack.shadows.linkability import Linked
from starshade.attack.shadows.membership_result import Alarm, MembershipAt, MembershipResult
from starshade.attack.shadows.predicates import SingledOut
from starshade.audit.findings import judge_limits, judge_questions
from starshade.audit.questions.inferred import inferred
from starshade.audit.questions.limits import LIMITED, Limit, limits_of
from starshade.audit.questions.linked import linked
from starshade.audit.questions.question import (
    Answer,
    Measured,
    Question,
    answered,
    limits_of_all,
    measured_of_all,
    unmeasured,
)
from starshade.audit.questions.singled_out import record_limit, singled_out
from starshade.audit.result import AuditResult
from starshade.audit.shadows import BeingInIt
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.release.promise import QUESTIONS
from starshade.release.table import Release
from starshade.stats import bootstrap, wilson
from tests.contract.cast import CAST

OWNER = Limit(0.2, "the owner")
RATINGS = CAST["duplicate records"].drop_empty_users()
NOT_ASKED = BeingInIt.unmeasured("not asked for")


def rated(low: float, rate: float, high: float, **more: Any) -> Measured:
    return Measured("class", "Found.", rate=Rate(rate, low, high), **more)


ANSWERS: dict[str, tuple[Measured, Answer]] = {
    "below": (rated(0.0, 0.1, 0.15, limit=OWNER), "within limits"),
    "at it": (rated(0.0, 0.1, 0.2, limit=OWNER), "within limits"),
    "the rate below, the end above": (rated(0.0, 0.1, 0.21, limit=OWNER), "above a limit"),
    "above": (rated(0.3, 0.4, 0.5, limit=OWNER), "above a limit"),
    "no limit": (rated(0.0, 0.0, 0.01), "not judged"),
    "no more than guessing": (rated(0.0, 0.1, 0.21, by_itself=True), "no more than guessing"),
    "a limit counts more": (rated(0.0, 0.1, 0.21, by_itself=True, limit=OWNER), "above a limit"),
    "nothing measured": (unmeasured("class", "It", "so few.", None), "not measured"),
    "nothing measured, a limit": (unmeasured("class", "It", "so few", OWNER), "not measured"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_was_measured_is_answered(name: str) -> None:
    measured, answer = ANSWERS[name]
    assert measured.answer == answer
    assert measured.holds == (None if measured.limit is None else answer == "within limits")
    told = json.loads(json.dumps(measured.to_dict()))
    assert told["answer"] == answer
    assert (told["rate"] is None) == (answer == "not measured")
    words = {"within limits": "within the limit", "above a limit": "above the limit"}
    words |= {"not judged": "no limit set"}
    alone = measured.by_itself and measured.limit is None
    assert measured.standing == ("no better than guessing" if alone else words.get(answer, answer))


def test_a_limit_that_is_not_set_can_be_found_by_its_name() -> None:
    assert rated(0.0, 0.0, 0.01).limit_text == "none set (class)"
    assert rated(0.0, 0.0, 0.01, limit=OWNER).limit_text.endswith(", by the owner")


def test_a_range_over_half_of_all_concludes_nothing() -> None:
    assert "too wide to conclude" in rated(0.08, 0.6, 1.0).remark
    assert "too wide" not in rated(0.3, 0.4, 0.7).remark
    assert "too wide" not in rated(0.08, 0.6, 1.0, limit=Limit(1.0, "the owner")).remark  # it holds


def test_what_was_set_and_what_was_measured_is_counted() -> None:
    held, unset = rated(0.1, 0.1, 0.2, limit=OWNER), rated(0.1, 0.2, 0.3)
    model = replace(held, limit=Limit(0.2, "the model"))
    some = [Question("linked", (held, unset)), Question("inferred", (model, unset))]
    assert (
        limits_of_all(some)
        == "2 of 4 limits are set (1 by the model), and both hold; 2 are not set"
    )
    assert measured_of_all(some) == "All 4 were measured."
    some.append(Question("inferred", (unset, unmeasured("membership", "It", "so few", None))))
    assert measured_of_all(some) == (
        "5 of 6 were measured; not measured: people in it found at 1% false alarms."
    )


@pytest.mark.parametrize("names", [*product(ANSWERS, repeat=2)])
def test_a_question_is_answered_by_the_worst(names: tuple[str, str]) -> None:
    measured, answers = zip(*(ANSWERS[name] for name in names), strict=True)
    question = Question("linked", measured)
    order: list[Answer] = ["above a limit", "not judged", "not measured", "within limits"]
    order += ["no more than guessing"]
    assert question.answer == min(answers, key=order.index)
    settled = {"within limits", "no more than guessing"}
    assert answered([question]) == (set(answers) <= settled)
    assert question.in_words.startswith(f"{question.answer.capitalize()}. ")
    (finding,) = judge_questions([question])
    assert (finding.name, finding.passed) == ("linked", set(answers) <= settled)


def test_each_limit_belongs_to_a_question() -> None:
    assert {each.question for each in LIMITED.values()} == set(QUESTIONS)
    assert all(name == each.name for name, each in LIMITED.items())


@pytest.mark.parametrize(
    ("texts", "limits"),
    [
        ([], {}),
        (["record=0.1"], {"record": 0.1}),
        (["membership=5%", "class=0"], {"membership": 0.05, "class": 0.0}),
        (["joint-class=100%", "halves=1"], {"joint-class": 1.0, "halves": 1.0}),
        (["inference=1e-3", "disclosed=.5", "predicate=0.5%"],
         {"inference": 1e-3, "disclosed": 0.5, "predicate": 0.005}),
    ],
)  # fmt: skip
def test_limits_are_read(texts: list[str], limits: dict[str, float]) -> None:
    assert limits_of(texts) == limits
    assert limits_of(Audit(limit=limits).limit) == limits
    assert limits_of(Audit(limit=texts).limit) == limits


BAD: dict[str, tuple[Sequence[str], str]] = {
    "no such limit": (["success=0.1"], "there is no limit 'success'"),
    "no name": (["0.1"], "there is no limit '0.1'"),
    "nothing": ([""], "there is no limit ''"),
    "twice": (["record=0.1", "class=1", "record=0.2"], "record is set twice"),
    "no number": (["record=low"], "record=low"),
    "no value": (["record="], "record="),
    "no sign": (["record"], "record="),
    "not a number": (["record=nan"], "record=nan"),
    "without end": (["record=inf"], "record=inf"),
    "negative": (["record=-0.1"], "record=-0.1"),
    "above 1": (["record=1.1"], "record=1.1"),
    "above all": (["record=101%"], "record=101%"),
    "twice in percent": (["record=5%%"], "record=5%%"),
    "two": (["record=0.1=0.2"], "record=0.1=0.2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_limits_are_refused(name: str) -> None:
    texts, said = BAD[name]
    for ask in (lambda: limits_of(texts), lambda: Audit(limit=texts)):
        with pytest.raises(ConfigError) as error:
            ask()
        assert said in error.value.message
        assert error.value.setting == "limit"
        assert all(each in str(error.value.advice) for each in LIMITED)


@pytest.mark.parametrize(
    "limit",
    [
        {"record": math.nan},
        {"record": -1},
        {"record": 2},
        {"record": None},
        {"record": True},
        {"success": 0.1},
        {"record": "low"},
        {1: 0.1},
    ],
    ids=str,
)
def test_bad_mappings_are_refused(limit: Mapping[Any, Any]) -> None:
    with pytest.raises(ConfigError):
        Audit(limit=limit)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.integers(1, 40))
def test_more_tries_never_narrow_an_interval(right: int, wrong: int, one: int, more: int) -> None:
    few, many = (wilson(right, right + wrong, tries=tries) for tries in (one, one + more))
    assert many.low <= few.low <= few.high <= many.high
    assert few.rate == many.rate or right + wrong == 0
    shares = np.array([1.0] * right + [0.0] * wrong)
    same = shares[:right] if right else shares  # all alike: Wilson's interval
    few, many = (bootstrap(same, seed=1, tries=tries) for tries in (one, one + more))
    assert many.low <= few.low <= few.high <= many.high


def test_more_tries_widen_what_is_drawn_anew() -> None:
    earned = np.random.default_rng(0).random(200)
    found = [bootstrap(earned, seed=1, tries=tries) for tries in (1, 4, 16, 64)]
    for few, many in pairwise(found):
        assert many.low < few.low < few.rate == many.rate < few.high < many.high


def test_the_interval_is_of_all_that_was_tried_together() -> None:
    # z of 1 - 0.05 / (2 · 10), from a table of the normal distribution
    z, n = 2.80703, 100
    half = z * math.sqrt(0.25 / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    found = wilson(50, n, tries=10)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-5)


@pytest.fixture(scope="module")
def release() -> Release:
    return KLikeness(k=4).anonymize(RATINGS, rng=0)


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        (None, Limit(0.25, "the model")),
        (0.25, Limit(0.25, "the model")),
        (0.9, Limit(0.25, "the model")),
        (0.2, Limit(0.2, "the owner")),
        (0.0, Limit(0.0, "the owner")),
    ],
)
def test_where_records_are_equal_the_limit_is_1_in_k_or_less(
    release: Release, asked: float | None, held: Limit
) -> None:
    assert record_limit(release, {} if asked is None else {"record": asked}) == held


def test_without_a_claim_the_limit_is_the_owners(release: Release) -> None:
    bare = replace(release, manifest=release.manifest.model_copy(update={"claims": ()}))
    assert record_limit(bare, {}) is None
    assert record_limit(bare, {"record": 0.9}) == Limit(0.9, "the owner")


def predicates(isolates: Rate, blind: float) -> PredicateResult:
    result = object.__new__(PredicateResult)
    for name, value in {"isolates": isolates, "blind": blind, "classes_tried": 50}.items():
        object.__setattr__(result, name, value)
    object.__setattr__(result, "attack", "predicate")
    return result


def of_halves(isolates: float, outsiders: float, excess: Rate) -> SingledOut:
    return SingledOut(3, 150, isolates, outsiders, excess, 0.1, "Those of weight w.")


@pytest.mark.parametrize(
    ("halves", "limit", "answer"),
    [
        (of_halves(0.1, 0.2, Rate(-0.1, -0.2, 0.0)), None, "no more than guessing"),
        (of_halves(0.2, 0.1, Rate(0.1, -0.2, 0.2)), None, "not judged"),
        (of_halves(0.2, 0.1, Rate(0.1, -0.2, 0.2)), 0.2, "within limits"),
        (of_halves(0.2, 0.1, Rate(0.1, -0.2, 0.2)), 0.19, "above a limit"),
        (of_halves(0.1, 0.2, Rate(-0.1, -0.2, 0.1)), 0.05, "above a limit"),  # what is set counts
        ("not asked for", None, "not measured"),
        ("not asked for", 1.0, "not measured"),
    ],
)
@pytest.mark.parametrize("of_release", [True, False])
def test_conditions_stand_beside_people_who_are_not_in_it(
    release: Release,
    halves: SingledOut | str,
    limit: float | None,
    answer: Answer,
    of_release: bool,
) -> None:
    limits = {} if limit is None else {"predicate": limit}
    own = predicates(Rate(0.3, 0.2, 0.4), 0.1) if of_release else "its cells are means"
    question = singled_out(release, audited(release).evidence, own, halves, limits, 0)
    measured = question.measured[1]
    assert measured.answer == answer
    if isinstance(halves, str):
        assert "not asked for" in measured.text
        return
    assert measured.rate == halves.excess
    assert measured.guessing == 0.0
    assert "over 3 releases of random halves" in measured.text
    assert ("Of this release itself: 30.0%" in measured.text) == of_release


_AUDITED: dict[int, AuditResult] = {}


def audited(release: Release) -> AuditResult:
    """Judge once."""
    if id(release) not in _AUDITED:
        with TemporaryDirectory() as place:
            out, receipt = Path(place) / "out", Path(place) / "receipt"
            release.save(out, private=receipt)
            audit = Audit(known=(2,), targets=20, shadows=0)
            _AUDITED[id(release)] = audit.run(RATINGS, out, private=receipt, rng=1)
    return _AUDITED[id(release)]


def test_the_class_is_found_by_the_strongest_of_all(release: Release) -> None:
    """Who names the record names its class, whatever the attack."""
    tried = audited(release).evidence
    (others,) = {e.after.attack for e in tried[:1]}
    assert others == "scoreboard-rh"
    everything: Any = SimpleNamespace(credit=np.ones(30))
    strong = replace(tried[0], after=replace(tried[0].after, per_target=everything))
    found, _ = linked(release, [strong, *tried[1:]], "not asked for", None, {}, 0).measured
    assert (found.attack, found.rate and found.rate.rate) == ("scoreboard-rh", 1.0)
    found, _ = linked(release, tried, "not asked for", None, {}, 0).measured
    assert found.attack == "likelihood"
    # one with few targets may end higher than the one that found most
    many, few = (
        replace(tried[0], after=replace(tried[0].after, per_target=SimpleNamespace(credit=credit)))
        for credit in (np.array([0.4, 0.8] * 500), np.array([0.0, 1.0]))
    )
    found, _ = linked(release, [many, few], "not asked for", None, {}, 0).measured
    assert found.rate is not None
    assert found.rate.rate == pytest.approx(0.6)
    assert found.rate.high == 1.0


@pytest.mark.parametrize(
    ("excess", "limit", "answer"),
    [
        (Rate(-0.05, -0.1, 0.0), None, "no more than guessing"),
        (Rate(0.05, -0.1, 0.11), None, "not judged"),
        (Rate(0.05, -0.1, 0.11), 0.11, "within limits"),
        (Rate(0.05, -0.1, 0.11), 0.1, "above a limit"),
    ],
)
def test_two_sources_stand_beside_people_who_are_not_in_it(
    release: Release, excess: Rate, limit: float | None, answer: Answer
) -> None:
    limits = {} if limit is None else {"halves": limit}
    members, outsiders = Rate(0.2, 0.1, 0.3), Rate(0.15, 0.1, 0.2)
    of = Linked(4, 50, members, outsiders, excess)
    _, measured = linked(release, [], of, None, limits, 0).measured
    assert measured.answer == answer
    assert (measured.rate, measured.guessing) == (excess, 0.0)
    assert measured.beside == (
        ("People who are in it", members),
        ("People who are not", outsiders),
    )
    assert "50 people" in measured.text


def membership(auc: Rate | None, found: Rate | None) -> MembershipResult:
    reason = "" if auc else "so few people"
    alarms = (Alarm(0.01, found or Rate(0.1, 0.0, 0.3), rough=found is None),)
    one = MembershipAt(8, 50, 50, auc, found=alarms, reason=reason)
    result = object.__new__(MembershipResult)
    object.__setattr__(result, "by_known", (one, replace(one, known=None)))
    object.__setattr__(result, "attack", "membership")
    object.__setattr__(result, "shadows", 16)
    return result


HALF, MORE = Rate(0.5, 0.45, 0.5), Rate(0.9, 0.8, 0.95)


@pytest.mark.parametrize(
    ("auc", "found", "limit", "answer"),
    [
        (HALF, Rate(0.0, 0.0, 0.02), None, "no more than guessing"),
        (MORE, Rate(0.02, 0.0, 0.05), None, "not judged"),
        (MORE, Rate(0.02, 0.0, 0.05), 0.05, "within limits"),
        (MORE, Rate(0.02, 0.0, 0.06), 0.05, "above a limit"),
        # fewer than ten false alarms: the AUC stands beside, and is not the figure
        (MORE, None, None, "not measured"),
        (MORE, None, 0.05, "not measured"),
        (None, None, None, "not measured"),
        (None, None, 0.05, "not measured"),
    ],
)
def test_members_found_at_few_false_alarms(
    auc: Rate | None, found: Rate | None, limit: float | None, answer: Answer
) -> None:
    limits = {} if limit is None else {"membership": limit}
    being = replace(NOT_ASKED, membership=membership(auc, found))
    question = inferred(being, None, limits)
    assert question.measured[0].answer == answer
    assert question.measured[0].title == LIMITED["membership"].title  # with and without a limit
    assert question.measured[0].rate == found
    if auc:
        assert f"named in {auc} of the cases with 8 ratings known (AUC" in question.measured[0].note
        assert question.measured[0].guessing == 0.01
    if auc and found is None:
        assert question.measured[0].found == "–"
        assert "was not measured: fewer than ten" in question.measured[0].text
    findings = judge_limits([question])
    assert [each.passed for each in findings] == (
        [] if limit is None else [answer == "within limits"]
    )
    if auc and found is None and limit:  # first what the limit is on
        assert findings[0].text.startswith("How many members are found at 1 % false alarms was not")


def inference(*gained: tuple[float, float, float] | None) -> InferenceResult:
    some = [each and Compared(0.5, 0.5 - each[0], 0.1, *each) for each in gained]
    result = object.__new__(InferenceResult)
    for name, value in {"known": 8, "attack": "inference", "targets": 60}.items():
        object.__setattr__(result, name, value)
    object.__setattr__(result, "ways", (Way("all", some[0], some[1], None),))
    return result


@pytest.mark.parametrize(
    ("rated_gained", "value_gained", "limit", "answer"),
    [
        ((-0.1, -0.2, -0.05), (-0.1, -0.2, -0.06), None, "no more than guessing"),
        ((-0.1, -0.2, -0.01), (-0.1, -0.2, -0.02), None, "not judged"),
        ((-0.1, -0.2, -0.01), (0.01, -0.02, 0.03), None, "not judged"),
        ((-0.1, -0.2, -0.01), (0.01, -0.02, 0.03), 0.05, "within limits"),
        # an end at 0.045 is one of five that hold together, and reaches further
        ((-0.1, -0.2, -0.01), (0.01, -0.02, 0.045), 0.05, "above a limit"),
        (None, (0.01, -0.02, 0.03), 0.05, "within limits"),
        (None, (0.5, -0.5, 1.0), 1.0, "within limits"),  # nothing gains more than all
        ((0.01, -0.02, 0.03), None, 0.05, "within limits"),
        (None, None, None, "not measured"),  # everybody rated everything, on a scale without steps
        (None, None, 0.05, "not measured"),
    ],
)
def test_what_is_gained_by_being_in_it(
    rated_gained: tuple[float, float, float] | None,
    value_gained: tuple[float, float, float] | None,
    limit: float | None,
    answer: Answer,
) -> None:
    limits = {} if limit is None else {"inference": limit}
    being = replace(NOT_ASKED, inference=inference(rated_gained, value_gained))
    assert inferred(being, None, limits).measured[1].answer == answer


def test_what_was_not_measured_fails_where_a_limit_is_set_or_all_is_judged(
    tmp_path: Path, release: Release
) -> None:
    release.save(tmp_path / "out", private=tmp_path / "receipt")

    def run(**asked: Any) -> AuditResult:
        audit = Audit(known=(2,), targets=20, shadows=0, **asked)
        return audit.run(RATINGS, tmp_path / "out", private=tmp_path / "receipt", rng=1)

    plain = run()
    assert plain.passed
    assert [question.name for question in plain.questions] == list(QUESTIONS)
    assert "within limits" not in {question.answer for question in plain.questions}
    assert set(plain.limits) == {"record"}
    for name in ("membership", "inference", "halves"):
        (measured,) = (m for q in plain.questions for m in q.measured if m.name == name)
        assert measured.answer == "not measured"
        assert "no shadow releases were requested" in measured.text
        strict = run(limit={name: 1.0})
        assert [each.name for each in strict.findings if not each.passed] == [name]
    every = run(judge="all")
    assert {each.name for each in every.findings if not each.passed} == set(QUESTIONS)
    assert every.questions == plain.questions
    loose = run(limit=[f"{name}=1" for name in ("class", "disclosed")])
    assert loose.passed
    assert loose.config["limit"] == {"class": 1.0, "disclosed": 1.0}
    assert [question.answer for question in loose.questions] == [
        "not measured",
        "not measured",
        "not measured",
    ]


NO_RELEASE = SimpleNamespace(private=None)


def joint(below_k: int | None, people: int = 8, **limits: float) -> Measured:
    """What is measured of releases that hide people together, so many among fewer than k."""
    composed = SimpleNamespace(counts=Counts(people, 3, 1, 1, below_k, None, None, None))
    return linked(NO_RELEASE, [], "not asked for", composed, limits, 0).measured[-1]


def test_a_chain_without_k_is_not_measured() -> None:
    measured = joint(None)
    assert (measured.name, measured.answer) == ("joint-class", "not measured")
    assert "none of the releases claims a k" in measured.text
    assert joint(None, **{"joint-class": 0.5}).limit == Limit(0.5, "the owner")


@pytest.mark.parametrize(
    ("below_k", "answer"), [(0, "within limits"), (1, "above a limit"), (2, "above a limit")]
)
def test_people_in_joint_classes_below_k_are_counted(below_k: int, answer: Answer) -> None:
    measured = joint(below_k)
    share = below_k / 8
    assert measured.rate == Rate(share, share, share)
    assert (measured.limit, measured.answer) == (Limit(0.0, "the model"), answer)
    assert (measured.attack, measured.knew) == ("composition", "the classes")
    assert measured.guessing == 0  # without the releases there are no classes
    assert f" {below_k} of 8 people" in measured.text
    assert joint(below_k, **{"joint-class": 0.25}).answer == "within limits"
    assert joint(1, people=1).rate == Rate(1.0, 1.0, 1.0)


def test_without_an_earlier_release_nothing_is_said_of_joint_classes() -> None:
    question = linked(NO_RELEASE, [], "not asked for", None, {}, 0)
    assert [each.name for each in question.measured] == ["class", "halves"]
