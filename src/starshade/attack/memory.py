"""What an attack takes of the memory, said before it is taken."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.knowledge import Known
from starshade.attack.view import View
from starshade.errors import ConfigError
from starshade.kernels.attack.postings import priced_together, window_count
from starshade.kernels.attack.scoreboard import MASSES
from starshade.kernels.attack.summary import SUMMARY
from starshade.naming import aside

__all__ = ["bytes_held", "bytes_needed", "refuse_too_little"]


def refuse_too_little(view: View, known: Known, *, own_only: bool, also: int = 0) -> None:
    """Raise ConfigError where data and attack do not fit the memory that may be used.

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
            advice=f"Allow more memory{aside('memory')} if the machine has it, use fewer threads, "
            "or keep fewer items; data in a store (starshade data convert) stay on disk.",
        )


def bytes_held(view: View) -> int:
    """Bytes of the data as they lie in memory already; what is mapped from disk is not counted."""
    cells, postings, original = view.cells, view.postings, view.original
    arrays: list[NDArray[Any] | None] = []
    arrays += [cells.indptr, cells.columns, cells.codes, cells.days, cells.sizes, view.copies]
    arrays += [postings.indptr, postings.users, postings.codes, postings.days]
    arrays += [original.indptr, original.columns, original.codes, original.days]
    return _in_memory(array for array in arrays if array is not None)


def bytes_needed(view: View, known: Known, *, own_only: bool) -> int:
    """Bytes that the attack will allocate beside the data.

    `own_only`: only the target's own row can agree with its truth; otherwise any row may, and the
    true ratings are laid out as numbers.
    """
    n_rows, n_items = view.cells.n_groups, view.cells.n_items
    contents = max(len(view.cells.symbols), 1)  # a table without a rating has none
    block = 2 * len(view.postings.users) + 8 * n_items * (window_count(n_rows) + 1)
    block += 4 * n_rows + 16 * n_items
    listed = 4 + 8  # a score and how many records it stands for
    together = int(priced_together(known.items.shape[1], contents))
    worths = together * 4 * (65_536 + contents)
    scratch = n_rows * (4 + listed + (0 if own_only else listed)) + worths
    truth = 0 if own_only else 8 * len(view.original.columns)
    results = len(known) * (SUMMARY.itemsize + MASSES.itemsize) * 2
    return int(block + scratch * numba.get_num_threads() + truth + results)


def _in_memory(arrays: Iterable[NDArray[Any]]) -> int:
    """Add up arrays, those that share memory once."""
    places = {a.__array_interface__["data"][0]: a.nbytes for a in arrays if not _is_mapped(a)}
    return sum(places.values())


def _is_mapped(array: NDArray[Any]) -> bool:
    base: Any = array
    while base is not None:
        if isinstance(base, (mmap.mmap, np.memmap)):
            return True
        base = getattr(base, "base", None)
    return False


def _amount(n: int) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e8 else f"{n / 1e6:.2f} MB"
