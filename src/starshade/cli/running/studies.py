"""What the papers' studies share on the command line: options, finished parts, output."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from starshade._version import __version__
from starshade.cli.options.help import WRITTEN, Explained, grouped
from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.options.spelling import Whole, as_option
from starshade.cli.running.errors import keeps
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, explained, figures, judged, page, words, worked
from starshade.errors import ConfigError
from starshade.progress import note

if TYPE_CHECKING:
    from starshade.audit.reproduction.parts import Parts
    from starshade.audit.reproduction.study import PaperStudy
    from starshade.ratings.table import Ratings

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Asked:
    """The request for a study."""

    key: str
    data: str | None
    out: str | None
    runs: int
    resume: bool
    reading: Reading
    run: Run

    def ratings(self, made_up: str, **how: Any) -> Ratings | None:
        """Read the data; None without any. `made_up`: the default data, for the error message."""
        if self.data is None:
            if self.reading.items or self.reading.arguments():
                raise ConfigError(
                    "options for reading ratings need --data",
                    advice=f"Give the ratings with --data; without it {made_up} made up.",
                )
            return None
        return self.reading.read(self.data, **how)

    def begin(self) -> None:
        """Refuse a place that is taken, and parts of another run, before the long work."""
        from starshade.audit.reproduction.claims import ENOUGH

        if self.runs < ENOUGH:
            note(f"--runs {self.runs}: intervals over runs need at least {ENOUGH}")
        if self.out is None:
            if self.resume:
                raise ConfigError(
                    "--resume needs --out: finished parts are next to its folder",
                    advice="Give the same --out as before.",
                )
            return
        from starshade.audit.reproduction.parts import alone, request_of

        folder = self._folder(self.out)
        kept = request_of(folder)
        if kept is None:
            with suppress(OSError):
                folder.rmdir()  # empty: a run was killed when it had removed its parts
            if os.path.lexists(folder):  # a link that leads nowhere too
                raise ConfigError(
                    f"{folder}: exists, but holds no parts of a run", advice="Move it away first."
                )
            if self.resume:
                note(f"starting from the beginning: {folder} does not exist")
            return
        with alone(folder):
            pass
        if not self.resume:
            raise ConfigError(
                f"{folder}: finished parts of an interrupted run",
                advice="Resume it with --resume, or remove the folder to start again.",
            )
        if self.run.given_seed is None:
            self.run.given_seed = kept.get("seed")

    @contextmanager
    def parts(self, ratings: Ratings | None, settings: Mapping[str, Any]) -> Iterator[Parts]:
        """Keep finished parts next to the folder until it is complete."""
        from starshade.audit.reproduction.parts import Parts, alone
        from starshade.release.folder.digest import digest_of

        if self.out is None:
            yield Parts()
            return
        digest = None if ratings is None else digest_of(ratings)
        request = {"study": self.key, "data": digest, "seed": self.run.seed, "runs": self.runs}
        request |= {as_option(name)[2:]: _plain(each) for name, each in settings.items()}
        folder = self._folder(self.out)
        parts = Parts(folder, request | {"version": __version__})
        with alone(folder):
            try:
                ensure_free(self.out)  # another run may have ended since
                keeps(folder)
                yield parts
                parts.remove()
            finally:
                if not parts.finished:
                    parts.remove()
                    keeps(None)

    def _folder(self, out: str) -> Path:
        place = ensure_free(out)
        return place.path.with_name(f"{place.path.name}.parts")

    def answer(
        self, ratings: Ratings | None, shown: Callable[[Any], list[Any]] | None = None, **also: Any
    ) -> None:
        """Run the study, write it to its folder, and print a summary.

        `shown`: what to print after its tables; `also`: the study's own settings.
        """
        from starshade.audit.reproduction.papers import PAPERS
        from starshade.report.reproduction import save_study

        with self.parts(ratings, also) as parts:
            own = also | {"runs": self.runs, "parts": parts, "rng": self.run.seed}
            study = PAPERS[self.key].function(ratings, **own)
            files = () if self.out is None else save_study(study, self.out)
        self.run.emit(
            {**study.to_dict(), "seconds": self.run.seconds, "out": self.out},
            lambda: _summary(study, [] if shown is None else shown(study), self.out, len(files)),
        )


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, range | tuple) else value


def _summary(study: PaperStudy, shown: list[Any], out: str | None, files: int) -> Any:
    left = [(f"{place(each.figure)}: {each.what}", each.reason) for each in study.skipped]
    return page(
        words(str(study)),
        judged(study.claims) if study.claims else None,
        worked(study.worked) if study.worked else None,
        *(columns(grid.head, grid.rows, title=grid.title) for grid in study.grids),
        *shown,
        figures(left, "Left out") if left else None,
        words(f"{out}: {files} files; start with README.md") if out else None,
    )


def place(figure: str) -> str:
    """Return the title of a figure; a part with its own name keeps it."""
    return f"Fig. {figure}" if figure[:1].isdigit() else figure


def at_least(least: int, name: str, default: int, text: str) -> Option:
    """Add a whole-number option to a command."""
    kind = Whole(least)
    return click.option(name, type=kind, default=default, show_default=True, help=text)


RUNS = at_least(1, "--runs", 5, "Runs of each experiment, each with its own seed")
RESUME = click.option(
    "--resume", is_flag=True, help="Resume an interrupted run from its finished parts"
)


def study(
    key: str, data: str, example_of: str, *options: Option
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function the command that runs a paper's study; it takes an `Asked`.

    `data`: the help on --data; `options`: the study's own options.
    """
    shared: tuple[Option, ...] = (
        click.option("--data", metavar="PATH", help=data),
        *options,
        RUNS,
        click.option(
            "--explain",
            is_flag=True,
            help="Show the configurations and the criterion of each claim; needs no data",
        ),
        grouped(
            WRITTEN,
            click.option("--out", metavar="DIR", help="Folder for all results and a page"),
            RESUME,
        ),
        reading(),
        running(seed=True),
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(explain: bool, run: Run, **options: Any) -> None:
            if explain:
                from starshade.audit.reproduction.papers import PAPERS

                paper = PAPERS[key]
                run.emit(paper.to_dict(), lambda: explained(paper))
                return
            names = ("data", "out", "runs", "resume", "reading")
            asked = Asked(key, run=run, **{name: options.pop(name) for name in names})
            asked.begin()
            command(asked, **options)

        example = f"starshade reproduce {key} {example_of}"
        return click.command(name=key, cls=Explained, example=example)(_with(shared, wrapper))

    return decorate


def _with(options: Iterable[Option], command: Callable[..., Any]) -> Callable[..., Any]:
    return functools.reduce(lambda f, option: option(f), reversed([*options]), command)
