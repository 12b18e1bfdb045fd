"""The homogeneity attack (PA Def. 5.1, SR §4; definitions, "homogeneity")."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.candidates import (
    CandidateAttack,
    Hunt,
    LabelAttack,
    Plan,
    StructureAttack,
)
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.candidates.sensitive import Alike, SensitiveItem
from starshade.attack.knowledge import Knowledge
from starshade.attack.settings import HomogeneityAttackSettings
from starshade.attack.targets import Request
from starshade.attack.view import averaged, groups_of, look, truth_of
from starshade.errors import ConfigError
from starshade.figure import Figure, Rate, Renamed
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.homogeneity import shared_cells
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import share


@dataclass(frozen=True)
class SharedCells(Renamed):
    """Cells with a rating that are equal in all candidates of a target, without the known ones.

    `mean`: number per target, on average; 0 for those without candidates. `share`: of
    all released items beyond the known ones; None where there are none. `true`: share of these
    cells that hold what the original says of the target: their rating, or null. A cell of several
    contents often does: on a generalized release always, when the target is among the
    candidates. None: there are no such cells. `single_mean`: number of them with one single
    rating, on average over the targets. `single_true`: share of those that are the target's true
    rating. `single_rated`: share of those whose item the target rated: on averaged profiles a cell
    may be filled although the target did not rate the item. `single_near`: of these, the share
    that the target rated within the tolerance of the cell. `ratings_disclosed`: of the targets' own
    ratings on released items beyond the known ones: the share that equals a cell of one single
    rating.
    """

    mean: float
    share: float | None
    true: float | None
    single_mean: float
    single_true: float | None
    single_rated: float | None
    single_near: float | None
    ratings_disclosed: float | None


_SAME = Figure(
    "profile_disclosed",
    "Homogeneous candidates",
    "share",
    True,
    "High: all candidates have the same ratings, true or not.",
    "PA Def. 5.1",
)
_RIGHT = Figure(
    "profile_found",
    "Homogeneous candidates that include the target",
    "share",
    True,
    "High: the ratings of the target's class are read.",
)
_CELLS = Figure(
    "single_mean",
    "Further cells with one rating in all candidates, mean",
    "ratio",
    True,
    "High: more ratings of each target are read.",
)
_TRUE = Figure(
    "single_true",
    "Correct among them",
    "share",
    True,
    "Low: the cells are wrong about the target.",
)
_LEARNT = Figure(
    "ratings_disclosed",
    "Targets' further ratings disclosed exactly",
    "share",
    True,
    "High: attribute disclosure of ratings that were not known.",
)
_WIDER = Figure(
    "wider_mean",
    "Further wider cells equal in all candidates, mean",
    "ratio",
    True,
    "The rating, or its existence, stays open.",
)


@dataclass(frozen=True, kw_only=True)
class HomogeneityResult(CandidateResult):
    """Result of a homogeneity attack on all targets (definitions, "homogeneity").

    Attributes
    ----------
    profile_disclosed : Rate
        Targets all of whose candidates have identical review graphs (PA Def. 5.1): items and
        ratings, regardless of days. `class_contents_known` also requires that it is the
        target's.
    profile_found : Rate
        Such targets whose own record (without a link: one that agrees with their truth) is among
        the candidates.
    cells_disclosed : SharedCells
    averaged : bool
        Whether cells are means or predictions, which may equal no member's rating.
    classes : int
        Classes of the release; where there are as many as records, each is one person (ratings as
        they are).
    sensitive : tuple of SensitiveItem, or None
        One entry per requested item; None: not measurable without a link.
    """

    profile_disclosed: Rate
    profile_found: Rate
    cells_disclosed: SharedCells
    averaged: bool = field(repr=False)
    classes: int
    sensitive: tuple[SensitiveItem, ...] | None

    def __str__(self) -> str:
        text = (
            f"{super().__str__()} All candidates have the same ratings, true or not, for "
            f"{self.profile_disclosed} of targets. {self._single()}{self._wider()}"
        )
        for place, item in enumerate(self.sensitive or (), start=1):
            text += f" Sensitive item {place} (as given): {self._given_away(item)}"
        return text

    def _shares(self) -> tuple[Figure, ...]:
        cells = self.cells_disclosed
        return (
            *super()._shares(),
            *self._of(_SAME, _RIGHT),
            _CELLS.of(cells.single_mean),
            _TRUE.of(cells.single_true if cells.single_true != 1 else None),
            _LEARNT.of(cells.ratings_disclosed),
            _WIDER.of(cells.mean - cells.single_mean),
        )

    def _single(self) -> str:
        cells = self.cells_disclosed
        if self.averaged:
            return self._means()
        if cells.single_true is None:
            return (
                "The candidates share no further single rating: no further rating is disclosed "
                "exactly."
            )
        text = (
            f"All candidates show the same single rating for {_mean(cells.single_mean)} further "
            f"items per target on average; {self._how_true(cells.single_true)}."
        )
        if cells.ratings_disclosed is None:  # they rated nothing besides
            return text
        return (
            f"{text} This discloses {cells.ratings_disclosed:.2%} of the targets' further ratings "
            "exactly."
        )

    def _means(self) -> str:
        cells = self.cells_disclosed
        text = (
            "The cells are means or predictions, so the candidates share an estimate of the "
            "class's opinion"
        )
        if cells.single_rated is None:
            return f"{text}; they agree on no further item."
        text += (
            f" for {_mean(cells.single_mean)} further items per target on average. The target "
            f"rated {cells.single_rated:.1%} of these items"
        )
        if cells.single_near is None:
            return f"{text}."
        return (
            f"{text}, {cells.single_near:.1%} of them within {self.config['tolerance']:g} of the "
            "estimate: a guess as good as the mean of similar people."
        )

    def _how_true(self, share: float) -> str:
        if share < 1:
            return f"{share:.1%} of them are the target's true rating"
        if self.credit == "linked" and self.false_match.rate == 0:
            return "all are correct, since the target's own record is always a candidate"
        return "all of them are the target's true rating"

    def _wider(self) -> str:
        wider = self.cells_disclosed.mean - self.cells_disclosed.single_mean
        if wider < 1e-9:  # a difference of two means
            return ""
        return (
            f" For {_mean(wider)} more items per target they show the same wider cell, which "
            "leaves the rating or its existence open."
        )

    def _given_away(self, item: SensitiveItem) -> str:
        if self.classes == self.records:
            return (
                f"rated by {item.users:.1%} of people; every person is a class of their own here, "
                "so there is nothing further to measure."
            )
        return (
            f"all members rated it the same in {item.classes:.1%} of classes ({item.users:.1%} of "
            "records); knowing a member's class discloses their rating."
        )


def _mean(n: float) -> str:
    return f"{n:,.1f}" if n >= 1 else f"{n:.2g}"


@dataclass(frozen=True)
class HomogeneityAttack(HomogeneityAttackSettings, CandidateAttack[HomogeneityResult]):
    """Read what all candidates have in common, without knowing which of them is the target.

    The adversary finds the records that match everything known. Where all of them agree on a
    further item, their number gives no protection: the target's record has the same content.

    Parameters
    ----------
    by : {"label", "structure"}
        What candidates must match: items and ratings, or items alone.
    tolerance : float or None
        Tolerance of ratings ("label"); None: as for `LabelAttack`.
    sensitive : sequence of int
        Items, by their position in the original (from 0), checked for classes whose users all
        rated them the same.
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also attack with the target's record removed.
    k : int
        Targets with fewer candidates are reported.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    PA Def. 5.1 asks whether all candidates have identical review graphs; cells that merely all
    candidates share, and whether they are true, are ours. What is shared need not be true: a
    release may hold invented or averaged ratings, and what is known may be wrong. That the truth is
    in a cell of several ratings, or of a rating and null, tells little, and of a generalized
    release it is true of every cell; only cells of one single rating count as learnt. A group gives
    away a sensitive item (SR §4) when each of its users rated it and all alike; a null among
    them is a difference, and all null discloses nothing.
    """

    name: ClassVar[str] = "homogeneity"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "structure" and self.tolerance:
            raise ConfigError(
                f"{called('tolerance')} {self.tolerance:g}: structure compares no ratings",
                advice="Omit the tolerance, or match candidates by label.",
            )

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        label = self.by == "label"
        attack = LabelAttack(self.tolerance) if label else StructureAttack()
        plan = attack.plan(knowledge, tolerance)
        used = {"tolerance": 0.0} | plan.used | {"sensitive": list(self.sensitive)}
        return replace(plan, used=used)

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> HomogeneityResult:
        original = data if isinstance(data, Ratings) else request.original
        if original is not None:  # else the attack refuses
            self.refuse_beyond(original.n_items)
        found = super()._run(data, knowledge, request)
        if not self.sensitive or found.credit == "compatible":
            return found
        view = look(data, request.original, request.link)  # sensitive items need not be released
        groups = groups_of(data, view)
        alike = Alike.of(view.original, self.sensitive, groups)
        return replace(found, sensitive=alike.given_away(self.sensitive, groups.sizes))

    def refuse_beyond(self, n_items: int) -> None:
        """Refuse sensitive items beyond the number of items."""
        beyond = [i for i in self.sensitive if not 0 <= i < n_items]
        if beyond:
            raise ConfigError(
                f"{called('sensitive')} {beyond[0]}: must be from 0 to {n_items - 1}, a position "
                "among the original's items"
            )

    def result(
        self, figures: dict[str, Any], hunt: Hunt, data: Ratings | Release
    ) -> HomogeneityResult:
        """See `CandidateAttack.result`."""
        further = len(hunt.known) * hunt.view.cells.n_items - hunt.known.items.size
        groups = groups_of(data, hunt.view)
        return HomogeneityResult(
            **figures,
            **summed_up(figures, _shared(hunt), further),
            classes=len(groups),
            averaged=averaged(data),
            sensitive=None if hunt.view.credit == "compatible" else (),
        )


def _shared(hunt: Hunt) -> NDArray[Any]:
    table, symbols = hunt.view.truth(), hunt.view.cells.symbols
    truth = truth_of(table)
    single = fixed(symbols.is_single)
    return np.concatenate(
        [
            shared_cells(seen, clues, hunt.within, truth, single)
            for seen, clues in hunt.batches("comparing candidates")
        ]
    )


def summed_up(figures: dict[str, Any], shared: NDArray[Any], further: int) -> dict[str, Any]:
    """Summarize what candidates have in common.

    `shared` (targets,): see `starshade.kernels.attack.homogeneity.SHARED`. `further`: released
    items beyond the known ones, over all targets.
    """
    return {
        "profile_disclosed": share(shared["identical"]),
        "profile_found": share(shared["identical"] & (figures["per_target"].credit > 0)),
        "cells_disclosed": _cells_disclosed(shared, further),
    }


def _cells_disclosed(shared: NDArray[Any], further: int) -> SharedCells:
    cells, single = int(shared["cells"].sum()), int(shared["single"].sum())
    single_true, rated = int(shared["single_true"].sum()), int(shared["single_rated"].sum())
    return SharedCells(
        mean=cells / len(shared),
        share=_ratio(cells, further),
        true=_ratio(int(shared["true"].sum()), cells),
        single_mean=single / len(shared),
        single_true=_ratio(single_true, single),
        single_rated=_ratio(rated, single),
        single_near=_ratio(int(shared["single_near"].sum()), rated),
        ratings_disclosed=_ratio(single_true, int(shared["hidden"].sum())),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
