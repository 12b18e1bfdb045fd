"""Register the toys, look for them everywhere, and print what was found as JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any

from click.testing import CliRunner

from starshade.registry import Entry

TOYS = {"attack": "attack", "privacy": "model", "anonymize": "method", "utility": "measure"}
HOOKS = Path(__file__).parents[3] / "docs" / "hooks.py"


def register() -> None:
    """Add a line to each registry; everything else is imported after it."""
    for room, toy in TOYS.items():
        registry: Any = import_module(f"starshade.{room}.registry")
        cls = f"Toy{toy.title()}"
        entry = Entry(f"toy-{toy}", f"tests.house.toys.{toy}", cls, f"A toy {toy}.", "nowhere")
        registry.ENTRIES = (*registry.ENTRIES, entry)


def called(*words: str) -> str:
    from starshade.cli import main

    done = CliRunner().invoke(main, list(words))
    return f"{done.exit_code}\n{done.stdout}{done.stderr}"


def commands(ratings: str, out: str, receipt: str) -> dict[str, str]:
    requested = ["--private", receipt, "--seed", "1"]
    return {
        **{f"list {kind}": called("list", kind) for kind in ("attacks", "models", "methods")},
        "list measures": called("list", "measures"),
        "list settings": called("list", "settings", "--json"),
        **{c: called(c, "--help") for c in ("attack", "check", "anonymize")},
        **{f"{c} all": called(c, "--help-all") for c in ("attack", "check", "anonymize")},
        "attack help": called("attack", "--attack", "toy-attack", "--help"),
        "check help": called("check", "--model", "toy-model", "--help"),
        "anonymize help": called("anonymize", "--method", "toy-method", "--help"),
        "attack run": called(
            "attack", ratings, "--attack", "toy-attack", "--known", "2", "--doubt", "0.5", "--json"
        ),
        "attack refused": called("attack", ratings, "--attack", "toy-attack", "--doubt", "3"),
        "check run": called("check", ratings, "--model", "toy-model", "--toys", "2", "--json"),
        "check lacks": called("check", ratings, "--model", "toy-model"),
        "anonymize run": called(
            *("anonymize", ratings, "--method", "toy-method", "--k", "3", "--pace", "5"),
            *("--out", out, *requested),
        ),
        "attack shown": called("attack", ratings, "--attack", "toy-attack", "--known", "2"),
        "measure shown": called("measure", ratings, out, "--private", receipt),
        "audit shown": called("audit", ratings, out, "--details", *requested),
        "compare shown": called("compare", ratings, "--k", "3", "--seed", "1"),
        "measure run": called("measure", ratings, out, "--private", receipt, "--json"),
        "audit run": called("audit", ratings, out, *requested, "--json"),
        "report run": called("report", ratings, out, *requested, "--out", f"{out}.html"),
        "compare run": called("compare", ratings, "--k", "3", "--seed", "1", "--json"),
    }


def forms() -> dict[str, Any]:
    from starshade.server.ask.attack import ATTACK
    from starshade.server.ask.compare import COMPARE
    from starshade.server.ask.release import RELEASE

    return {
        form.id: {
            field.name: [*(choice.value for choice in field.choices), *field.only_for]
            for field in form.settings({})
        }
        for form in (ATTACK, COMPARE, RELEASE)
    }


def outcome(ratings: str) -> list[list[str]]:
    """What the studio says of an attack."""
    import starshade as ss
    from starshade.server.outcomes import attack_outcome
    from tests.house.toys.attack import ToyAttack

    found = ToyAttack().run(ss.read_ratings(ratings), ss.Knowledge(known=2), rng=1)
    told = attack_outcome(found.to_dict() | {"figures": [f.to_dict() for f in found.found]})
    return [[figure.label, figure.value, figure.meaning] for figure in told.figures]


def main(folder: Path) -> None:
    register()
    import starshade as ss

    ratings, out = folder / "ratings.csv", folder / "out"
    ss.write_ratings(ss.synthesize(n_users=40, n_items=6, n_ratings=150, rng=1), ratings)
    page = run_path(str(HOOKS))["on_page_markdown"]
    found = {
        **commands(str(ratings), str(out), str(folder / "receipt.json")),
        "manifest": json.loads((out / "release.json").read_text("utf-8"))["config"],
        "receipt": json.loads((folder / "receipt.json").read_text("utf-8"))["config"],
        "public": [name for name in ss.__all__ if name.startswith("Toy")],
        "imported": [getattr(ss, f"Toy{toy.title()}").__name__ for toy in TOYS.values()],
        "forms": forms(),
        "outcome": outcome(str(ratings)),
        "reference": page("\n".join(f"<!-- registered: {room} -->" for room in TOYS)),
        "settings": page("\n".join(f"<!-- settings: {room} -->" for room in TOYS)),
        "report": out.with_suffix(".html").read_text(encoding="utf-8"),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
