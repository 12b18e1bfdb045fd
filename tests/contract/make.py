"""How the contract tests build each registered thing; a new one is added here in one line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starshade.anonymize.k_likeness import KLikeness
from starshade.registry import Entry
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from tests.contract.cast import CAST

K = 2

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "interval": {"k": K, "eps": 1},
    "k-exchange": {"k": K},
    "k-likeness": {"k": K},
    "k-member": {"k": K},
    "mondrian": {"k": K},
    "mondrian-relaxed": {"k": K},
    "predictive": {"k": K, "factors": 2, "sweeps": 2},
    "suppress": {"k": K, "eps": 2, "nulls": "ignore"},
    "alpha-k": {"alpha": 0.7, "k": K, "attribute": "job"},
    "diversity": {"b": 1, "l": 2},
    "k-anonymity": {"k": K},
    "k-eps": {"k": K, "eps": 0.5},
    "k-eps-l": {"k": K, "eps": 0.5, "l": 0.5, "sensitive": ["2"]},
    "l-diversity": {"l": 2, "attribute": "job"},
    "review-graph": {"k": K},
    "t-closeness": {"t": 0.2, "attribute": "age"},
    "homogeneity": {"sensitive": [0, 1]},
    "label": {},
    "link-existence": {},
    "padding": {"groups": 5},
    "scoreboard": {},
    "scoreboard-rh": {},
    "structure": {},
    "tracker": {"conditions": 2},
    "discernibility": {},
    "class-size": {},
    "generalization-loss": {},
    "disclosure-shares": {},
    "distortion": {},
    "query-error": {"draws": 5},
    "recommender-error": {},
    "target-deviation": {},
    "similar-user-deviation": {},
    "self-rank": {},
    "rating-histogram": {},
    "pairwise-dissimilarity": {},
    "top-n-agreement": {"n": 2},
}


def make(entry: Entry) -> Any:
    """Build one with small settings."""
    assert entry.name in _ARGUMENTS, f"{entry.name}: say in {__file__} how to build it"
    return entry.load()(**_ARGUMENTS[entry.name])


@dataclass(frozen=True)
class Stored:
    """A release as it was made, as it is read back with its receipt, and without."""

    made: Release
    linked: Release
    alone: Release


def stored(release: Release) -> Stored:
    """Save a release and read it."""
    with TemporaryDirectory() as place:
        out, receipt = Path(place) / "out", Path(place) / "receipt"
        release.save(out, private=receipt)
        return Stored(release, read_release(out, private=receipt), read_release(out))


@cache
def grouped(name: str) -> Stored:
    """Return the release of a table of the cast in groups of K; no test changes it."""
    return stored(KLikeness(k=K).anonymize(CAST[name], rng=0))
