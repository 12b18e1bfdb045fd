"""How the contract tests build each registered thing."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starshade.anonymize.k_likeness import KLikeness
from starshade.registry import Entry
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.setting import settings_of
from tests.contract.cast import CAST

K = 2

#: what fits the tables of the cast, for settings that must be given; others are as is usual
_FITTING: dict[str, Any] = {"k": K, "attribute": "job", "sensitive": ["2"]}
#: small or telling settings
_SMALL: dict[str, dict[str, Any]] = {
    "predictive": {"factors": 2, "sweeps": 2},
    "suppress": {"eps": 2, "nulls": "ignore"},
    "alpha-k": {"alpha": 0.7},
    "diversity": {"b": 1},
    "k-eps": {"eps": 0.5},
    "k-eps-l": {"eps": 0.5, "l": 0.5},
    "t-closeness": {"attribute": "age"},
    "inference": {"shadows": 2},
    "membership": {"shadows": 2},
    "homogeneity": {"sensitive": [0, 1]},
    "padding": {"classes": 5},
    "tracker": {"conditions": 2},
    "query-error": {"draws": 5},
    "top-n-agreement": {"n": 2},
}


def make(entry: Entry) -> Any:
    """Build one with small settings; what must be given is as it is declared to be usual."""
    needed = [s for s in settings_of(entry.declaration()) if s.default is MISSING]
    usual = {s.name: _FITTING[s.name] if s.name in _FITTING else float(s.usual) for s in needed}
    return entry.load()(**{**usual, **_SMALL.get(entry.name, {})})


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
