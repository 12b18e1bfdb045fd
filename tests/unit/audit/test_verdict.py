from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.audit import verdict
from starshade.audit.make import _refuse_empty, make_release
from starshade.audit.measure import measure_all
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.registry import find
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from tests.contract.cast import CAST
from tests.policies import NO_LIMITS
from tests.strategies import table
from tests.unit.release.damage import say

RATINGS = CAST["duplicate records"].drop_empty_users()
QUICK = Audit(threshold=NO_LIMITS, known=(2,), targets=10, shadows=0)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    release = KLikeness(k=3).anonymize(RATINGS, rng=0)
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    return tmp_path / "out"


def other_values(ratings: Ratings) -> Ratings:
    from dataclasses import replace

    return replace(ratings, codes=(len(ratings.levels) - 1 - ratings.codes).astype(np.uint8))


def test_it_passes_and_says_why(out: Path) -> None:
    result = QUICK.run(RATINGS, out, private=out.parent / "receipt", rng=1)
    assert result.passed
    assert result.reasons == ()
    named = ["claims", "k-anonymity", "tracker", "audience"]
    assert [f.name for f in result.findings] == named
    few = "All attacks had only 10 targets, so intervals are wide; the re-identification figure is"
    assert result.warnings == (f"{few} one of these.",)
    assert str(result).startswith("PASS (7 checks without effective threshold) (policy partner v1")
    html = result._repr_html_()
    assert "<strong>PASS (7 checks without effective threshold)</strong>" in html
    assert "1 in 3" in str(result.plot())
    found = json.loads(json.dumps(result.to_dict()))
    assert found["config"]["targets"] == 10
    assert found["utility"] == measure_all(KLikeness(k=3).anonymize(RATINGS, rng=0), RATINGS)


def test_without_the_receipt_no_class_is_said_to_be_found(out: Path) -> None:
    about = QUICK.run(RATINGS, out, rng=1).about
    assert "Class linkage is not measured without the private key file." in about
    assert "is found for up to" not in about


def test_the_tracker_is_let_loose_on_both(out: Path) -> None:
    result = QUICK.run(RATINGS, out, private=out.parent / "receipt", rng=1)
    found = json.loads(json.dumps(result.to_dict()))["tracker"]
    # of 24 users ten have a copy each; nobody else has the same ratings
    assert found["before"]["at_risk"]["rate"] == 14 / 34
    assert found["after"]["at_risk"]["rate"] == found["after"]["refused"] == 0
    assert found["after"]["fewest"] >= 3
    text = next(f.text for f in result.findings if f.name == "tracker")
    assert f"none rests on fewer than {found['after']['fewest']} records" in text
    assert f"singles out {found['before']['at_risk']['rate']:.1%}" in text


def test_a_tracker_that_was_stopped_says_so(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = next(f.text for f in QUICK.run(RATINGS, out, rng=1).findings if f.name == "tracker")
    assert "stopped" not in text
    monkeypatch.setattr("starshade.audit.evidence.MOST_QUERIES", 40)
    found = QUICK.run(RATINGS, out, rng=1)
    text = next(f.text for f in found.findings if f.name == "tracker")
    assert found.tracker is not None
    reached = found.tracker.after.items
    assert reached < found.items
    assert "It stopped after 40 queries" in text
    assert f"{reached} most rated item{'s' * (reached != 1)} of {found.items}:" in text
    assert "singles out (stopped too) at least" in text


def test_who_claims_too_much_is_found_by_counting(out: Path) -> None:
    claims = json.loads((out / "release.json").read_text())["claims"]
    claims[0]["parameters"]["k"] = 9
    say(out, claims=claims)
    result = QUICK.run(RATINGS, out, rng=1)
    finding = next(f for f in result.findings if f.name == "tracker")
    assert not finding.passed
    assert "rest on fewer records than the claimed k = 9." in finding.text


def test_without_a_claim_of_k_no_queries_are_answered(out: Path) -> None:
    say(out, claims=[])
    result = QUICK.run(RATINGS, out, rng=1)
    assert result.tracker is None
    assert result.to_dict()["tracker"] is None


def test_it_claims_no_more_than_was_tried(out: Path) -> None:
    text = str(QUICK.run(RATINGS, out, rng=1))
    assert "Attacks tested: scoreboard-rh, label, likelihood." in text
    assert "Other attacks may find the class more often" in text
    assert "more often than 1 in 3." in text
    say(out, claims=[])
    unclaimed = str(QUICK.run(RATINGS, out, rng=1))
    assert "Other attacks may succeed more often." in unclaimed
    assert "Guaranteed" not in unclaimed


def test_beside_an_earlier_release_of_the_same_data_it_fails(out: Path, tmp_path: Path) -> None:
    earlier = tmp_path / "earlier"
    KLikeness(k=4).anonymize(RATINGS, rng=0).save(earlier)
    alone = QUICK.run(RATINGS, out, rng=1)
    for folder in (out, earlier):
        say(folder, lineage="a" * 32)
    result = QUICK.run(RATINGS, out, earlier=[earlier], rng=1)
    assert not result.passed
    assert result.passed_alone
    (reason,) = result.reasons
    assert reason.startswith(f"Composition: {earlier} is a release of the same data.")
    assert reason in str(result)
    assert (
        "is in an equivalence class (records that are equal) of at least 3, counted on its files."
        in str(result)
    )
    assert "Guaranteed for this release alone" in str(result)
    assert "<strong>FAIL (7 checks" in result._repr_html_()
    assert result.warnings == alone.warnings
    strict = NO_LIMITS | {"re-identification": 1e-6}
    failed = Audit(threshold=strict, known=(2,), targets=10, shadows=0).run(
        RATINGS, out, earlier=[earlier], rng=1
    )
    assert not failed.passed_alone
    assert failed.reasons[1] == reason


def test_with_receipts_it_counts_whom_two_releases_leave_alone(out: Path, tmp_path: Path) -> None:
    earlier, receipt = tmp_path / "earlier", tmp_path / "earlier.json"
    KLikeness(k=4).anonymize(RATINGS, rng=0).save(earlier, private=receipt)
    own = tmp_path / "own"
    KLikeness(k=4).anonymize(RATINGS, rng=5).save(own, private=tmp_path / "own.json")
    more = {"private": tmp_path / "own.json", "earlier": [earlier], "earlier_private": [receipt]}
    finding = QUICK.run(RATINGS, own, rng=1, **more).beside  # type: ignore[arg-type]
    assert finding is not None
    sizes = Counter(
        zip(*(by_user(read_release(at, private=f)) for at, f in
              ((earlier, receipt), (own, tmp_path / "own.json"))), strict=True)
    )  # fmt: skip
    below = sum(n for n in sizes.values() if n < 4)
    assert f"{below:,} of the {sizes.total():,} people" in finding.text
    assert f"{sum(n == 1 for n in sizes.values()):,} of them are unique" in finding.text
    # without one of the receipts nobody knows
    for left in ({"earlier_private": []}, {"private": None}):
        finding = QUICK.run(RATINGS, own, rng=1, **(more | left)).beside  # type: ignore[arg-type]
        assert finding is not None
        assert "are not measured without the private key files" in finding.text


def by_user(release: Release) -> list[int]:
    assert release.private is not None
    found: list[int] = release.class_of_record[release.private.link.record].tolist()
    return found


def test_releases_of_the_same_classes_may_stand_beside_each_other(tmp_path: Path) -> None:
    places = [(tmp_path / name, tmp_path / f"{name}.json") for name in ("sets", "ranges")]
    for how, (at, receipt) in zip(("ndgh", "range"), places, strict=True):
        made = KLikeness(k=4, hierarchy=how).anonymize(RATINGS, rng=0)  # type: ignore[arg-type]
        made.save(at, private=receipt)
    (earlier, first), (own, second) = places
    result = QUICK.run(
        RATINGS, own, private=second, earlier=[earlier], earlier_private=[first], rng=1
    )
    finding = result.check("composition")
    assert finding.status == "pass"
    assert "The joint classes of the" in finding.text
    assert "have at least 4 people" in finding.text


def test_an_attack_and_an_audit_cut_the_interval_at_the_same_bound(tmp_path: Path) -> None:
    ratings = table([{g: 3, g + 1: 4} for g in (0, 2, 4, 6) for _ in range(3)], Scale(1, 5, 1))
    private = tmp_path / "receipt"
    KLikeness(k=3).anonymize(ratings, rng=0).save(tmp_path / "out", private=private)
    release = read_release(tmp_path / "out", private=private)
    found = QUICK.run(ratings, tmp_path / "out", private=private, rng=1)
    exact = [each for each in found.evidence if not each.knowledge.rating_error]
    for each in exact:
        attack = find(ATTACKS, each.after.attack, "attack").load()
        tried = attack.audited(each.knowledge, release, release)
        alone = tried.run(release, each.knowledge, original=ratings, targets=10, rng=1)
        for rate in (alone.expected_top1, each.after.expected_top1):  # three equal ones, always
            assert (rate.rate, rate.high) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert len(exact) > 1


AGES = pa.table({"age": np.arange(RATINGS.n_users) % 7 * 10.0})


@pytest.mark.parametrize("first", ["none", "generalized"])
def test_the_advice_for_a_second_release_with_personal_attributes_works(
    tmp_path: Path, first: str
) -> None:
    people = RATINGS.annotate(attributes=AGES)

    def make(name: str, attributes: str, after: Release | None = None) -> dict[str, Any]:
        release = KLikeness(k=4, attributes=attributes).anonymize(  # type: ignore[arg-type]
            people, rng=len(name), after=after
        )
        release.save(tmp_path / name, private=tmp_path / f"{name}.json")
        return {
            "release": tmp_path / name,
            "private": tmp_path / f"{name}.json",
            "earlier": [tmp_path / "first"],
            "earlier_private": [tmp_path / "first.json"],
        }

    before = make("first", first)
    finding = QUICK.run(people, **make("second", "generalized"), rng=1).beside
    assert finding is not None
    if first != "none":
        assert "cannot be continued: publish only one of these" in finding.text
        return
    assert "Make it again without personal attributes, as a continuation of" in finding.text
    last = read_release(before["release"], private=before["private"])
    with pytest.raises(ConfigError, match="personal attributes"):
        make("third", "generalized", last)
    assert QUICK.run(people, **make("fourth", "none", last), rng=1).beside is None


def test_people_under_other_ids_are_not_measured(tmp_path: Path) -> None:
    others = replace(RATINGS, users=Vocabulary(np.arange(5000, 5000 + RATINGS.n_users)))
    more = others.keep_users(np.arange(RATINGS.n_users - 9))
    KLikeness(k=4).anonymize(more, rng=0).save(tmp_path / "a", private=tmp_path / "a.json")
    KLikeness(k=4).anonymize(RATINGS, rng=0).save(tmp_path / "b", private=tmp_path / "b.json")
    finding = QUICK.run(
        RATINGS, tmp_path / "b", private=tmp_path / "b.json",
        earlier=[tmp_path / "a"], earlier_private=[tmp_path / "a.json"], rng=1,
    ).beside  # fmt: skip
    assert finding is not None
    assert "have no user id in common" in finding.text


def test_of_several_earlier_releases_one_is_enough(out: Path, tmp_path: Path) -> None:
    for name, k in (("b", 4), ("c", 5)):
        KLikeness(k=k).anonymize(RATINGS, rng=0).save(tmp_path / name)
    earlier = [out, tmp_path / "b", tmp_path / "c"]
    (reason,) = QUICK.run(RATINGS, out, earlier=earlier, rng=1).reasons
    assert f"{out} is identical to this release" in reason
    assert f"{earlier[1]} and {earlier[2]} fit these ratings, so they may" in reason
    assert reason.count("of the same data.") == 1
    assert reason.count("Two releases of the same people") == 1


def test_the_same_seed_gives_the_same_verdict(out: Path) -> None:
    def figures(seed: int) -> dict[str, Any]:
        found = QUICK.run(RATINGS, out, rng=seed).to_dict()
        text = json.dumps(found)
        assert text
        return {
            k: v
            for k, v in found.items()
            if k in ("findings", "checks", "text", "utility", "digest")
        }

    assert figures(1) == figures(1)


def test_a_claim_that_is_not_kept_fails(out: Path) -> None:
    told = json.loads((out / "release.json").read_text())
    (first,) = told["claims"]
    say(out, claims=[{**first, "parameters": {"k": 9}}])
    result = QUICK.run(RATINGS, out, rng=1)
    assert not result.passed
    names = {f.name for f in result.findings if not f.passed}
    assert names >= {"claims", "k-anonymity"}
    assert str(result).startswith("FAIL")


def test_a_release_that_claims_nothing_fails(out: Path) -> None:
    say(out, claims=[])
    result = QUICK.run(RATINGS, out, rng=1)
    assert not result.passed
    assert result.k is None
    assert {f.name for f in result.findings if not f.passed} == {"claims"}


def test_re_identification_is_bounded_by_the_smallest_class(out: Path) -> None:
    check = QUICK.run(RATINGS, out, rng=1).check("re-identification")
    assert check.rate is not None
    assert check.rate.high <= 1 / 3
    assert "no attack finds a record more often than 1 in 3" in check.text


def test_ratings_that_it_was_not_made_of(out: Path) -> None:
    receipt = out.parent / "receipt"
    with pytest.raises(ConfigError, match="not made of them"):
        QUICK.run(other_values(RATINGS), out, private=receipt)
    few = RATINGS.keep_users(np.arange(RATINGS.n_users - 1))
    with pytest.raises(ConfigError, match="was not made of them"):
        QUICK.run(few, out)
    with pytest.raises(
        ConfigError, match="the users of the key file are not those who rated the released items"
    ):
        QUICK.run(few, out, private=receipt)
    with pytest.raises(ConfigError, match="not in the original"):
        QUICK.run(RATINGS.keep_items(np.arange(3)), out)


def test_a_damaged_folder_is_no_fault_of_the_ratings(out: Path) -> None:
    (out / "README.md").write_text("changed")
    with pytest.raises(ReleaseError, match=r"README\.md"):
        QUICK.run(RATINGS, out, private=out.parent / "receipt")


def test_the_receipt_of_another_release(out: Path) -> None:
    other = KLikeness(k=3).anonymize(RATINGS, rng=1)
    other.save(out.parent / "other", private=out.parent / "other-receipt")
    with pytest.raises(ReleaseError, match="another release"):
        QUICK.run(RATINGS, out, private=out.parent / "other-receipt")


@pytest.mark.parametrize(
    "bad",
    [
        {"known": ()},
        {"known": (0,)},
        {"targets": 0},
        {"shadows": -1},
        {"policy": "strict"},
        {"threshold": {"membership": 1.1}},
        {"threshold": {"attribute": -0.1}},
        {"threshold": ("shown=0.1",)},
    ],
    ids=str,
)
def test_parameters_out_of_range(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Audit(**bad)


def test_an_adversary_who_was_asked_for_is_not_replaced(out: Path) -> None:
    most = int(RATINGS.user_support.max())
    for known in ((most + 1,), (2, most + 9)):
        with pytest.raises(ConfigError, match=f"known {known[-1]}: .*maximum is {most}"):
            Audit(threshold=NO_LIMITS, known=known, targets=10, shadows=0).run(RATINGS, out, rng=1)


def test_what_was_tried_less_than_usual_is_told(out: Path) -> None:
    most = int(RATINGS.user_support.max())
    assert 4 <= most < 8
    result = Audit(threshold=NO_LIMITS, targets=10, shadows=0).run(RATINGS, out, rng=1)
    assert {e.knowledge.known for e in result.evidence} >= {2, 4}
    assert (
        "No person has 8 ratings that an adversary can know: the attacks were tested with 2 and 4 "
        "known ratings only."
    ) in result.warnings
    assert not any("can be known" in text for text in QUICK.run(RATINGS, out, rng=1).warnings)


def test_the_figure_says_whom_it_is_about(out: Path) -> None:
    result = Audit(threshold=NO_LIMITS, known=(1, 5), shadows=0).run(
        RATINGS, out, private=out.parent / "receipt", rng=1
    )
    few = [e for e in result.evidence if e.knowledge.known == 5]
    assert all(0 < e.after.targets < RATINGS.n_users for e in few)
    told = str(replace(result, evidence=tuple(few)))
    after = few[0].after
    people = f"{after.targets} {'person' if after.targets == 1 else 'people'}"
    assert f" Tested on {people}; {after.ineligible} have fewer ratings." in told
    everybody = [e for e in result.evidence if not e.after.ineligible]
    assert "Tested on" not in str(replace(result, evidence=tuple(everybody)))


def test_which_attacks_had_few_targets(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    monkeypatch.setattr("starshade.audit.to_know.FEW", 20)
    result = Audit(threshold=NO_LIMITS, known=(2, 5), shadows=0).run(
        RATINGS, out, private=out.parent / "receipt", rng=1
    )
    few = [e for e in result.evidence if e.after.targets < 20]
    assert 0 < len(few) < len(result.evidence)
    (told,) = (text for text in result.warnings if "intervals are wide" in text)
    assert told.startswith(f"{len(few)} of the {len(result.evidence)} attacks ({few[0].title}; ")
    assert ("the re-identification figure" in told) == (result.worst in few)


def test_a_scale_whose_end_few_gave_is_told_to_the_owner_alone(tmp_path: Path) -> None:
    rows = [{0: 3.0, 1: 4.0}] * 6 + [{0: 5.0, 1: 4.0}]
    ratings = found_scale(rows)
    KLikeness(k=3).anonymize(ratings, rng=0).save(tmp_path / "out")
    result = QUICK.run(ratings, tmp_path / "out", rng=1)
    told = [text for text in result.warnings if text.startswith("Internal: ")]
    assert "fewer than 3 users gave the highest rating" in told[0]


def found_scale(rows: list[dict[int, float]]) -> Ratings:
    """Return ratings whose scale nobody declared."""
    triples = [(u, f"i{i}", rating) for u, row in enumerate(rows) for i, rating in row.items()]
    users, items, ratings = zip(*triples, strict=True)
    return Ratings.from_arrays(users, items, ratings)


def test_what_make_release_says_is_what_was_made(tmp_path: Path) -> None:
    ratings = CAST["empty users"]
    made = make_release(ratings, KLikeness(k=3), out=tmp_path / "out", rng=0)
    assert made.figures["records"] + made.figures["users_dropped"] == ratings.n_users
    assert made.figures["smallest_class"] == made.release.classes.sizes.min()
    assert made.figures["peak_rss_mb"] > 10
    assert str(made.figures["groups"]) in str(made)
    assert (tmp_path / "out" / "release.json").is_file()


def test_the_demo(tmp_path: Path) -> None:
    from starshade.audit.demo import tell

    story = tell(tmp_path / "out", rng=3)
    found = {check.name: check for check in story.audit.checks}
    assert found["class-size"].size == 5
    identified = found["re-identification"]
    assert identified.rate is not None
    assert identified.before is not None
    assert identified.rate.rate <= 1 / 5 < identified.before.rate
    assert story.audit.verdict == "PASS"
    assert story.attack_before.expected_top1.rate > 0.9
    known = story.attack_before.to_dict()["knowledge"]  # as in Fig. 4 of the Netflix paper
    assert (known["known"], known["wrong"], known["day_error"]) == (8, 2, 14)
    assert story.examples is not None
    assert len(story.examples["items"]) == 8
    assert json.dumps(story.to_dict())


def test_the_policy_says_what_is_known_and_how_many_shadows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed: dict[str, Any] = {}
    monkeypatch.setattr(
        verdict, "measure_by_shadows", lambda *_, **arguments: passed.update(arguments)
    )
    original: Any = SimpleNamespace(
        release=SimpleNamespace(manifest=SimpleNamespace(claims=())),
        ratings=SimpleNamespace(n_ratings=30_000_000),
        source=None,
        engine=None,
    )
    Audit(targets=50)._by_shadows(original, (8, 5), 7)
    assert (passed["known"], passed["shadows"]) == ((8, 5), 4)
    assert (passed["targets"], passed["seed"]) == (50, 7)
    original.ratings.n_ratings = 1000
    Audit()._by_shadows(original, (8,), 7)
    assert passed["shadows"] == 16
    Audit(shadows=3)._by_shadows(original, (8,), 7)
    assert passed["shadows"] == 3


@pytest.mark.parametrize("deleted", [0, 2])
@pytest.mark.parametrize("credit", ["linked", "compatible"])
def test_ratings_are_of_the_same_people_where_the_receipt_says_who_left(
    deleted: int, credit: str
) -> None:
    evidence = [SimpleNamespace(after=SimpleNamespace(credit=credit))]
    linked = AuditResult._linked.fget(SimpleNamespace(evidence=evidence))  # type: ignore[attr-defined]
    result: Any = SimpleNamespace(_linked=linked, utility={"users_deleted": deleted})
    same = AuditResult.same_people.fget(result)  # type: ignore[attr-defined]
    assert same == (credit == "linked" and deleted == 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l": 1}, "l = 1: every release satisfies it"),
        ({"l": 2}, ""),
        ({"l": 1, "eps": 0.5}, ""),  # of (k, eps) l is a spread of ratings
        ({"t": 1}, "t = 1: every release satisfies it"),
        ({"t": 0.99}, ""),
        ({"eps": 4.0}, "eps = 4: on the scale"),
        ({}, ""),
    ],
)
def test_a_request_that_promises_nothing_is_refused(
    settings: dict[str, float], message: str
) -> None:
    method: Any = SimpleNamespace(**{"nulls": "ignore"} | settings)
    if message:
        with pytest.raises(ConfigError, match=message):
            _refuse_empty(RATINGS, method)
    else:
        _refuse_empty(RATINGS, method)
