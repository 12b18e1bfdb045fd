"""Draw the cells of a synthetic table: items, ratings, days; block by block of users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.synth import synth as kernels
from starshade.kernels.warm import announce
from starshade.ratings.synth.preset import Preset
from starshade.ratings.synth.shape import Catalogue
from starshade.rng import generator, stream_key

__all__ = ["Drawing"]

_BLOCK = 16_384  # users drawn between two words of progress
_SAMPLE = 200_000  # opinions that settle where one star ends and the next begins


@dataclass(frozen=True, eq=False)
class Drawing:
    """A table being drawn: who has how many cells, and from which streams.

    `fingerprints` (n_users,). `indptr` (n_users + 1,). `step`: receives how many cells have been
    drawn.
    """

    fingerprints: NDArray[np.uint64]
    indptr: NDArray[np.int64]
    seed: int
    step: Callable[[float], None]

    def columns(self, catalogue: Catalogue, shares: NDArray[np.float64]) -> NDArray[np.int32]:
        """Draw every user's items; see `draw_catalogue` and `draw_shares`."""
        announce("the synthetic data", kernels.draw_items, kernels.draw_ratings, kernels.draw_days)
        keys, n_items = self._keys("synthetic picks"), len(catalogue.genre)
        start, items, weights = catalogue.start, catalogue.items, catalogue.weights
        keep, other = kernels.alias_tables(start, weights)
        out = np.empty(self.indptr[-1], dtype=np.int32)
        for rows, pointers in self._blocks():
            picks = (keys[rows], pointers, shares[rows])
            kernels.draw_items(*picks, start, items, weights, keep, other, n_items, out)
        if len(out) >= n_items:
            key = np.uint64(stream_key(self.seed, "synthetic unrated"))
            kernels.place_unrated(key, self.indptr, out, n_items)
        return out

    def codes(
        self,
        preset: Preset,
        catalogue: Catalogue,
        taste: NDArray[np.float64],
        columns: NDArray[np.int32],
    ) -> NDArray[np.uint8]:
        """Draw the ratings, as codes from 0, so that their histogram is the preset's."""
        keys, n_users = self._keys("synthetic opinions"), len(self.fingerprints)
        own = generator(self.seed, "synthetic leniency").standard_normal(n_users)
        leniency = np.sqrt(preset.leniency) * own
        liking = (np.sqrt(preset.liking) * taste).astype(np.float32)
        quality = np.sqrt(preset.quality) * catalogue.quality
        rest = 1 - preset.quality - preset.leniency - preset.liking
        noise = np.sqrt(3 * rest) / np.pi  # a logistic number's variance is (pi scale)^2 / 3
        items = (quality, catalogue.genre, noise)
        stride = 1 + len(columns) // _SAMPLE
        table = (self.indptr, columns, leniency, liking)
        sample = kernels.sample_opinions(keys, stride, *table, *items)
        until = np.cumsum(preset.histogram) / np.sum(preset.histogram)
        cuts = np.quantile(sample, until[:-1])
        out = np.empty(len(columns), dtype=np.uint8)
        for rows, pointers in self._blocks():
            people = (leniency[rows], liking[rows])
            kernels.draw_ratings(keys[rows], pointers, columns, *people, *items, cuts, out)
        return out

    def days(
        self, preset: Preset, arrival: NDArray[np.int64], bouts: NDArray[np.int64]
    ) -> NDArray[np.uint16]:
        """Draw the days; see `draw_calendar`."""
        keys, last_day = self._keys("synthetic days"), preset.n_days - 1
        gaps = (preset.gap, preset.gap_spread)
        sizes = (preset.opening, preset.size_spread)
        out = np.empty(self.indptr[-1], dtype=np.uint16)
        for rows, pointers in self._blocks():
            times = (arrival[rows], bouts[rows], last_day)
            kernels.draw_days(keys[rows], pointers, *times, *gaps, *sizes, out)
        return out

    def _keys(self, purpose: str) -> NDArray[np.uint64]:
        key = np.uint64(stream_key(self.seed, purpose))
        return np.asarray(kernels.user_keys(key, self.fingerprints))

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield the rows of each block and where their cells are; tell when a block is done."""
        n_users = len(self.fingerprints)
        for low in range(0, n_users, _BLOCK):
            high = min(n_users, low + _BLOCK)
            yield slice(low, high), self.indptr[low : high + 1]
            self.step(float(self.indptr[high] - self.indptr[low]))
