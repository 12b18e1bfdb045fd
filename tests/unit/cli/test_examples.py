"""Example classes on a terminal: what the release says, item by item."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

import starshade as ss
from starshade.cli.show import examples
from starshade.release.readable.examples import example_classes
from starshade.release.table import Release


def said(release: Release) -> str:
    console = Console(width=80, legacy_windows=False)
    with console.capture() as capture:
        console.print(examples(example_classes(release)))
    return capture.get()


def test_each_item_has_what_each_class_says_of_it() -> None:
    release = ss.KExchange(k=5).anonymize(ss.synthesize(n_users=60, n_items=6, rng=0), rng=0)
    shown = example_classes(release)
    assert shown is not None
    lines = said(release).splitlines()
    for i, item in enumerate(shown["items"]):
        (line,) = [line for line in lines if line.strip().startswith(f"{item} ")]
        cells = [one["released"][i] for one in shown["classes"]]
        assert " ".join(line.split()) == " ".join([item, *cells])


def test_names_do_not_steer_a_terminal() -> None:
    ratings = ss.synthesize(n_users=20, n_items=3, n_ratings=50, rng=0)
    names = ("\x1b[2Jgone", "two\nlines", "a name of thirty characters in all")
    text = said(ss.KExchange(k=2).anonymize(replace(ratings, item_names=names), rng=0))
    for shown in ("·[2Jgone", "two·lines", "a name of thirty char…"):
        assert shown in text
    assert "\x1b[2J" not in text
