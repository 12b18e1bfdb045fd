"""What an audit measures by the policy partner, for each method with the same k.

Each release is made, audited and attacked by the commands that anyone would use, one after the
other. Two Markdown tables, in percent: the strongest of what was tried, and what being in a release
tells, also of larger k and of fewer items:

    python benchmarks/answers.py ml-100k/u.data
    python benchmarks/answers.py ml-100k/u.data --methods k-likeness interval --k 10
    python benchmarks/answers.py ml-100k/u.data --json answers.json  # intervals and sentences too

Records on the ten most rated items; averaged profiles on all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from at_hand import Options, named

TOP = ("--items", "top:10")
METHODS: dict[str, tuple[str, ...]] = {
    **{
        name: (name, *TOP)
        for name in ("k-likeness", "k-exchange", "k-member", "mondrian", "mondrian-relaxed")
    },
    "interval": ("interval", *TOP, "--eps", "2", "--nulls", "zero"),
    "suppress": ("suppress", *TOP, "--eps", "2", "--nulls", "zero"),
    **{
        f"predictive, {profile}": ("predictive", "--profile", profile)
        for profile in ("simple", "padded", "model", "pooled")
    },
}
#: further rows of the second table
OTHERS: dict[str, tuple[str, ...]] = {
    "predictive, pooled, k = 11": (*METHODS["predictive, pooled"], "--k", "11"),
    "predictive, pooled, k = 20": (*METHODS["predictive, pooled"], "--k", "20"),
    "predictive, pooled, item support 10%": (
        *METHODS["predictive, pooled"],
        "--item-support",
        "10%",
    ),
}
ANSWERS = (
    "method",
    "re-identification",
    "singling out, excess",
    "class linkage (upper bound)",
    "linkability, excess (members, non-members)",
    "TPR at 1 %: 8 known, all",
    "AUC: 8 known, all",
    "inference gain, points",
    "attribute disclosure",
    "verdict",
    "not within the threshold",
)
BEING_IN_IT = (
    "release",
    "items",
    "ratings kept",
    "AUC, 8 known",
    "all",
    "TPR at 1 %, 8 known",
    "all",
    "least ε",
    "inference gain",
    "linkability, excess",
    "singling out, excess",
)


def starshade(*words: str) -> str:
    """Run a command; an audit that fails is an answer, anything else ends this."""
    call = [sys.executable, "-m", "starshade", *words, "--quiet"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 4) or not done.stdout:
        raise SystemExit(done.stderr or f"{' '.join(words)}: nothing was said")
    return done.stdout


def measured(
    ratings: str, method: tuple[str, ...], k: int, seed: int, place: Path
) -> dict[str, Any]:
    """Make a release; return its audit and the attack on membership."""
    release, receipt = str(place / "release"), str(place / "receipt.json")
    seeded = ("--private", receipt, "--seed", str(seed), "--json")
    made = ("--k", str(k), "--method", *method, "--out", release)
    starshade("anonymize", ratings, *made, *seeded)
    attack = ("attack", release, "--original", ratings, "--attack", "membership")
    return {
        "audit": json.loads(starshade("audit", ratings, release, *seeded)),
        "membership": json.loads(starshade(*attack, *seeded)),
    }


def by_name(audit: dict[str, Any]) -> dict[str, Any]:
    """Return the checks by name; of several the one with the most known ratings."""
    return {each["name"]: each for each in reversed(audit["checks"])}


def rate_of(check: dict[str, Any]) -> dict[str, float] | None:
    """Return what a check measured."""
    names = {"rate": "value", "low": "low", "high": "high"}
    return None if check["value"] is None else {to: check[name] for to, name in names.items()}


def answers(found: dict[str, Any]) -> list[str]:
    """Return a row of the first table."""
    audit, at = found["audit"], by_known(found["membership"])
    checks = by_name(audit)
    missed = [c["name"] for c in audit["checks"] if c["status"] in ("fail", "not demonstrated")]
    return [
        percent(rate_of(checks["re-identification"])),
        *(beside(checks[name]) for name in ("singling-out", "class-linkage", "linkability")),
        ", ".join(tpr(at[known], percent) for known in (8, None)),
        ", ".join(percent(at[known]["auc"]) for known in (8, None)),
        points(rate_of(checks["inference"])),
        percent(rate_of(checks["attribute"])),
        audit["verdict"],
        ", ".join(dict.fromkeys(missed)) or "–",
    ]


def being_in_it(found: dict[str, Any]) -> list[str]:
    """Return a row of the second table."""
    audit, at = found["audit"], by_known(found["membership"])
    checks, epsilon = by_name(audit), at[None]["epsilon"]
    return [
        f"{audit['items']:,}",
        percent({"rate": 1 - audit["utility"]["utility_left_out"]}),
        *(ends(at[known]["auc"]) for known in (8, None)),
        *(tpr(at[known], ends) for known in (8, None)),
        "not measured" if epsilon is None else f"{epsilon:.2f}",
        points(rate_of(checks["inference"])),
        *(ends(rate_of(checks[name])) for name in ("linkability", "singling-out")),
    ]


def by_known(membership: dict[str, Any]) -> dict[int | None, dict[str, Any]]:
    return {each["known"]: each for each in membership["by_known"]}


def tpr(at: dict[str, Any], written: Callable[[Any], str]) -> str:
    """Return the share of members recognised at 1 % false positives, and whether it is rough."""
    for each in at["tpr_at_fpr"]:
        if each["fpr"] == 0.01:
            return f"{written(each['tpr'])}{' (rough)' * each['rough']}"
    return written(None)


def percent(rate: dict[str, float] | None) -> str:
    return "not measured" if rate is None else f"{100 * rate['rate']:.1f}"


def ends(rate: dict[str, float] | None) -> str:
    """Return a rate with its interval."""
    form = "{rate:.1f} [{low:.1f}, {high:.1f}]"
    return percent(rate) if rate is None else form.format(**_hundredfold(rate))


def points(rate: dict[str, float] | None) -> str:
    form = "{rate:+.1f} [{low:+.1f}, {high:+.1f}]"
    return percent(rate) if rate is None else form.format(**_hundredfold(rate))


def _hundredfold(rate: dict[str, float]) -> dict[str, float]:
    return {name: 100 * value for name, value in rate.items()}


def beside(check: dict[str, Any]) -> str:
    """Return a rate, and in parentheses what it must be seen beside."""
    others, rate = ", ".join(map(percent, check["other_values"].values())), rate_of(check)
    return percent(rate) + (f" ({others})" if rate and others else "")


def main() -> None:
    """Print two tables, a row for each method."""
    parser = Options(__doc__)
    parser.add_ratings()
    every = METHODS | OTHERS
    parser.add_argument(
        "--methods", nargs="+", choices=every, default=list(every), smoke=["k-likeness"]
    )
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write what was measured of all methods here")
    options = parser.parse_args()
    ratings, kept = str(named(options.ratings)), {}
    for name in options.methods:
        with tempfile.TemporaryDirectory() as folder:
            kept[name] = measured(ratings, every[name], options.k, options.seed, Path(folder))
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1))
    print_table(ANSWERS, {name: answers(kept[name]) for name in kept if name in METHODS})
    print_table(BEING_IN_IT, {name: being_in_it(kept[name]) for name in kept})


def print_table(head: tuple[str, ...], rows: dict[str, list[str]]) -> None:
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
