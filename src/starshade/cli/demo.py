"""``starshade demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.help import Explained
from starshade.cli.options.shared import ensure_free
from starshade.cli.report import can_report, place_for, write
from starshade.cli.running.errors import wrote
from starshade.cli.running.run import Run, running
from starshade.cli.show import decided, examples, page, words
from starshade.plain import counted, percent
from starshade.progress import note

if TYPE_CHECKING:
    from starshade.audit.demo import Story

_EDITIONS = ("", "-public")


@click.command(cls=Explained, example="starshade demo --out demo/")
@click.option(
    "--out",
    default="starshade-demo",
    show_default=True,
    metavar="DIR",
    help="Release folder; must not exist",
)
@running(seed=True)
def demo(out: str, run: Run) -> None:
    """Show the whole process on synthetic ratings, in about a minute.

    Attack the data, anonymize them, attack the release, audit it and measure utility. Later runs
    take seconds, once kernels are compiled.
    """
    from starshade.ratings.places.atomic import sweep_beside
    from starshade.ratings.places.place import Place

    for edition in _EDITIONS:  # of a demo that was killed when its release was in place
        sweep_beside(Path(f"{Place.of(out).path}-report{edition}.html"))
    place = ensure_free(out)
    reports = (
        [place_for(place.beside(f"{place.name}-report{e}.html"), "the report") for e in _EDITIONS]
        if can_report()
        else []
    )
    from starshade.audit.demo import tell

    story = tell(place, run.seed, f"starshade demo --seed {run.seed} --out {out}-again")
    wrote(place)
    if reports:
        note("writing the internal and the public report")
        for edition, report in zip(_EDITIONS, reports, strict=True):
            write(story.dossier, report, public=bool(edition))
    names = list(map(str, reports))
    payload = {**story.to_dict(), "out": out, "reports": names, "seconds": run.seconds}
    run.emit(payload, lambda: _summary(story, out, names))


def _summary(story: Story, out: str, reports: list[str]) -> Any:
    from starshade.audit.checks.advice import advice_on
    from starshade.audit.screen import first_screen

    audit = story.audit
    advice = advice_on(audit, story.made.release)
    before, release = story.attack_before, story.made.figures
    return page(
        words("1. Attack on the original data", style="bold"),
        words(
            f"{counted(story.users, 'person', 'people')} rated "
            f"{counted(story.items, 'item')}, {story.ratings:,} ratings in total "
            "(synthetic data, similar to MovieLens 100K, without names). "
            "An adversary knows eight ratings of a target with dates to within two weeks; two of "
            "the ratings are wrong. The best guess is the correct record for "
            f"{percent(before.expected_top1.rate)} of {counted(before.targets, 'target')}; the "
            f"guess is confident and correct for {percent(before.success.rate)}. "
            "A re-identified record discloses all ratings of that person."
        ),
        words("2. A release of profiles", style="bold"),
        words(
            f"{release['method']} put {counted(release['records'], 'person', 'people')} into "
            f"{counted(release['groups'], 'class', 'classes')} of at least {release['k']}, and "
            "published one profile per class: a predicted rating for each of "
            f"{counted(release['items'], 'item')}. Predicted values are imputed: "
            "a profile does not show which items its users rated."
        ),
        examples(story.examples),
        words("3. Audit of the release", style="bold"),
        decided(audit.verdict, first_screen(audit, advice)),
        words(
            "Each row is the strongest attack that was tested. The release may be published if "
            "every check is within its threshold; the policy `partner` is for release to a "
            "partner. The baseline of utility is a list of item means."
        ),
        words(_read_on(out, reports)),
        words(
            "On your own data:\n"
            "  starshade anonymize RATINGS --k 5 --out DIR --private KEY-FILE\n"
            "  starshade audit RATINGS DIR --private KEY-FILE"
        ),
    )


def _read_on(out: str, reports: list[str]) -> str:
    text = f"The release is in {out}/ (see its README.md)"
    if not reports:
        return f"{text}. For reports: pip install 'starshade[report]'."
    own, public = reports
    return (
        f"{text}, with the internal report {own} and the public report {public}. Open them in a "
        "browser."
    )
