"""What the guides tell one to type works, in their order, and prints what they quote."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import starshade as ss
from starshade.audit.checks.check import EXIT_CODES
from starshade.audit.checks.policy import CHECKED, POLICIES, read_policy
from starshade.ratings.table import Ratings
from tests.system import pages

GUIDES = {
    "choosing-a-method": 4,
    "k-eps-l": 6,
    "nulls": 7,
    "real-scales": 7,
    "attributes": 5,
    "big-data": 6,
    "sources": 4,
    "reading-the-report": 4,
    "ci-gate": 9,
    "policies": 7,
    "publishing-again": 8,
    "shards": 2,
    "spark": 2,
    "training-on-a-release": 6,
    "every-night": 6,
}


def text(name: str) -> str:
    return (pages.DOCS / "guides" / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str, head: str) -> list[list[str]]:
    """Return the cells of the table of a guide that begins with these words."""
    page = text(name)
    lines = page[page.index(f"| {head} |") :].split("\n\n")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_guide_is_tried() -> None:
    assert {path.stem for path in (pages.DOCS / "guides").glob("*.md")} == set(GUIDES)


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDES)
def test_commands_work_and_say_what_is_quoted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"guides/{name}.md"
    assert len(pages.steps(page)) >= GUIDES[name]
    pages.run(page, tmp_path, monkeypatch)
    pages.python(page, {})
    if name == "reading-the-report":
        compare_sections(tmp_path)
    if name == "k-eps-l":
        compare_table_of_k(tmp_path / "by-k" / "compare.json")


def compare_sections(folder: Path) -> None:
    """Find every section of both reports explained, in their order."""
    parts = text("reading-the-report").split("| section of the public report |")
    for edition, part in zip(("report.html", "public.html"), parts, strict=True):
        bold = re.findall(r"^\| \*\*([^*]+)\*\* \|", part, re.M)
        page = (folder / edition).read_text(encoding="utf-8")
        heads = [re.sub("<[^>]+>", "", h) for h in re.findall(r"<h2\b[^>]*>(.*?)</h2>", page, re.S)]
        places = [bold.index(head) for head in heads if head != "Contents"]
        assert len(places) >= (4 if edition == "public.html" else 6)
        assert all(a < b for a, b in pairwise(places))
        assert "Next steps" in page
        assert ("Remaining disclosure" in page) == (edition == "report.html")


def compare_table_of_k(path: Path) -> None:
    """Find the figures of the comparison in the table."""
    told = json.loads(path.read_text(encoding="utf-8"))
    table = rows(
        "k-eps-l",
        "k | re-identification, at most | re-identification, 4 known | rating disclosed | GenILoss",
    )
    assert [(cells[2], cells[3], float(cells[4])) for cells in table] == [
        (
            f"{100 * row['expected_top1']:.1f} %",
            f"{100 * row['users_rating_disclosed']:.1f} %",
            round(row["gen_iloss"], 2),
        )
        for row in (told["original"], *told["rows"])
    ]


@pytest.fixture(scope="module")
def survey() -> Ratings:
    return ss.synthesize("survey", n_users=2000, rng=1)


def test_the_table_of_eps(survey: Ratings) -> None:
    sensitive = ("s01", "s02", "s03", "s04")
    for eps, failing, _ in rows("k-eps-l", "ε | records that fail (of 2,000; k = 5) | read it as"):
        model = ss.KEpsAnonymity(k=5, eps=float(eps), sensitive=sensitive, nulls="ignore")
        assert f"{model.check(survey).failing_records:,}" == failing


def test_the_table_of_l(survey: Ratings) -> None:
    head = "l, on a scale of 1 to 6 | records that fail (k = 5, ε = 2)"
    for least, failing in rows("k-eps-l", head):
        model = ss.KEpsLAnonymity(k=5, eps=2, l=float(least), sensitive=("s01",), nulls="ignore")
        assert f"{model.check(survey).failing_records:,}" == failing


def test_the_workflow_does_what_was_tried() -> None:
    page = text("ci-gate")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    commands = re.findall(r"run: (starshade .*)", workflow)
    tried = [step.command for step in pages.steps("guides/ci-gate.md")]
    assert len(commands) == 3
    assert commands[:2] == tried[1:3]
    assert commands[2].startswith("starshade report ")  # tried in the guide that reads it


def test_the_table_of_policies() -> None:
    policies = {name: read_policy(name) for name in POLICIES}
    assert rows("policies", "policy | when") == [[f"`{n}`", why] for n, why in POLICIES.items()]
    shown = {
        name: [
            "–" if name not in each.thresholds else each.thresholds[name].text(name)
            for each in policies.values()
        ]
        for name in CHECKED
        if any(name in each.thresholds for each in policies.values())
    }
    table = rows("policies", f"check | {' | '.join(POLICIES)}")
    assert {name.strip("`"): values for name, *values in table} == shown
    for policy in policies.values():
        known, large = f"knows {policy.known} ratings", f"({policy.shadows_large} above 20 million"
        assert known in text("policies")
        assert f"{policy.shadows} shadow releases {large}" in text("policies")
    codes = {verdict: code for verdict, code, _ in rows("policies", "verdict | exit code | when")}
    assert codes == {verdict: str(code) for verdict, code in EXIT_CODES.items()}
