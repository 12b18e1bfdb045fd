"""Draw the picture of ``docs/attack-explained.md``: python docs/pictures/attack_explained.py.

Writes ``attack-explained.vl.json`` (the figures, as a Vega-Lite specification) and
``attack-explained.svg`` next to this file, from synthetic ratings, so that anyone can redraw it;
with a path as argument, on the ratings there (into the working folder).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import starshade as ss
from starshade.chart import Chart, colours, small_title

HERE = Path(__file__).parent
SEED = 1
K = 5
TOP = 10
FACTS = (1, 2, 3, 4, 6, 8)
#: what is known of each fact, in the words of the legend
WHOLE = {
    "item, rating, date ±14 days": {},
    "item and rating": {"dates": False},
    "item only": {"ratings": False, "dates": False},
}
RELEASED = {"original": False, f"release, k = {K}": True}


def found(ratings: ss.Ratings) -> dict[str, dict[str, list[float]]]:
    """Return panel → line → share of right answers, one for each number of facts."""
    attack = ss.ScoreboardRH()
    whole = {
        name: [
            attack.run(ratings, ss.Knowledge(known=m, **less), rng=SEED).expected_top1.rate
            for m in FACTS
        ]
        for name, less in WHOLE.items()
    }
    top = ss.top_items(TOP)
    part = top.apply(ratings)
    release = ss.KExchange(k=K, items=top).anonymize(ratings, rng=SEED)
    data = {False: part, True: release}
    released = {
        name: [max(_tried(data[made], part, m)) for m in FACTS] for name, made in RELEASED.items()
    }
    return {"whole": whole, "top": released}


def _tried(data: ss.Ratings | ss.Release, part: ss.Ratings, known: int) -> list[float]:
    """Try both attacks of the audit."""
    knowledge = ss.Knowledge(known=known, dates=False)
    original = part if isinstance(data, ss.Release) else None
    return [
        attack.run(data, knowledge, original=original, rng=SEED).expected_top1.rate
        for attack in (ss.ScoreboardRH(), ss.LabelAttack())
    ]


def picture(ratings: ss.Ratings, name: str) -> Chart:
    """Draw both panels."""
    shares = found(ratings)
    told = [
        f"{line}: " + ", ".join(f"{m} known {y:.0%}" for m, y in zip(FACTS, rates, strict=True))
        for panel in shares.values()
        for line, rates in panel.items()
    ]
    return Chart(
        "Re-identification by number of known ratings",
        f"{name}: {ratings.n_users:,} people, {ratings.n_items:,} items, "
        f"{ratings.n_ratings:,} ratings; best guess correct",
        ". ".join(told) + ".",
        {
            "hconcat": [
                _panel("All ratings, names removed", shares["whole"], 0),
                _panel(f"The {TOP} most rated items, no dates", shares["top"], 3, limit=1 / K),
            ],
            "spacing": 36,
            "resolve": {"scale": {"color": "independent", "shape": "independent"}},
        },
    )


def _panel(title: str, lines: dict[str, list[float]], first: int, limit: float = 0) -> Any:
    values = [
        {"facts": m, "found": round(y, 4), "line": line}
        for line, rates in lines.items()
        for m, y in zip(FACTS, rates, strict=True)
    ]
    palette = colours(8)[first : first + len(lines)]
    names = list(lines)
    legend = {"title": None, "orient": "bottom", "columns": 1, "labelFontSize": 12}
    encoding = {
        "x": {
            "field": "facts",
            "type": "quantitative",
            "axis": {"title": "known ratings per target", "values": list(FACTS)},
            "scale": {"domain": [0.5, 8.5]},
        },
        "y": {
            "field": "found",
            "type": "quantitative",
            "axis": {"title": "re-identification", "format": ".0%"},
            "scale": {"domain": [0, 1]},
        },
        "color": {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": names, "range": palette},
            "legend": legend,
        },
        "shape": {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": names, "range": ["circle", "square", "triangle-up"][: len(names)]},
            "legend": legend,
        },
    }
    layers: list[Any] = [
        {
            "data": {"values": values},
            "mark": {"type": "line", "point": {"size": 70, "filled": True}},
            "encoding": encoding,
        }
    ]
    if limit:
        rule = {"y": {"datum": limit}}
        layers.append(
            {
                "data": {"values": [{}]},
                "layer": [
                    {"mark": {"type": "rule", "strokeDash": [5, 4], "color": "#555"}},
                    {
                        "mark": {
                            "type": "text",
                            "text": f"upper bound, 1 in {round(1 / limit)}",
                            "align": "right",
                            "x": 288,
                            "dy": -7,
                            "fontSize": 12,
                            "color": "#555",
                        }
                    },
                ],
                "encoding": rule,
            }
        )
    return {"width": 290, "height": 250, "title": small_title(title), "layer": layers}


def main() -> None:
    """Draw it here, or for a file that is named into the working folder."""
    if len(sys.argv) > 1:
        ratings, name, place = ss.read_ratings(sys.argv[1]), Path(sys.argv[1]).name, Path()
    else:
        ratings, name, place = ss.synthesize("movielens-100k", rng=SEED), "synthetic ratings", HERE
    drawn = picture(ratings, name)
    text = json.dumps(drawn, ensure_ascii=False, indent=1)
    (place / "attack-explained.vl.json").write_text(text + "\n", encoding="utf-8")
    (place / "attack-explained.svg").write_text(drawn.svg() + "\n", encoding="utf-8")
    for shares in found(ratings).values():
        for line, rates in shares.items():
            print(f"{line:30}", *(f"{rate:7.1%}" for rate in rates))


if __name__ == "__main__":
    main()
