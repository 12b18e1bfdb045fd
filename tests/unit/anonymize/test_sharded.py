"""A release made shard by shard: of one the bytes of the table's; of several, one that verifies."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded import anonymize as sharded
from starshade.anonymize.sharded import merge
from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.anonymize.sharded.split import cut_by_taste
from starshade.audit.make import make_release, make_release_of_shards
from starshade.engine.journal import journal_in
from starshade.engine.local import Local
from starshade.errors import ConfigError, InputError, InternalError, OutputError, UnmetError
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.shards import kept
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import ReadReport
from starshade.release.folder.read import read_release
from starshade.release.table import Part, Private
from starshade.release.verify import truth
from starshade.release.verify.verify import verify_folder
from tests.strategies import ratings_tables, table
from tests.unit.attack.test_sharded import tried

STARS = Scale(1, 5, 1)
EQUAL = "all profiles are equal"
METHODS = st.builds(
    PredictiveAnonymizer,
    k=st.sampled_from([2, 3]),
    profile=st.sampled_from(["pooled", "padded", "model", "simple"]),
    weights=st.sampled_from([None, "uniform"]),
    rare_items=st.sampled_from(["drop", "keep"]),
    item_support=st.sampled_from([None, 4, "30%"]),
    slack=st.sampled_from([0, 1]),
    factors=st.sampled_from([1, 3]),
)


def bytes_of(folder: Path) -> dict[str, str]:
    files = [folder.with_suffix(".json"), *sorted(folder.iterdir())]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def saved(release, folder: Path) -> dict[str, str]:
    release.save(folder, private=folder.with_suffix(".json"))
    return {**bytes_of(folder), f"{folder.name}.json": ""}


def same(one: dict[str, str], other: dict[str, str]) -> bool:
    return [*one.values()] == [*other.values()]


def by_shard(method, path: Path, folder: Path, seed: int, engine=None) -> dict[str, str]:
    with anonymized_shards(method, open_shards(path), seed, engine) as release:
        return saved(release, folder)


def as_stored(ratings, path: Path, n: int):
    """Write a store of shards; its table, as it is read back."""
    write_shards(ratings, path, n)
    return read_ratings(path)


@settings(max_examples=12, deadline=None)
@given(ratings_tables(max_users=24), METHODS, st.integers(0, 9), st.booleans())
def test_one_shard_is_the_table(tmp_path_factory, ratings, method, seed, inferred):
    place = tmp_path_factory.mktemp("one")
    ratings = ratings.annotate(report=replace(ReadReport(), scale_inferred=inferred))
    whole = as_stored(ratings, place / "s", 1)
    expected = tried(lambda: saved(method.anonymize(whole, rng=seed), place / "w"))
    found = tried(lambda: by_shard(method, place / "s", place / "f", seed))
    if isinstance(expected, str):
        assert found == expected
    else:
        assert same(found, expected)


@settings(max_examples=12, deadline=None)
@given(ratings_tables(min_users=6, max_users=24), METHODS, st.integers(0, 9), st.booleans())
def test_seven_shards_verify_and_leave_nobody_out(
    tmp_path_factory, ratings, method, seed, inferred
):
    place = tmp_path_factory.mktemp("seven")
    ratings = ratings.annotate(report=replace(ReadReport(), scale_inferred=inferred))
    whole = as_stored(ratings, place / "s", 7)
    expected = tried(lambda: method.anonymize(whole, rng=seed))
    found = tried(lambda: by_shard(method, place / "s", place / "f", seed))
    if isinstance(expected, str) and EQUAL not in expected:
        assert found == expected
        return
    if EQUAL in found:  # groups of shards are others, and so their profiles may all be equal
        assert EQUAL in expected or len(expected.classes.sizes) > 1
        return
    if isinstance(expected, str):
        assert len(read_release(place / "f").classes.sizes) > 1
        return
    release = read_release(place / "f", private=place / "f.json")
    assert release.manifest.records == expected.manifest.records
    assert release.items == expected.items
    assert release.scale == expected.scale
    assert int(release.classes.sizes.min()) >= method.k
    own = release.private
    assert own.link.users == expected.private.link.users
    assert np.array_equal(np.sort(own.link.record), np.arange(release.n_records))
    for name in ("rare_items_dropped", "users_without_rating"):
        assert getattr(own.exact, name) == getattr(expected.exact, name)
    told = replace(own, original=expected.private.original)  # the truth, as one table
    assert all(claim["holds"] for claim in verify_folder(place / "f", told)["claims"])


def test_what_people_are_called_moves_no_row_of_one_shard(tmp_path):
    ratings = synthesize(n_users=200, n_items=30, n_ratings=2500, rng=1)
    order = np.random.default_rng(0).permutation(200)
    cells = np.concatenate([np.arange(*ratings.indptr[u : u + 2]) for u in order])
    renamed = replace(
        ratings,
        indptr=np.concatenate([[0], np.cumsum(ratings.user_support[order])]).astype(np.int64),
        columns=ratings.columns[cells],
        codes=ratings.codes[cells],
        days=None if ratings.days is None else ratings.days[cells],
    )
    for name, each in (("a", ratings), ("b", renamed)):
        write_shards(each, tmp_path / name, 1)
        by_shard(PredictiveAnonymizer(k=5), tmp_path / name, tmp_path / f"r{name}", 3)
    profiles = [(tmp_path / f"r{name}" / "profiles.parquet").read_bytes() for name in "ab"]
    assert profiles[0] == profiles[1]


def test_equal_profiles_of_several_buckets_are_one_class_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sharded, "refuse_one_profile", lambda classes: None)
    rng = np.random.default_rng(3)  # everybody gives the one rating there is, on other items
    rows = [
        {int(i): 3.0 for i in rng.choice(6, rng.integers(1, 6), replace=False)} for _ in range(60)
    ]
    rows[7][6] = 3.0  # rated by nobody else; 7 is rated by none
    as_stored(table(rows, Scale(3, 3, 1), n_items=8), tmp_path / "s", 7)
    for profile in ("padded", "pooled"):
        method = PredictiveAnonymizer(k=3, profile=profile, factors=1, rare_items="keep")
        with anonymized_shards(method, open_shards(tmp_path / "s"), 0) as release:
            release.save(tmp_path / profile)  # which counts again
        assert release.classes.sizes.tolist() == [60]
        assert release.exact.groups > 7
        assert release.exact.imputed_cells == 1 / 8
        assert release.exact.single_rater_cells == (1 / 8 if profile == "padded" else None)


@pytest.fixture(scope="module")
def many():
    return synthesize(n_users=1500, n_items=90, n_ratings=24_000, rng=4)


def test_threads_pieces_and_journals_change_nothing(tmp_path, many, monkeypatch):
    write_shards(many, tmp_path / "s", 7)
    method, found = PredictiveAnonymizer(k=60, profile="padded"), []
    assert many.item_support.min() < 60  # some items are left out
    for threads in (1, 2):
        with budget.limits(threads=threads):
            found.append(by_shard(method, tmp_path / "s", tmp_path / f"t{threads}", 1))
    for name in ("_BUFFER", "_CELLS", "_PIECE"):
        monkeypatch.setattr(merge, name, 1)
    for name in ("_TOGETHER", "_BLOCK"):
        monkeypatch.setattr(truth, name, 1)
    monkeypatch.setattr(kept, "_AT_ONCE", 1)
    found.append(by_shard(method, tmp_path / "s", tmp_path / "pieces", 1))
    with journal_in(tmp_path / "s", resume=False) as journal:
        found.append(by_shard(method, tmp_path / "s", tmp_path / "j", 1, Local(journal)))
    assert all(same(each, found[0]) for each in found[1:])


def test_a_run_that_is_stopped_goes_on_to_the_same_bytes(tmp_path, many):
    write_shards(many, tmp_path / "s", 7)
    method = PredictiveAnonymizer(k=7)
    expected = by_shard(method, tmp_path / "s", tmp_path / "whole", 1)

    class StoppedError(Exception):
        pass

    class Counting(Local):
        """Stops once so many parts were found or done."""

        def _part(self, job, shards, tables, number):
            left.append(left.pop() - 1)
            if left[0] < 0:
                raise StoppedError
            return super()._part(job, shards, tables, number)

    for turn, stop in enumerate((3, 20, 45, 10**6)):
        left = [stop]
        try:
            with journal_in(tmp_path / "s", resume=turn > 0) as journal:
                answers = len(list(journal.folder.glob("*.npz")))
                assert (answers > 0) == (turn > 0)
                found = by_shard(
                    method, tmp_path / "s", tmp_path / f"r{turn}", 1, Counting(journal)
                )
        except StoppedError:
            assert not (tmp_path / f"r{turn}").exists()
    assert same(found, expected)
    assert not list((tmp_path / "s").glob(".journal-*"))


def test_figures_are_those_of_one_table(tmp_path, many):
    whole = as_stored(many, tmp_path / "s", 1)
    method = PredictiveAnonymizer(k=7)
    expected = make_release(whole, method, out=tmp_path / "w", private=tmp_path / "w.json", rng=2)
    store = open_shards(tmp_path / "s")
    found = make_release_of_shards(
        store, method, out=tmp_path / "f", private=tmp_path / "f.json", rng=2
    )
    measured = {"seconds", "peak_rss_mb", "out"}
    told, wanted = (
        {key: value for key, value in each.to_dict().items() if key not in measured}
        for each in (found, expected)
    )
    assert told == wanted


def test_little_is_lost_to_the_split(tmp_path, many):
    whole = as_stored(many, tmp_path / "s", 7)
    method = PredictiveAnonymizer(k=20)
    skill = [
        make_release(whole, method, out=tmp_path / "w",
        rng=2).figures["improvement_over_item_means"],
        make_release_of_shards(open_shards(tmp_path / "s"), method, out=tmp_path / "f", rng=2)
        .figures["improvement_over_item_means"],
    ]  # fmt: skip
    left = [1 - each for each in skill]  # of the squared error of the item averages
    assert left[1] <= 1.02 * left[0]


def test_cuts_hold_their_share_and_follow_the_row_alone():
    rng = np.random.default_rng(1)
    points, marks = rng.normal(size=(5000, 4)), rng.integers(0, 2**63, 5000).astype(np.uint64)
    weights = rng.integers(1, 50, 5000).astype(np.float64)
    cuts = cut_by_taste(points, marks, weights, 7)
    leaf = cuts.leaf_of(points, marks)
    assert cuts.n_leaves == 7
    held = np.bincount(leaf, weights, 7)
    assert held.max() <= 1.05 * weights.sum() / 7
    some = rng.permutation(5000)[:700]
    assert np.array_equal(cuts.leaf_of(points[some], marks[some]), leaf[some])


def test_ties_are_cut_by_the_hash_and_equal_rows_never():
    points, marks = np.ones((80, 3)), np.repeat(np.arange(8, dtype=np.uint64), 10)
    leaf = cut_by_taste(points, marks, np.ones(80), 4).leaf_of(points, marks)
    assert np.bincount(leaf).tolist() == [20, 20, 20, 20]
    assert (leaf == np.repeat(leaf[::10], 10)).all()
    alike = cut_by_taste(points, marks * np.uint64(0), np.ones(80), 4)
    assert alike.n_leaves == 1
    assert (alike.leaf_of(points, marks) == 0).all()


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"profile": "simple", "l": 2}, "l 2"),
        ({"profile": "simple", "min_raters": 2}, "min_raters 2"),
        ({"items": top_items(5)}, "items"),
    ],
)
def test_what_takes_one_table_is_refused(tmp_path, many, settings, found):
    write_shards(many, tmp_path / "s", 2)
    method = PredictiveAnonymizer(k=5, **settings)
    with (
        pytest.raises(ConfigError, match="not supported for partitioned stores") as error,
        anonymized_shards(method, open_shards(tmp_path / "s"), 0),
    ):
        pass
    assert found.split()[0] in str(error.value).replace("--", "").replace("-", "_")


def test_too_little_memory_and_a_k_too_large_are_one_sentence(tmp_path, many):
    write_shards(many, tmp_path / "s", 2)
    method = PredictiveAnonymizer(k=5)
    with (
        budget.limits(memory=10_000),
        pytest.raises(ConfigError, match=r"its largest partition, of .* may be used"),
        anonymized_shards(method, open_shards(tmp_path / "s"), 0),
    ):
        pass
    with (
        pytest.raises(ConfigError, match="k = 2000, records = 1500"),
        anonymized_shards(PredictiveAnonymizer(k=2000), open_shards(tmp_path / "s"), 0),
    ):
        pass


def test_a_damaged_shard_publishes_nothing_and_leaves_nothing_in_its_store(tmp_path, many):
    write_shards(many, tmp_path / "s", 3)
    broken = tmp_path / "s" / "shard-00002" / "by_user.columns.npy"
    broken.write_bytes(broken.read_bytes()[:-1] + b"\xff")
    method = PredictiveAnonymizer(k=5)
    with (
        pytest.raises(InputError, match="checksum"),
        journal_in(tmp_path / "s", resume=False) as journal,
    ):
        by_shard(method, tmp_path / "s", tmp_path / "r", 1, Local(journal))
    assert not (tmp_path / "r").exists()
    assert not list((tmp_path / "s").glob(".journal-*"))


def test_a_full_disk_is_one_sentence(tmp_path, many, monkeypatch):
    write_shards(many, tmp_path / "s", 3)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("starshade.engine.files.np.save", full)
    with (
        journal_in(tmp_path / "s", resume=False) as journal,
        pytest.raises(OutputError, match="no space left for the finished parts of this run"),
    ):
        by_shard(PredictiveAnonymizer(k=5), tmp_path / "s", tmp_path / "r", 1, Local(journal))
    assert not (tmp_path / "r").exists()


def lying(private: Private, change) -> Private:
    """The same with one part changed."""
    parts = list(private.parts())
    return replace(private, divided=lambda: iter([change(parts[0]), *parts[1:]]))


def twice(part: Part) -> Part:
    record = part.record.copy()
    record[0] = record[1]
    return part._replace(record=record)


def nobody(part: Part) -> Part:
    record = part.record.copy()
    record[0] = -1
    return part._replace(record=record)


def another_rating(part: Part) -> Part:
    return part._replace(ratings=replace(part.ratings, codes=part.ratings.codes[::-1].copy()))


@pytest.mark.parametrize("change", [twice, nobody, another_rating])
def test_the_verifier_finds_a_lie_in_one_shard(tmp_path, many, change):
    write_shards(many, tmp_path / "s", 3)
    method = PredictiveAnonymizer(k=5, profile="simple")
    with anonymized_shards(method, open_shards(tmp_path / "s"), 1) as release:
        wrong = replace(release, private=lying(release.private, change))
        with pytest.raises(InternalError, match="does not pass its check"):
            wrong.save(tmp_path / "r")
        release.save(tmp_path / "r")


def test_equal_profiles_and_one_group_are_refused(tmp_path):
    whole = as_stored(table([{0: 3.0, 1: 3.0}] * 30, Scale(3, 3, 1)), tmp_path / "s", 7)
    method = PredictiveAnonymizer(k=3)
    with pytest.raises(UnmetError, match="all profiles are equal"):
        method.anonymize(whole, rng=0)
    with pytest.raises(UnmetError, match="all profiles are equal"):
        by_shard(method, tmp_path / "s", tmp_path / "f", 0)
    with pytest.raises(UnmetError, match="they form one group"):
        by_shard(PredictiveAnonymizer(k=16), tmp_path / "s", tmp_path / "f", 0)
