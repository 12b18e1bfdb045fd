"""High-risk users: least number of known ratings that re-identifies each (extends NS §5)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.attack.candidates.candidates import Hunt
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.risk_result import RiskResult, RiskStep
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.settings import RiskSettings
from starshade.attack.targets import choose_targets, on_release, usable
from starshade.attack.view import View, look
from starshade.errors import ConfigError
from starshade.kernels.attack.candidates import Thresholds
from starshade.naming import called, named
from starshade.progress import announced, silence, task
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.table import Link, Release
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.setting import check

_BLOCK = 2**16  # attacks at once, which limits memory


@dataclass(frozen=True)
class Risk(RiskSettings):
    """Find the least number of known ratings that re-identifies each user.

    The adversary knows 1, 2, 4 … ratings of a user, drawn repeatedly. A user is re-identified by a
    number when their record stands out (`success` of the attack, at its φ) in nearly all draws.
    Users re-identified by few ratings are high-risk users: withhold them from a publication.

    Parameters
    ----------
    draws : int
        Draws of knowledge for each number of ratings, 1 to 100,000.
    known : tuple of int
        Numbers of known ratings to test, ascending, each at least 1.
    share : float
        Share of the draws, in (0, 1], in which the record must stand out.
    attack : ScoreboardRH or OnlyFit
        The attack with its φ, or whether a single record matches; `absent` has no effect.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    The draws of a user depend on the seed and the user's id alone, not on who else is attacked;
    what is known with few cells is a part of what is known with more. A user is tried with m
    cells when no fewer were enough and so many can be known of them; their draws end as soon as
    the share is out of reach.

    Examples
    --------
    >>> from starshade.ratings.synth.synth import synthesize
    >>> result = Risk(draws=5, known=(1, 8)).run(synthesize(n_users=50, n_items=40, rng=0), rng=0)
    >>> [step.known for step in result.steps], result.targets
    ([1, 8], 50)
    """

    attack: ScoreboardRH | OnlyFit = field(default_factory=ScoreboardRH)

    def __post_init__(self) -> None:
        check(self)
        if sorted(set(self.known)) != list(self.known):
            raise ConfigError(
                f"{called('known')} = {self.known}: must be in ascending order", setting="known"
            )

    @typed
    @announced("finding high-risk users")
    def run(
        self,
        data: Ratings | Release,
        knowledge: Knowledge | None = None,
        *,
        original: Ratings | None = None,
        targets: int | None = None,
        rng: Rng = None,
        link: Link | None = None,
    ) -> RiskResult:
        """Attack every user with increasing knowledge; arguments as in `ScoreboardRH.run`.

        Parameters
        ----------
        knowledge : Knowledge, optional
            Errors of the knowledge; its number of known ratings is replaced by those to test.

        Raises
        ------
        ConfigError
            Arguments that contradict each other, more wrong ratings than the fewest known, no
            people to attack, or a release without the link from users to records.
        """
        seed = resolve_seed(rng)
        started = perf_counter()
        view = look(data, original, link)
        if view.credit == "compatible":
            raise ConfigError(
                "the list of high-risk users needs the private key file of the release",
                advice="Give the private key file, or attack the ratings themselves.",
            )
        whole = view.original
        view, people = on_release(view)
        knowledge = usable(self._starting(knowledge or Knowledge()), view)
        users, ineligible = choose_targets(view, knowledge, targets, seed)
        steps, least, hits = self._search(view, knowledge, users, seed)
        return RiskResult(
            attack=self.attack.name,
            records=view.cells.n_records,
            targets=len(users),
            ineligible=ineligible,
            draws=self.draws,
            share=self.share,
            steps=steps,
            knowledge=_described(knowledge),
            config=self.attack.settings(view) | {"absent": False, "targets": targets},
            seed=seed,
            digest=digest_of(whole),
            seconds=perf_counter() - started,
            users=people[users],
            least=least,
            identified=hits / self.draws,
        )

    def _starting(self, knowledge: Knowledge) -> Knowledge:
        fewest = self.known[0]
        if knowledge.wrong > fewest:
            raise ConfigError(
                f"{called('wrong')} {knowledge.wrong}: must be at most {fewest}, the fewest known "
                "ratings",
                advice=f"Omit {named('wrong')}, or start with more known ratings.",
            )
        return replace(knowledge, known=fewest)

    def _search(
        self, view: View, knowledge: Knowledge, users: NDArray[np.int64], seed: int
    ) -> tuple[tuple[RiskStep, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Return the steps, and per user the least number (0: none is enough) and its hits."""
        least, hits = (np.zeros(len(users), dtype=np.int64) for _ in range(2))
        steps = []
        for m in self.known:
            limited = replace(knowledge, known=m)
            left = np.flatnonzero(least == 0)
            tried = left[limited.eligible_users(view.original)[users[left]]]
            counts = self._count(view, limited, users[tried], seed)
            enough = counts >= self._needed
            least[tried[enough]] = m
            hits[tried[enough]] = counts[enough]
            steps.append(RiskStep(m, len(tried), int(enough.sum()), len(left) - len(tried)))
        return tuple(steps), least, hits

    @property
    def _needed(self) -> int:
        return math.ceil(self.share * self.draws * (1 - 1e-9))

    def _count(
        self, view: View, knowledge: Knowledge, users: NDArray[np.int64], seed: int
    ) -> NDArray[np.int64]:
        """Count each user's successes, giving up those who cannot get enough any more.

        Nobody is given up before so many misses as leave too few draws: so many draws are made
        at once.
        """
        attack = replace(self.attack, absent=False)
        hits = np.zeros(len(users), dtype=np.int64)
        hopeful = np.arange(len(users))
        at_once = self.draws - self._needed + 1
        label = f"attacking with {knowledge.known} known"
        with task(label, len(users) * self.draws) as step, silence():
            for first in range(0, self.draws, at_once):
                draws = range(first, min(first + at_once, self.draws))
                size = max(1, _BLOCK // len(draws))
                for start in range(0, len(hopeful), size):
                    some = hopeful[start : start + size]
                    seeds = [_seed_of(seed, draw) for draw in draws]
                    drawn = [knowledge.draw(view.original, users[some], s) for s in seeds]
                    success = attack.judge(view, Known.join(drawn))[0].success
                    hits[some] += success.reshape(len(draws), len(some)).sum(axis=0)
                    step(success.size)
                still = hits[hopeful] + self.draws - draws.stop >= self._needed
                step(int((~still).sum()) * (self.draws - draws.stop))
                hopeful = hopeful[still]
        return hits


def _seed_of(seed: int, draw: int) -> int:
    """Return the seed of one draw; the same for any number of cells."""
    return stream_key(seed, f"risk, draw {draw}") >> 1


def _described(knowledge: Knowledge) -> dict[str, Any]:
    """Describe the knowledge but for the number of cells, which `steps` have."""
    described = {"name": knowledge.name.partition(", ")[2]} | asdict(knowledge)
    del described["known"]
    return described


@dataclass(frozen=True, eq=False)
class Fits:
    """Outcome of each target.

    `success` (targets,): the target's record agrees with everything known, and no other one does.
    """

    success: NDArray[np.bool_]


@dataclass(frozen=True)
class OnlyFit:
    """The label-based attack, reduced to whether there is a single candidate.

    For `Risk`. It needs no eccentricity, so it also measures data with few items, such as surveys.

    `absent`: has no effect.
    """

    absent: bool = False

    name: ClassVar[str] = "label"

    def judge(self, view: View, known: Known) -> tuple[Fits, int]:
        """Attack with given knowledge; returns the outcomes and the number of cells read."""
        hunt = Hunt.of(view, known, Thresholds(0.0, -1))
        counted = np.concatenate(
            [hunt.count(seen, clues) for seen, clues in hunt.batches("finding candidates")]
        )
        return Fits((counted["records"] == 1) & counted["own"]), int(counted["looked_at"].sum())

    def settings(self, view: View) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)
