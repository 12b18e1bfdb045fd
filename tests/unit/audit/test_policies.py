"""Policies: their thresholds as specified, and what is wrong in a file, by line."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from starshade.audit.checks.advice import advice_on
from starshade.audit.checks.check import Check, Status, verdict_of
from starshade.audit.checks.inference import numbers_known, single_valued
from starshade.audit.checks.policy import (
    CHECKED,
    POLICIES,
    Threshold,
    parse_policy,
    read_policy,
    share_of,
    thresholds_of,
)
from starshade.audit.original.original import Knowable
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.ratings.scale import Scale
from tests.naive import verdict as naive
from tests.strategies import table
from tests.unit.release.samples import covering, generalized

#: name → public, partner, controlled; None: printed, never limited
SPECIFIED: dict[str, tuple[Fraction | None, Fraction | None, Fraction | None]] = {
    "class-size": (Fraction(1, 11), Fraction(1, 5), Fraction(1, 3)),
    "re-identification": (Fraction(1, 11), Fraction(1, 5), Fraction(1, 3)),
    "singling-out": (Fraction(5, 100), Fraction(20, 100), Fraction(33, 100)),
    "linkability": (Fraction(5, 100), Fraction(20, 100), Fraction(33, 100)),
    "membership": (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100)),
    "membership-all": (Fraction(10, 100), None, None),
    "inference": (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100)),
    "attribute": (Fraction(0), Fraction(5, 100), Fraction(20, 100)),
    "composition": (Fraction(0), Fraction(0), Fraction(0)),
    "class-linkage": (None, None, None),
}


@pytest.mark.parametrize("place", range(3))
def test_thresholds_are_those_that_were_fixed_before(place: int) -> None:
    policy = read_policy(list(POLICIES)[place])
    assert (policy.version, policy.known, policy.shadows, policy.shadows_large) == (1, 8, 16, 4)
    assert SPECIFIED.keys() == CHECKED.keys()
    for name, shares in SPECIFIED.items():
        found = policy.thresholds.get(name)
        assert (found and found.share) == shares[place], name
        assert found is None or found.source


def text_of(**checks: str) -> str:
    """A policy with these checks, the first in line 9."""
    head = 'name = "ours"\nversion = 2\n\n[adversary]\nknown = 4\nshadows = 8\n\n[checks]\n'
    return head + "".join(f"{name} = {value}\n" for name, value in checks.items())


def test_a_policy_of_ones_own() -> None:
    policy = parse_policy(text_of(membership='{ threshold = "7%", source = "our board" }'))
    assert policy.title == "ours v2"
    assert (policy.known, policy.shadows, policy.shadows_large) == (4, 8, 8)
    assert policy.thresholds == {"membership": Threshold(Fraction(7, 100), "our board")}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (text_of(membrship='{ threshold = 0.1, source = "s" }'), 9, "no check 'membrship'"),
        (text_of(membership='{ threshold = 2, source = "s" }'), 9, "membership = 2: must be"),
        (text_of(membership='{ threshold = -0.1, source = "s" }'), 9, "membership = -0.1: must be"),
        (text_of(membership='{ threshold = nan, source = "s" }'), 9, "must be a share"),
        (text_of(membership='{ threshold = true, source = "s" }'), 9, "must be a share"),
        (text_of(membership='{ threshold = "20 %", source = "s" }'), 9, "'20 %': must be"),
        (text_of(membership="{ threshold = 0.1 }"), 9, "must state threshold and source"),
        (text_of(membership='{ threshold = 0.1, source = "" }'), 9, "source must be a text"),
        (text_of(membership="0.1"), 9, "must state threshold and source"),
        (text_of(membership="{ threshold = "), 9, "invalid TOML"),
        (text_of().replace("known = 4", "known = 0"), 5, "known = 0: must be a whole number"),
        (text_of().replace("shadows = 8", "shadws = 8"), 6, "'shadws'"),
        (text_of().replace("version = 2", ""), 0, "lacks version"),
        (text_of().replace('"ours"', '""'), 1, "name = ''"),
        (text_of().replace('"ours"', '"partner "'), 1, "name = 'partner '"),
        (text_of().replace('"ours"', '"p\u0430rtner"'), 1, "must be a name of letters"),
        (text_of(), 8, "every release would pass"),
        (text_of().replace("[checks]", "[cheks]"), 8, "'cheks'"),
    ],
)
def test_what_is_wrong_is_told_by_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_policy(text, "ours.toml")
    assert said in caught.value.message
    assert f"ours.toml{f', line {line}' if line else ''}: " in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize("name", ["partner", "Partner"])
def test_no_file_takes_the_name_of_a_policy(name: str, tmp_path: Path) -> None:
    place = tmp_path / "p.toml"
    text = text_of(membership='{ threshold = 0.1, source = "s" }')
    place.write_text(text.replace('"ours"', f'"{name}"'))
    with pytest.raises(ConfigError, match=rf"p\.toml, line 1: name = '{name}'"):
        read_policy(place)


def test_an_unknown_policy_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no policy 'parner'") as caught:
        read_policy("parner")
    assert "Did you mean partner?" in caught.value.advice


@given(st.fractions(0, 1, max_denominator=1000))
def test_a_share_is_read_exactly(share: Fraction) -> None:
    assert share_of("membership", f"{share.numerator}/{share.denominator}") == share
    cents = Fraction(round(share * 1000), 1000)
    assert share_of("membership", float(cents)) == cents
    assert share_of("membership", f"{float(100 * cents)}%") == cents


def test_a_class_size_is_stated_as_people_do() -> None:
    for text in ("class-size=11", "class-size=1/11"):
        assert thresholds_of([text]) == {"class-size": Fraction(1, 11)}
    with pytest.raises(ConfigError, match="class-size = '0': must be a share"):
        thresholds_of(["class-size=0"])
    own = Threshold(Fraction(1, 11))
    assert (own.least, own.text("class-size")) == (11, "11")
    assert Threshold(Fraction(9, 100)).least == 12  # 11 is 0.0909…
    check = Check("class-size", "", rate=Rate(1 / 11, 1 / 11, 1 / 11), size=11, threshold=own)
    assert check.status == "pass"


def test_names_of_older_limits_are_taken() -> None:
    older = ["record", "predicate", "halves", "joint-class", "disclosed", "class"]
    found = thresholds_of([f"{name}=0.5" for name in older])
    assert list(found) == [
        "re-identification", "singling-out", "linkability", "composition", "attribute",
        "class-linkage",
    ]  # fmt: skip


SHARES = st.sampled_from(
    [
        Fraction(0),
        Fraction(1, 20),
        Fraction(1, 11),
        Fraction(1, 10),
        Fraction(1, 5),
        Fraction(1, 3),
        Fraction(99, 100),
        Fraction(1),
    ]
)
RATES = st.one_of(SHARES, st.fractions(0, 1, max_denominator=200))


@st.composite
def measured(draw: st.DrawFn) -> naive.Measured:
    threshold = draw(st.one_of(st.none(), SHARES))
    applies = draw(st.integers(0, 9)) > 0
    if draw(st.booleans()):
        return naive.Measured(threshold, of=draw(st.integers(1, 15)), applies=applies)
    if draw(st.booleans()):
        return naive.Measured(threshold, applies=applies)
    low, rate, high = sorted((draw(RATES), draw(RATES), draw(RATES)))
    few, rough = (draw(st.integers(0, 3)) == 0 for _ in range(2))
    return naive.Measured(
        threshold, rate=rate, high=high, applies=applies, low=low, few=few, rough=rough
    )


def made_of(plain: naive.Measured) -> Check:
    rate = plain.rate if plain.of is None else Fraction(1, plain.of)
    high = plain.high if plain.of is None else rate
    low = plain.low if plain.of is None else rate
    return Check(
        "class-size" if plain.of is not None else "membership",
        "",
        rate=None
        if rate is None or low is None or high is None
        else Rate(float(rate), float(low), float(high)),
        size=plain.of,
        threshold=None if plain.threshold is None else Threshold(plain.threshold),
        inapplicable="" if plain.applies else "no reason",
        undecided="there are fewer" * plain.few,
        rough=plain.rough,
    )


@given(st.lists(measured(), max_size=6), st.lists(st.booleans(), max_size=2))
@example([naive.Measured(Fraction(1, 5), rate=Fraction(1, 5), high=Fraction(1, 5))], [])
@example(
    [
        naive.Measured(Fraction(1, 5), rate=Fraction(1, 5), high=Fraction(201, 1000)),
        naive.Measured(Fraction(1, 5)),
    ],
    [],
)
@example(
    [
        naive.Measured(
            Fraction(1, 5), rate=Fraction(1, 2), high=Fraction(1), low=low, few=True, rough=rough
        )
        for low in (Fraction(1, 5), Fraction(1, 4))
        for rough in (False, True)
    ],
    [],
)
def test_statuses_and_verdict_are_those_of_the_slow_twin(
    plain: list[naive.Measured], others: list[bool]
) -> None:
    checks = [made_of(each) for each in plain]
    statuses: list[Status] = [check.status for check in checks]
    assert statuses == [naive.status(each) for each in plain]
    assert verdict_of(checks, others) == naive.verdict(statuses, others)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=80), st.integers(1, 10))
@example([9] * 30 + [3] * 31, 8)
@example([9] * 29 + [3] * 31, 8)
@example([8] * 5 + [0] * 5, 8)
@example([0, 0, 0], 8)
def test_what_is_known_is_what_half_of_the_people_have(ratings_of: list[int], known: int) -> None:
    cells, people = np.unique(np.asarray(ratings_of, dtype=np.int64), return_counts=True)
    found = numbers_known(Knowable(cells, people), known)
    assert found == naive.numbers_known(ratings_of, known)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({}, 'k=11, or leave out rare items: item_support="2%", or both.'),
        ({"k": 50}, 'leave out rare items: item_support="2%".'),
        ({"support": "2%"}, 'k=11, or leave out rare items: item_support="10%", or both.'),
        ({"support": 60}, "make the release with k=11."),  # 60 of 600 people are 10 %
        ({"k": 50, "support": "10%"}, "accept the risk (starshade accept)."),
        ({"profile": "padded", "k": 50}, 'make the release with profile="pooled".'),
        ({"method": "k-exchange"}, 'make the release with method="predictive".'),
    ],
)
def test_advice_names_what_a_search_would_try_next(made: dict[str, Any], said: str) -> None:
    own = {"method": "predictive", "profile": "pooled", "k": 5, "support": None} | made
    manifest = SimpleNamespace(
        method=own["method"],
        profile=own["profile"],
        claimed_k=own["k"],
        config={"item_support": own["support"]},
    )
    release: Any = SimpleNamespace(manifest=manifest, n_records=600)
    rate, threshold = Rate(0.2, 0.1, 0.3), Threshold(Fraction(1, 10))
    check = Check("membership", "", rate=rate, threshold=threshold, targets=500, of=600)
    (advice,) = advice_on(SimpleNamespace(decisive=[check], everyone_tried=False), release)
    assert advice.endswith(said)
    near = replace(check, rate=Rate(0.05, 0.0, 0.3))  # not shown
    for everyone in (False, True):
        (advice,) = advice_on(SimpleNamespace(decisive=[near], everyone_tried=everyone), release)
        assert ("more targets" in advice) is not everyone
        assert advice.endswith(said)


EIGHT = st.lists(st.sampled_from(["a", "b", None]), min_size=8, max_size=8)
RATED = st.lists(st.sampled_from([1, 2, None]), min_size=8, max_size=8)


@given(EIGHT, st.tuples(RATED, RATED))
@example(list("aababbaa"), ([1, 1, 1, 2, 1, 2, 2, None], [None] * 8))  # 4 by the one, 6 by either
def test_classes_of_one_value(
    values: list[str | None], ratings: tuple[list[int | None], list[int | None]]
) -> None:
    rows = [
        {item: float(rated) for item, rated in enumerate(each) if rated is not None}
        for each in zip(*ratings, strict=True)
    ]
    people = pa.table({"ill": pa.array(values, pa.string())})
    original = replace(table(rows, Scale(1, 5, 1)), attributes=people)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    release = generalized(covering(original, groups, ranges=False), (), ("ill",))
    assert release.private is not None
    place = release.private.link.record  # of each user
    record = release.class_of_record[place].tolist()
    expected = naive.single_valued(record, [values], ratings)
    assert single_valued(release) == tuple(float(share) for share in expected)
