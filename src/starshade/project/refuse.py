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
            f"{folder}: this project published it, but it is missing; the next release must be "
            "audited together with it",
            advice="Restore it from a copy.",
        )
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise OutputError(
                f"{place}: is a link; the published release was a folder",
                advice="Restore the folder.",
            )
    if identity(folder) != out.release:
        raise OutputError(
            f"{folder}: differs from what this project published there",
            advice="Restore it from a copy.",
        )
    try:
        check_whole(folder)
    except ReleaseError as error:
        raise OutputError(
            f"{folder}: differs from what this project published there: {error.message}",
            advice="Restore that file, or remove what was added. Inform everyone who received "
            "it in the meantime.",
        ) from None
    try:
        read_receipt(receipt, folder)
    except ReleaseError as error:
        raise OutputError(
            f"{error.message}; without it no release can continue {out.name} or be audited "
            "together with it",
            advice="Restore it from a backup.",
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
            f"{NAME}: an open question: {codes[0]}",
            advice="Add that line to [data]; if these values are ratings: null-values = [].",
        )


def refuse_found_scale(ratings: Ratings, k: int) -> None:
    """Refuse a scale of which an end is the exact rating of few: the release would state it."""
    if not ratings.report.scale_inferred or ratings.scale.step is not None:
        return
    rare = rare_ends(ratings.scale, shared_levels(ratings, k))
    if rare:
        raise ConfigError(
            f"{NAME}: [data] lacks scale, and fewer than {k} people gave the "
            f"{' or the '.join(rare)} rating: the release would publish it as an end of its "
            "scale",
            advice="Declare the possible ratings, for example [data] scale = "
            f'"{outwards(ratings.scale)}".',
        )
