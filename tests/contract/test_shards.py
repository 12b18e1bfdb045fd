"""Partitioned work: one partition, seven, killed and resumed, give the result of one table."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.anonymize import anonymized_shards
from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.shadows.inference import InferenceAttack
from starshade.attack.shadows.membership import MembershipAttack
from starshade.attack.shadows.play import ShadowAttack, play
from starshade.attack.shadows.predicates import PredicatesAttack, SingledOut
from starshade.attack.sharded.attack import attack_shards
from starshade.attack.sharded.shadows import play_shards
from starshade.attack.targets import Request
from starshade.audit.measure import measure_all, measure_shards
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.engine.job import Engine
from starshade.engine.journal import Journal, journal_in
from starshade.engine.local import Local
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.sharded.check import check_shards
from starshade.ratings.read import read_ratings
from starshade.ratings.shards.counts import Counts, counts_of
from starshade.ratings.shards.shards import Shards, open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.match.match import LinkedShards
from starshade.release.table import Release
from starshade.release.verify.verify import verify_folder
from starshade.utility.registry import PROBED
from tests.made import made_of
from tests.unit.utility.cases import probe_of

RATINGS = synthesize(n_users=120, n_items=25, n_ratings=900, rng=3)
METHOD = PredictiveAnonymizer(k=4, profile="pooled", factors=2)
RELEASE = METHOD.anonymize(RATINGS, rng=1)
SIMPLE = PredictiveAnonymizer(k=4, profile="simple", factors=2, b=2, l=3).anonymize(RATINGS, rng=1)
KNOWLEDGE = Knowledge(known=3, wrong=1)
_of_a_run = ("seconds", "postings_per_second")


class Stopped(BaseException):
    """A kill, as far as Python can see one."""


class Work(NamedTuple):
    """The same question to a table and to shards; the answers compare as equal.

    `parts`: kept before it is killed, again and again.
    """

    of_table: Callable[[Ratings], Any]
    of_shards: Callable[[Shards, Engine], Any]
    parts: int = 5


def _told(result: Any) -> Any:
    said = {key: value for key, value in result.to_dict().items() if key not in _of_a_run}
    return said, {
        name: column.tolist()
        for name, column in vars(getattr(result, "per_target", None) or Empty()).items()
        if column is not None
    }


class Empty:
    """Of a verdict there is nothing by target."""


def _attack(attack: Any, parts: int = 5, targets: int = 40) -> Work:
    return Work(
        lambda ratings: _told(attack.run(ratings, KNOWLEDGE, targets=targets, rng=1)),
        lambda shards, engine: _told(
            attack_shards(attack, shards, KNOWLEDGE, targets=targets, rng=1, engine=engine)
        ),
        parts,
    )


def _ask_all(attack: Any) -> Work:
    return Work(
        lambda ratings: _told(attack.run(ratings, rng=1)),
        lambda shards, engine: _told(attack_shards(attack, shards, rng=1, engine=engine)),
    )


def _check(model: Any) -> Work:
    return Work(
        lambda ratings: _told(model.check(ratings)),
        lambda shards, engine: _told(check_shards(model, shards, engine=engine)),
    )


def _on_release(attack: Any, release: Release = RELEASE) -> Work:
    return Work(
        lambda ratings: _told(attack.run(release, KNOWLEDGE, original=ratings, rng=1)),
        lambda shards, engine: _told(
            attack_shards(attack, LinkedShards(shards, release), KNOWLEDGE, rng=1, engine=engine)
        ),
    )


def _audit(audit: Audit) -> Work:
    def judged(judge: Callable[..., AuditResult], of: Any, **given: Any) -> Any:
        with TemporaryDirectory() as place:
            folder, receipt = Path(place) / "release", Path(place) / "receipt.json"
            RELEASE.save(folder, private=receipt)
            result = judge(of, read_release(folder, private=receipt), folder, seed=1, **given)
            return _without(result.to_dict())

    return Work(
        lambda ratings: judged(audit.judge_release, ratings),
        lambda shards, engine: judged(audit.judge_shards, shards, engine=engine),
        parts=120,
    )


def _without(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _without(value) for key, value in said.items() if key not in _of_a_run}
    return [_without(value) for value in said] if isinstance(said, list | tuple) else said


def _counted(counts: Counts) -> Any:
    return {name: column.tolist() for name, column in vars(counts).items()}


#: what rests on a recommender's numbers, which are added up shard by shard
LEARNED = {
    f"{error}_{reading}"
    for error in ("rmse", "mae")
    for reading in ("original", "ratio_release", "ratio_refit")
} | {"dissimilarity_all", "dissimilarity_within"}


class Near(dict[str, Any]):
    """Figures of several shards: those that are learned may differ in the last digits."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, dict)
            and list(self) == list(other)
            and all(
                self[name] == pytest.approx(value, rel=1e-9, abs=0)
                if name in LEARNED and None not in (value, self[name])
                else self[name] == value
                for name, value in other.items()
            )
        )


def _probe() -> Ratings:
    rated = ~np.isnan(RATINGS.dense())
    given = synthesize(n_users=120, n_items=25, n_ratings=300, rng=8).dense()
    cells = np.argwhere(~np.isnan(given) & ~rated).tolist()
    return probe_of(RATINGS, {(user, item): given[user, item] for user, item in cells})


PROBE = _probe()


def _measured(shards: Shards, engine: Engine) -> Any:
    found = measure_shards(RELEASE, shards, engine, probe=PROBE)
    return found if len(shards) == 1 else Near(found)


WORKS = {
    "counts": Work(
        lambda ratings: _counted(Counts.of(ratings)),
        lambda shards, engine: _counted(counts_of(shards, engine)),
    ),
    "scoreboard-rh": _attack(ScoreboardRH(absent=True)),
    "likelihood": _attack(Likelihood()),
    "likelihood, plain": _attack(Likelihood(adversary="plain")),
    "likelihood, absent": _attack(Likelihood(absent=True, min_posterior=0.4)),
    "likelihood, plain and absent": _attack(Likelihood(adversary="plain", absent=True)),
    "scoreboard-rh, alike": _attack(ScoreboardRH(theta=0.4)),
    "scoreboard": _attack(Scoreboard(absent=True)),
    "scoreboard, alike": _attack(Scoreboard(rating_error=2, theta=0.4)),
    "label": _attack(LabelAttack(tolerance=1.0)),
    "structure": _attack(StructureAttack(theta=0.5, absent=True)),
    "homogeneity": _attack(HomogeneityAttack(sensitive=[0, 3])),
    "homogeneity, by structure": _attack(HomogeneityAttack(by="structure", theta=0.4)),
    "membership": _attack(MembershipAttack(shadows=3), parts=40),
    "inference": _attack(InferenceAttack(shadows=3, questions=4), parts=20, targets=80),
    "scoreboard-rh on a release": _on_release(ScoreboardRH(theta=0.3, absent=True)),
    "likelihood on a release": _on_release(Likelihood(absent=True)),
    "link existence": _ask_all(LinkExistence()),
    "link existence on a release": _on_release(LinkExistence()),
    "padding": _ask_all(PaddingAttack(classes=10)),
    "padding on a release": _on_release(PaddingAttack(classes=10)),
    "fake edges": _on_release(FakeEdgesAttack(), SIMPLE),
    "homogeneity on a release": _on_release(HomogeneityAttack(by="structure", theta=0.4)),
    "homogeneity with a sensitive item": _on_release(HomogeneityAttack(sensitive=[2])),
    "label on a release": _on_release(LabelAttack(theta=0.5)),
    "structure on a release": _on_release(StructureAttack(theta=0.2, absent=True)),
    "scoreboard on a release": _on_release(Scoreboard(rating_error=1.5)),
    "measure": Work(
        lambda ratings: measure_all(RELEASE, ratings),
        lambda shards, engine: measure_shards(RELEASE, shards, engine),
    ),
    "measure with a probe": Work(
        lambda ratings: measure_all(RELEASE, ratings, probe=PROBE), _measured, parts=60
    ),
    "audit": _audit(Audit(known=[2], targets=20, shadows=0)),
    "k-anonymity": _check(KAnonymity(k=2)),
    "review-graph": _check(ReviewGraph(k=2)),
    "k-eps": _check(KEpsAnonymity(k=3, eps=1, full=True)),
    "k-eps-l": _check(KEpsLAnonymity(k=3, eps=1, l=1, sensitive=["2"])),
}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "s"
    assert write_shards(RATINGS, path, 1) == 1
    return path


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seven") / "s"
    assert write_shards(RATINGS, path, 7) == 7
    return path


@pytest.fixture(params=["one", "seven"])
def store(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def going_on(store: Path, work: Callable[[Shards, Engine], Any], parts: int) -> tuple[Any, int]:
    """Do work that dies whenever so many more parts are kept; return how often it died."""
    real = Journal.keep
    for deaths in itertools.count():
        kept = itertools.count(1)

        def keep(self: Journal, *answer: Any, kept: Iterator[int] = kept) -> None:
            real(self, *answer)
            if next(kept) == parts:
                raise Stopped

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Journal, "keep", keep)
            try:
                with journal_in(store, resume=deaths > 0) as journal:
                    return work(open_shards(store), Local(journal)), deaths
            except Stopped:
                continue
    raise AssertionError


@cache
def of_table(name: str) -> Any:
    """Return what a work finds on one table; no test changes it."""
    return WORKS[name].of_table(RATINGS)


@pytest.mark.parametrize("name", WORKS)
def test_one_partition_gives_the_result_of_one_table(one: Path, name: str) -> None:
    assert WORKS[name].of_shards(open_shards(one), Local()) == of_table(name)


@pytest.mark.parametrize("name", WORKS)
def test_seven_partitions_give_it_too_even_after_kills(seven: Path, name: str) -> None:
    work = WORKS[name]
    found, deaths = going_on(seven, work.of_shards, work.parts)
    assert found == of_table(name)
    assert deaths
    assert not list(seven.glob(".journal-*"))


def test_all_that_takes_a_probe_is_compared() -> None:
    found = measure_all(RELEASE, RATINGS, probe=PROBE)
    keys = [figure.key for entry in PROBED for figure in entry.load().FIGURES]
    assert keys
    assert all(found[key] is not None for key in keys)
    assert len(keys) > len(LEARNED) == len(LEARNED & set(keys))


def test_near_is_not_anything() -> None:
    figures = {"rmse_original": 0.9, "mae_original": None, "rmse_release": 0.9}
    assert Near(figures) == figures
    assert Near(figures) == {**figures, "rmse_original": 0.9 * (1 + 1e-12)}
    for name, other in (
        ("rmse_original", 0.9 * (1 + 1e-8)),
        ("rmse_original", None),
        ("mae_original", 0.9),
        ("rmse_release", 0.9 * (1 + 1e-12)),
        ("more", 1),
    ):
        assert Near(figures) != {**figures, name: other}
    assert Near(figures) != {"rmse_original": 0.9}


def files_of(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(folder.iterdir())}


def test_a_release_verifies_and_is_the_same_after_a_kill(store: Path, tmp_path: Path) -> None:
    def released(name: str) -> Callable[[Shards, Engine], dict[str, str]]:
        def make(shards: Shards, engine: Engine) -> dict[str, str]:
            with anonymized_shards(METHOD, shards, 1, engine) as release:
                release.save(tmp_path / name, private=tmp_path / f"{name}.json")
            return files_of(tmp_path / name)

        return make

    once = released("once")(open_shards(store), Local())
    killed, deaths = going_on(store, released("killed"), 5)
    assert deaths
    assert killed == once
    ratings = read_ratings(store)
    release = read_release(tmp_path / "once", private=tmp_path / "once.json")
    found = verify_folder(tmp_path / "once", release.private)
    assert all(claim["holds"] for claim in found["claims"])
    assert release.n_people == ratings.n_users
    if len(open_shards(store)) == 1:
        METHOD.anonymize(ratings, rng=1).save(tmp_path / "whole", private=tmp_path / "whole.json")
        assert files_of(tmp_path / "whole") == once


AGAIN: list[ShadowAttack[Any]] = [
    MembershipAttack(shadows=2, method=METHOD),
    PredicatesAttack("", METHOD.profile, shadows=2, method=METHOD),
]


def made_again(shards: Shards, engine: Engine) -> Any:
    found = play_shards(AGAIN, made_of(shards, RELEASE), engine, Knowledge(), None, 1)
    return _told(found[0]), found[1]


def test_releases_made_again_tell_the_same_after_a_kill(store: Path) -> None:
    once = made_again(open_shards(store), Local())
    killed, deaths = going_on(store, made_again, 40)
    assert deaths
    assert isinstance(once[1], SingledOut)
    assert killed == once
    assert not list(store.glob(".journal-*"))
    if len(open_shards(store)) == 1:
        found = play(AGAIN, RELEASE, Knowledge(), Request(RATINGS, None, 1, None))
        assert once == (_told(found[0]), found[1])


@pytest.mark.parametrize("parts", [60, 140])
def test_what_is_kept_of_one_method_is_no_answer_of_another(tmp_path: Path, parts: int) -> None:
    write_shards(RATINGS, tmp_path / "s", 3)
    one, other = (
        PredictiveAnonymizer(k=k, profile="pooled", factors=2, rare_items="keep") for k in (2, 20)
    )
    methods = iter([one])

    def of_one_then_another(shards: Shards, engine: Engine) -> Any:
        method = next(methods, other)
        attack = MembershipAttack(shadows=2, method=method)
        return _told(attack_shards(attack, made_of(shards, RELEASE), rng=1, engine=engine))

    found, deaths = going_on(tmp_path / "s", of_one_then_another, parts)
    assert deaths
    assert found == of_one_then_another(open_shards(tmp_path / "s"), Local())
