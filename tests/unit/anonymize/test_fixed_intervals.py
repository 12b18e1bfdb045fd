"""Fixed intervals: the default on fine scales, where a rating itself may identify."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import starshade as ss
from starshade.anonymize.generalize import generalize
from starshade.anonymize.grouping import Grouping
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.anonymize.registry import ENTRIES
from starshade.audit.dossier.public import public_edition
from starshade.audit.make import make_release
from starshade.audit.to_know import of_release
from starshade.errors import ConfigError, ReleaseError, UnmetError
from starshade.progress import watch
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.verify.verify import verify_folder
from tests.naive.generalize import fixed, generalized
from tests.naive.generalized_release import NULL, exact_values
from tests.naive.k_anonymity import contents
from tests.strategies import SCALES, ratings_tables, table
from tests.unit.anonymize.test_generalize import grouped, said
from tests.unit.anonymize.test_prepare import Notes
from tests.unit.audit.test_public import judgement
from tests.unit.release.damage import mend, say, signed

FINE = (Scale(-10, 10), Scale(0, 20, 1), Scale(0, 100, 1), Scale(0, 24, 1), Scale(0.1, 0.3))
COARSE = (Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(1, 20, 1), Scale(3, 3))
NAMES = ("ndgh", "range", "fixed-intervals", "dgh")
GROUPING = [entry.load() for entry in ENTRIES if issubclass(entry.load(), Grouping)]


@pytest.mark.parametrize(
    ("scale", "fine"), [*((s, True) for s in FINE), *((s, False) for s in COARSE)]
)
def test_a_scale_is_fine_without_steps_or_above_twenty_levels(scale: Scale, fine: bool) -> None:
    assert scale.fine == fine


@given(grouped(scales=FINE))
def test_fixed_intervals_are_the_twins(case: Any) -> None:
    ratings, groups, members = case
    scale = ratings.scale
    levels = None if scale.step is None else scale.levels.tolist()
    cells = generalize(resolve("fixed-intervals", scale, null_occurs=True), ratings, groups)

    def told(values: set) -> Any:
        return fixed(values, scale.minimum, scale.maximum, levels, scale.null_level)

    def rounded(cell: Any) -> Any:
        return tuple(round(end, 8) for end in cell) if isinstance(cell, tuple) else cell

    expected = [said(row) for row in generalized(ratings, members, told)]
    assert [tuple(map(rounded, row)) for row in contents(cells)] == [
        tuple(map(rounded, row)) for row in expected
    ]


@given(grouped(scales=FINE))
def test_every_rating_lies_within_its_cell(case: Any) -> None:
    ratings, groups, _ = case
    cells = generalize("fixed-intervals", ratings, groups)
    dense = ratings.dense()
    for user, group in enumerate(groups.tolist()):
        here = slice(cells.indptr[group], cells.indptr[group + 1])
        code = dict(zip(cells.columns[here].tolist(), cells.codes[here].tolist(), strict=True))
        for item, value in enumerate(dense[user].tolist()):
            if item in code:
                assert cells.symbols.contains(np.array([value]))[0, code[item]]
            else:
                assert value != value


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([0.53, 2.23, 3.01, 3.4, 3.79], (0.0, 4.0)),
        ([2.0, 2.0, 2.0], (2.0, 4.0)),  # one rating, on an end: it is not shown
        ([10.0, 10.0], (8.0, 10.0)),
        ([-10.0, -10.0], (-10.0, -8.0)),
        ([2.0, 4.0], (2.0, 4.0)),
        ([-10.0, 10.0], (-10.0, 10.0)),
        ([3.3, None], (-11.0, 4.0)),
    ],
)
def test_intervals_of_a_real_scale(rows: list[float | None], cell: tuple[float, float]) -> None:
    ratings = table([{} if v is None else {0: v} for v in rows], Scale(-10, 10))
    cells = generalize("fixed-intervals", ratings, np.zeros(len(rows), np.int64))
    assert contents(cells) == [(cell,)]


def test_intervals_of_a_slider() -> None:
    ratings = table([{0: 70, 1: 100}, {0: 79, 1: 89}, {0: 75}], Scale(0, 100, 1))
    cells = generalize("fixed-intervals", ratings, np.zeros(3, np.int64))
    assert contents(cells) == [(frozenset(range(70, 80)), frozenset([None, *range(80, 101)]))]


def some(scale: Scale, seed: int = 0) -> Ratings:
    """Twenty people and four items, a few cells empty, on a grid of the scale's hundredths."""
    rng = np.random.default_rng(seed)
    width = 100 if scale.step is None else len(scale.levels) - 1
    step = scale.width / width

    def row() -> dict[int, float]:
        values = scale.minimum + rng.integers(0, width + 1, 4) * step
        return {i: round(float(v), 9) for i, v in enumerate(values) if rng.random() < 0.9}

    return table([row() for _ in range(20)], scale, n_items=4)


@pytest.mark.parametrize("method", GROUPING)
@pytest.mark.parametrize("scale", [Scale(-10, 10), Scale(0, 100, 1)])
def test_no_method_lists_exact_values_by_default(method: Any, scale: Scale, tmp_path: Any) -> None:
    release = method(k=5).anonymize(some(scale), rng=1)
    assert release.manifest.config["hierarchy"] == "fixed-intervals"
    assert release.manifest.users_exact_values_listed == 0
    release.save(tmp_path / "out")  # verified
    assert verify_folder(tmp_path / "out")["users_exact_values_listed"] == 0


@pytest.mark.parametrize("method", GROUPING)
def test_on_stars_the_default_is_as_it_was(method: Any) -> None:
    release = method(k=5).anonymize(some(Scale(1, 5, 1)), rng=1)
    expected = "ndgh" if method.name in ("k-exchange", "k-likeness") else "range"
    assert release.manifest.config["hierarchy"] == expected


def test_fixed_intervals_are_refused_on_stars() -> None:
    with pytest.raises(ConfigError, match="more than 20 levels"):
        ss.KExchange(5, "fixed-intervals").anonymize(some(Scale(1, 5, 1)), rng=1)


@given(ratings_tables(scales=(*SCALES, *FINE), min_users=2, with_days=False),
       st.sampled_from(NAMES), st.integers(2, 4))  # fmt: skip
def test_exact_values_listed_are_the_twins(
    tmp_path_factory: Any, ratings: Ratings, hierarchy: str, k: int
) -> None:
    """By the method, by the measure, by the verifier and by the twin."""
    try:
        release = ss.Mondrian(k, hierarchy, rare_items="keep").anonymize(ratings, rng=0)
    except (ConfigError, UnmetError):
        assume(False)
    found = []
    cells = release.cells()
    rows = contents(cells)
    for row, size in zip(rows, cells.sizes.tolist(), strict=True):
        told = [
            None
            if cell == frozenset([None])
            else ("range", *cell)
            if isinstance(cell, tuple)
            else ("set", tuple(sorted(NULL if v is None else v for v in cell)))
            for cell in row
        ]
        found.append((told, size))
    scale = ratings.scale
    expected = exact_values(found, hierarchy, scale.minimum, fine=scale.fine)
    assert release.manifest.users_exact_values_listed == expected
    measured = ss.DisclosureShares().measure(release).figures
    assert measured["users_exact_values_listed"] == expected
    out = tmp_path_factory.mktemp("r") / "out"
    release.save(out)
    assert verify_folder(out)["users_exact_values_listed"] == expected


def test_a_list_of_as_many_values_as_members_counts_on_any_scale() -> None:
    rows = [{0: 1}, {0: 2}, {0: 3}, {0: 4}, {0: 5}, {}]
    people = table(rows, Scale(1, 5, 1))
    five = ss.KExchange(5, "ndgh").anonymize(people, rng=0)  # whoever rated nothing is left out
    assert five.manifest.users_exact_values_listed == 1
    assert five.manifest.users_rating_disclosed == 0
    again = table([*rows[:5], {0: 5}], Scale(1, 5, 1))  # six members, five values
    assert ss.KExchange(6, "ndgh").anonymize(again, rng=0).manifest.users_exact_values_listed == 0


@pytest.fixture
def real(tmp_path: Any) -> dict[str, Any]:
    """Releases of one table on a real scale, and where they and their receipts are."""
    made = {}
    for name in ("ndgh", "range", None):
        how = str(name or "default")
        made[how] = make_release(
            some(Scale(-10, 10)),
            ss.KExchange(5, name),
            out=tmp_path / how,
            private=tmp_path / f"{how}.json",
            rng=1,
        )
    return {"made": made, "at": tmp_path}


NAMED = "in a class whose lists or ranges name exact ratings of its members"


def test_the_share_leads_on_a_fine_scale(real: dict[str, Any]) -> None:
    text, card = str(real["made"]["ndgh"]), (real["at"] / "ndgh" / "README.md").read_text()
    lead = f"100.0% of people are {NAMED}, "
    assert f"{lead}0.0% in a class that discloses one of their ratings" in text
    listed, certain = "Exact values listed: 100.0%", "Attribute disclosure (certain): 0.0%"
    assert card.index(listed) < card.index(certain)
    stars = str(
        make_release(some(Scale(1, 5, 1)), ss.KExchange(5), out=real["at"] / "stars", rng=1)
    )
    assert stars.index("discloses one of their ratings") < stars.index("name exact ratings")


def test_lists_and_ranges_by_name_warn() -> None:
    ratings, heard = some(Scale(-10, 10)), []
    for name in ("ndgh", "range", None):
        told = Notes()
        with watch(told):
            ss.KExchange(5, name).anonymize(ratings, rng=1)
        heard.append(" ".join(told.notes))
    assert "100.0% of the people are in a class whose cells list exact ratings" in heard[0]
    assert "100.0% of the people are in a class whose ranges end at exact ratings" in heard[1]
    assert "Exact values" not in heard[2]


@pytest.mark.parametrize("method", [ss.SuppressAnonymizer, ss.IntervalAnonymizer])
def test_methods_that_release_single_ratings_warn(method: Any, tmp_path: Path) -> None:
    stars, heard = Notes(), Notes()
    with watch(stars):
        method(3, 4.0).anonymize(some(Scale(1, 5, 1)), rng=1)
    assert "Exact values" not in " ".join(stars.notes)
    ratings = some(Scale(-10, 10))
    with watch(heard):
        make_release(ratings, method(3, 20.0, nulls="zero"), out=tmp_path / "x", rng=1)
    said = "Exact values: 100.0% of the people have a record with exact ratings"
    assert said in " ".join(heard.notes)
    assert "release classes show fixed intervals there (method=" in " ".join(heard.notes)
    card = (tmp_path / "x" / "README.md").read_text()
    assert said.replace("values:", "values:**") in card
    found = ss.Audit(known=(2,), targets=20, shadows=0).run(ratings, tmp_path / "x", rng=1)
    lead = "exact values are listed for 100.0% of people"
    assert found.still_tells.startswith(lead)
    edition = public_edition(ss.read_release(tmp_path / "x"), tmp_path / "x", judgement())
    assert f"E{lead[1:]}" in edition["verdict"]["paragraph"]


def test_an_audit_leads_with_it_and_checks_it(real: dict[str, Any]) -> None:
    audit = ss.Audit(known=(2,), targets=20, shadows=0, threshold={"attribute": 0.5})
    for name, share in (("ndgh", "100.0%"), ("default", "0.0%")):
        folder = real["at"] / name
        receipt = real["at"] / f"{name}.json"
        found = audit.run(some(Scale(-10, 10)), folder, private=receipt, rng=1)
        told = f"{share} of people are {NAMED}"
        assert told in found.still_tells
        check = found.check("attribute")
        assert check.rate is not None
        assert f"{100 * check.rate.rate:.1f}%" == share
        assert check.status == ("pass" if name == "default" else "fail")
        assert any("Exact values" in text for text in found.warnings) == (name == "ndgh")


def test_the_public_report_leads_with_it(real: dict[str, Any]) -> None:
    folder = real["at"] / "ndgh"
    edition = public_edition(ss.read_release(folder), folder, judgement())
    told = f"100.0% of people are {NAMED}, 0.0% in"
    assert told in edition["verdict"]["paragraph"]
    first, second, *_ = edition["holds"]["disclosure"]["rows"]
    assert (first["title"], first["value"]) == ("Exact values listed", 1)
    assert second["value"] == 0
    assert any("Exact values: 100.0%" in text for text in edition["warnings"])


def test_single_records_on_a_fine_scale_warn(tmp_path: Any) -> None:
    made = make_release(
        some(Scale(0, 100, 1)), ss.SuppressAnonymizer(k=2, eps=60, nulls="ignore"),
        out=tmp_path / "out", rng=1,
    )  # fmt: skip
    assert made.figures["users_exact_values_listed"] == 1
    (warning,) = (text for text in of_release(made.release) if "Exact values" in text)
    assert "100.0% of the people have a record with exact ratings" in warning


def test_the_verifier_recounts_the_share(real: dict[str, Any]) -> None:
    folder = real["at"] / "ndgh"
    say(folder, users_exact_values_listed=0.0)
    with pytest.raises(ReleaseError, match="users_exact_values_listed"):
        verify_folder(folder)


def test_ranges_that_end_on_ratings_are_no_fixed_intervals(real: dict[str, Any]) -> None:
    folder = real["at"] / "range"
    config = json.loads((folder / "release.json").read_text())["config"]
    say(folder, config=config | {"hierarchy": "fixed-intervals"}, users_exact_values_listed=0.0)
    mend(folder)
    with pytest.raises(ReleaseError, match="end is not on the grid of the scale"):
        verify_folder(folder)


def test_a_release_of_an_earlier_version_still_verifies(real: dict[str, Any]) -> None:
    folder = real["at"] / "default"
    facts = json.loads((folder / "release.json").read_text())
    del facts["users_exact_values_listed"]
    (folder / "release.json").write_text(signed(facts))
    assert verify_folder(folder)["users_exact_values_listed"] == 0
    assert ss.read_release(folder).manifest.users_exact_values_listed is None


def test_continued_intervals_stay_as_wide(tmp_path: Any) -> None:
    """Somebody leaves: the class allows what it allowed, on the same grid."""
    scale = Scale(-10, 10)
    before = table([{0: 2.0}, {0: 3.9}, {0: 2.5}, {0: 3.0}], scale)
    first = ss.KExchange(3).anonymize(before, rng=1)
    after = before.keep_users(np.arange(3))
    second = ss.KExchange(3).anonymize(replace(after), rng=1, after=first)
    assert contents(second.cells()) == contents(first.cells()) == [((2.0, 4.0),)]
