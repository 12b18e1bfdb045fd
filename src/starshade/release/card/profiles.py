"""The words of the dataset card for layout "profile"."""

from __future__ import annotations

from starshade.release.manifest import Manifest

__all__ = ["cells_are", "how_to_read", "level_bytes", "remains", "stands_behind"]

_READ_PROFILE = """\
import numpy as np, pyarrow.parquet as pq
column = pq.read_table("profiles.parquet", columns=["profile"])["profile"]
codes = np.frombuffer(b"".join(column.to_pylist()), "u1").reshape(-1, {items})
ratings = np.append(np.nan, {minimum!r} + {step!r} * np.arange({n}))  # ratings[codes[0]]: class 0
"""

_AVERAGE = (
    "\n**Hiding among k is not hiding what you rated.** Whoever finds a person's class reads its "
    "profile. "
)
_REMAINS: dict[str | None, str] = {
    None: _AVERAGE + "Its cells are means, and in a small class one rating moves a mean.",
    "padded": _AVERAGE + "Its cells are means over the class of ratings and, where there was "
    "none, of what a model predicts: one rating moves a mean by no more than the share of its "
    "person in the class. Which cells rest on ratings is not told, but a cell that differs "
    "from what a model would predict may show it.",
    "simple": _AVERAGE + "A cell is the mean of the ratings of those of the class who rated the "
    "item{alone}. A null says that {few} of the class rated the item.",
    "model": _AVERAGE + "Its cells are what a model predicts for the class. No rating stands in "
    "it, but the model was fitted to the ratings of everybody, those of the class among them.",
    "pooled": _AVERAGE + "Its cells are what a model predicts for the class as if it were one "
    "person. No rating stands in it, but the model was fitted to the ratings of everybody, and "
    "this prediction to those of the class.",
}
_CELLS: dict[str | None, str] = {
    None: "Every class has one profile: means of the ratings of its people; null means no rating.",
    "padded": "Every class has one profile: for each item the mean over its people, each counting "
    "with their rating or, where they did not rate it, with what a model predicts for them.",
    "simple": "Every class has one profile: for each item the mean of the ratings of those of its "
    "people who rated it; null means that {few} of the class did.",
    "model": "Every class has one profile: for each item the mean of what a model predicts for "
    "its people; no rating stands in it.",
    "pooled": "Every class has one profile: for each item what a model predicts for the class as "
    "if it were one person who gave all its ratings; no rating stands in it.",
}


def cells_are(manifest: Manifest) -> str:
    """Say what a cell of a profile is."""
    return _CELLS[manifest.profile].format(**_raters(manifest))


def remains(manifest: Manifest) -> str:
    """Say what a profile tells of its class."""
    return _REMAINS[manifest.profile].format(**_raters(manifest))


def _raters(manifest: Manifest) -> dict[str, str]:
    least = manifest.config.get("min_raters", 1)
    if least == 1:
        return {
            "few": "nobody",
            "alone": ": where one did, it is that person's rating, only not their name",
        }
    return {"few": f"fewer than {least}", "alone": ""}


def how_to_read(manifest: Manifest) -> str:
    """Return three lines of Python that open the profiles, behind an import."""
    scale, step = manifest.scale, manifest.profile_step or 1.0
    n = round((scale.maximum - scale.minimum) / step) + 1
    return _READ_PROFILE.format(minimum=scale.minimum, step=step, n=n, items=manifest.items)


def level_bytes(manifest: Manifest) -> str:
    """Say what the bytes of a profile are."""
    return (
        "one byte per item in the order of items.parquet: 0 = null, "
        f"1 = {manifest.scale.minimum:g}, each further level {manifest.profile_step:g} more"
    )


def stands_behind(manifest: Manifest) -> str:
    """Say what is not known of invented cells of a profile."""
    if manifest.profile != "simple":
        return "were rated by nobody of their class"
    return "are not the mean of ratings of their class, but filled in so that groups are alike"
