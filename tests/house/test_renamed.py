"""The changelog lists every older key with its new name."""

from __future__ import annotations

from starshade.renamed import RENAMED
from tests.house.floors import SRC

CHANGES = (SRC.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_has_every_renamed_key() -> None:
    pairs = {
        (older, now)
        for names in RENAMED.values()
        for older, new in names.items()
        for now in ([new] if isinstance(new, str) else new)
    }
    assert len(pairs) > 50
    assert {
        (older, now) for older, now in pairs if f"| `{older}` | `{now}` |" not in CHANGES
    } == set()
