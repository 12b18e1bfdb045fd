"""Public ratings against data: beside the twin, and what they may and may not find."""

from __future__ import annotations

import dataclasses
import datetime
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
from starshade.attack.auxiliary.matching import Matched
from starshade.attack.auxiliary.result import NameAnswer
from starshade.attack.scoreboard_rh.scoring import table_bytes
from starshade.errors import ConfigError, InputError
from starshade.ratings.auxiliary.auxiliary import Auxiliary, read_auxiliary
from starshade.ratings.auxiliary.item_mapping import read_item_mapping
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.staging import NO_DAY
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols, cells_of
from starshade.release.table import Release
from tests.naive import auxiliary as naive
from tests.naive import scoreboard_rh as naive_scores
from tests.strategies import ratings_tables, table
from tests.unit.attack.samples import release, releases
from tests.unit.ratings.samples import listening

RULES = ("error", "first", "last", "latest", "mean", "sum", "max")
A, B, C, D = "1", "2", "3", "4"
FIVE = dataclasses.replace(  # the five users of golden/, item 1 being A
    table(
        [{0: 5, 1: 3}, {0: 4, 2: 2}, {0: 5, 1: 3, 2: 2}, {2: 1}, {3: 4}],
        Scale(1, 5, 1),
        days=[{0: 10, 1: 20}, {0: 10, 2: 5}, {0: 40, 1: 20, 2: 5}, {2: 100}, {3: 0}],
    ),
    first_day=12_000,
)
COPIES = table([{0: 5}, {0: 5}, {0: 1}, {1: 3}, {1: 2}], Scale(1, 5, 1))


def auxiliary(rows: list[naive.Row], rule: str = "error") -> Auxiliary:
    """Hold rows as if they had been read from a file with a header."""
    names = list(dict.fromkeys(row.name for row in rows))
    items = list(dict.fromkeys(row.item for row in rows))
    return Auxiliary(
        names=tuple(names),
        items=tuple(items),
        person=np.array([names.index(row.name) for row in rows], dtype=np.int32),
        item=np.array([items.index(row.item) for row in rows], dtype=np.int32),
        ratings=np.array([math.nan if row.rating is None else row.rating for row in rows]),
        days=np.array([NO_DAY if row.day is None else row.day for row in rows], dtype=np.int32),
        lines=np.arange(2, len(rows) + 2),
        source="public.csv",
        counted="line",
        on_duplicate=rule,  # type: ignore[arg-type]
    )


def one(*cells: tuple[str, float | None, int | None]) -> Auxiliary:
    return auxiliary([naive.Row("ann", *cell) for cell in cells])


def rows_of(cells: Cells) -> list[tuple[naive_scores.Record, int]]:
    single = dataclasses.replace(cells, sizes=np.ones_like(cells.sizes))
    return list(zip(naive_scores.records_of(single), cells.sizes.tolist(), strict=True))


def differences(fast: NameAnswer, slow: naive.Answer, cells: Cells, phi: float) -> list[str]:
    """Name what differs; an eccentricity of φ but for rounding may fall on either side."""
    out = [
        name for name in ("known", "in_data", "tied") if getattr(fast, name) != getattr(slow, name)
    ]
    out += [
        name
        for name in ("eccentricity", "profile_eccentricity")
        if not np.isclose(getattr(fast, name), getattr(slow, name), rtol=1e-6, atol=1e-9)
    ]
    if not math.isclose(slow.eccentricity, phi, rel_tol=1e-9):
        first = np.concatenate([[0], np.cumsum(cells.sizes)])
        record = None if slow.answer is None else int(first[slow.answer])
        if (None if fast.answer is None else fast.answer.record) != record:
            out.append("answer")
        if fast.no_answer != slow.no_answer:
            out.append("no_answer")
    equal = None if fast.profile is None else fast.profile.records
    expected = None if slow.profile is None else slow.profile[1]
    if equal != expected and not math.isclose(slow.profile_eccentricity, phi, rel_tol=1e-9):
        out.append("profile")
    best = [(c.score, c.tied, c.records) for c in fast.candidates]
    if best != [(b.score, b.tied, int(cells.sizes[b.row])) for b in slow.best]:
        out.append("candidates")
    chances = [c.probability for c in fast.candidates]
    if not np.allclose(chances, [b.probability for b in slow.best], rtol=1e-6):
        out.append("probability")
    return out


@st.composite
def public_rows(draw: st.DrawFn, data: Cells, *, whole_days: bool) -> list[naive.Row]:
    """Lines of a few people: items the data have or lack, repeats, ratings and days or none."""
    scale = data.symbols.scale
    rating = st.sampled_from([scale.minimum, (scale.minimum + scale.maximum) / 2, scale.maximum])
    if scale.step is not None:
        rating = st.sampled_from(scale.levels.tolist())
    day = st.sampled_from([-40, 0, 2, 30, 398, 70_000]).map(lambda d: d + data.first_day)
    row = st.builds(
        naive.Row,
        st.sampled_from(["ann", "bob", "1"]),
        st.sampled_from([*data.items, "x", "y"]),
        st.none() | rating,
        st.none() | day if whole_days else st.none(),
    )
    rows: list[naive.Row] = draw(st.lists(row, min_size=1, max_size=8))
    return rows


def check_against_twin(
    data: Ratings | Release,
    rows: list[naive.Row],
    attack: AuxiliaryAttack,
    rule: str,
    mapping: dict[str, str] | None,
) -> None:
    cells = cells_of(data) if isinstance(data, Ratings) else data.cells()
    place = {key: i for i, key in enumerate(cells.items)}
    if mapping is not None:
        place = {a: place[b] for a, b in mapping.items() if b in place}
    assume(any(row.item in place for row in rows))
    rho0, dated = attack.rho0, cells.days is not None
    slow = naive_scores.Attack(
        cells.symbols.scale, attack.phi, rho0, attack.d0, dated=dated, bits=20
    )
    expected = {}
    try:
        for name in dict.fromkeys(row.name for row in rows):
            theirs = [row for row in rows if row.name == name]
            clues = naive.clues_of(theirs, place, rule=rule, first_day=cells.first_day, onto=None)
            expected[name] = naive.answer(rows_of(cells), clues, slow, attack.candidates)
    except naive.ContradictionError:
        with pytest.raises(InputError, match="that repeat an item of their user"):
            attack.run(data, auxiliary(rows, rule), mapping)
        return
    result = attack.run(data, auxiliary(rows, rule), mapping)
    assert [answer.name for answer in result.per_name] == list(expected)
    for found in result.per_name:
        assert not differences(found, expected[found.name], cells, attack.phi), found
    theirs = next(answer for answer in result.per_name if answer.in_data)
    alone = auxiliary([row for row in rows if row.name == theirs.name], rule)
    assert attack.run(data, alone, mapping).per_name == (theirs,)  # whoever else is in the file


ATTACKS = st.builds(
    AuxiliaryAttack,
    phi=st.sampled_from([0.0, 0.5, 1.5]),
    rho0=st.sampled_from([None, 1e-6, 2.0]),
    d0=st.sampled_from([0.5, 30.0]),
    candidates=st.sampled_from([1, 2, 50]),
)
MAPPINGS = st.none() | st.dictionaries(
    st.sampled_from(["1", "2", "3", "x"]), st.sampled_from(["1", "2", "3", "gone"])
)


@given(st.data(), ratings_tables(max_users=7, max_items=4), ATTACKS, st.sampled_from(RULES))
def test_a_table_is_searched_as_the_twin_does(
    draw: st.DataObject, ratings: Ratings, attack: AuxiliaryAttack, rule: str
) -> None:
    ratings = dataclasses.replace(ratings, first_day=draw.draw(st.sampled_from([0, 12_000])))
    rows = draw.draw(public_rows(cells_of(ratings), whole_days=True))
    check_against_twin(ratings, rows, attack, rule, draw.draw(MAPPINGS))


@given(st.data(), ATTACKS, st.sampled_from(RULES))
def test_a_release_is_searched_as_the_twin_does(
    draw: st.DataObject, attack: AuxiliaryAttack, rule: str
) -> None:
    _, release = draw.draw(releases(linked=False))
    rows = draw.draw(public_rows(release.cells(), whole_days=draw.draw(st.booleans())))
    check_against_twin(release, rows, attack, rule, draw.draw(MAPPINGS))


def test_the_comparer_sees_every_kind_of_difference() -> None:
    clues = [naive_scores.Clue(3, 4.0, 0), naive_scores.Clue(-1, 1.0, None)]
    settings = naive_scores.Attack(FIVE.scale, dated=True, bits=20)
    cells = cells_of(FIVE)
    slow = naive.answer(rows_of(cells), clues, settings, 5)
    found = AuxiliaryAttack().run(FIVE, one((D, 4, 12_000), ("x", 1, None))).per_name[0]
    assert not differences(found, slow, cells, 1.5)
    for name in ("known", "in_data", "tied", "eccentricity", "profile_eccentricity"):
        worse = dataclasses.replace(slow, **{name: getattr(slow, name) + 1})
        assert differences(found, worse, cells, 1.5) == [name]
    for name, value in (("answer", None), ("profile", None), ("no_answer", "tie")):
        assert differences(found, dataclasses.replace(slow, **{name: value}), cells, 1.5) == [name]
    for name, value in (("score", 0.5), ("tied", 3)):
        best = [dataclasses.replace(slow.best[0], **{name: value})]
        assert differences(found, dataclasses.replace(slow, best=best), cells, 1.5) == [
            "candidates"
        ]
    best = [dataclasses.replace(slow.best[0], probability=0.5)]
    assert differences(found, dataclasses.replace(slow, best=best), cells, 1.5) == ["probability"]


# the scores of golden/test_scoreboard_rh.py: the days are counted from 1970 here


def test_the_worked_case_with_days() -> None:
    found = AuxiliaryAttack().run(FIVE, one((A, 5, 12_040), (C, 2, 12_005))).per_name[0]
    assert found.answer is None
    assert found.no_answer == "below-phi"
    assert found.eccentricity == pytest.approx(0.7550, abs=5e-5)
    assert [c.record for c in found.candidates] == [2, 1, 0, 3]
    assert [c.score for c in found.candidates] == pytest.approx(
        [3.640957, 2.622669, 1.245098, 0.505693], abs=1e-5
    )
    assert found.candidates[0].probability == pytest.approx(0.55424, abs=1e-5)


def test_the_worked_case_of_a_rare_item() -> None:
    result = AuxiliaryAttack().run(FIVE, one((D, 4, 12_000)))
    found = result.per_name[0]
    assert found.answer is not None
    assert found.answer.record == 4
    assert found.eccentricity == pytest.approx(2.5)
    assert found.answer.score == pytest.approx(2.885390, abs=1e-5)
    assert -math.log2(found.answer.probability) == pytest.approx(0.4096, abs=1e-4)
    assert result.answered == 1
    assert "Re-identified: 1 of 1 (one record stands out, " in str(result)


def test_what_is_not_known_adds_nothing_and_an_item_alone_one() -> None:
    ecc = {}
    for name, cells in {
        "no days": ((A, 5, None), (C, 2, None)),
        "neither": ((A, None, None), (C, None, None)),
        "days alone": ((A, None, 12_040), (C, None, 12_005)),
    }.items():
        ecc[name] = AuxiliaryAttack().run(FIVE, one(*cells)).per_name[0]
    assert ecc["no days"].eccentricity == pytest.approx(0.6881, abs=5e-5)
    assert ecc["neither"].candidates[0].score == pytest.approx(1.820478, abs=1e-5)
    assert ecc["neither"].no_answer == "tie"
    assert ecc["neither"].tied == 2
    days = [c.score for c in ecc["days alone"].candidates]
    assert days == pytest.approx(  # with days less without
        [3.640957 - 1.820478, 2.622669 - 1.377572, 1.245098 - 0.910239, 0.505693 - 0.467332],
        abs=1e-5,
    )


def test_days_in_data_without_days_are_said_to_be_of_no_use() -> None:
    data = dataclasses.replace(FIVE, days=None, first_day=0)
    listener, watching = listening()
    with watching:  # type: ignore[attr-defined]
        result = AuxiliaryAttack().run(data, one((A, 5, 12_040), (C, None, 12_005)))
    assert listener.notes == [
        "the attacked data have no dates: those of the public ratings are of no use"
    ]
    assert not result.days_used
    without = AuxiliaryAttack().run(data, one((A, 5, None), (C, None, None)))
    assert without.per_name == result.per_name


def test_an_unknown_item_says_nothing_and_is_counted() -> None:
    result = AuxiliaryAttack().run(FIVE, one((D, 4, 12_000), ("x", 1, None), ("y", 1, None)))
    alone = AuxiliaryAttack().run(FIVE, one((D, 4, 12_000)))
    assert result.unknown_items == 2
    assert (result.per_name[0].known, result.per_name[0].in_data) == (3, 1)
    assert result.per_name[0].candidates == alone.per_name[0].candidates


def test_a_name_without_any_known_item_gets_no_answer() -> None:
    rows = [naive.Row("ann", D, 4, None), naive.Row("bob", "x", 4, None)]
    bob = AuxiliaryAttack(phi=0).run(FIVE, auxiliary(rows)).per_name[1]
    assert (bob.no_answer, bob.candidates, bob.tied) == ("nothing-known", (), 0)
    assert bob.row()[-1] == "none: no known item is in the data"


def test_equal_records_tie_but_their_profile_stands_out() -> None:
    result = AuxiliaryAttack().run(COPIES, one((A, 5, None)))
    found = result.per_name[0]
    assert (found.answer, found.no_answer, found.eccentricity) == (None, "tie", 0.0)
    assert found.profile_eccentricity == pytest.approx(2.1950, abs=5e-5)
    assert found.profile is not None
    assert (found.profile.record, found.profile.records) == (0, 2)
    assert [c.tied for c in found.candidates] == [2, 2, 1]
    assert found.row()[-1] == "none; the profile of record 0 (2 equal records) stands out"
    assert "it has 2 or more equal records, and its contents are known to be theirs." in str(result)
    assert result.head[3:5] == ("eccentricity", "of the profile")
    assert found.row()[3:5] == ("0.00", "2.19")  # each in its column, whatever the answer


def test_too_little_memory_is_refused_with_the_figure_needed() -> None:
    with (
        budget.limits(memory=10_000),
        pytest.raises(ConfigError, match=r"the attack needs about .* of memory"),
    ):
        AuxiliaryAttack().run(FIVE, one((D, 4, None)))


def test_a_table_of_many_ratings_is_counted() -> None:
    """Each different rating known takes a row as long as the scale's ratings in the data."""
    n = 2000
    data = table([{i: float(i) for i in range(n)}, {0: 1.0}], Scale(0, n - 1, 1))
    few = [naive.Row(f"p{i}", A, float(i), None) for i in range(9)]
    many = [naive.Row("ann", str(i + 1), float(i), None) for i in range(n)]
    with budget.limits(memory=50_000_000, threads=1):
        AuxiliaryAttack().run(data, auxiliary(few))
        with pytest.raises(ConfigError, match=r"the attack needs about 0\.\d\d GB of memory"):
            AuxiliaryAttack().run(data, auxiliary(few + many))


def test_the_memory_said_for_a_table_is_enough() -> None:
    symbols = Symbols.exact(Scale(0, 1, None), np.linspace(0, 1, 20_000))
    asked = np.linspace(0, 1, 100)
    tracemalloc.start()
    try:
        np.concatenate([symbols.similarity(asked, 0.375), np.zeros((2, len(symbols)))])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= table_bytes(symbols, len(asked)) < 2 * peak


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([math.nan, 1.0, 2.0, 3.0])),
        min_size=1,
        max_size=12,
    )
)
def test_different_ratings_are_counted_per_person(cells: list[tuple[int, float]]) -> None:
    of = sorted(cells, key=lambda cell: cell[0])
    ratings = np.array([rating for _, rating in of])
    indptr = np.searchsorted([person for person, _ in of], np.arange(5))
    none = np.zeros(len(of), dtype=np.int32)
    matched = Matched(indptr, none, ratings, none, 0, 0, 0, False)
    expected = [len({r for p, r in of if p == q and not math.isnan(r)}) for q in range(4)]
    assert matched.different_ratings() == expected


@pytest.mark.parametrize("users", [1, 2])
def test_where_all_scores_are_equal_the_chances_are(users: int) -> None:
    data = table([{0: 3, 1: 4}] * users, Scale(1, 5, 1))
    found = AuxiliaryAttack().run(data, one((A, 3, None))).per_name[0]
    assert found.answer is None
    assert math.isfinite(found.eccentricity)
    assert math.isfinite(found.profile_eccentricity)
    assert [c.probability for c in found.candidates] == pytest.approx([1 / users] * users)


def test_thousands_of_ratings_and_names_of_one_item() -> None:
    """Bits behind the point go by each name's own known cells, whoever else is in the file."""
    n = 2000  # above 709 cells a score of 20 bits could pass 31
    ratings = table([dict.fromkeys(range(n), 3.0), {0: 3.0}, {1: 1.0}], Scale(1, 5, 1))
    rows = [naive.Row("much", str(i + 1), 3, None) for i in range(n)]
    rows += [naive.Row(f"p{i}", "1", 3, None) for i in range(n)]
    result = AuxiliaryAttack(phi=0.5).run(ratings, auxiliary(rows))
    much, *others = result.per_name
    assert much.answer is not None
    assert much.answer.record == 0
    assert much.answer.score == pytest.approx(n / math.log(2), rel=1e-4)
    alone = AuxiliaryAttack(phi=0.5).run(ratings, auxiliary(rows[-1:])).per_name[0]
    assert all(dataclasses.replace(other, name=alone.name) == alone for other in others)
    assert alone.candidates[0].score == round(2**20 / math.log(2)) / 2**20


# scales


def test_another_scale_is_mapped_linearly() -> None:
    ten = one((A, 10, None), (B, 5.5, None))
    result = AuxiliaryAttack().run(FIVE, ten, aux_scale="1:10")
    same = AuxiliaryAttack().run(FIVE, one((A, 5, None), (B, 3, None)))
    assert result.per_name == same.per_name
    assert (result.aux_scale, result.scale) == ("1:10", "1:5:1")
    assert "Ratings on 1:10 are mapped linearly onto 1:5:1." in str(result)


def test_a_scale_of_one_rating_maps_nothing() -> None:
    with pytest.raises(
        ConfigError, match="aux_scale 3:3:1: one rating only cannot be mapped onto 1:5:1"
    ):
        AuxiliaryAttack().run(FIVE, one((A, 3, None)), aux_scale=Scale(3, 3, 1))
    constant = table([{0: 3}, {0: 3, 1: 3}, {1: 3}], Scale(3, 3, 1))
    result = AuxiliaryAttack(phi=0.5).run(
        constant, one((A, 7, None), (B, 1, None)), aux_scale="1:10"
    )
    answer = result.per_name[0].answer
    assert answer is not None
    assert answer.record == 1


def test_ratings_off_the_scale_are_named_by_line() -> None:
    public = one((A, 9, None), (B, 3, None), (C, 3.5, None))
    with pytest.raises(InputError) as caught:
        AuxiliaryAttack().run(FIVE, public)
    said = str(caught.value)
    assert (
        "public ratings outside the attacked data's scale 1:5:1 (allowed: 1, 2, 3, 4, 5)\n" in said
    )
    assert "  public.csv, line 2: rating 9\n  public.csv, line 4: rating 3.5\n" in said
    assert "(aux_scale, e.g. 1:10" in said
    with pytest.raises(InputError, match="outside aux_scale 1:8:1"):
        AuxiliaryAttack().run(FIVE, public, aux_scale="1:8:1")


def test_a_mean_of_ratings_may_lie_between_the_steps() -> None:
    rows = [naive.Row("ann", A, 4, None), naive.Row("ann", A, 5, None)]
    assert AuxiliaryAttack().run(FIVE, auxiliary(rows, "mean")).repeated_rows == 1
    with pytest.raises(InputError, match=r"line 3: this user already has the item, at .*line 2"):
        AuxiliaryAttack().run(FIVE, auxiliary(rows))


# which item is which


def test_a_mapping_says_which_item_is_which() -> None:
    public = one(("tt4", 4, 12_000), ("tt9", 1, None))
    result = AuxiliaryAttack().run(FIVE, public, {"tt4": D, "tt1": A})
    assert result.matched_by == "mapping to id"
    assert result.per_name[0].eccentricity == pytest.approx(2.5)
    assert result.unknown_items == 1


def test_two_items_that_a_mapping_makes_one_must_agree() -> None:
    editions = {"dvd": D, "tape": D}
    agreeing = AuxiliaryAttack().run(FIVE, one(("dvd", 4, None), ("tape", 4, None)), editions)
    assert (agreeing.repeated_rows, agreeing.per_name[0].known) == (1, 1)
    with pytest.raises(InputError, match="line 3: this user already has the item"):
        AuxiliaryAttack().run(FIVE, one(("dvd", 4, None), ("tape", 3, None)), editions)


def test_items_are_matched_by_published_name() -> None:
    data = FIVE.annotate(item_names=("Alien", "Brazil", "Alien", "Dune"))
    public = one((" Dune ", 4, 12_000), ("Alien", 5, None), ("Eraserhead", 3, None))
    result = AuxiliaryAttack().run(data, public, by_name=True)
    assert result.matched_by == "name"
    assert (result.unknown_items, result.ambiguous_items) == (1, 1)
    assert result.per_name[0].in_data == 1
    assert result.per_name[0].eccentricity == pytest.approx(2.5)
    said = "(3 known items, 33.3% of them not in the data, 33.3% with an ambiguous item name)"
    assert said in str(result)


def test_a_mapping_to_names_and_items_without_one() -> None:
    data = FIVE.annotate(item_names=("", "", "Cube", "Dune"))
    public = one(("tt4", 4, 12_000), ("tt9", 5, None), (" ", 5, None))
    result = AuxiliaryAttack().run(data, public, {"tt4": "Dune"}, by_name=True)
    assert result.matched_by == "mapping to name"
    assert (result.unknown_items, result.ambiguous_items) == (2, 0)
    assert result.per_name[0].eccentricity == pytest.approx(2.5)


NOTHING_FITS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "other ids": (FIVE, {}, "7 and 007 are two items. Give a mapping of items (mapping=FILE)."),
    "mapped": (FIVE, {"mapping": {"a": "b"}}, "None of them is in the mapping"),
    "mapped elsewhere": (FIVE, {"mapping": {"Dune": "77"}}, "Ids are text"),
    "names": (
        FIVE.annotate(item_names=("Alien", "Brazil", "Cube", "Dune")),
        {},
        "They are names of the data's items, not ids: match by name (by_name).",
    ),
    "one name for all": (
        FIVE.annotate(item_names=("Dune",) * 4),
        {"by_name": True},
        "are ambiguous",
    ),
    "no names": (
        FIVE,
        {"by_name": True},
        "have no item names to match by\nRead ratings with item names (item_names=FILE)",
    ),
}


@pytest.mark.parametrize("case", NOTHING_FITS)
def test_where_nothing_fits_it_is_an_error_with_advice(case: str) -> None:
    data, options, said = NOTHING_FITS[case]
    with pytest.raises(ConfigError) as caught:
        AuxiliaryAttack().run(data, one(("Dune", 4, None)), **options)
    assert said in str(caught.value)


def test_ids_taken_for_names_are_recognised() -> None:
    data = FIVE.annotate(item_names=("Alien", "Brazil", "Cube", "Dune"))
    with pytest.raises(ConfigError, match="They are ids of the data, not names"):
        AuxiliaryAttack().run(data, one((D, 4, None)), by_name=True)


@pytest.mark.parametrize("wrong", [{"phi": -1}, {"d0": 0}, {"rho0": math.inf}, {"candidates": 0}])
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        AuxiliaryAttack(**wrong)


def test_ids_of_users_only_when_asked_for() -> None:
    public = one((D, 4, 12_000))
    hidden = AuxiliaryAttack().run(FIVE, public)
    assert "id" not in hidden.to_dict()["per_name"][0]["candidates"][0]
    shown = AuxiliaryAttack().run(FIVE, public, show_values=True)
    assert shown.to_dict()["per_name"][0]["candidates"][0]["id"] == "5"
    assert shown.per_name[0].row()[-1] == "record 4 (5)"
    assert shown.per_name[0].candidate_rows() == [("ann", "record 4 (5)", "2.885", "75.3%")]
    rows = "Record N is row N (from 0) of the ratings in canonical order; "
    assert f"{rows}show_values adds its user's id." in str(hidden)
    assert f"{rows}its user's id is in brackets." in str(shown)


def test_how_an_eccentricity_is_to_be_read() -> None:
    public = one((D, 4, 12_000))
    found, none = (str(AuxiliaryAttack(phi=phi).run(FIVE, public)) for phi in (1.5, 3))
    assert "two matches had 28 and 15" in found
    assert "two matches had 28 and 15" in none
    assert "use a higher φ before acting on an answer (phi)." in found
    assert "use a higher φ" not in none


def test_one_person_without_a_name_is_said() -> None:
    public = dataclasses.replace(one((D, 4, None)), named=False)
    result = AuxiliaryAttack().run(FIVE, public)
    assert "public ratings of one user (no column of names)" in str(result)
    assert result.to_dict()["one_user"]
    assert "public ratings of 1 name (1 known item," in str(
        AuxiliaryAttack().run(FIVE, one((D, 4, None)))
    )


def test_names_are_shown_as_they_are_but_for_what_a_terminal_obeys() -> None:
    rows = [naive.Row(name, D, 4, None) for name in ("\x1b[2Jann", "a\nb", "=1+1", "[b]", "Zoë ☂")]
    shown = [a.row()[0] for a in AuxiliaryAttack().run(FIVE, auxiliary(rows)).per_name]
    assert shown == ["\\x1b[2Jann", "a\\nb", "=1+1", "[b]", "Zoë ☂"]


def test_the_result_as_json_and_html() -> None:
    rows = [naive.Row("<b>ann", D, 4, 12_000), naive.Row("bob", A, 5, None)]
    result = AuxiliaryAttack(candidates=1).run(FIVE, auxiliary(rows))
    told = result.to_dict()
    assert told["per_name"][0].pop("candidates")[0].keys() == {
        "record", "class", "records", "score", "tied", "probability"
    }  # fmt: skip
    assert told["per_name"][0] == {
        "name": "<b>ann",
        "known": 1,
        "in_data": 1,
        "eccentricity": pytest.approx(2.5),
        "profile_eccentricity": pytest.approx(2.5),
        "tied": 1,
        "answer": 4,
        "profile": {"record": 4, "class": None, "records": 1},
        "no_answer": None,
    }
    assert (told["names"], told["answered"], told["no_answer"]) == (2, 1, 1)
    html = result._repr_html_()
    assert "&lt;b&gt;ann</th>" in html
    assert "<b>" not in html


# people who are in the data, and people who are not


def public_of(data: Ratings, users: np.ndarray[Any, Any], *, names: str, seed: int) -> list[Any]:
    """Half of what each user rated, noisily: 30 % elsewhere, ratings ±1, days ±14, some unknown."""
    rng = np.random.default_rng(seed)
    rows = []
    for u in users.tolist():
        cells = np.arange(data.indptr[u], data.indptr[u + 1])
        for p in rng.permutation(cells)[: max(8, len(cells) // 2)].tolist():
            item = data.items[int(data.columns[p])]
            if rng.random() < 0.3:
                item = f"elsewhere-{rng.integers(10**9)}"
            rating = float(np.clip(data.levels[data.codes[p]] + rng.integers(-1, 2), 1, 5))
            day = None
            if data.days is not None and data.days[p] != UNKNOWN_DAY:
                day = int(data.days[p]) + data.first_day + int(rng.integers(-14, 15))
            rows.append(
                naive.Row(
                    f"{names}{u}",
                    item,
                    rating if rng.random() < 0.8 else None,
                    day if rng.random() < 0.5 else None,
                )
            )
    return rows


@pytest.fixture(scope="module")
def both() -> tuple[Ratings, Ratings]:
    """One population: those who were published, and those who were not."""
    data = synthesize(rng=3)
    return (
        data.keep_users(np.arange(0, data.n_users, 2)),
        data.keep_users(np.arange(1, data.n_users, 2)),
    )


def test_public_ratings_find_the_record_and_strangers_get_no_answer(
    both: tuple[Ratings, Ratings],
) -> None:
    published, others = both
    rich = [np.flatnonzero(t.user_support >= 40)[:40] for t in both]
    rows = public_of(published, rich[0], names="in ", seed=1)
    rows += public_of(others, rich[1], names="out ", seed=2)
    result = AuxiliaryAttack().run(published, auxiliary(rows))
    inside = [a for a in result.per_name if a.name.startswith("in ")]
    outside = [a for a in result.per_name if a.name.startswith("out ")]
    assert len(inside) == len(outside) == 40
    assert 0.25 < result.unknown_items / len(rows) < 0.4
    for answer in inside:
        assert answer.answer is not None
        assert answer.answer.record == int(answer.name.split()[1])
    assert sum(a.answer is None for a in outside) >= 36  # some stand out by chance
    higher = AuxiliaryAttack(phi=3).run(published, auxiliary(rows))
    assert "use a higher φ" in str(result)
    assert "use a higher φ" not in str(higher)
    strict = higher.per_name
    assert all(a.answer is None for a in strict if a.name.startswith("out "))
    assert sum(a.answer is not None for a in strict if a.name.startswith("in ")) >= 35


def test_of_a_k_likeness_release_a_class_stands_out_at_most(both: tuple[Ratings, Ratings]) -> None:
    published, _ = both
    release = KLikeness(k=5, hierarchy="ndgh", items=top_items(20)).anonymize(published, rng=0)
    users = np.flatnonzero(published.user_support >= 40)[:40]
    result = AuxiliaryAttack(phi=0.2).run(
        release, auxiliary(public_of(published, users, names="in ", seed=1))
    )
    assert result.answered == 0
    assert result.profiles > 0
    assert "Record and class numbers are those of the release's files." in str(result)
    sizes = release.classes.sizes
    for answer in result.per_name:
        assert answer.answer is None
        for candidate in answer.candidates:
            assert candidate.record is None
            assert candidate.class_ is not None
            assert candidate.records == sizes[candidate.class_] >= 5
    shown = next(a for a in result.per_name if a.profile is not None)
    assert shown.profile is not None
    assert shown.row()[-1] == (
        f"none; the profile of class {shown.profile.class_} "
        f"({shown.profile.records} records) stands out"
    )


def test_a_release_of_single_records_names_the_record() -> None:
    symbols = Symbols.exact(Scale(1, 5, 1), np.arange(1.0, 6.0))
    items = Vocabulary(np.arange(1, 4))
    made = release([{0: 4}, {0: 4}, {1: 0}, {2: 2}, {}], [1] * 5, symbols, items)
    made = dataclasses.replace(made, manifest=made.manifest.model_copy(update={"layout": "record"}))
    rare, common = (
        AuxiliaryAttack()
        .run(made, auxiliary([naive.Row("ann", "3", 3, None), naive.Row("bob", "1", 5, None)]))
        .per_name
    )
    assert rare.answer is not None
    assert (rare.answer.record, rare.answer.class_) == (3, None)
    assert common.answer is None
    assert common.profile is not None
    assert (common.profile.record, common.profile.class_, common.profile.records) == (0, None, 2)


@pytest.mark.real
def test_movielens_users_in_public(ml100k_dir: Path) -> None:
    data = read_ratings(ml100k_dir)
    users = np.flatnonzero(data.user_support >= 100)[:30]
    result = AuxiliaryAttack().run(data, auxiliary(public_of(data, users, names="", seed=5)))
    found = [a for a in result.per_name if a.answer is not None]
    assert len(found) >= 28
    assert all(a.answer is not None and a.answer.record == int(a.name) for a in found)


@pytest.mark.real
def test_a_file_of_imdb_ratings_with_its_mapping(ml_latest_small_dir: Path, tmp_path: Path) -> None:
    """Other ids, half stars out of ten, dates as text: the files as a person would have them."""
    data = read_ratings(ml_latest_small_dir)
    theirs = {key: f"tt{7 * int(key):07}" for key in data.items}
    links = "".join(f"{theirs[key]},{key}\n" for key in data.items)
    (tmp_path / "links.csv").write_text("imdbId,movieId\n" + links)
    lines = ["username,title,stars,date"]
    for u in (10, 20, 30):
        for p in range(data.indptr[u], data.indptr[u + 1]):
            assert data.days is not None
            day = datetime.date.fromordinal(719_163 + int(data.days[p]) + data.first_day)
            rating = 2 * data.levels[data.codes[p]]
            lines.append(f"u{u},{theirs[data.items[int(data.columns[p])]]},{rating:g},{day}")
    (tmp_path / "imdb.csv").write_text("\n".join(lines))
    result = AuxiliaryAttack().run(
        data,
        read_auxiliary(tmp_path / "imdb.csv"),
        read_item_mapping(tmp_path / "links.csv"),
        aux_scale="1:10:1",
    )
    assert result.unknown_items == 0
    assert [a.answer.record for a in result.per_name if a.answer] == [10, 20, 30]
