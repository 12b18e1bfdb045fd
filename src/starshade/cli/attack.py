"""``starshade attack``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from starshade.cli.options import Reading, knowing, knowledge_of, reading
from starshade.cli.run import Run, running
from starshade.cli.show import figures, page, words
from starshade.errors import ConfigError
from starshade.progress import note

if TYPE_CHECKING:
    from starshade.attack.result import AttackResult
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release

__all__ = ["attack"]


@click.command()
@click.argument("data", metavar="DATA")
@click.option(
    "--original", metavar="RATINGS", help="The ratings that a release was made of (needed there)."
)
@click.option("--private", metavar="FILE", help="The owner's receipt: who is which record.")
@click.option("--attack", "name", default="scoreboard-rh", show_default=True, help="Which attack.")
@knowing
@click.option("--targets", type=click.IntRange(1), help="Users to attack. [default: all]")
@click.option("--absent", is_flag=True, help="Attack each target also with its record removed.")
@click.option("--phi", type=float, default=1.5, show_default=True, help="Least eccentricity.")
@click.option("--rho0", type=float, help="Scale of the ratings' decay. [default: 0.375 of width]")
@click.option("--d0", type=float, default=30.0, show_default=True, help="Days' decay.")
@reading()
@running(seed=True)
def attack(
    data: str,
    original: str | None,
    private: str | None,
    name: str,
    targets: int | None,
    absent: bool,
    phi: float,
    rho0: float | None,
    d0: float,
    reading: Reading,
    run: Run,
    **known: Any,
) -> None:
    """Attack DATA (ratings, or a release) as an adversary would who knows a few cells.

    On a release, --original gives the ratings that the adversary's knowledge is drawn from;
    --private scores the answers against the truth, otherwise against what is compatible with it.
    """
    from starshade.attack.registry import ENTRIES
    from starshade.registry import find
    from starshade.release.read import is_release

    chosen = find(ENTRIES, name, "attack").load()(phi=phi, rho0=rho0, d0=d0, absent=absent)
    knowledge = knowledge_of(known)
    started = time.perf_counter()
    table: Ratings | Release
    if is_release(data):
        table, truth = _release(data, original, private, reading)
    else:
        if original is not None or private is not None:
            raise ConfigError(
                f"{data}: --original and --private belong to a release, and these are ratings",
                advice="Leave both out, or name a release folder.",
            )
        table, truth = reading.read(data), None
    read_seconds = time.perf_counter() - started
    result = chosen.run(table, knowledge, original=truth, targets=targets, rng=run.seed)
    source = click.get_current_context().get_parameter_source("day_error")
    if source is ParameterSource.COMMANDLINE and not result.knowledge["dates"]:
        note("--day-error did nothing: no days are known, or the attacked data have none")
    run.emit({**result.to_dict(), "read_seconds": read_seconds}, lambda: _summary(result))


def _release(
    data: str, original: str | None, private: str | None, reading: Reading
) -> tuple[Release, Ratings]:
    """Read a release and the ratings behind it."""
    from starshade.release.read import read_release

    if original is None:
        raise ConfigError(
            f"{data}: is a release; --original is missing",
            advice="Knowledge is drawn from the original ratings: --original RATINGS, with the "
            "options that say how to read them.",
        )
    release = read_release(data, private=private)
    truth = reading.read(original)
    if truth.n_items > release.classes.n_items:
        note(
            f"knowledge is drawn from all {truth.n_items:,} items, of which "
            f"{release.classes.n_items:,} are released; --items restricts it"
        )
    return release, truth


def _summary(result: AttackResult) -> Any:
    bits, absent = result.entropy_bits, result.false_match_absent
    rows = [
        ("records", result.records),
        ("targets", result.targets),
        ("users of whom too little can be known", result.ineligible or None),
        ("matched and right (success)", str(result.success)),
        ("best guess right (expected_top1)", str(result.expected_top1)),
        ("profile found (disclosed)", str(result.disclosed)),
        ("matched and wrong (false_match)", str(result.false_match)),
        ("matched though absent (false_match_absent)", None if absent is None else str(absent)),
        ("bits still missing, mean and median", f"{bits.mean:.2f}, {bits.median:.2f}"),
        ("answers were credited as", result.credit),
    ]
    return page(words(str(result)), figures(rows))
