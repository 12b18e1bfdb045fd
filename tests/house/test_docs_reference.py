"""Every public name, key of a file and key of a report has its place in the reference."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

import pytest

import starshade
from starshade.audit.dossier.dossier import compile_dossier
from starshade.ratings.synth.synth import synthesize
from starshade.release.folder import receipt
from starshade.release.manifest import Manifest
from tests.house.floors import SRC

ROOT = SRC.parents[1]
DOCS = ROOT / "docs"
shown = run_path(str(DOCS / "hooks.py"))["on_page_markdown"]
FORMAT = (DOCS / "release-format.md").read_text(encoding="utf-8")


def keys(page: str, title: str) -> set[str]:
    """Return the words in code in the first column of the first table behind a title."""
    text = page[page.index(title) :]
    (rows,) = re.findall(r"\n\|---.*?\n((?:\|.*\n)+)", text)[:1]
    return {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_public_name_has_one_place() -> None:
    pages = (DOCS / "reference" / "python").glob("*.md")
    told = [
        name
        for page in pages
        for name in re.findall(r"^::: starshade\.(\w+)$", shown(page.read_text("utf-8")), re.M)
    ]
    assert len(told) == len(set(told))
    assert set(told) == set(starshade.__all__) - {"__version__"}


def test_the_keys_of_a_release() -> None:
    assert keys(FORMAT, "## The keys of `release.json`") == {*Manifest.model_fields, "checksum"}


def test_the_keys_of_a_receipt() -> None:
    assert keys(FORMAT, "## The private key file") == {*receipt._FIELDS, "checksum"}


def test_the_keys_of_a_report(tmp_path: Path) -> None:
    ratings = synthesize(n_users=30, n_items=8, n_ratings=150, rng=0)
    made = starshade.KMember(k=3).anonymize(ratings, rng=0)
    made.save(tmp_path / "out", private=tmp_path / "receipt.json")
    found = compile_dossier(ratings, tmp_path / "out", private=tmp_path / "receipt.json", rng=0)
    page = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    own, public = set(found.internal()), set(found.public())
    assert keys(page, "## The data behind a report") == own | public
    rows = [row.split(" | ", 1) for row in page.splitlines() if row.startswith("| `")]
    for told, alone in (("internal", own - public), ("public", public - own)):
        said = [head for head, *rest in rows if rest and rest[0].startswith(f"{told}: ")]
        assert set(re.findall(r"`(\w+)`", " ".join(said))) == alone


LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#([^)]*))?\)")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_of_the_pages_beside_lead_somewhere(name: str) -> None:
    for path, anchor in LINK.findall((ROOT / name).read_text(encoding="utf-8")):
        target = ROOT / path
        assert target.exists(), path
        if anchor:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}
            assert anchor in slugs, f"{path}#{anchor}"


def test_the_readme_leads_to_the_first_pages() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in ("docs/index.md", "docs/attack-explained.md", "docs/papers.md", "docs/promise.md"):
        assert f"({page})" in readme, page
    assert "make docs" in readme
