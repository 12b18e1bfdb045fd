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
from starshade.cli.show import examples, page, useful, words
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
    """See the whole story on made-up ratings, in about a minute.

    Seconds once the kernels are compiled.
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
    from starshade.audit.demo import judged, tell

    story = tell(place, rng=run.seed)
    wrote(place)
    if reports:
        note("writing a report on it, in two editions")
        dossier = judged(story, f"starshade demo --seed {run.seed} --out {out}-again")
        for edition, report in zip(_EDITIONS, reports, strict=True):
            write(dossier, report, public=bool(edition))
    names = list(map(str, reports))
    payload = {**story.to_dict(), "out": out, "reports": names, "seconds": run.seconds}
    run.emit(payload, lambda: _summary(story, out, names))


def _summary(story: Story, out: str, reports: list[str]) -> Any:
    before, between, after = story.attack_before, story.attack_between, story.attack_after
    release, check = story.made.figures, story.check
    k = release["k"]
    return page(
        words("1. These data identify people", style="bold"),
        words(
            f"{counted(story.users, 'person', 'people')} rated "
            f"{counted(story.items, 'item')}, {story.ratings:,} times in all "
            "(made up, to behave like MovieLens 100K). The names are gone; is that enough? "
            "Somebody knows eight ratings of one person, with dates to within two weeks, and is "
            f"wrong about two of them. Their best guess is the right record in "
            f"{percent(before.expected_top1.rate)} of {counted(before.targets, 'case')}, and in "
            f"{percent(before.success.rate)} it stands out so clearly that they can be sure. "
            "All that the person ever rated is then known."
        ),
        words("2. This release does not", style="bold"),
        words(
            f"{release['method']} put {counted(release['records'], 'person', 'people')} into "
            f"{counted(release['groups'], 'group')} of at least {k}, and published one profile for "
            "each group: what it would rate each of "
            f"{counted(release['items'], 'item')}, as a model predicts. The check, "
            "which shares no code with the method, "
            + ("agrees" if check.satisfied else "DOES NOT AGREE")
            + f": the smallest set of equal records has {check.smallest_group:,}."
        ),
        examples(story.examples),
        words(
            "Now the attacker knows four ratings exactly, all of them on released items. On the "
            f"ratings themselves that finds {percent(between.expected_top1.rate)} of the "
            f"people; on the release {percent(after.expected_top1.rate)}, and never more "
            f"than one in {k}, {percent(1 / k)}."
        ),
        words("3. This is what it still tells", style="bold"),
        next(useful(story.made.found)),
        words(
            "No rating is in a profile as it was, and a profile does not say which items its "
            "people rated. But all ratings taught the model: someone who knows a person's ratings "
            "may learn that they took part, and guess better what else they rated. The report "
            "measures both."
        ),
        words(_read_on(out, reports)),
        words(
            "With data of your own:\n"
            "  starshade anonymize RATINGS --k 5 --out DIR --private RECEIPT\n"
            "  starshade audit RATINGS DIR --private RECEIPT"
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
