"""Every attack, on every table of the cast and on its release."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from starshade import budget
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.link_existence.result import LinkResult
from starshade.attack.padding.result import PaddingResult
from starshade.attack.registry import ENTRIES
from starshade.attack.result import AttackResult
from starshade.attack.tracker.result import TrackerResult
from starshade.errors import ConfigError, UnmetError, UserError
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.registry import Entry
from tests.contract.cast import CAST
from tests.contract.make import K, grouped, make

every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
# link existence asks about every edge of a group, not about targets: it has no knowledge, and
# the figures about targets are null
LINKS = next(entry for entry in ENTRIES if entry.name == "link-existence")
# the tracker asks about everybody at once
TRACKER = next(entry for entry in ENTRIES if entry.name == "tracker")
# padding looks at the groups of averaged profiles
PADDING = next(entry for entry in ENTRIES if entry.name == "padding")
# so are fake edges, of simple ones
FAKE_EDGES = next(entry for entry in ENTRIES if entry.name == "fake-edges")
# predicates are of classes
PREDICATE = next(entry for entry in ENTRIES if entry.name == "predicate")
# these compare releases of random halves of the people
SHADOWS = tuple(entry for entry in ENTRIES if entry.name in ("inference", "membership"))
# composition is of releases alone
COMPOSITION = next(entry for entry in ENTRIES if entry.name == "composition")
OTHERS = (COMPOSITION, FAKE_EDGES, LINKS, TRACKER, PADDING, PREDICATE, *SHADOWS)
aimed = pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry not in OTHERS],
    ids=lambda entry: entry.name,
)
somebody = pytest.mark.parametrize("name", [name for name in CAST if name != "nobody"])
released = pytest.mark.parametrize(
    "name", [name for name in CAST if name not in ("nobody", "one user")]
)
ONE = Knowledge(known=1)
VOLATILE = ("seconds", "read_seconds", "postings_per_second")


def figures(result: AttackResult | LinkResult | PaddingResult | TrackerResult) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return {key: value for key, value in found.items() if key not in VOLATILE}


def sound(result: AttackResult, users: int) -> None:
    assert result.targets + result.ineligible == result.people <= users
    for figure in (
        result.success,
        result.expected_top1,
        result.class_contents_known,
        result.false_match,
    ):
        assert 0 <= figure.low <= figure.rate <= figure.high <= 1
    most = np.log2(max(result.records, 1)) + 1e-6
    if isinstance(result, LikelihoodResult):  # which may be misled, as far as it likes
        most = np.inf
    for bits in (result.entropy_bits, result.entropy_bits_profile):
        assert -1e-6 <= bits.mean <= most
    assert 0 <= result.no_answer <= 1
    assert str(result)
    assert result._repr_html_()
    declared(result)


def declared(result: AttackResult | LinkResult | PaddingResult | TrackerResult) -> None:
    """What is shown under a key of the JSON is what stands there."""
    payload = result.to_dict()
    shown = {figure.key: figure for figure in result.found}
    assert all(figure.title for figure in result.found)
    assert len(shown.keys() & payload.keys()) >= 3
    for key in shown.keys() & payload.keys() - {"by_length", "top", "bound", "breached"}:
        there, figure = payload[key], shown[key]
        if figure.value is None:
            assert there in (None, 0), key
        elif isinstance(there, dict) and "mean" in there:
            assert figure.mean == there["mean"], key
        else:
            rate = there["rate"] if isinstance(there, dict) else there
            assert figure.value == rate or figure.mean == rate, key


@aimed
@somebody
def test_on_ratings(entry: Entry, name: str) -> None:
    result = make(entry).run(CAST[name], ONE, rng=0)
    sound(result, CAST[name].n_users)
    assert result.credit == "linked"
    with budget.limits(threads=1):
        assert figures(make(entry).run(CAST[name], ONE, rng=0)) == figures(result)


@aimed
@released
def test_on_a_release(entry: Entry, name: str) -> None:
    release = grouped(name)
    linked = make(entry).run(release.made, ONE, original=CAST[name], rng=0)
    sound(linked, CAST[name].n_users)
    assert linked.expected_top1.rate <= 1 / K + 1e-9
    if isinstance(linked, CandidateResult):  # it guesses, so success is an expectation
        assert linked.success == linked.expected_top1
        assert linked.expected_top1.rate <= linked.bound + 1e-9 <= 1 / K + 2e-9
    else:
        assert linked.success.rate == 0
    back = make(entry).run(release.linked, ONE, original=CAST[name], rng=0)
    assert figures(back) == figures(linked)
    compatible = make(entry).run(release.alone, ONE, original=CAST[name], rng=0)
    sound(compatible, CAST[name].n_users)
    assert compatible.credit == "compatible"
    assert compatible.expected_top1.rate <= 1 / K + 1e-9


@somebody
def test_links_on_ratings_are_all_there(name: str) -> None:
    result = make(LINKS).run(CAST[name], ONE, rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert result.edges == CAST[name].n_ratings
    assert result.confidence == result.all_members == result.missing_true or not result.missing
    assert result.above_no_prior == result.above_exact == result.above_bound == 0
    assert str(result)
    assert result._repr_html_()


@released
def test_links_on_a_release(name: str) -> None:
    release = grouped(name)
    result = make(LINKS).run(release.made, ONE, original=CAST[name], rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert sum(bar["edges"] for bar in result.histogram) == result.edges
    # a generalized cell holds every truth: who is shown as null has none
    assert result.missing_true in (None, 1)
    assert result.no_member == 0
    assert figures(make(LINKS).run(release.linked, ONE, original=CAST[name])) == figures(result)
    with pytest.raises(ConfigError, match="private key file"):
        make(LINKS).run(release.alone, ONE, original=CAST[name])


@somebody
def test_the_tracker_on_ratings(name: str) -> None:
    ratings = CAST[name]
    result = make(TRACKER).run(ratings, ONE, rng=0)
    assert (result.targets, result.ineligible) == (ratings.n_users, 0)
    assert result.complete
    assert (
        sum(result.by_length) == len(result.singled) == round(result.at_risk.rate * ratings.n_users)
    )
    assert (result.fewest == 1) == bool(result.singled)
    assert str(result)
    assert result._repr_html_()
    with budget.limits(threads=1):
        assert figures(make(TRACKER).run(ratings, ONE, rng=1)) == figures(result)


@released
def test_the_tracker_on_a_release(name: str) -> None:
    release = grouped(name)
    result = make(TRACKER).run(release.made, ONE, original=CAST[name])
    assert result.targets + result.ineligible == CAST[name].n_users
    assert result.at_risk.rate == result.breached.rate == result.refused == 0
    assert result.fewest >= K
    assert figures(make(TRACKER).run(release.linked, ONE, original=CAST[name])) == figures(result)
    alone = make(TRACKER).run(release.alone, ONE, original=CAST[name])
    assert (alone.credit, alone.targets) == ("compatible", release.made.n_records)
    assert alone.fewest == result.fewest


@somebody
def test_nothing_of_ratings_is_padded(name: str) -> None:
    result = make(PADDING).run(CAST[name], ONE, rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert result.non_null == result.rated == result.confidence
    for rate in (result.auc, result.auc_within_items, result.auc_member):
        assert rate is None or rate.rate == 1  # who is shown to have rated did
    assert str(result)
    assert result._repr_html_()
    with budget.limits(threads=1):
        assert figures(make(PADDING).run(CAST[name], ONE, rng=0)) == figures(result)


@pytest.mark.usefixtures("few_people")
@pytest.mark.parametrize("entry", SHADOWS, ids=lambda entry: entry.name)
@somebody
def test_who_is_in_ratings_is_told(entry: Entry, name: str) -> None:
    if (CAST[name].user_support > 0).sum() < 5:  # a half of them may be empty
        with pytest.raises(ConfigError, match=r"shadow release .* cannot be made"):
            make(entry).run(CAST[name], ONE, rng=0)
        return
    if name == "one rating each" and entry.name == "inference":
        with pytest.raises(ConfigError, match=r"no person has more than 1 rating\n"):
            make(entry).run(CAST[name], ONE, rng=0)
        return
    result = make(entry).run(CAST[name], ONE, rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert str(result)
    assert result._repr_html_()
    declared(result)
    with budget.limits(threads=1):
        assert figures(make(entry).run(CAST[name], ONE, rng=0)) == figures(result)


@pytest.mark.usefixtures("few_people")
@pytest.mark.parametrize("entry", SHADOWS, ids=lambda entry: entry.name)
@released
def test_who_is_in_a_release_is_told(entry: Entry, name: str) -> None:
    release, attack = grouped(name), replace(make(entry), method=KLikeness(k=K))
    with pytest.raises(ConfigError, match="need the method and the settings"):
        make(entry).run(release.linked, ONE, original=CAST[name], rng=0)
    try:
        result = attack.run(release.made, ONE, original=CAST[name], rng=0)
    except ConfigError as error:
        with pytest.raises(ConfigError, match=re.escape(error.message)):
            attack.run(release.alone, ONE, original=CAST[name], rng=0)
        return
    assert result.records == release.made.n_records
    for other in (release.linked, release.alone):
        found = figures(attack.run(other, ONE, original=CAST[name], rng=0))
        assert {**found, "credit": "linked"} == figures(result)


@released
def test_a_release_by_itself_is_composed_of_its_classes(name: str) -> None:
    release = grouped(name)
    result = make(COMPOSITION).run(release.made, ONE, original=CAST[name], rng=0)
    (alone,) = result.per_release
    assert (result.people, result.classes) == (alone.people, release.made.classes.n_groups)
    assert (result.people_certain, result.cells) == (alone.people_certain, alone.cells)
    assert result.people_below_k == result.people_unique == 0
    assert result.re_identification.rate <= result.re_identification_in_class.high <= 1 / K + 1e-9
    assert (result.class_linkage, result.re_identification) == (
        alone.class_linkage,
        alone.re_identification,
    )
    declared(result)
    assert str(result)
    assert result._repr_html_()
    with budget.limits(threads=1):
        back = make(COMPOSITION).run(release.linked, ONE, original=CAST[name], rng=0)
    assert figures(back) == figures(result)
    with pytest.raises(ConfigError, match="composition is not computable"):
        make(COMPOSITION).run(release.alone, ONE, original=CAST[name])


def test_a_gain_of_few_people_is_refused() -> None:
    (inference,) = (entry for entry in SHADOWS if entry.name == "inference")
    with pytest.raises(ConfigError, match=r"30 are needed"):
        make(inference).run(CAST["ordinary"], ONE, rng=0)


def test_composition_is_of_releases() -> None:
    with pytest.raises(ConfigError, match="ratings, not a release"):
        make(COMPOSITION).run(CAST["ordinary"], ONE)


def test_padding_is_of_profiles() -> None:
    release = grouped("ordinary").made
    with pytest.raises(ConfigError, match="the release has layout 'generalized'"):
        make(PADDING).run(release, ONE, original=CAST["ordinary"])
    with pytest.raises(ConfigError, match="the release is 'generalized'"):
        make(FAKE_EDGES).run(release, ONE, original=CAST["ordinary"])


@released
def test_none_of_the_fake_edges_of_profiles_is_certain(name: str) -> None:
    method = PredictiveAnonymizer(k=K, profile="simple", l=2, rare_items="keep", sweeps=1)
    try:
        release = method.anonymize(CAST[name], rng=0)
    except (ConfigError, UnmetError):
        return
    result = make(FAKE_EDGES).run(release, ONE, original=CAST[name], rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert result.certain == 0
    assert result.left_certain.short == 0
    declared(result)
    assert str(result)
    assert result._repr_html_()
    with budget.limits(threads=1):
        assert figures(make(FAKE_EDGES).run(release, ONE, original=CAST[name], rng=0)) == figures(
            result
        )


@somebody
def test_predicates_on_ratings(name: str) -> None:
    ratings = CAST[name]
    result = make(PREDICATE).run(ratings, ONE, rng=0)
    assert (result.targets, result.ineligible) == (ratings.n_users, 0)
    assert sum(result.per_class.satisfying) == ratings.n_users  # everybody meets their row's alone
    declared(result)
    with budget.limits(threads=1):
        assert figures(make(PREDICATE).run(ratings, ONE, rng=0)) == figures(result)


@released
def test_predicates_on_a_release(name: str) -> None:
    release = grouped(name)
    result = make(PREDICATE).run(release.made, ONE, original=CAST[name], rng=0)
    assert result.targets + result.ineligible == CAST[name].n_users
    assert 0 <= result.baseline <= 1
    assert 0 <= result.expected <= 1
    declared(result)
    assert figures(make(PREDICATE).run(release.linked, ONE, original=CAST[name])) | {
        "seed": 0
    } == figures(result)
    alone = make(PREDICATE).run(release.alone, ONE, original=CAST[name], rng=0)
    assert (alone.credit, alone.targets) == ("compatible", release.made.n_records)
    assert (alone.singling_out, alone.baseline, alone.forced) == (
        result.singling_out,
        result.baseline,
        result.forced,
    )


@every
def test_nobody_to_attack(entry: Entry) -> None:
    with pytest.raises(UserError):
        make(entry).run(CAST["nobody"], ONE, rng=0)


@every
def test_a_release_needs_its_original(entry: Entry) -> None:
    release = grouped("ordinary").made
    with pytest.raises(ConfigError):
        make(entry).run(release, ONE, rng=0)


@aimed
def test_users_without_a_record_are_not_attacked(entry: Entry) -> None:
    few = CAST["ordinary"].keep_users(np.arange(2, 20))
    release = KLikeness(k=K).anonymize(few, rng=0)
    result = make(entry).run(release, ONE, original=CAST["ordinary"], rng=0)
    assert result.targets + result.ineligible == result.people == release.n_records == 18


@aimed
def test_items_that_are_not_released_say_nothing(entry: Entry) -> None:
    few = CAST["ordinary"].keep_items(np.arange(3))
    release = KLikeness(k=K).anonymize(few, rng=0)
    sound(make(entry).run(release, ONE, original=CAST["ordinary"], rng=0), 24)


@aimed
def test_another_seed_knows_other_things(entry: Entry) -> None:
    first = figures(make(entry).run(CAST["ordinary"], ONE, rng=1))
    others = [figures(make(entry).run(CAST["ordinary"], ONE, rng=s)) for s in range(2, 6)]
    assert any(other["entropy_bits"] != first["entropy_bits"] for other in others)


@every
def test_a_target_s_draw_depends_on_the_seed_and_the_target_alone(entry: Entry) -> None:
    # as many targets, the same ones, in a table with other users behind them
    more = renamed_behind(CAST["ordinary"])
    alone = ONE.draw(CAST["ordinary"], np.arange(5), 7)
    among = ONE.draw(more, np.arange(5), 7)
    assert np.array_equal(alone.items, among.items)


def renamed_behind(ratings: Ratings) -> Ratings:
    """Return the table with all its users once more under later ids."""
    n = ratings.n_users
    return replace(
        ratings,
        users=Vocabulary(np.concatenate([ratings.users.integers, ratings.users.integers + n])),
        indptr=np.concatenate([ratings.indptr, ratings.indptr[1:] + ratings.indptr[-1]]),
        columns=np.tile(ratings.columns, 2),
        codes=np.tile(ratings.codes, 2),
    )
