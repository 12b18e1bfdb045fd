"""The release in a dossier: its claims, its method, its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.audit.result import AuditResult
from starshade.plain import counted
from starshade.release.band import in_words
from starshade.release.manifest import FORMAT_VERSION
from starshade.release.table import Release

__all__ = ["claim_rows", "files_of", "method_section", "model_rows", "versions_of"]

_LAYOUTS = {
    "generalized": "The records of a class have equal cells. A cell says what a rating may be: "
    "one value, one of several, or that there is none.",
    "record": "Each person has a record of their own, whose ratings may have been moved.",
    "profile": "The people of a group share one profile: one rating for each item.",
}
_PROFILES = {
    "padded": "A cell is a mean over a group, in which real ratings and predictions are mixed.",
    "simple": "A cell is the mean of the ratings that members of a group really gave.",
    "model": "A cell is what a model predicts, averaged over a group; no real rating is in it.",
    "pooled": "A cell is what a model predicts for a group as if it were one person.",
}
_HOW = {
    True: "Counted on the written files, by a check that shares no code with the method.",
    False: "Counted on the written files, which do not bear the claim out.",
}
#: what a model requires, in words; its parameters stand in braces
_REQUIREMENTS = {
    "k-anonymity": "every record equals at least {others}{by}",
    "review-graph": "every record has at least {others} with the same items and ratings",
    "k-eps": "every record has at least {others} whose ratings differ from its own by no "
    "more than {eps}",
    "k-eps-l": "every record has at least {others} whose ratings differ from its own by no "
    "more than {eps}, and among these each sensitive rating spreads by {l} or more",
    "diversity": "whatever {b} items somebody rated together stand in at least {l} profiles",
    "l-diversity": "among equal records {attribute} has at least {l} different values",
    "t-closeness": "among equal records {attribute} is spread almost as among all, no more than "
    "{t} away",
}
_COUNTED = {
    "smallest_group": "the smallest group of such records has {}",
    "smallest_group_at_least": "the smallest group of such records has {} or more",
    "smallest_sd": "the smallest spread is {}",
    "smallest_l": "the fewest different values are {}",
    "largest_t": "the farthest away is {}",
}


def claim_rows(claims: Iterable[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """Return each claim: what it requires, what was counted, and how; `by`: `Manifest.alike_by`."""
    return [
        {
            "model": claim["model"],
            "asked": _requirement(claim["model"], claim["parameters"], by),
            "verified": "; ".join(
                _COUNTED.get(name, f"{name} = {{}}").format(_value(count))
                for name, count in claim["verified"].items()
            )
            or "nothing that the files would show",
            "holds": bool(claim["holds"]),
            "how": _HOW[bool(claim["holds"])],
        }
        for claim in claims
    ]


def _requirement(model: str, parameters: Mapping[str, Any], by: str) -> str:
    """Say what a claim requires: its parameters, and what they mean where that is known."""
    text = ", ".join(f"{name} = {_value(value)}" for name, value in parameters.items())
    words = {name: _value(value) for name, value in parameters.items()} | {"by": by}
    k = parameters.get("k")
    if type(k) is int:
        words["others"] = counted(k - 1, "other")
    try:
        return f"{text}: {_REQUIREMENTS[model].format(**words)}"
    except KeyError:  # no model of ours, or not all of its parameters: the claim does not hold
        return text


def model_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return the results of the checks of the claimed models."""
    named = {claim["model"] for claim in result.claims}
    return [asdict(f) for f in result.findings if f.name.partition(" of ")[0] in named]


def method_section(release: Release) -> dict[str, Any]:
    """Say how the release was made, as it says itself; with its receipt in figures, not bands."""
    manifest, exact = release.manifest, release.exact
    names = ("users_deleted", "users_without_rating", "rare_items_dropped")
    return {
        "name": manifest.method,
        "summary": next((e.summary for e in METHODS if e.name == manifest.method), ""),
        "config": [
            {"name": name, "value": _value(value)} for name, value in manifest.config.items()
        ],
        "layout": manifest.layout,
        "layout_meaning": _LAYOUTS[manifest.layout],
        "profile": manifest.profile,
        "profile_meaning": _PROFILES.get(manifest.profile or "", ""),
        "audience": manifest.audience,
        "k": manifest.claimed_k,
        **{name: getattr(manifest, name) for name in ("records", "items", "classes")},
        **{
            name: in_words(getattr(manifest, name)) if exact is None else getattr(exact, name)
            for name in names
        },
    }


def files_of(folder: Path, release: Release) -> list[dict[str, Any]]:
    """Return the files of the release; their hashes were checked when it was opened."""
    own = hashlib.sha256((folder / "release.json").read_bytes()).hexdigest()
    hashes = {"release.json": own, **release.manifest.files}
    return [
        {"name": name, "sha256": digest, "bytes": (folder / name).stat().st_size}
        for name, digest in hashes.items()
    ]


def versions_of(release: Release) -> dict[str, Any]:
    """Return the versions of starshade that made and that judged, and of the format."""
    return {
        "starshade": __version__,
        "made_with": release.manifest.starshade,
        "format": min(release.manifest.format, FORMAT_VERSION),
    }


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
