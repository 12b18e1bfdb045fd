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
    help="Where the release goes; must not exist.",
)
@running(seed=True)
def demo(out: str, run: Run) -> None:
    """See the whole story on synthetic ratings, in about a minute.

    Identify people, anonymize, attack again, decide, utility. Seconds once kernels are compiled.
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
        note("writing a report on it, in two editions")
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
        words("1. These data identify people", style="bold"),
        words(
            f"{counted(story.users, 'person', 'people')} rated "
            f"{counted(story.items, 'item')}, {story.ratings:,} times in all "
            "(synthetic data, like MovieLens 100K). There are no names; is that enough? "
            "An adversary knows eight ratings of a person, with dates to within two weeks, and is "
            f"wrong about two of them. Their best guess is the right record in "
            f"{percent(before.expected_top1.rate)} of {counted(before.targets, 'case')}, and in "
            f"{percent(before.success.rate)} it stands out so clearly that they can be sure. "
            "All that the person ever rated is then known."
        ),
        words("2. A release of profiles", style="bold"),
        words(
            f"{release['method']} put {counted(release['records'], 'person', 'people')} into "
            f"{counted(release['groups'], 'class', 'classes')} of at least {release['k']}, and "
            "published one profile for each class: what it would rate each of "
            f"{counted(release['items'], 'item')}, as a model predicts. These values are imputed: "
            "a profile does not say which items its people rated."
        ),
        examples(story.examples),
        words("3. Attacked again, and decided", style="bold"),
        decided(audit.verdict, first_screen(audit, advice)),
        words(
            "Each row is the strongest attack that was tried. The release may be published where "
            "every check is within its threshold: for a partner, by the policy of that name. "
            "Utility compares it with what a list of means would say."
        ),
        words(_read_on(out, reports)),
        words(
            "With data of your own:\n"
            "  starshade anonymize RATINGS --k 5 --out DIR --private KEY-FILE\n"
            "  starshade audit RATINGS DIR --private KEY-FILE"
        ),
    )


def _read_on(out: str, reports: list[str]) -> str:
    text = f"The release is in {out}/ (read its README.md)"
    if not reports:
        return f"{text}. To get a report on it as a page: pip install 'starshade[report]'."
    own, public = reports
    return (
        f"{text}, the report on it beside: {own} for its owner, {public} for everybody. Open one "
        "in a browser."
    )
