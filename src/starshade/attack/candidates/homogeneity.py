"""The homogeneity attack (PA Def. 5.1, SR §4; definitions, "homogeneity")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.candidates import CandidateAttack, Hunt, Plan, batches
from starshade.attack.candidates.homogeneity_result import (
    HomogeneityResult,
    SensitiveItem,
    SharedCells,
)
from starshade.attack.candidates.label import LabelAttack
from starshade.attack.candidates.structure import StructureAttack
from starshade.attack.groups import Groups, groups_of
from starshade.attack.knowledge import Knowledge
from starshade.attack.layout import truth_of
from starshade.attack.profiles import averaged
from starshade.attack.settings import HomogeneityAttackSettings
from starshade.attack.targets import Drawn
from starshade.errors import ConfigError
from starshade.kernels.attack.homogeneity import shared_cells
from starshade.kernels.readonly import fixed
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import share

__all__ = ["HomogeneityAttack"]


@dataclass(frozen=True)
class HomogeneityAttack(HomogeneityAttackSettings, CandidateAttack[HomogeneityResult]):
    """Learn what all candidates have in common, without knowing which of them is the target.

    The adversary finds the records in which everything known fits. Where these say the same
    about a further item, it does not matter that there are several: whoever the target is, this
    is what their record says.

    Parameters
    ----------
    by : {"label", "structure"}
        What candidates are found by: items and ratings, or items alone.
    tolerance : float or None
        How far a rating may be off ("label"); None: as for `LabelAttack`.
    sensitive : sequence of int
        Items, by their position in the original (from 0): how often a group's users all rated
        it alike.
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also ask who fits when the target's record is taken out.
    k : int
        Fewer candidates than this are counted.

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
                f"{called('tolerance')} {self.tolerance:g}: by structure no ratings are compared",
                advice="Leave the tolerance out, or find candidates by label.",
            )

    def _plan(self, knowledge: Knowledge, data: Ratings | Release) -> Plan:
        label = self.by == "label"
        attack = LabelAttack(self.tolerance) if label else StructureAttack()
        plan = attack._plan(knowledge, data)
        used = {"tolerance": 0.0} | plan.used | {"sensitive": list(self.sensitive)}
        return replace(plan, used=used)

    def _result(
        self, data: Ratings | Release, drawn: Drawn, hunt: Hunt, used: dict[str, Any]
    ) -> HomogeneityResult:
        n_items = hunt.view.original.n_items
        beyond = [i for i in self.sensitive if not 0 <= i < n_items]
        if beyond:
            raise ConfigError(
                f"{called('sensitive')} {beyond[0]}: the original's items are 0 to {n_items - 1}"
            )
        shared = _shared(hunt)
        figures = self._figures(drawn, hunt, used)
        groups = groups_of(data, hunt.view)
        return HomogeneityResult(
            **figures,
            groups=len(groups),
            profile_disclosed=share(shared["identical"]),
            profile_found=share(shared["identical"] & (figures["per_target"].credit > 0)),
            cells_disclosed=_counted(hunt, shared),
            averaged=averaged(data),
            sensitive=self._sensitive(hunt, groups),
        )

    def _sensitive(self, hunt: Hunt, groups: Groups) -> tuple[SensitiveItem, ...] | None:
        if hunt.view.credit == "compatible":
            return None
        return tuple(_alike(hunt.view.original, item, groups) for item in self.sensitive)


def _shared(hunt: Hunt) -> NDArray[Any]:
    table, symbols = hunt.view.truth(), hunt.view.cells.symbols
    truth = truth_of(table)
    single = fixed(symbols.is_single)
    return np.concatenate(
        [
            shared_cells(hunt.seen, clues, hunt.within, truth, single)
            for clues in batches(hunt, "comparing candidates")
        ]
    )


def _counted(hunt: Hunt, shared: NDArray[Any]) -> SharedCells:
    released = (hunt.view.item_of[hunt.known.items] >= 0).sum(axis=1)
    further = int((hunt.view.cells.n_items - released).sum())
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
        learnt=_ratio(single_true, int(shared["hidden"].sum())),
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _alike(original: Ratings, item: int, groups: Groups) -> SensitiveItem:
    by_item = original.by_item
    cells = slice(by_item.indptr[item], by_item.indptr[item + 1])
    group = groups.of_user[by_item.users[cells]]
    code = by_item.codes[cells][group >= 0].astype(np.int64)
    group = group[group >= 0]
    low = np.full(len(groups), np.iinfo(np.int64).max)
    high = np.full(len(groups), -1)
    np.minimum.at(low, group, code)
    np.maximum.at(high, group, code)
    raters = np.bincount(group, minlength=len(groups))
    alike = (raters == groups.sizes) & (low == high)
    return SensitiveItem(
        item=item,
        groups=float(alike.mean()),
        users=float(groups.sizes[alike].sum() / groups.sizes.sum()),
    )
