"""What a run refuses before it works: what is out has changed, or settings that cannot hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starshade.anonymize.prepare import rare_ends, shared_levels
from starshade.audit.checks.policy import thresholds_of
from starshade.errors import ConfigError, OutputError, ReleaseError
from starshade.files.side import RELEASE_MANIFEST, read_side
from starshade.project.file import NAME, Project
from starshade.project.state import Published, State
from starshade.project.write import open_questions, outwards
from starshade.ratings.table import Ratings
from starshade.release.folder.read import check_whole
from starshade.release.folder.receipt import read_receipt


def refuse_changed(out: Published, receipt: Path) -> None:
    """Refuse where a release that is out, or its receipt, is not whole as it was published."""
    folder = Path(out.folder)
    if not folder.exists():
        raise OutputError(
            f"{folder}: was published by this project and is not there; the next release "
            "cannot be judged beside it",
            advice="Put a copy of it back.",
        )
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise OutputError(
                f"{place}: is a link, and what is published was no link",
                advice="Put the folder back in its place.",
            )
    if identity(folder) != out.release:
        raise OutputError(
            f"{folder}: is not what this project published there",
            advice="Put a copy of that back.",
        )
    try:
        check_whole(folder)
    except ReleaseError as error:
        raise OutputError(
            f"{folder}: is not what this project published there: {error.message}",
            advice="Put that file back as it was, or take away what was added; whoever has got "
            "it meanwhile should hear so.",
        ) from None
    try:
        read_receipt(receipt, folder)
    except ReleaseError as error:
        raise OutputError(
            f"{error.message}; without it no release can continue {out.name} or be judged beside "
            "it",
            advice="Put a backup of it back.",
        ) from None


def identity(folder: Path) -> str:
    """Return what receipts call a release; empty where there is none."""
    try:
        return hashlib.sha256(read_side(folder / "release.json", RELEASE_MANIFEST)).hexdigest()
    except ReleaseError:
        return ""


def refuse_thresholds(project: Project, state: State) -> None:
    """Refuse before all work what judging would refuse after it."""
    earlier = bool(project.publish.get("earlier") or state.published)
    thresholds_of(project.audit.get("threshold", ()), earlier=earlier)


def refuse_open_question(project: Project, ratings: Ratings) -> None:
    """Refuse ratings that look like codes while the file does not say what they mean."""
    if project.version < 2 or "null_values" in project.data:
        return
    if codes := open_questions(ratings):
        raise ConfigError(
            f"{NAME}: a question is open: {codes[0]}",
            advice="Add that line to [data]; if these are ratings: null-values = [].",
        )


def refuse_found_scale(ratings: Ratings, k: int) -> None:
    """Refuse a scale of which an end is the exact rating of few: the release would state it."""
    if not ratings.report.scale_inferred or ratings.scale.step is not None:
        return
    rare = rare_ends(ratings.scale, shared_levels(ratings, k))
    if rare:
        raise ConfigError(
            f"{NAME}: [data] lacks scale, and fewer than {k} people gave the "
            f"{' or the '.join(rare)} rating: the release would state it as an end of its scale",
            advice="Declare which ratings there can be, for example [data] "
            f'scale = "{outwards(ratings.scale)}".',
        )
