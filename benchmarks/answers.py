"""What an audit answers to its three questions, for each method with the same k.

Each release is made and audited by the commands that anyone would use, one after the other; the
table is Markdown, in percent, the strongest of what was tried:

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
HEAD = (
    "method",
    "record",
    "conditions (blind)",
    "class (ceiling)",
    "halves (outsiders)",
    "in it or not: 8 known, all",
    "points gained",
    "singled out?",
    "linked?",
    "inferred?",
)


def starshade(*words: str) -> str:
    """Run a command; an audit that fails is an answer, anything else ends this."""
    call = [sys.executable, "-m", "starshade", *words, "--quiet"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(done.stderr or f"{' '.join(words)}: nothing was said")
    return done.stdout


def audited(ratings: str, method: tuple[str, ...], k: int, seed: int, place: Path) -> Any:
    """Make a release and return its audit."""
    release, receipt = str(place / "release"), str(place / "receipt.json")
    seeded = ("--seed", str(seed))
    made = ("--method", *method, "--k", str(k), "--out", release, "--private", receipt)
    starshade("anonymize", ratings, *made, *seeded, "--json")
    return json.loads(starshade("audit", ratings, release, "--private", receipt, *seeded, "--json"))


def cells(audit: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    found = {each["name"]: each for q in audit["questions"] for each in q["measured"]}
    aucs = [percent(rate) for rate in found["membership"]["beside"].values()]
    gained = found["inference"]["rate"]
    return [
        percent(found["record"]["rate"]),
        beside(found["predicate"], {"rate": found["predicate"]["guessing"]}),
        beside(found["class"], *found["class"]["beside"].values()),
        beside(found["halves"], *found["halves"]["beside"].values()),
        ", ".join(aucs) or "not measured",
        "not measured" if gained is None else points(gained),
        *(question["answer"] for question in audit["questions"]),
    ]


def percent(rate: dict[str, float] | None) -> str:
    return "not measured" if rate is None else f"{100 * rate['rate']:.1f}"


def points(rate: dict[str, float]) -> str:
    return "{rate:+.0f} [{low:+.0f}, {high:+.0f}]".format(**{k: 100 * v for k, v in rate.items()})


def beside(found: dict[str, Any], *others: dict[str, float]) -> str:
    """Return a rate, and in parentheses what it must be seen beside."""
    some = f" ({', '.join(map(percent, others))})" if found["rate"] and others else ""
    return percent(found["rate"]) + some


def main() -> None:
    """Print a table, a row for each method."""
    parser = Options(__doc__)
    parser.add_ratings()
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), smoke=["k-likeness"]
    )
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the questions of all methods here")
    asked = parser.parse_args()
    ratings, kept = str(named(asked.ratings)), {}
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    for name in asked.methods:
        with tempfile.TemporaryDirectory() as folder:
            audit = audited(ratings, METHODS[name], asked.k, asked.seed, Path(folder))
        print(f"| {name} | {' | '.join(cells(audit))} |", flush=True)
        kept[name] = {"pass": audit["pass"], "questions": audit["questions"]}
        kept[name]["seconds"] = audit["seconds"]
        if asked.json:
            asked.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
