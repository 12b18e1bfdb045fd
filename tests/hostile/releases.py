"""Releases and key files of strangers: forged values and damaged bytes.

``python -m tests.hostile.releases`` forges every value and damages every kind of file, and prints
what was tried, how often, and how often it was not refused as it must be. The exit code is 1 where
there is a fault.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.hostile import release_damage, release_forging
from tests.hostile.release_samples import make
from tests.hostile.release_trial import run
from tests.hostile.running import Fault, table


def campaign(
    seed: int, forged: int | None = None, damaged: int = 1_600
) -> tuple[Counter[str], list[Fault]]:
    """Forge and damage small made-up releases; return what was tried, and every fault.

    `forged`: how many forgeries are drawn; None: every one. `damaged`: how many damages.
    """
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        samples = make(Path(place))
        chosen = list(release_forging.cases(samples))
        if forged is not None:
            chosen = rng.sample(chosen, forged)
        return run([*chosen, *release_damage.cases(samples, rng, damaged)])


def main() -> int:
    """Run the campaign, print its table and its faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forged", type=int, help="forgeries drawn [default: every one]")
    parser.add_argument("--damaged", type=int, default=1_600)
    given = parser.parse_args()
    calls, faults = campaign(given.seed, given.forged, given.damaged)
    print(table(calls, faults))
    print("\nNot verifiable without the ratings, and not counted:")
    for key, reason in release_forging.NOT_VERIFIABLE.items():
        print(f"  {key}: {reason}")
    print("  claims: one that promises less than what holds is true")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
