"""Auxiliary knowledge of an adversary, and how it is drawn (definitions, "knowledge")."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.arguments import typed
from starshade.attack.settings import KnowledgeSettings
from starshade.attack.view import NO_DAYS, View, below
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.knowledge import Marginals, Mistakes, Table, count_marked, draw, tally
from starshade.kernels.attack.postings import EVERY_ROW, priced_together, window_count
from starshade.kernels.attack.scoreboard import MASSES
from starshade.kernels.attack.summary import SUMMARY
from starshade.naming import aside, called
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.rng import stream_key
from starshade.setting import check

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Known:
    """Known facts of each target.

    `users` (targets,): the targets: rows of the original. `items` (targets, known): items of the
    original; where `wrong` of them are wrong, those come first. `ratings` (targets, known): NaN
    where the rating is not known. `days` (targets, known): in the original's days (`Ratings.days`);
    NO_DAY where the day is not known. `rating_counts`: known number of ratings of each target;
    None: not known.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: NDArray[np.float64]
    days: NDArray[np.int32]
    rating_counts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.users)

    @property
    def supports(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The fewest and the most ratings that each target may have: n'/1.5 and n'/0.5."""
        counts = self.rating_counts
        if counts is None:
            none = np.zeros(len(self), dtype=np.int64)
            return none, none + EVERY_ROW
        return (2 * counts + 2) // 3, 2 * counts

    @classmethod
    def join(cls, parts: Sequence[Known]) -> Known:
        """Concatenate several draws of the same knowledge."""
        counts = [part.rating_counts for part in parts if part.rating_counts is not None]
        rows = ((part.users, part.items, part.ratings, part.days) for part in parts)
        users, items, ratings, days = map(np.concatenate, zip(*rows, strict=True))
        return cls(users, items, ratings, days, np.concatenate(counts) if counts else None)

    def take(self, rows: slice) -> Known:
        """Return some of the targets."""
        counts = None if self.rating_counts is None else self.rating_counts[rows]
        return Known(
            self.users[rows], self.items[rows], self.ratings[rows], self.days[rows], counts
        )


@dataclass(frozen=True)
class Knowledge(KnowledgeSettings):
    """Auxiliary knowledge of the adversary about every target.

    Parameters
    ----------
    known : int
        Known ratings per target, at least 1.
    wrong : int
        Wrong ones among them, 0…known.
    wrong_kind : {"value", "item"}
        "value": the target rated these items, rating and day are wrong (NS Figs 4-9, 11, 12).
        "item": the target did not rate them (NS Fig 10).
    rating_error : float
        Largest error of a known rating, in units of the scale.
    day_error : int or None
        Largest error of a known day, 0…65,534; None or infinity: days are unknown.
    outside_top : int
        Known items are not among this many most rated ones.
    about_count : bool
        The adversary knows the target's number of ratings to within 50 % (NS Fig 12).
    ratings, dates : bool
        False: ratings (days) are unknown.
    except_items : sequence of str
        Ids of items that are never known, such as sensitive ones; unknown ids have no effect.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    NS §5. A known rating is uniform over the scale's values within the error of
    the truth, a day over the whole days within it; nothing is drawn outside and clipped back. A
    wrong rating or day is drawn from the data's own until it lies further from the truth than
    the error (and is the truth where no such value exists). A cell without a day gives none.

    Examples
    --------
    >>> Knowledge(known=8, wrong=2, day_error=14).name
    '8 known, 2 wrong values, ratings exact, days ±14'
    """

    def __post_init__(self) -> None:
        check(self)
        if self.wrong > self.known:
            raise ConfigError(
                f"{called('wrong')} {self.wrong}: must be at most {self.known}, the number of "
                "known ratings",
                advice="Lower it; it counts the wrong ones among the known ratings.",
                setting="wrong",
            )
        object.__setattr__(self, "day_error", _whole_days(self.day_error))

    @property
    def knows_days(self) -> bool:
        """Whether a day may be known at all."""
        return self.dates and self.day_error is not None

    @property
    def name(self) -> str:
        """Stable name for tables and figures."""
        kind = self.wrong_kind if self.wrong == 1 else f"{self.wrong_kind}s"
        error = f"±{self.rating_error:g}" if self.rating_error else "exact"
        days = "exact" if self.day_error == 0 else f"±{self.day_error}"
        without = len(self.except_items)
        return ", ".join(
            [
                f"{self.known} known",
                *([f"{self.wrong} wrong {kind}"] if self.wrong else []),
                f"ratings {error}" if self.ratings else "no ratings",
                f"days {days}" if self.knows_days else "no days",
                *([f"outside top {self.outside_top}"] if self.outside_top else []),
                *([f"except {without} item{'s' * (without != 1)}"] if without else []),
                *(["number of ratings ±50 %"] if self.about_count else []),
            ]
        )

    @typed
    def eligible_items(self, original: Ratings) -> NDArray[np.bool_]:
        """Mark the items that may be known: neither the most rated nor the excepted ones."""
        return self.eligible_among(original.items, lambda: original.item_support)

    def eligible_among(
        self, items: Vocabulary, support: Callable[[], NDArray[np.int64]]
    ) -> NDArray[np.bool_]:
        """Mark the items that may be known; `support`: counts the raters of each, where need be."""
        mask = np.ones(len(items), dtype=np.bool_)
        if self.outside_top:  # ranking all items costs a pass over all ratings
            mask[np.argsort(-support(), kind="stable")[: self.outside_top]] = False
        excepted = items.indices(self.except_items)
        mask[excepted[excepted >= 0]] = False
        return mask

    @typed
    def eligible_users(self, original: Ratings) -> NDArray[np.bool_]:
        """Mark the eligible users, who have enough ratings.

        They rated at least `known` eligible items; for wrong items there are also enough
        eligible ones that they did not rate.
        """
        return self.with_enough(original, self.eligible_items(original))

    def with_enough(self, original: Ratings, items: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark the users with enough ratings of `items` that may be known."""
        rated = original.user_support
        if not items.all():
            rated = count_marked(fixed(original.indptr), fixed(original.columns), items)
        enough = rated >= self.known
        if self.wrong_kind == "item":
            enough &= items.sum() - rated >= self.wrong
        return np.asarray(enough)

    @typed
    def draw(self, original: Ratings, users: NDArray[np.int64], seed: int) -> Known:
        """Draw the known facts of these (eligible) users.

        Parameters
        ----------
        original : Ratings
        users : ndarray of int64, shape (targets,)
            Rows of the original, all eligible.
        seed : int
            With the target's id it determines the draw, regardless of the other targets.
        """
        days = original.days if self.knows_days else None
        # only what is wrong is drawn from the data's own ratings and days
        some = slice(None if self.wrong else 0)
        return self.draw_of(
            original,
            users,
            seed,
            self.eligible_items(original),
            tally(fixed(original.codes)[some], len(original.levels)),
            tally(fixed(NO_DAYS if days is None else days)[some], UNKNOWN_DAY + 1),
        )

    def draw_of(
        self,
        part: Ratings,
        users: NDArray[np.int64],
        seed: int,
        eligible: NDArray[np.bool_],
        given: NDArray[np.int64],
        dated: NDArray[np.int64],
    ) -> Known:
        """Draw what is known of some users of a part of the original.

        `users`: rows of the part, as those of what is returned. `eligible`: items that may be
        known. `given`, `dated`: how often the whole original has each level, and each day.
        """
        days = part.days if self.knows_days else None
        table = Table(
            fixed(part.indptr),
            fixed(part.columns),
            fixed(part.codes),
            fixed(NO_DAYS if days is None else days),
            eligible,
            np.flatnonzero(eligible),
            np.cumsum(eligible) - 1,
            int(part.user_support.max()),
        )
        levels = part.levels
        reach = self.rating_error + _SLACK
        marginals = Marginals(
            fixed(levels),
            below(given),
            np.searchsorted(levels, levels - reach),
            np.searchsorted(levels, levels + reach),
            below(dated[:UNKNOWN_DAY]),
        )
        scale = part.scale
        mistakes = Mistakes(
            self.known,
            self.wrong,
            self.wrong_kind == "item",
            scale.step is not None,
            self.rating_error,
            scale.minimum,
            scale.maximum,
            -1 if days is None or self.day_error is None else int(self.day_error),
        )
        users = np.ascontiguousarray(users, dtype=np.int64)
        fingerprints = part.users.fingerprints[users]
        items, ratings, known_days, rating_counts = draw(
            table, marginals, mistakes, users, fingerprints, stream_key(seed, "knowledge")
        )
        if not self.ratings:
            ratings = np.full_like(ratings, np.nan)
        return Known(users, items, ratings, known_days, rating_counts if self.about_count else None)


def _whole_days(error: float | None) -> int | None:
    if error is None or error == math.inf:
        return None
    if isinstance(error, bool) or not float(error).is_integer() or not 0 <= error < UNKNOWN_DAY:
        raise ConfigError(
            f"{called('day_error')} {error}: must be whole days from 0 to {UNKNOWN_DAY - 1:,}",
            advice=f"For unknown days use None or infinity{aside('dates', False)}.",
            setting="day_error",
        )
    return int(error)


def refuse_too_little(view: View, known: Known, *, own_only: bool, also: int = 0) -> None:
    """Raise ConfigError where data and attack do not fit into memory.

    `also` are further bytes that the attack takes.

    Attacking block by block would not help: nearly all of it are the data themselves, which are
    there already.
    """
    held, needed = bytes_held(view), bytes_needed(view, known, own_only=own_only) + also
    if needed > budget.left(held):
        allowed = budget.left(held) + held
        raise ConfigError(
            f"the attack needs about {_amount(held + needed)} of memory, {_amount(held)} of it for "
            f"the data; {_amount(allowed)} may be used",
            advice=f"Allow more memory{aside('memory')}, use fewer threads, or keep fewer items; "
            "data in a store (starshade data convert) stay on disk.",
        )


def bytes_held(view: View) -> int:
    """Bytes of the data as they lie in memory already; what is mapped from disk is not counted."""
    cells, original = view.cells, view.original
    arrays: list[NDArray[Any] | None] = [*cells.arrays, view.copies]
    if (postings := view.postings) is not None:
        arrays += [postings.indptr, postings.users, postings.codes, postings.days]
    arrays += [original.indptr, original.columns, original.codes, original.days]
    return _in_memory(array for array in arrays if array is not None)


def bytes_needed(view: View, known: Known, *, own_only: bool) -> int:
    """Bytes that the attack will allocate beside the data.

    `own_only`: only the target's own row can agree with its truth; otherwise any row may.
    """
    n_rows, n_items = view.cells.n_groups, view.cells.n_items
    contents = max(len(view.cells.symbols), 1)  # a table without a rating has none
    block = 2 * view.cells.n_listed + 8 * n_items * (window_count(n_rows) + 1)
    block += 4 * n_rows + 16 * n_items
    listed = 4 + 8  # a score and how many records it stands for
    together = int(priced_together(known.items.shape[1], contents))
    worths = together * 4 * (65_536 + contents)
    scratch = n_rows * (4 + listed + (0 if own_only else listed)) + worths
    results = len(known) * (SUMMARY.itemsize + MASSES.itemsize) * 2
    return int(block + scratch * numba.get_num_threads() + results)


def _in_memory(arrays: Iterable[NDArray[Any]]) -> int:
    """Add up arrays, those that share memory once."""
    places = {a.__array_interface__["data"][0]: a.nbytes for a in arrays if not _is_mapped(a)}
    return sum(places.values())


def _is_mapped(array: NDArray[Any]) -> bool:
    base: Any = array
    while base is not None:
        if isinstance(base, (mmap.mmap, np.memmap)):
            return True
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return False


def _amount(n: int) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e8 else f"{n / 1e6:.2f} MB"
