"""Attacks that take a partitioned store as one table; the method of a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.audit.settings import WITHOUT_RECEIPT
from starshade.cli.options.shards import is_shards
from starshade.naming import called

if TYPE_CHECKING:
    from starshade.ratings.shards.shards import Shards
    from starshade.ratings.table import Ratings
    from starshade.release.table import Release


def as_one_table(
    data: str, chosen: Any, original: str | None, private: str | None, risk_list: str | None
) -> str:
    """Say why an attack takes all ratings as one table, where it does."""
    from starshade.attack.sharded.attack import takes_one_table
    from starshade.ratings.shards.shards import open_shards
    from starshade.release.folder.read import is_release, read_manifest, read_release

    released = original is not None and is_release(data)
    if takes_one_table(chosen, released=released):
        return f"with the attack {chosen.name}" + (" on a release" if released else "")
    if risk_list is not None:
        return "with --risk-list"
    if released and private is None:
        return WITHOUT_RECEIPT
    if released and read_manifest(Path(data)).layout != "profile":
        return "with a release that does not consist of profiles"
    if original and released and hasattr(chosen, "method") and is_shards(original):
        from starshade.audit.shadows import made_again_whole

        release = read_release(data, private=private)
        if setting := made_again_whole(release, open_shards(original)):
            return f"with a release whose shadow releases need one table ({called(setting)})"
    return "with --original or --private" if (original or private) and not released else ""


def with_method(chosen: Any, release: Release, original: Ratings | Shards) -> Any:
    """Return an attack with the method of the release, if it makes shadow releases."""
    if not hasattr(chosen, "method"):
        return chosen
    from starshade.audit.shadows import method_of

    return replace(chosen, method=method_of(release, original))
