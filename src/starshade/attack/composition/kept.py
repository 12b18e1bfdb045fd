"""Anonymity sets across releases whose classes are kept from one release to the next.

Those who first came in one release, in one class, are a *cohort*. In every release they have a
*main* class, that of most of them. Who was never in another, and whose absence tells nothing,
cannot be told from the others of whom that is true: wherever these are and somebody is not, the
main class allows all that was said of that one when they were last there. (Means of ratings never
do: taken from those of before they leave the ratings of whoever is missing.) For an
adversary who does not know who left, people who left may as well be among those who stayed; and
so may dummy records, which pad small classes. All others are protected by their joint class
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.composition.people import Joint, Part
from starshade.kernels.arrays import places_in
from starshade.kernels.csr import keep_rows
from starshade.ratings.scale import SLACK
from starshade.release.cells import Cells, Symbols

Ints = NDArray[np.int64]


def crowds(parts: Sequence[Part], joint: Joint) -> Ints:
    """Return the size of the anonymity set of each joint class, shape (joint classes,).

    The fewest records, over the releases in which they are, of those who cannot be told from them:
    m-invariance (Xiao & Tao 2007), with absence. Kept groups that equal others in one release are
    one class there and may part later: who hides in a group hides.
    """
    found = _crowds(parts, joint)
    by_group = [_by_group(part) for part in parts]
    if all(fine is part for fine, part in zip(by_group, parts, strict=True)):
        return found
    own = Joint.of(by_group)
    least = np.full(len(joint.sizes), np.iinfo(np.int64).max)
    np.minimum.at(least, joint.of_person, _crowds(by_group, own)[own.of_person])
    return np.asarray(np.maximum(found, least))


def _by_group(part: Part) -> Part:
    """Return the release with every kept group as a class of its own."""
    width = int(part.group_of_user.max(initial=-1)) + 1
    pairs, number = np.unique(part.class_of_user * width + part.group_of_user, return_inverse=True)
    of = pairs // max(width, 1)
    if len(np.unique(of)) == len(of):
        return part
    return replace(
        part,
        class_of_user=number.reshape(-1),
        sizes=np.bincount(number.reshape(-1)),
        cells=None if part.cells is None else part.cells.keep_rows(of),
    )


def _crowds(parts: Sequence[Part], joint: Joint) -> Ints:
    together = _together(parts, joint)
    counts = np.full((together.max(initial=-1) + 1, len(parts)), 0, dtype=np.int64)
    there = joint.classes >= 0
    for j, part in enumerate(parts):
        np.add.at(counts[:, j], together[there[:, j]], joint.sizes[there[:, j]])
        _add_nobodys(counts[:, j], part, joint, together)
    return np.asarray(np.where(there, counts[together], np.iinfo(np.int64).max).min(axis=1))


def _together(parts: Sequence[Part], joint: Joint) -> Ints:
    """Give the joint classes that cannot be told apart one number."""
    classes = joint.classes
    n, there = len(classes), classes >= 0
    first = there.argmax(axis=1)
    came = np.column_stack([first, classes[np.arange(n), first]])
    cohort = np.unique(came, axis=0, return_inverse=True)[1].reshape(-1)
    main = np.column_stack([_main_class(cohort, column, joint.sizes) for column in classes.T])
    main = main[cohort]
    free = (~there | (classes == main)).all(axis=1)
    last = first.copy()
    for j, part in enumerate(parts):
        for i in range(j):
            # absent since then, while others of the cohort are there
            asked = np.flatnonzero(
                free & ~there[:, j] & (main[:, j] >= 0) & (last == i) & (first < j)
            )
            free[asked] = (not part.means) & _allows(
                parts[i].cells, main[asked, i], part.cells, main[asked, j]
            )
        last[there[:, j]] = j
    found = np.where(free, cohort, n + np.arange(n))
    return np.asarray(np.unique(found, return_inverse=True)[1])


def _main_class(cohort: Ints, classes: Ints, sizes: Ints) -> Ints:
    """Return the class that most people of each cohort are in, the first of equals; -1: none."""
    there = np.flatnonzero(classes >= 0)
    pairs, place = np.unique(
        np.column_stack([cohort[there], classes[there]]), axis=0, return_inverse=True
    )
    people = np.bincount(place.reshape(-1), weights=sizes[there], minlength=len(pairs))
    order = np.lexsort([-pairs[:, 1], people, pairs[:, 0]])  # the last of a cohort is its main one
    main = np.full(cohort.max(initial=-1) + 1, -1, dtype=np.int64)
    main[pairs[order, 0]] = pairs[order, 1]
    return main


def _add_nobodys(counts: Ints, part: Part, joint: Joint, together: Ints) -> None:
    """Add the records of nobody to those with whom they were put; not where these are apart."""
    if not part.nobodys.any():
        return
    where = together[joint.of_person[joint.people.indices(part.users)]]
    low = np.full(len(part.nobodys), len(joint.people))
    high = np.full(len(part.nobodys), -1)
    np.minimum.at(low, part.group_of_user, where)
    np.maximum.at(high, part.group_of_user, where)
    known = np.flatnonzero((low == high) & (part.nobodys > 0))
    np.add.at(counts, high[known], part.nobodys[known])


def _allows(before: Cells | None, was: Ints, after: Cells | None, now: Ints) -> NDArray[np.bool_]:
    """Tell whether a class allows all that another did, pair by pair, on the items of both.

    Predictions and moved ratings state nothing of single people, so they forbid nothing.
    """
    if before is None or after is None or not len(was):
        return np.ones(len(was), dtype=np.bool_)
    common = after.items.indices(before.items)
    before = before.keep_items(np.flatnonzero(common >= 0))
    after = after.keep_items(common[common >= 0])
    a = keep_rows(before.indptr, before.columns, before.codes, None, was)
    b = keep_rows(after.indptr, after.columns, after.codes, None, now)
    place = places_in(a[0], a[1], b[0], b[1], before.n_items)  # of each cell of b in a
    refused = ~after.symbols.null[b[2]] & (place < 0)
    both = np.flatnonzero(place >= 0)
    kinds, kind = np.unique(
        np.column_stack([a[2][place[both]], b[2][both]]).astype(np.int64),
        axis=0,
        return_inverse=True,
    )
    held = [_holds(after.symbols, int(t), before.symbols, int(s)) for s, t in kinds]
    refused[both] = ~np.array(held, dtype=np.bool_)[kind.reshape(-1)]
    row = np.repeat(np.arange(len(was)), np.diff(b[0]))
    bad = np.bincount(row[refused], minlength=len(was))
    # cells of before that are nothing but null now
    bad += np.diff(a[0]) - np.bincount(row[both], minlength=len(was))
    return np.asarray(bad == 0)


def _holds(outer: Symbols, t: int, inner: Symbols, s: int) -> bool:
    """Tell whether content `t` allows all that content `s` does."""
    if inner.null[s] and not outer.null[t]:
        return False
    ends = (inner.low[s], inner.high[s]), (outer.low[t], outer.high[t])
    if inner.is_range[s]:
        low = max(ends[0][0], inner.scale.minimum)
        inside = ends[1][0] <= low + SLACK and ends[0][1] <= ends[1][1] + SLACK
        return bool(outer.is_range[t] and inside)
    members = inner.members[inner.offsets[s] : inner.offsets[s + 1]]
    return bool(outer.contains(members)[:, t].all())
