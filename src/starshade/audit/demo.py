"""The whole story on made-up ratings: attack, anonymize, check, attack again, what is left."""

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
from starshade.privacy.k_anonymity import KAnonymity
from starshade.privacy.verdict import Verdict
from starshade.progress import note
from starshade.ratings.places.place import Place, Where
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.folder.read import read_release
from starshade.release.match.match import Match
from starshade.release.readable.examples import example_classes
from starshade.rng import Rng, resolve_seed

K = 5
#: what the attacker holds of the ratings (NS Fig 4), and on a release, which has no dates
BEFORE = Knowledge(known=8, wrong=2, day_error=14)
AFTER = Knowledge(known=4, dates=False)


@dataclass(frozen=True)
class Story:
    """What happened, step by step."""

    # `users`, `items`, `ratings`: of the made-up data
    users: int
    items: int
    ratings: int
    # on the ratings: 8 known cells, 2 of them wrong, dates to within 14 days
    attack_before: AttackResult
    made: Made  # the release and its figures
    examples: dict[str, Any] | None  # three classes as published
    check: Verdict  # the independent check of the files
    # `attack_between`, `attack_after`: the same attack on the released items, before and after: 4
    # cells known exactly
    attack_between: AttackResult
    attack_after: AttackResult
    seed: int
    out: str  # where the release is, links followed
    seconds: float
    data: Ratings = field(repr=False, compare=False)  # the made-up ratings themselves

    def to_dict(self) -> dict[str, Any]:
        """Return every step's figures."""
        return {
            **{name: getattr(self, name) for name in ("users", "items", "ratings")},
            "attack_before": self.attack_before.to_dict(),
            "release": self.made.to_dict(),
            "examples": self.examples,
            "check": self.check.to_dict(),
            "attack_between": self.attack_between.to_dict(),
            "attack_after": self.attack_after.to_dict(),
            **{name: getattr(self, name) for name in ("seed", "out", "seconds")},
        }


def tell(out: Where, rng: Rng = None) -> Story:
    """Run the story; the release stays in `out`."""
    started = perf_counter()
    place = Place.of(out)
    seed = resolve_seed(rng)
    note("1/5 making up ratings like MovieLens 100K")
    ratings = synthesize("movielens-100k", rng=seed)
    note("2/5 attacking them")
    before = ScoreboardRH().run(ratings, BEFORE, rng=seed)
    note(f"3/5 making a release in which everybody hides among {K}")
    usual = usual_method()
    method = find(ENTRIES, usual.method, "method").load()(k=K, **usual.settings)
    made = make_release(ratings, method, out=place, rng=seed)
    note("4/5 checking what was written")
    written = read_release(place.path)
    verdict = KAnonymity(K).check(written)
    note("5/5 attacking the release")
    part = Match(written, ratings).part
    between = ScoreboardRH().run(part, AFTER, rng=seed)
    # the owner knows who is who, so the answers are scored against the truth
    after = ScoreboardRH().run(made.release, AFTER, original=part, rng=seed)
    return Story(
        users=ratings.n_users,
        items=ratings.n_items,
        ratings=ratings.n_ratings,
        attack_before=before,
        made=made,
        examples=example_classes(written),
        check=verdict,
        attack_between=between,
        attack_after=after,
        seed=seed,
        out=os.fspath(place),
        seconds=perf_counter() - started,
        data=ratings,
    )


def judged(story: Story, command: str | None = None) -> Dossier:
    """Judge the release of a story, its owner knowing who is who; `command` tells the story."""
    released = replace(read_release(story.out), private=story.made.release.private)
    folder = Path(story.out)
    return gather(story.data, released, folder, seed=story.seed, command=command)
