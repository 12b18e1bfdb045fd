"""Layout "profile": quantized, joined, ordered, counted; seen as cells, as numbers, as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError, InternalError
from starshade.ratings.scale import Scale
from starshade.release.build import Provenance
from starshade.release.cells import Cells
from starshade.release.profile_release import _permute
from starshade.release.profiles import Profiles, default_step, quantize, released_levels
from starshade.utility.losses import DisclosureShares, Distortion, GeneralizationLoss, class_sizes
from tests.naive import profile_release as naive
from tests.strategies import SCALES, table
from tests.unit.release.profiled import profile, profiled

STARS = Scale(1, 5, 1)
# the groups {A=5}, {A=4, B=2} as one, and another
ROWS = [{0: 5}, {0: 4, 1: 2}, {1: 3}, {1: 3}]


def golden(kind: str):
    pads = [[0, 3.0], [0, 0], [1.0, 0], [2.0, 0]]
    return profile(table(ROWS, STARS), [0, 0, 1, 1], kind, 0.5, pads=pads)


def test_golden_profiles():
    simple, padded = golden("simple").release(), golden("padded").release()
    # in content order: null first, so the second group comes first
    assert np.nan_to_num(simple.classes.values(), nan=-1).tolist() == [[-1, 3], [4.5, 2]]
    assert padded.classes.values().tolist() == [[1.5, 3], [4.5, 2.5]]
    assert simple.exact.single_rater_cells == 1 / 3
    assert padded.exact.single_rater_cells == 1 / 4
    assert (simple.exact.imputed_cells, padded.exact.imputed_cells) == (0, 1 / 4)
    for manifest in (simple.manifest, padded.manifest):
        assert manifest.users_rating_disclosed is None
        assert manifest.users_rating_exists is None
    for kind in ("model", "pooled"):
        assert golden(kind).release().exact.single_rater_cells is None


@given(profiled())
def test_classes_as_defined(drawn):
    release = drawn.release()
    sizes = np.bincount(drawn.groups).tolist()
    expected = naive.classes(drawn.levels, sizes)
    classes = release.classes
    assert isinstance(classes, Profiles)
    assert classes.levels.tolist() == [row for row, _ in expected]
    assert classes.sizes.tolist() == [size for _, size in expected]
    manifest = release.manifest
    assert (manifest.classes, release.exact.groups) == (len(expected), len(drawn.levels))
    record = release.private.link.record
    assert sorted(record) == list(range(drawn.original.n_users))
    of_user = release.class_of_record[record]
    assert [expected[c][0] for c in of_user] == [drawn.levels[g] for g in drawn.groups]
    members = [
        [row for row, own in zip(drawn.rows, of_user, strict=True) if own == c]
        for c in range(len(expected))
    ]
    least = drawn.min_raters if drawn.kind == "simple" else 0
    single, invented = naive.rests_on(
        [row for row, _ in expected], members, drawn.original.scale.minimum, drawn.step, least
    )
    assert release.exact.imputed_cells == pytest.approx(invented)
    told = release.exact.single_rater_cells
    assert told is None if drawn.kind in ("model", "pooled") else told == pytest.approx(single)


@given(profiled(), st.randoms(use_true_random=False))
def test_cells_values_and_parts(drawn, random):
    release = drawn.release()
    classes = release.classes
    values = classes.values()
    minimum = drawn.original.scale.minimum
    for row, codes in zip(values.tolist(), classes.levels.tolist(), strict=True):
        for value, code in zip(row, codes, strict=True):
            assert (value != value) if code == 0 else value == pytest.approx(
                minimum + (code - 1) * drawn.step, abs=1e-8)  # fmt: skip
    rows = np.array(random.sample(range(classes.n_groups), classes.n_groups))
    items = np.array(random.sample(range(classes.n_items), random.randint(1, classes.n_items)))
    cells = release.cells()
    assert isinstance(cells, Cells)
    assert dense(cells) == told(values)
    assert dense(classes.cells(rows)) == told(values[rows])
    assert dense(release.cells(items)) == told(values[:, np.sort(items)])
    assert dense(classes.keep_rows(rows).keep_items(items).cells()) == told(
        values[rows][:, np.sort(items)]
    )
    assert np.array_equal(classes.values(rows), values[rows], equal_nan=True)
    assert np.array_equal(classes.values(slice(1, None)), values[1:], equal_nan=True)
    matrix, sizes = release.to_scipy()
    assert sizes.tolist() == classes.sizes.tolist()
    assert matrix.nnz == len(cells.codes)
    assert matrix.toarray().tolist() == np.nan_to_num(values).tolist()


def dense(cells: Cells) -> list[list[float | None]]:
    out: list[list[float | None]] = [[None] * cells.n_items for _ in range(cells.n_groups)]
    members = cells.symbols.members[cells.symbols.offsets[:-1]]
    for row in range(cells.n_groups):
        for p in range(cells.indptr[row], cells.indptr[row + 1]):
            out[row][cells.columns[p]] = float(members[cells.codes[p]])
    return out


def told(values: np.ndarray) -> list[list[float | None]]:
    return [[None if v != v else v for v in row] for row in values.tolist()]


@given(st.sampled_from(SCALES), st.sampled_from([1, 2, 8, 80, 254]), st.data())
def test_quantize_takes_the_nearest_level(scale, parts, data):
    step = scale.width / parts if scale.width else 1.0
    n = len(released_levels(scale, step))
    some = st.floats(scale.minimum - 3, scale.maximum + 3, allow_nan=False)
    half = st.integers(0, 2 * n).map(lambda i: scale.minimum + i * step / 2)
    values = data.draw(st.lists(st.one_of(some, half, st.just(float("nan"))), max_size=20))
    expected = [naive.level(None if v != v else v, scale.minimum, step, n) for v in values]
    assert quantize(np.array(values), scale, step).tolist() == expected
    exact = released_levels(scale, step)
    assert quantize(exact, scale, step).tolist() == list(range(1, n + 1))


@pytest.mark.parametrize(
    ("step", "message"),
    [(0, "above 0"), (-1, "above 0"), (float("nan"), "above 0"), (float("inf"), "above 0"),
     (0.7, "does not divide"), (0.01, "more than 255 levels"), (8, "does not divide"),
     (2.0**62, "does not divide"), (1e308, "does not divide")],
)  # fmt: skip
def test_steps_that_are_none(step, message):
    with pytest.raises(ConfigError, match=message):
        released_levels(STARS, step)


@given(st.permutations(range(9)))
def test_rows_are_put_in_order_where_they_are(order):
    rows = np.arange(18, dtype=np.uint8).reshape(9, 2)
    before = rows.copy()
    _permute(rows, np.array(order))
    assert rows.tolist() == before[order].tolist()


def test_levels_above_127_are_not_negative():
    original = table([{0: 1}, {0: 2}, {0: 3}], STARS)
    release = profile(original, [0, 1, 2], "simple", 4 / 254).release()
    assert release.classes.levels.ravel().tolist() == [1, 65, 128]
    original = table([{0: 5}, {0: 1}], STARS)
    release = profile(original, [0, 1], "simple", 4 / 254).release()
    assert release.classes.levels.ravel().tolist() == [1, 255]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda levels: levels[:1], "groups are not those"),
        (lambda levels: np.vstack([levels, levels[:1]]), "groups are not those"),
        (lambda levels: levels[:, :1], "no bytes of every item"),
        (lambda levels: levels.astype(np.int64), "no bytes of every item"),
        (lambda levels: np.asfortranarray(levels), "where they are"),
        (lambda levels: levels + np.uint8(9), "beyond the scale"),
        (lambda levels: levels * np.uint8(0), "a null in a profile"),
    ],
)
def test_groups_and_profiles_that_do_not_belong_together(how, message):
    drawn = golden("padded")
    levels = how(np.array(drawn.levels, dtype=np.uint8))
    from starshade.release.profile_release import profile_release

    with pytest.raises(InternalError, match=message):
        profile_release(
            drawn.original,
            levels,
            drawn.groups,
            Provenance(method="m", seed=1),
            step=0.5,
            profile="padded",
        )


def test_what_does_not_fit_is_refused_with_the_figure():
    release = golden("padded").release()
    need_cells = 4 * 5 + 16 * 4
    with budget.limits(memory=4 + need_cells):
        release.cells()
    with (
        budget.limits(memory=4 + need_cells - 1),
        pytest.raises(ConfigError, match=r"2 profiles of 2 items as cells: 84 bytes needed, 83"),
    ):
        release.cells()
    with budget.limits(memory=4 + 32):
        release.classes.values()
    with (
        budget.limits(memory=4 + 31),
        pytest.raises(ConfigError, match="as numbers: 32 bytes needed"),
    ):
        release.classes.values()
    with budget.limits(memory=4 + need_cells), pytest.raises(ConfigError, match="as a SciPy matri"):
        # 20 bytes a cell beside the cells: 80 of the 68 that are left
        release.to_scipy()


def test_measures_count_the_classes_and_leave_the_rest_out():
    drawn = golden("simple")
    release = drawn.release()
    assert class_sizes(release).tolist() == [2, 2]
    assert GeneralizationLoss().measure(release, drawn.original).figures == {"gen_iloss": None}
    shares = DisclosureShares().measure(release).figures
    assert set(shares.values()) == {None}
    assert set(Distortion().measure(release, drawn.original).figures.values()) == {None}


def test_near_levels_are_not_one_class():
    """4.1 and 4.2 are both nearest to the rating 4, and yet are two profiles."""
    from starshade.privacy.k_anonymity import KAnonymity

    original = table([{0: 4}, {0: 4}, {0: 5}, {0: 4}], STARS)
    release = profile(
        original, [0, 0, 1, 1], "model", 0.1, pads=[[4.1], [4.1], [4.2], [4.2]]
    ).release()
    assert class_sizes(release).tolist() == [2, 2]
    assert KAnonymity(k=2).check(release).satisfied
    assert not KAnonymity(k=3).check(release).satisfied


@pytest.mark.parametrize(
    ("scale", "step"),
    [
        (Scale(1, 5, 1), 0.05),
        (Scale(0.5, 5, 0.5), 0.05),
        (Scale(-10, 10, 1), 0.2),
        (Scale(0, 1, 1), 0.01),
        (Scale(0, 100, 1), 1.0),
        (Scale(1, 10, 1), 0.1),
        (Scale(0, 0.3, 0.1), 0.005),
        (Scale(3, 3, 1), 1.0),
        (Scale(0, 101, 1), 1.0),
        (Scale(0, 254, 1), 1.0),
        (Scale(0, 255, 1), 255 / 80),
        (Scale(-10, 10), 0.25),
        (Scale(2, 2), 1.0),
    ],
)
def test_by_default_every_rating_is_a_level(scale: Scale, step: float) -> None:
    assert default_step(scale) == pytest.approx(step, rel=1e-12)
    levels = released_levels(scale, default_step(scale))
    assert len(levels) <= 255
    if scale.step is not None and scale.width <= 254 * scale.step:
        assert np.isin(scale.levels, levels).all()


@given(
    st.integers(-1000, 1000),
    st.sampled_from([1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.01, 1 / 3]),
    st.integers(1, 254),
)
def test_by_default_every_rating_of_any_scale_is_a_level(least, step, steps) -> None:
    scale = Scale(least * step, least * step + steps * step, step)
    own = default_step(scale)
    levels = released_levels(scale, own)
    said = levels[quantize(scale.levels, scale, own) - 1]
    assert said.tolist() == pytest.approx(scale.levels.tolist(), rel=0, abs=2e-9)
    if step != 1 / 3:
        assert said.tolist() == scale.levels.tolist()
