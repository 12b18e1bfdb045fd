"""l-diversity, (alpha, k) and t-closeness beside their slow twin, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.privacy.attribute import AlphaK, LDiversity, TCloseness
from starshade.privacy.class_values import values_in_classes
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.table import Release
from tests.naive import class_values as naive
from tests.naive.k_anonymity import contents
from tests.strategies import ratings_tables, table
from tests.unit.release.samples import Grouping, covering, generalized, groupings

STARS = Scale(1, 5, 1)
JOBS = st.sampled_from([None, "", "a", "b", "ä", "null"])
AGES = st.sampled_from([None, 0.0, -0.0, 1.5, 20.0, 1e300, float("nan")])


@st.composite
def peopled(draw: st.DrawFn, min_users: int = 1) -> Ratings:
    """Some table with few distinct rows, so that classes have several records."""
    ratings = draw(ratings_tables(min_users=min_users, max_items=2))
    rows = draw(
        st.lists(st.integers(0, ratings.n_users - 1), min_size=min_users, max_size=14).map(np.array)
    )
    copied = replace(ratings.keep_users(rows), users=ratings.users)
    n = len(rows)
    age = draw(st.lists(AGES, min_size=n, max_size=n))
    job = draw(st.lists(JOBS, min_size=n, max_size=n))
    people = pa.table({"age": pa.array(age, pa.float64()), "job": pa.array(job, pa.string())})
    return replace(copied, attributes=people)


def twin(ratings: Ratings, attribute: str) -> tuple[naive.Classes, list]:
    values = [None if v != v else v for v in ratings.attributes.column(attribute).to_pylist()]
    return naive.classes_of(contents(cells_of(ratings)), values), values


@given(peopled(), st.sampled_from(["age", "job"]))
def test_every_figure_is_the_twin_s(ratings: Ratings, attribute: str) -> None:
    found = values_in_classes(ratings, attribute)
    classes, everybody = twin(ratings, attribute)
    assert found.classes.size.tolist() == [len(members) for members in classes]
    assert found.distinct().tolist() == [naive.distinct_l(members) for members in classes]
    assert found.effective() == pytest.approx([naive.entropy_l(members) for members in classes])
    known = [naive.distinct_l(members, known=True) for members in classes]
    assert found.distinct(known=True).tolist() == known
    known_entropy = [naive.entropy_l(members, known=True) for members in classes]
    assert found.effective(known=True) == pytest.approx(known_entropy)
    assert found.missing == everybody.count(None)
    share = found.largest() / found.classes.size
    assert share == pytest.approx([float(naive.largest_share(members)) for members in classes])
    expected = [float(naive.distance(members, everybody)) for members in classes]
    assert found.distances() == pytest.approx(expected, abs=1e-12)


@given(
    peopled(),
    st.sampled_from(["age", "job"]),
    st.floats(1, 4),
    st.floats(0.01, 1),
    st.sampled_from([None, "as-value"]),
)
def test_every_verdict_is_the_twin_s(
    ratings: Ratings, attribute: str, least: float, share: float, missing: Any
) -> None:
    classes, everybody = twin(ratings, attribute)
    known = missing is None
    assume(least <= naive.distinct_l(everybody, known=known))

    def failing(fails) -> int:
        return sum(len(members) for members in classes if fails(members))

    verdict = LDiversity(least, attribute, missing=missing).check(ratings)
    assert verdict.failing_records == failing(lambda m: naive.distinct_l(m, known=known) < least)
    verdict = LDiversity(least, attribute, kind="entropy", missing=missing).check(ratings)
    assert verdict.failing_records == failing(
        lambda m: naive.entropy_l(m, known=known) < least - 1e-9
    )
    verdict = TCloseness(share, attribute).check(ratings)
    assert verdict.failing_records == failing(
        lambda m: float(naive.distance(m, everybody)) > share + 1e-9
    )
    if len(everybody) < 2:
        return
    verdict = AlphaK(share, 2, attribute).check(ratings)
    assert verdict.failing_records == failing(
        lambda m: len(m) < 2 or float(naive.largest_share(m)) > share + 1e-9
    )
    assert verdict.satisfied == (verdict.failing_records == 0)
    assert verdict.records == ratings.n_users


def test_equal_shares_are_compared_without_dust() -> None:
    """Three of one value among nine: a third exactly; three kinds alike: exp(H) = 3 exactly."""
    rows = [{0: 1.0}] * 9
    people = pa.table({"job": ["a", "b", "c"] * 3})
    ratings = replace(table(rows, STARS), attributes=people)
    assert AlphaK(1 / 3, 9, "job").check(ratings).satisfied
    assert not AlphaK(0.333333, 9, "job").check(ratings).satisfied
    assert LDiversity(3, "job", kind="entropy").check(ratings).satisfied
    assert TCloseness(0, "job").check(ratings).satisfied


def test_29_of_100_are_29_percent() -> None:
    """As floats 0.29 times 100 is below 29."""
    people = pa.table({"job": ["a"] * 29 + [f"{i % 25}" for i in range(71)]})
    ratings = replace(table([{0: 1.0}] * 100, STARS), attributes=people)
    assert AlphaK(0.29, 2, "job").check(ratings).satisfied
    assert not AlphaK(0.2899, 2, "job").check(ratings).satisfied


def test_alpha_k_asks_for_k_too() -> None:
    verdict = AlphaK(1, 3, "job").check(three_classes())
    assert (verdict.satisfied, verdict.failing_records) == (False, 2)
    assert "2 equal fewer than 2 others." in str(verdict)


def test_null_is_a_value_below_all_numbers() -> None:
    rows = [{0: 1.0}, {0: 1.0}, {0: 2.0}, {0: 2.0}]
    people = pa.table({"age": pa.array([None, 1.0, 1.0, 9.0], pa.float64())})
    ratings = replace(table(rows, STARS), attributes=people)
    assert LDiversity(2, "age", missing="as-value").check(ratings).satisfied
    # null, 1, 9: shares .5, .5, 0 against .25, .5, .25: (.25 + .25) / 2
    assert values_in_classes(ratings, "age").distances().tolist() == [0.25, 0.25]


def test_a_missing_value_hides_nobody() -> None:
    """Of two people one has no job: whoever finds their class knows the only one that it has."""
    rows = [{0: 1.0}, {0: 1.0}, {0: 2.0}, {0: 2.0}]
    people = pa.table({"job": [None, "a", "a", "b"]})
    ratings = replace(table(rows, STARS), attributes=people)
    for kind in ("distinct", "entropy"):
        verdict = LDiversity(2, "job", kind=kind).check(ratings)
        assert verdict.failing_records == 2
        assert verdict.figures == {"smallest_l": 1, "values": 2, "missing": 1}
        assert "1 record has none, which is counted as no value." in str(verdict)
        other = LDiversity(2, "job", kind=kind, missing="as-value").check(ratings)
        assert other.satisfied
        assert other.parameters["missing"] == "as-value"
        assert "which is counted as a value." in str(other)


def three_classes() -> Ratings:
    rows = [{0: 1.0}] * 4 + [{0: 2.0}] * 3 + [{0: 3.0}] * 2
    people = {"job": list("aaab" + "abc" + "cc"), "age": [float(i) for i in range(9)]}
    return replace(table(rows, STARS), attributes=pa.table(people))


def test_the_worst_classes_come_first() -> None:
    verdict = LDiversity(3, "job").check(three_classes())
    assert verdict.worst == ({"row": 7, "size": 2, "l": 1}, {"row": 0, "size": 4, "l": 2})
    assert verdict.failing_records == 6
    assert verdict.smallest_class == 2
    assert verdict.figures == {"smallest_l": 1, "values": 3, "missing": 0}
    verdict = AlphaK(0.5, 3, "job").check(three_classes())
    assert verdict.worst == (
        {"row": 7, "size": 2, "share": 1.0},
        {"row": 0, "size": 4, "share": 0.75},
    )
    assert (verdict.figures["failing_by_size"], verdict.figures["failing_by_share"]) == (2, 6)
    verdict = TCloseness(0.3, "job").check(three_classes())
    # shares of all: 4/9, 2/9, 3/9; of cc: 0, 0, 1; of aaab: 3/4, 1/4, 0
    assert [e["row"] for e in verdict.worst] == [7, 0]
    assert verdict.worst[0]["distance"] == pytest.approx(6 / 9)
    assert verdict.worst[1]["distance"] == pytest.approx(1 / 3)


def test_what_a_verdict_says() -> None:
    holds = LDiversity(1, "job").check(three_classes())
    assert "l-diversity (l = 1, attribute = job, kind = distinct) holds" in str(holds)
    fails = LDiversity(3, "job", kind="entropy").check(three_classes())
    assert "6 of 9 records (66.7%) are in classes" in str(fails)
    assert fails.explain()[0] == "a set of 2 equal rows: l 1"
    assert "above 50.0%" in str(AlphaK(0.5, 2, "job").check(three_classes()))
    assert "values in order" in str(TCloseness(0.1, "age").check(three_classes()))
    assert "all equally far" in str(TCloseness(0.9, "job").check(three_classes()))
    keys = list(json.loads(json.dumps(fails.to_dict())))
    assert keys[-5:] == ["smallest_l", "values", "missing", "seconds", "version"]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: LDiversity(0.5, "job"), "l = 0.5: must be a finite number, 1 or more"),
        (lambda: LDiversity(float("nan"), "job"), "l = nan: must be"),
        (lambda: LDiversity(True, "job"), "l = True"),
        (lambda: LDiversity(2, 3), "attribute = 3: must be a text"),
        (lambda: LDiversity(2, "job", kind="recursive"), "must be distinct or entropy"),
        (lambda: AlphaK(0, 2, "job"), "alpha = 0: must be a finite number, above 0 and at most 1"),
        (lambda: AlphaK(1.01, 2, "job"), "alpha = 1.01"),
        (lambda: AlphaK(0.5, 1, "job"), "k = 1: must be a whole number, 2 or more"),
        (lambda: AlphaK("half", 2, "job"), "alpha = 'half'"),
        (lambda: TCloseness(-0.1, "job"), "t = -0.1: must be a number from 0 to 1"),
        (lambda: TCloseness(1.5, "job"), "t = 1.5: must be a number from 0 to 1"),
    ],
)
def test_parameters_out_of_range(build, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        build()


def test_the_case_of_a_name_does_not_matter() -> None:
    ratings = three_classes()
    name = ratings.attributes.column_names[0]
    odd, usual = LDiversity(2, name.upper()).check(ratings), LDiversity(2, name).check(ratings)
    assert odd.figures == usual.figures
    with pytest.raises(ConfigError) as caught:
        LDiversity(2, f"{name}x").check(ratings)
    assert caught.value.advice.startswith(f"Did you mean {name}? ")


def test_data_that_a_model_is_not_about() -> None:
    ratings = three_classes()
    for model in (LDiversity(2, "zip"), AlphaK(0.5, 2, "zip"), TCloseness(0.5, "zip")):
        with pytest.raises(ConfigError, match="job, age"):
            model.check(ratings)
        with pytest.raises(ConfigError, match=r"no personal attributes\nGive a file"):
            model.check(replace(ratings, attributes=None))
        with pytest.raises(ConfigError, match="neither ratings nor a release"):
            model.check([1, 2])
    with pytest.raises(ConfigError, match="3 different values in all"):
        LDiversity(4, "job").check(ratings)
    with pytest.raises(ConfigError, match="records = 9"):
        AlphaK(0.5, 10, "job").check(ratings)
    groups = np.array([0] * 4 + [1] * 5)
    bare = covering(ratings, groups, ranges=False).release()
    with pytest.raises(ConfigError, match="the release has no personal attributes"):
        LDiversity(2, "job").check(bare)


def test_a_quasi_identifier_is_not_sensitive() -> None:
    made = covering(three_classes(), np.array([0] * 4 + [1] * 5), ranges=False)
    release = generalized(made, ("age",), ("job",))
    assert LDiversity(2, "job").check(release).satisfied
    with pytest.raises(ConfigError, match=r"is a quasi-identifier.*\n.*own: job"):
        TCloseness(0.5, "age").check(release)
    with pytest.raises(ConfigError, match="the release lacks it"):
        TCloseness(0.5, "zip").check(release)


@given(groupings(people=True))
def test_classes_of_a_release_take_the_quasi_identifiers_in(made: Grouping) -> None:
    release: Release = generalized(made, ("job",), ("Age",))
    beside = [repr(said) for said in release.attributes.column("job").to_pylist()]
    rows = zip(contents(release.classes), release.classes.sizes, strict=True)
    cells = [content for content, size in rows for _ in range(size)]
    values = release.attributes.column("Age").to_pylist()
    classes = naive.classes_of(list(zip(cells, beside, strict=True)), values)
    found = values_in_classes(release, "Age")
    assert found.classes.size.tolist() == [len(members) for members in classes]
    assert found.classes.size.tolist() == release.classes.sizes.tolist()
    assert found.distinct().tolist() == [naive.distinct_l(members) for members in classes]
    expected = [float(naive.distance(members, values)) for members in classes]
    assert found.distances() == pytest.approx(expected, abs=1e-12)


def test_effective_values_of_uneven_shares() -> None:
    found = values_in_classes(three_classes(), "job").effective()
    assert found == pytest.approx([np.exp(-(0.75 * log(0.75) + 0.25 * log(0.25))), 3, 1])
    assert found[1] == 3
