"""The demonstration on synthetic ratings: attack, release, audit, utility."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from starshade.anonymize.registry import ENTRIES, usual_method
from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.dossier.dossier import Dossier, gather
from starshade.audit.made import Made
from starshade.audit.make import make_release
from starshade.audit.result import AuditResult
from starshade.progress import note
from starshade.ratings.places.place import Place, Where
from starshade.ratings.synth.synth import synthesize
from starshade.registry import find
from starshade.release.folder.read import read_release
from starshade.release.readable.examples import example_classes
from starshade.rng import Rng, resolve_seed

K = 5
#: what the adversary knows of a person in the ratings (NS Fig 4)
BEFORE = Knowledge(known=8, wrong=2, day_error=14)


@dataclass(frozen=True)
class Story:
    """The results of the demonstration, step by step."""

    # `users`, `items`, `ratings`: of the synthetic data
    users: int
    items: int
    ratings: int
    # on the ratings: 8 known, 2 of them wrong, dates to within 14 days
    attack_before: AttackResult
    made: Made  # the release and its figures
    examples: dict[str, Any] | None  # three classes as published
    dossier: Dossier = field(repr=False, compare=False)  # what an audit found, for reports
    seed: int
    out: str  # where the release is, links followed
    seconds: float

    @property
    def audit(self) -> AuditResult:
        """The verdict, with everything measured for it."""
        return self.dossier.audit

    def to_dict(self) -> dict[str, Any]:
        """Return every step's figures."""
        return {
            **{name: getattr(self, name) for name in ("users", "items", "ratings")},
            "attack_before": self.attack_before.to_dict(),
            "release": self.made.to_dict(),
            "examples": self.examples,
            "audit": self.audit.to_dict(),
            **{name: getattr(self, name) for name in ("seed", "out", "seconds")},
        }


def tell(out: Where, rng: Rng = None, command: str | None = None) -> Story:
    """Run the demonstration; the release stays in `out`. `command`: what reproduces it."""
    started = perf_counter()
    place = Place.of(out)
    seed = resolve_seed(rng)
    note("1/4 generating synthetic ratings like MovieLens 100K")
    ratings = synthesize("movielens-100k", rng=seed)
    note("2/4 re-identifying people in the original data")
    before = ScoreboardRH().run(ratings, BEFORE, rng=seed)
    note(f"3/4 making a release with k = {K}")
    usual = usual_method()
    method = find(ENTRIES, usual.method, "method").load()(k=K, **usual.settings)
    made = make_release(ratings, method, out=place, rng=seed)
    note("4/4 auditing the release: attacks, checks, utility")
    written = read_release(place.path)
    # the owner knows who is who, so that answers are scored against the truth
    linked = replace(written, private=made.release.private)
    return Story(
        users=ratings.n_users,
        items=ratings.n_items,
        ratings=ratings.n_ratings,
        attack_before=before,
        made=made,
        examples=example_classes(written),
        dossier=gather(ratings, linked, Path(place.path), seed=seed, command=command),
        seed=seed,
        out=os.fspath(place),
        seconds=perf_counter() - started,
    )
