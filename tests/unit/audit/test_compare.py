"""Methods side by side: rows, refusals, the frontier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.k_exchange import KExchange
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.candidates.candidates import LabelAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.membership import MembershipAttack
from starshade.audit import attempts
from starshade.audit.attempts import attempt, numeric_attribute, untouched
from starshade.audit.checks.inference import numbers_known
from starshade.audit.compare.compare import compare
from starshade.audit.compare.frontier import compared
from starshade.audit.compare.result import Comparison, Row, on_frontier
from starshade.audit.compare.ways import methods_by_default
from starshade.audit.original.table import knowable_of
from starshade.audit.shadows import method_of
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, InternalError
from starshade.progress import note, watch
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.utility.held_out.recommender_error import RecommenderError
from starshade.utility.losses import GeneralizationLoss
from tests.strategies import table

FIGURES = [figure.key for figure in compared()]

STARS = Scale(1, 5, 1)
MEASURED_ANEW = ("seconds", "peak_rss_mb")


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=90, n_items=40, n_ratings=1500, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> Comparison:
    methods = ["k-likeness", "interval", "suppress"]
    return compare(ratings, methods, [5, 2, 91], items=top_items(6), eps=2, rng=7)


class Watcher:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None: ...

    def stop(self, handle: int) -> None: ...

    def note(self, message: str) -> None:
        self.notes.append(message)


def row_of(found: Comparison, method: str, k: int) -> Row:
    (row,) = [row for row in found.rows if (row.method, row.k) == (method, k)]
    return row


def made(name: str, loss: float, top1: float, deleted: int = 0, kind: str = "gen_iloss") -> Row:
    own = {kind: loss, "expected_top1": top1, "users_deleted": deleted}
    return Row(name, 2, None, dict.fromkeys(FIGURES) | own)


def test_there_is_a_row_for_every_method_and_k(found: Comparison) -> None:
    names = [(row.method, row.k, row.eps) for row in found.rows]
    assert names == [
        *(("k-likeness", k, None) for k in (2, 5, 91)),
        *(("interval", k, 2) for k in (2, 5, 91)),
        *(("suppress", k, 2) for k in (2, 5, 91)),
    ]
    assert all(set(row.figures) == set(FIGURES) for row in found.rows)


def test_a_row_has_the_figures_of_its_release(found: Comparison, ratings: Ratings) -> None:
    part = top_items(6).apply(ratings)
    release = KLikeness(k=5).anonymize(part, rng=7)
    f = row_of(found, "k-likeness", 5).figures
    assert f["gen_iloss"] == GeneralizationLoss().measure(release, part).figures["gen_iloss"]
    sizes = release.cells().sizes
    assert f["dm"] == int((sizes**2).sum())
    assert f["c_avg"] == sizes.sum() / (len(sizes) * 5)
    assert (f["classes"], f["smallest_class"]) == (len(sizes), sizes.min())
    asked = {"original": part, "rng": 7, "targets": 1000}
    known = Knowledge(known=4, dates=False)
    attacks = (ScoreboardRH(), LabelAttack(), Likelihood())
    tried = [attack.run(release, known, **asked) for attack in attacks]
    assert f["expected_top1"] == max(a.expected_top1.rate for a in tried) <= 1 / 5
    assert f["class_contents_known"] == max(a.class_contents_known.rate for a in tried)
    assert f["class_linkage"] == tried[2].class_linkage.rate
    isolates = PredicateAttack().run(release, original=part, rng=7).singling_out
    assert f["singling_out"] == isolates.rate
    assert f["targets"] == tried[0].targets > 0
    assert f["users_rating_disclosed"] == release.manifest.users_rating_disclosed
    assert f["distortion"] is None
    assert f["seconds"] is not None
    assert f["seconds"] > 0


def test_the_risk_is_that_of_the_stronger_attack_by_name(found: Comparison) -> None:
    rows = {(row.method, row.k): row for row in found.rows}
    assert rows["k-likeness", 5].attack == "likelihood"  # knows how cells come about
    assert rows["interval", 2].attack == "likelihood"  # and how far ratings were moved
    assert rows["k-likeness", 91].attack is None
    assert f"of {found.original['targets']} targets ({found.attack})." in str(found)
    assert found.to_dict()["original"]["attack"] == found.attack
    first, *others = found.whole_table()
    assert (first["method"], first["k"], first["frontier"]) == ("original", 1, None)
    assert first["expected_top1"] == found.original["expected_top1"]
    assert others == found.table()


def test_the_loss_of_moved_ratings_is_their_distortion(found: Comparison) -> None:
    row = row_of(found, "interval", 2)
    assert row.figures["gen_iloss"] is None
    assert row.loss == ("distortion_per_record", row.figures["distortion_per_record"])
    assert row_of(found, "suppress", 5).figures["users_deleted"]


def test_a_refusal_is_a_row_with_the_reason(found: Comparison) -> None:
    row = row_of(found, "k-likeness", 91)
    assert row in found.refused
    assert "k = 91" in str(row.refused)
    assert set(row.figures.values()) == {None}
    assert row.loss is None
    assert row.name in str(found)


def test_the_original_hides_nobody(found: Comparison, ratings: Ratings) -> None:
    part = top_items(6).apply(ratings)
    distinct = len(np.unique(np.nan_to_num(part.dense()), axis=0))
    assert found.original["gen_iloss"] == 0
    assert found.original["classes"] == distinct
    assert found.original["c_avg"] == part.n_users / distinct
    assert found.original["users_rating_disclosed"] == 1
    top1 = row_of(found, "k-likeness", 2).figures["expected_top1"]
    assert found.original["expected_top1"] > top1


def test_it_goes_into_json_and_comes_again(found: Comparison, ratings: Ratings) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["data"]["items"] == 6
    assert [row["frontier"] for row in told["rows"]] == list(on_frontier(found.rows))
    methods = ["suppress", "k-likeness"]
    again = compare(ratings, methods, [2, 5], items=top_items(6), eps=2, rng=7)
    assert [row.method for row in again.rows] == ["suppress"] * 2 + ["k-likeness"] * 2
    for row in again.rows:
        before = row_of(found, row.method, row.k).figures
        for name in set(FIGURES) - set(MEASURED_ANEW):
            assert row.figures[name] == before[name], name


def test_a_row_is_told_as_it_is_done(ratings: Ratings) -> None:
    watcher = Watcher()
    with watch(watcher):
        compare(ratings, ["k-likeness"], [2, 91], items=top_items(6), rng=1)
    told = [text for text in watcher.notes if text.startswith("k-likeness")]
    assert "re-identified by" in told[0]
    assert "refused" in told[1]
    assert len(told) == 2


def test_by_default_predictive_stands_first_and_no_method_needs_more(ratings: Ratings) -> None:
    methods = methods_by_default()
    assert (methods[0], "k-likeness" in methods) == ("predictive", True)
    assert not {"interval", "suppress"} & set(methods)
    found = compare(ratings, k=[40], items=top_items(3), rng=1)
    assert [row.method for row in found.rows] == list(methods)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": ["k-likenes"]}, "Did you mean k-likeness"),
        ({"methods": ["interval"]}, "eps is missing"),
        ({"methods": ["k-likeness"], "eps": 1}, "none of the methods has an eps"),
        ({"methods": ["interval"], "eps": -1}, "eps"),
        ({"profile": "pooled"}, "none of the methods has a profile"),
        ({"disclosure_weights": [0.2]}, "none of the methods has such a weight"),
        ({"methods": ["interval"], "eps": 1, "slacks": [1]}, "none of the methods has slack"),
        ({"slacks": [-1]}, "slacks = a list: must be one or more whole"),
        ({"shadows": -1}, "shadows"),
        ({"disclosure_weights": [-1.0]}, "disclosure_weights = -1: must be one or more numbers"),
        ({"disclosure_weights": []}, "one or more numbers, 0 to 100"),
        ({"methods": ["predictive"], "profile": "mean"}, "padded, simple, model or pooled"),
        ({"methods": []}, "no method to compare"),
        ({"k": []}, "k = nothing: must be one or more whole numbers, 2 or more"),
        ({"k": [1]}, "2 or more"),
        ({"attribute": "Gender"}, "attribute 'Gender': not numeric; numeric ones: Age"),
        ({"attribute": "shoe size"}, "'shoe size': no such attribute; numeric ones: Age"),
        ({"known": 0}, "known"),
        ({"targets": 0}, "targets"),
        ({"k": "5"}, "one or more whole numbers"),
        ({"methods": "k-exchange"}, "methods = 'k-exchange': must be a list of texts"),
        ({"items": 5}, "items = 5: must be an ItemSelection"),
    ],
)
def test_what_is_wrong_is_refused(ratings: Ratings, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        compare(ratings, **{"methods": ["k-likeness"], "k": [2], "rng": 1} | arguments)


def test_without_ratings_there_is_nothing(ratings: Ratings) -> None:
    nobody = ratings.keep_users(np.empty(0, dtype=np.int64))
    with pytest.raises(ConfigError, match="no ratings to compare"):
        compare(nobody, ["k-likeness"])


def test_fewer_cells_are_known_where_nobody_has_so_many() -> None:
    rows = [{0: 1.0 + i % 5} for i in range(8)]
    found = compare(table(rows, STARS), ["k-likeness"], [2], rng=1)
    assert found.known == 1
    assert found.attribute is None
    assert found.rows[0].figures["query_error"] is None


@contextmanager
def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Iterator[None]:
    def fail(*args: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("starshade.audit.compare.compare.attempt", fail)
        yield


def test_no_memory_is_a_refusal_and_a_bug_is_a_bug(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raising(monkeypatch, MemoryError()):
        found = compare(ratings, ["k-likeness"], [2], items=top_items(3), rng=1)
    assert "out of memory" in str(found.rows[0].refused)
    with raising(monkeypatch, InternalError("ours")), pytest.raises(InternalError):
        compare(ratings, ["k-likeness"], [2], items=top_items(3), rng=1)


def test_the_frontier_is_what_none_beats() -> None:
    rows = [
        made("a", 0.1, 0.5),
        made("b", 0.2, 0.2),
        made("worse than b", 0.3, 0.2),
        made("c", 0.4, 0.1),
        made("as good as b", 0.2, 0.2),
        made("worse than a", 0.1, 0.6),
        made("keeps fewer than b", 0.2, 0.2, deleted=1),
        made("another loss", 9.0, 0.9, kind="distortion_per_record"),
        Row("refused", 2, None, dict.fromkeys(FIGURES), "no"),
    ]
    best = [row.method for row, yes in zip(rows, on_frontier(rows), strict=True) if yes]
    assert best == ["a", "b", "c", "as good as b", "another loss"]


def test_fewer_users_left_out_may_make_up_for_loss() -> None:
    rows = [made("a", 0.1, 0.1, deleted=5), made("b", 0.2, 0.1)]
    assert on_frontier(rows) == (True, True)


def test_untouched_ratings_are_their_own_release() -> None:
    rows = [{0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0}, {0: 5.0}, {}]
    release = untouched(table(rows, STARS))
    assert sorted(release.classes.sizes.tolist()) == [1, 2]
    assert release.manifest.claims == ()


def test_the_attribute_that_queries_ask_for() -> None:
    ratings = table([{0: 1.0}, {0: 2.0}], STARS)
    assert numeric_attribute(ratings) is None
    people = pa.table({"name": ["x", "y"], "Salary": [1.0, 2.0], "AGE": [3.0, None]})
    ratings = replace(ratings, attributes=people)
    assert numeric_attribute(ratings) == "AGE"
    assert numeric_attribute(ratings, "Salary") == "Salary"
    with pytest.raises(ConfigError, match="Salary, AGE"):
        numeric_attribute(ratings, "name")


def test_the_watcher_hears_nothing_of_an_attempt(ratings: Ratings) -> None:
    class Loud(KLikeness):
        def anonymize(self, ratings: Ratings, rng: Any = None) -> Any:
            note("here I am")
            return super().anonymize(ratings, rng)

    watcher = Watcher()
    with watch(watcher):
        done = attempt(Loud(k=2, items=top_items(3)), ratings, 1)
    assert "here I am" not in watcher.notes
    assert done.release.manifest.claimed_k == 2


def test_a_system_that_does_not_count_memory(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(attempts, "_PROCESS", tmp_path / "none")
    assert attempt(KLikeness(k=2, items=top_items(3)), ratings, 1).peak_rss_mb is None


def test_recommenders_are_tested_on_what_was_held_out(ratings: Ratings) -> None:
    found = compare(ratings, ["k-likeness"], [2], items=top_items(6), held_out=0.1, rng=1)
    (row,) = found.rows
    table = top_items(6).apply(ratings).drop_empty_users()
    train, probe = hold_out(table, 0.1, rng=1)
    release = KLikeness(2, attributes="exact").anonymize(train, rng=1)  # as averages are asked
    asked = RecommenderError(seed=1).measure(release, original=train, probe=probe).figures
    for name in ("rmse_original", "rmse_ratio_release", "rmse_ratio_refit"):
        assert row.figures[name] == pytest.approx(asked[name])
    both = row.figures["rmse_ratio_release"], row.figures["rmse_ratio_refit"]
    assert row.figures["rmse_ratio"] == min(both)
    assert found.held_out == found.to_dict()["held_out"] == 0.1
    assert found.data["ratings"] == train.n_ratings
    plain = compare(ratings, ["k-likeness"], [2], items=top_items(6), rng=1)
    assert plain.rows[0].figures["rmse_ratio"] is None
    assert found.original["rmse_original"] == row.figures["rmse_original"]
    assert found.original["rmse_ratio"] == 1
    assert found.original["rmse_ratio_release"] is found.original["rmse_ratio_refit"] is None
    averaged = Row("predictive", 2, None, dict.fromkeys(FIGURES) | {"rmse_ratio": 1.02})
    assert averaged.loss == ("rmse_ratio", 1.02)
    for share in (1, -0.1):
        with pytest.raises(ConfigError, match="0 or more and below 1"):
            compare(ratings, ["k-likeness"], [2], held_out=share, rng=1)


def test_k_exchange_has_a_row_for_every_weight(ratings: Ratings) -> None:
    asked: dict[str, Any] = {"items": top_items(6), "rng": 1, "disclosure_weights": [2, 0]}
    weighed = compare(ratings, ["k-exchange", "k-likeness"], [5], **asked)
    assert [row.name for row in weighed.rows] == [
        "k-exchange (k = 5)",
        "k-exchange, weight 2 (k = 5)",
        "k-likeness (k = 5)",
    ]
    assert [row["disclosure_weight"] for row in weighed.table()] == [0, 2, None]
    part = top_items(6).apply(ratings)
    for row in weighed.rows[:2]:
        method = KExchange(k=5, disclosure_weight=row.disclosure_weight)
        shown = method.anonymize(part, rng=1).manifest.users_rating_disclosed
        assert row.figures["users_rating_disclosed"] == shown
    assert "a line joins the weights" in json.dumps(weighed.plot())
    assert "a line joins the weights" not in json.dumps(
        compare(ratings, ["k-exchange"], [5], items=top_items(6), rng=1).plot()
    )


def test_what_can_be_continued_has_a_row_for_every_slack(ratings: Ratings) -> None:
    found = compare(
        ratings, ["mondrian", "k-likeness"], [4], items=top_items(6), slacks=[2, 0], rng=1
    )
    assert [(row.name, row.slack) for row in found.rows] == [
        ("mondrian (k = 4)", 0),
        ("mondrian, slack 2 (k = 4)", 2),
        ("k-likeness (k = 4)", 0),
        ("k-likeness, slack 2 (k = 4)", 2),
    ]
    part = top_items(6).apply(ratings)
    release = KLikeness(k=4, slack=2).anonymize(part, rng=1)
    assert found.rows[3].figures["classes"] == release.classes.n_groups


def test_shadows_tell_what_an_audit_finds(tmp_path: Path) -> None:
    ratings = synthesize(n_users=150, n_items=40, n_ratings=2500, rng=1)
    part = top_items(6).apply(ratings).drop_empty_users()
    found = compare(part, ["k-likeness"], [5], shadows=2, rng=7)
    KLikeness(k=5).anonymize(part, rng=7).save(tmp_path / "out", private=tmp_path / "receipt")
    release = read_release(tmp_path / "out", private=tmp_path / "receipt")
    known = Knowledge(known=numbers_known(knowable_of(part), 8)[-1], dates=False)
    of = {"shadows": 2, "method": method_of(release, part)}
    asked: dict[str, Any] = {"original": part, "targets": 1000, "rng": 7}
    (row,) = found.rows
    member = MembershipAttack(**of).run(release, known, **asked)
    assert row.figures["membership_auc"] == member.auc.rate
    gained = InferenceAttack(**of).run(release, known, **asked)
    rates = [rate.rate for rate in (gained.rated_gained, gained.value_gained) if rate is not None]
    assert row.figures["inference_gain"] in rates
    assert -1 <= row.figures["linkability"] <= 1
    assert found.shadows_known == known.known
    assert f"; linkability and inference gain with {known.known} ratings known" in found.rests_on
    names = ("membership_auc", "inference_gain", "linkability")
    assert [found.original[name] for name in names] == [None] * 3
    beside = compare(part, ["k-likeness"], [5], rng=7)
    assert (beside.shadows_known, "inference gain" in beside.rests_on) == (None, False)
    (without,) = beside.rows
    assert [without.figures[name] for name in names] == [None] * 3


def test_a_policy_decides_on_each_release(ratings: Ratings, tmp_path: Path) -> None:
    part = top_items(6).apply(ratings).drop_empty_users()
    found = compare(part, ["k-likeness", "mondrian"], [3, 5], policy="partner", rng=7)
    assert found.policy == "partner v1"
    assert "PASS by policy partner v1: none." in str(found)
    for row in found.to_dict()["rows"]:
        (size,) = (each for each in row["checks"] if each["name"] == "class-size")
        assert size["status"] == ("fail" if row["k"] == 3 else "pass")
        assert row["verdict"] == "FAIL"
        assert row["decisive"]
    KLikeness(k=5).anonymize(part, rng=7).save(tmp_path / "out", private=tmp_path / "key")
    result = Audit().run(part, tmp_path / "out", private=tmp_path / "key", rng=7)
    row = next(each for each in found.rows if (each.method, each.k) == ("k-likeness", 5))
    assert row.decision is not None
    values = [each.to_dict()["value"] for each in result.checks]
    assert [each["value"] for each in row.decision.checks] == values
    assert compare(part, ["mondrian"], [5], rng=7).rows[0].decision is None


def test_profiles_are_pooled_unless_another_is_asked_for(ratings: Ratings) -> None:
    asked: dict[str, Any] = {"items": top_items(6), "held_out": 0.1, "rng": 1}
    pooled = compare(ratings, ["predictive", "k-likeness"], [5], **asked)
    assert [row.name for row in pooled.rows] == ["predictive, pooled (k = 5)", "k-likeness (k = 5)"]
    assert [row["profile"] for row in pooled.table()] == ["pooled", None]
    padded = compare(ratings, ["predictive"], [5, 91], profile="padded", **asked)
    assert [row.name for row in padded.refused] == ["predictive, padded (k = 91)"]
    train, probe = hold_out(top_items(6).apply(ratings).drop_empty_users(), 0.1, rng=1)
    for row, profile in ((pooled.rows[0], "pooled"), (padded.rows[0], "padded")):
        release = PredictiveAnonymizer(k=5, profile=profile).anonymize(train, rng=1)
        measure = RecommenderError("regularized-svd", seed=1)
        told = measure.measure(release, original=train, probe=probe).figures
        assert row.figures["rmse_ratio_release"] == told["rmse_ratio_release"]
