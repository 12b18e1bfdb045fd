"""Link public ratings with records of the data (NS §5, the IMDb case).

**The attacker's story.** People rate films under their names in one place and, they believe
privately, in another, whose ratings are then published without names. The attacker takes what
each person says in public, scores every record of the data by it, and looks whether one stands
out. No one can tell them whether they are right: so they answer only where the best record leads
the second by φ standard deviations, and otherwise say that they do not know. NS found two of
about fifty IMDb users so, with eccentricities of 28 and 15.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from starshade.arguments import older_names, typed
from starshade.attack.auxiliary.matching import Matched, match
from starshade.attack.auxiliary.one_to_one import match_list
from starshade.attack.auxiliary.result import AuxiliaryResult, Candidate, NameAnswer
from starshade.attack.knowledge import Known, refuse_too_little
from starshade.attack.scoreboard_rh.scoreboard_rh import eccentricity_of, stands_out
from starshade.attack.scoreboard_rh.scoring import (
    Pricing,
    block_of,
    goal_of,
    holding,
    prepare,
    table_bytes,
)
from starshade.attack.settings import AuxiliaryAttackSettings
from starshade.attack.view import View, look_unjudged
from starshade.errors import ConfigError
from starshade.kernels.arrays import run
from starshade.kernels.attack.scoreboard import Block, Goal, attack, scores
from starshade.kernels.attack.summary import mass_unit, sigmas
from starshade.progress import announced, task
from starshade.ratings.auxiliary.auxiliary import Auxiliary
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.table import Release
from starshade.setting import check

_AT_ONCE = 64  # names between two progress reports


@older_names
@dataclass(frozen=True)
class AuxiliaryAttack(AuxiliaryAttackSettings):
    """Re-identify people by their public ratings, where a record stands out.

    Parameters
    ----------
    phi, rho0, d0 : float
        As in `ScoreboardRH`.
    candidates : int
        Number of candidates per name, at least 1.
    one_to_one : bool
        Also match all names jointly by likelihood, each record to at most one name.
    weights : {"fitted", "plain"}
        For one_to_one: agreement rates of public ratings with their own record, fitted to the
        list or fixed (definitions, "auxiliary-attack").
    min_posterior : float
        For one_to_one: the probability, in (0, 1], needed to name a record.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    The score is Scoreboard-RH's (NS §5): a public row without a rating adds
    the similarity of its day alone, one without a day that of its rating alone, one with neither 1
    for the item. A row on an item that is not in the data adds nothing.

    An answer for one name never depends on who else is in the file, but for one_to_one.

    Examples
    --------
    >>> from starshade.ratings.auxiliary.auxiliary import read_auxiliary
    >>> import pyarrow as pa
    >>> data = Ratings.from_arrays(
    ...     [1, 1, 2, 2, 3, 4, 5], [1, 7, 1, 8, 8, 8, 8], [4, 5, 1, 2, 2, 1, 5]
    ... )
    >>> public = read_auxiliary(pa.table({"name": ["ann", "ann"], "item": [1, 7], "stars": [4, 5]}))
    >>> AuxiliaryAttack().run(data, public).per_name[0].answer.record
    0
    """

    name: ClassVar[str] = "scoreboard-rh"

    def __post_init__(self) -> None:
        check(self)

    @typed
    @announced("linking public ratings")
    def run(
        self,
        data: Ratings | Release,
        auxiliary: Auxiliary,
        mapping: Mapping[str, str] | None = None,
        *,
        by_name: bool = False,
        aux_scale: Scale | str | None = None,
        show_values: bool = False,
    ) -> AuxiliaryResult:
        """Match every name with records.

        Parameters
        ----------
        data : Ratings or Release
            The published data; the original is not needed.
        auxiliary : Auxiliary
            See `read_auxiliary`.
        mapping : mapping, optional
            Public item → item of the data (`read_item_mapping`); None: the ids are the same.
        by_name : bool
            Items are matched by their published names instead of by id.
        aux_scale : Scale or str, optional
            ``min:max`` or ``min:max:step``: the public ratings' scale, mapped linearly onto the
            data's; None: they are on the data's own.
        show_values : bool
            Include the user ids of a rating table in candidates.

        Raises
        ------
        ConfigError
            No public row is on an item of the data, arguments contradict each other, or the attack
            does not fit into memory.
        InputError
            Public ratings outside their scale, or rows that contradict each other.
        """
        started = perf_counter()
        if mapping is not None and not all(isinstance(i, str) for p in mapping.items() for i in p):
            raise ConfigError(
                "mapping: an item is not a text",
                advice="Give items as text, not numbers: {'tt0111161': '318'}.",
            )
        theirs = Scale.parse(aux_scale) if isinstance(aux_scale, str) else aux_scale
        view = look_unjudged(data)
        matched = match(
            auxiliary,
            view.cells,
            item_names=data.item_names,
            mapping=mapping,
            by_name=by_name,
            aux_scale=theirs,
        )
        pricing = Pricing.of(self, view)
        by_class = isinstance(data, Release) and data.manifest.layout != "record"
        users = data.users if show_values and isinstance(data, Ratings) else None
        search = _Search(
            self,
            view,
            matched,
            pricing,
            users,
            by_class=by_class,
        )
        per_name, listed = search.answers(auxiliary.names), None
        if self.one_to_one:
            listed = match_list(self, view, matched, auxiliary.names, users, by_class=by_class)
        return AuxiliaryResult(
            attack=self.name,
            data="ratings" if isinstance(data, Ratings) else "release",
            records=view.cells.n_records,
            rows=len(auxiliary),
            repeated_rows=matched.repeated,
            unknown_items=matched.unknown,
            ambiguous_items=matched.ambiguous,
            matched_by=("" if mapping is None else "mapping to ") + ("name" if by_name else "id"),
            scale=str(view.cells.symbols.scale),
            aux_scale=None if theirs is None else str(theirs),
            one_user=not auxiliary.named,
            ratings_used=auxiliary.has_ratings,
            days_used=matched.dated,
            config=asdict(self) | pricing.config,
            per_name=per_name,
            one_to_one=listed,
            seconds=perf_counter() - started,
        )


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for all names: `users`: ids to show; `by_class`: rows are numbered classes."""

    settings: AuxiliaryAttack
    view: View
    matched: Matched
    pricing: Pricing
    users: Vocabulary | None
    by_class: bool

    def answers(self, names: tuple[str, ...]) -> tuple[NameAnswer, ...]:
        """Return the answer for every name."""
        view, matched = self.view, self.matched
        most = int(np.diff(matched.indptr).argmax())
        tables = sorted(table_bytes(view.cells.symbols, n) for n in matched.different_ratings())
        together = sum(tables[-get_num_threads() :])
        refuse_too_little(view, matched.of(most), own_only=True, also=together)
        block = block_of(view, items=matched.of(most).items)
        # names have no record of their own here
        goal = goal_of(view, 1.0, absent=False)._replace(own_only=True)
        answers: dict[int, NameAnswer] = {}

        def answer(person: int) -> None:
            answers[person] = self._answer(names[person], matched.of(person), block, goal)

        with task("attacking", len(names)) as step:
            answer(0)  # in this thread, which is told what has to be compiled
            step(1)
            for start in range(1, len(names), _AT_ONCE):
                n = min(_AT_ONCE, len(names) - start)
                run(lambda k, start=start: answer(start + k), n)  # type: ignore[misc]
                step(n)
        return tuple(answers[person] for person in range(len(names)))

    def _answer(self, name: str, known: Known, block: Block, goal: Goal) -> NameAnswer:
        aux, tables = prepare(self.view, known, self.pricing)
        block = holding(block, self.view, aux.item)
        summary, masses = attack(block, aux, tables, goal)
        mass = float(masses["total"][0]) / mass_unit(self.view.cells.n_records)
        scored = scores(block, aux, tables)[0]
        rows = _best_rows(scored, self.settings.candidates)
        candidates = tuple(
            self._candidate(row, scored, tables.unit, summary, mass) for row in rows.tolist()
        )
        phi, in_data = self.settings.phi, int((known.items >= 0).sum())
        alone = bool(stands_out(summary, phi)[0])
        as_profile = bool(stands_out(summary, phi, profiles=True)[0])
        tied = int(summary["top_records"][0])
        reason: Literal["nothing-known", "tie", "below-phi"] | None = None
        if not in_data:
            reason = "nothing-known"
        elif not alone:
            reason = "tie" if tied > 1 else "below-phi"
        copies = self.view.copies
        return NameAnswer(
            name=name,
            known=known.items.shape[1],
            in_data=in_data,
            eccentricity=float(eccentricity_of(summary)[0]),
            profile_eccentricity=float(eccentricity_of(summary, profiles=True)[0]),
            tied=tied if candidates else 0,
            answer=candidates[0] if alone else None,
            profile=replace(candidates[0], records=int(copies[rows[0]])) if as_profile else None,
            no_answer=reason,
            candidates=candidates,
        )

    def _candidate(
        self, row: int, scored: NDArray[np.int32], unit: float, summary: NDArray[Any], mass: float
    ) -> Candidate:
        """`mass` is the sum over records of e^((Score - top)/σ)."""
        sizes, sigma = self.view.cells.sizes, float(sigmas(summary)[0])
        size, score = int(sizes[row]), int(scored[row])
        below = score - int(summary["top"][0])
        record = int(sizes[:row].sum()) if size == 1 else None
        return Candidate(
            record=record,
            class_=row if self.by_class else None,
            records=size,
            score=score / unit,
            tied=int(sizes[scored == score].sum()),
            probability=size * (math.exp(below / sigma) if sigma else 1.0) / mass,
            id=None if self.users is None or record is None else self.users[record],
        )


def _best_rows(scores: NDArray[np.int32], wanted: int) -> NDArray[np.int64]:
    """Return the rows of highest score, none of 0; equal ones by number."""
    wanted = min(wanted, len(scores))
    least = max(int(np.partition(scores, -wanted)[-wanted]), 1)
    rows = np.flatnonzero(scores >= least)
    return rows[np.argsort(-scores[rows], kind="stable")][:wanted]
