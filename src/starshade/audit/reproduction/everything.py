"""`reproduce_all`: the studies of all papers on one data set, and what holds of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from starshade._version import __version__
from starshade.arguments import typed
from starshade.audit.attempts import size_of
from starshade.audit.reproduction.claims import Judged, by_data, counts, summed, told
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.papers import PAPERS
from starshade.audit.reproduction.parts import Parts
from starshade.audit.reproduction.study import PaperStudy, known_data, refuse_few, sized
from starshade.errors import ConfigError, OutputError, UserError
from starshade.figure import Table
from starshade.naming import called, speak
from starshade.plain import counted
from starshade.progress import announced, task
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.rng import Rng, generator, resolve_seed

Row = dict[str, Any]


@dataclass(frozen=True)
class Everything:
    """The studies of all papers on one data set. Internal: single users are counted.

    Attributes
    ----------
    data : dict
        Size and scale; `known`: the data set that papers speak of, where this is one.
    studies : tuple of PaperStudy
    skipped : tuple of Skipped
        Papers that these data do not support, and why.
    runs : int
        Runs of each experiment, each with its own seed.
    seed : int
    digest : str
        SHA-256 over the ratings.
    version : str
    """

    data: Row
    studies: tuple[PaperStudy, ...]
    skipped: tuple[Skipped, ...]
    runs: int
    seed: int
    digest: str
    version: str = field(default=__version__)

    @property
    def called(self) -> str:
        """The name of the data."""
        data = self.data
        return data["known"] or ("made-up ratings, " if data["synthetic"] else "") + sized(data)

    @property
    def summary(self) -> tuple[str, ...]:
        """What holds of the papers, in at most ten lines."""
        judged = [each for study in self.studies for each in study.claims]
        ours = [each for each in judged if each.claim.ours]
        known = {each.claim.number for each in judged}
        papers = [e for e in judged if not e.claim.ours and e.claim.same not in known]
        again = len(judged) - len(ours) - len(papers)
        lines = (
            told((*papers, *ours), counted(len(self.studies), "paper"), self.runs)
            + (f" {counted(again, 'claim')} shared by two papers: counted once." if again else "")
            + f" Data: {self.called}.",
            *map(_of_paper, self.studies),
            *_causes(papers),
            *self._untested(papers),
            *_cells(self.studies),
        )
        return tuple(lines)

    def _untested(self, papers: Sequence[Judged]) -> Iterator[str]:
        reasons = Counter(self._why_not(e) for e in papers if e.verdict == "cannot be tested")
        if reasons:
            parts = (f"{why} ({reasons[why]})" for why in sorted(reasons))
            yield f"Why claims cannot be tested: {'; '.join(parts)}."

    def _why_not(self, judged: Judged) -> str:
        if judged.claim.lost:
            return "lost pictures or unavailable data"
        if judged.claim.about not in ("", self.data["known"]):
            return "about other ratings"
        if judged.found is None:
            return "these data lack what is needed"
        return "interval crosses the criterion"

    @property
    def table(self) -> Table:
        """The verdicts of each paper's claims, counted."""
        head = ("paper", "claims", "hold", "do not hold", "cannot be tested", "by proof or example")
        title = "Each paper's claims decided by data, and by proof or example"
        return Table(title, head, tuple(_row(study) for study in self.studies))

    @property
    def claims(self) -> list[Row]:
        """A row for each claim, to compare with other data."""
        return [row for study in self.studies for row in claim_rows(study, self.called)]

    def to_dict(self) -> Row:
        """Return the whole as plain JSON values; no user and no item is named."""
        return {
            "data": self.data,
            "summary": list(self.summary),
            "studies": {study.key: study.to_dict() for study in self.studies},
            "skipped": [{"paper": each.figure, "reason": each.reason} for each in self.skipped],
            "runs": self.runs,
            "seed": self.seed,
            "digest": self.digest,
            "version": self.version,
        }

    def __str__(self) -> str:
        return self.summary[0]


PAPERS_OWN = "the paper's"
#: of ``claims.csv``
COLUMNS = (
    *("paper", "claim", "says", "whose", "decided_by", "holds_if", "verdict", "value", "low"),
    *("high", "runs", "users", "reason", "cause", "data"),
)


def claim_rows(study: PaperStudy, data: str) -> list[Row]:
    """Return a row for each claim of a study; `data`: the name of its ratings."""
    return [
        dict(zip(COLUMNS, (study.key, *_cells_of(each), data), strict=True))
        for each in study.claims
    ]


def _cells_of(judged: Judged) -> tuple[Any, ...]:
    found, claim = judged.found, judged.claim
    return (
        claim.number,
        claim.says,
        "ours" if claim.ours else PAPERS_OWN,
        claim.decided_by,
        claim.holds_if,
        judged.verdict,
        *([None] * 5 if found is None else astuple(found)[:5]),
        judged.reason,
        judged.cause,
    )


def _row(study: PaperStudy) -> tuple[str, ...]:
    data, beyond = by_data(each for each in study.claims if not each.claim.ours)
    count = counts(data)
    numbers = (len(data), *(count[v] for v in ("holds", "does not hold", "cannot be tested")))
    return (study.authors, *map(str, numbers), f"{counts(beyond)['holds']} of {len(beyond)}")


def _of_paper(study: PaperStudy) -> str:
    data, _ = by_data(each for each in study.claims if not each.claim.ours)
    text = f"{study.authors}: {counted(len(data), 'claim')} decided by data: {summed(data)}."
    return " ".join([text, *map(_famous, foremost(data))])


def foremost(papers: Iterable[Judged]) -> list[Judged]:
    """Return the first claim that holds and the first that does not.

    First are those of the abstract, then of the introduction, then the others as they stand.
    """
    ranked = sorted(papers, key=lambda each: _prominence(each.claim.place))
    found = ([e for e in ranked if e.verdict == verdict] for verdict in ("holds", "does not hold"))
    return [own[0] for own in found if own]


def _prominence(place: str) -> int:
    if re.match(r"abstract", place, re.I):
        return 0
    return 1 if re.match(r"§1\b", place) else 2


def _famous(judged: Judged) -> str:
    if judged.verdict == "holds":
        return f"Holds: {judged.claim.says} ({judged.claim.statistic}: {judged.ours})."
    sought = "cause unknown" if judged.unexplained else judged.cause
    why = sought if judged.tried else "cause not sought"
    return f"Does not hold: {judged.claim.says} ({judged.claim.statistic}: {judged.ours}; {why})."


def _causes(papers: Sequence[Judged]) -> Iterator[str]:
    failed = [each for each in papers if each.verdict == "does not hold"]
    if failed:
        unknown = sum(each.unexplained for each in failed)
        unsought = sum(not each.tried for each in failed)
        yield (
            f"Causes of the {len(failed)} claims that do not hold: "
            f"{len(failed) - unknown - unsought} shown by an intervention, {unknown} unknown"
            + (f", {unsought} not sought." if unsought else ".")
        )


def _cells(studies: Iterable[PaperStudy]) -> Iterator[str]:
    tables = [table for study in studies for table in study.worked]
    if tables:
        yield (
            f"Worked examples: {sum(t.equal for t in tables):,} of {sum(t.cells for t in tables):,}"
            f" cells in {counted(len(tables), 'table')} equal the papers'."
        )


@typed
@announced("the studies of all papers")
def reproduce_all(
    ratings: Ratings | None = None,
    *,
    runs: int = 5,
    parts: Parts | None = None,
    done: Callable[[Everything], object] = lambda so_far: None,
    rng: Rng = None,
) -> Everything:
    """Run the studies of all papers on any ratings.

    Parameters
    ----------
    ratings : Ratings, optional
        With dates and personal attributes, where there are any. None: made-up ratings of
        MovieLens 100K's size.
    runs : int
        Runs of each experiment, each with its own seed; at least 1.
    parts : Parts, optional
        Storage of finished parts, to resume an interrupted run.
    done : callable
        Called after each study, with all studies so far.
    rng : int, Generator or None

    Returns
    -------
    Everything
        A study for each paper, except those that these data do not support, with the reason.

    Raises
    ------
    ConfigError
        `runs` below 1, or fewer than two users or items.
    """
    if runs < 1:
        raise ConfigError(f"{called('runs')} {runs}: at least 1")
    seed, kept, synthetic = resolve_seed(rng), parts or Parts(), ratings is None
    if ratings is None:
        ratings = synthesize(rng=generator(seed, "made-up ratings"))
    refuse_few(ratings)
    known = "" if synthetic else known_data(ratings)
    data = {**size_of(ratings), "synthetic": synthetic, "known": known}
    found = Everything(data, (), (), runs, seed, digest_of(ratings))
    with task("papers", len(PAPERS)) as step:
        for key, paper in PAPERS.items():
            settings = {"runs": runs, "parts": kept.within(key), "rng": seed}
            try:
                with speak(lambda setting, value: ""):  # a study's options are not ours
                    study: Any = paper.function(ratings, **settings)
            except OutputError:  # of parts: no fault of the data
                raise
            except UserError as error:
                left_out = Skipped(paper.authors, "the whole study", error.message)
                found = replace(found, skipped=(*found.skipped, left_out))
            else:
                own = study.data | ({"synthetic": True} if synthetic else {})
                found = replace(found, studies=(*found.studies, replace(study, data=own)))
                done(found)
            step(1)
    return found
