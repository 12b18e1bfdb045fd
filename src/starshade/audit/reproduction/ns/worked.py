"""What NS can be worked by hand: two numbers of its own, a counter-example to Theorem 5."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from starshade.attack.sparsity.few_facts import sample_sparsity
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.audit.reproduction.study import NETFLIX_USERS
from starshade.audit.reproduction.worked import Worked, small_table
from starshade.ratings.table import Ratings


def worked_tables() -> tuple[Worked, ...]:
    """Return them; the paper works no example of its algorithms."""
    return _bits(), _theorem_5()


def _bits() -> Worked:
    bits = math.log2(NETFLIX_USERS)
    return Worked(
        "§5, entropy",
        "Bits that single out one of 480,189 records",
        ("", "bits"),
        (("", "19"), ("", "")),
        (("no auxiliary information", f"{bits:.0f}"), ("half of it (Fig. 11)", f"{bits / 2:.2f}")),
        "log2 480,189 = 18.87. The paper works no example of Scoreboard or Scoreboard-RH.",
    )


def hub() -> Ratings:
    """Return four records of which three are like the first and not like each other."""
    rows = {"hub": "abc", "ab": "ab", "bc": "bc", "ac": "ac"}
    cells = [(user, item, 3.0) for user, items in rows.items() for item in items]
    return small_table(cells, "1:5:1")


def _theorem_5() -> Worked:
    """Every sample of two of the four records."""
    table, eps, gamma = hub(), 0.5, 0.1
    delta = Sparsity().run(table, rng=0).neighbours[0].delta(eps).rate
    least = sample_sparsity(delta, 0.5, gamma)
    near = [
        Sparsity().run(table.keep_users(np.array(pair)), rng=0).neighbours[0].delta(eps).rate
        for pair in combinations(range(table.n_users), 2)
    ]
    met = sum(share >= least for share in near) / len(near)
    labels = (
        "records with a neighbour of Sim above 0.5: δ",
        "δγ/λ for halves (γ = 0.1)",
        "halves with at least that many",
    )
    ours = (f"{delta:.2f}", f"{least:.3f}", f"{met:.2f}")
    claimed = ("", "", "at least 0.90")
    return Worked(
        "Theorem 5",
        "A counter-example: records {a, b, c}, {a, b}, {b, c}, {a, c}",
        ("", "share"),
        tuple(("", cell) for cell in claimed),
        tuple(zip(labels, ours, strict=True)),
        "Every record is similar to the first, and no other two are similar: without the first "
        "a sample is sparse. The mean over samples is as the proof says; Markov's inequality "
        "bounds it from the wrong side.",
    )
