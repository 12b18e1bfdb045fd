"""Each paper's claims and configurations: numbered, explained, and backed by the errata."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import pytest

from starshade.audit.reproduction.configurations import NAMES
from starshade.audit.reproduction.papers import PAPERS, Paper

ERRATA = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
KEYS = sorted(PAPERS)


def errata_of(paper: Paper, page: str = ERRATA) -> set[str]:
    """Return the first cell of each line of a paper's section."""
    for section in page.split("\n## ")[1:]:
        if paper.authors in section.partition("\n")[0]:
            rows = re.findall(r"^\| (.*?) \|", section, re.M)
            return {cell.strip() for cell in rows} - {"where"}
    return set()


@pytest.mark.parametrize("key", KEYS)
def test_every_paper_has_its_errata(key: str) -> None:
    assert len(errata_of(PAPERS[key])) > 3


@pytest.mark.parametrize("key", KEYS)
def test_every_erratum_of_a_choice_is_on_the_page(key: str) -> None:
    named = {choice.erratum for choice in PAPERS[key].choices} - {""}
    assert named <= errata_of(PAPERS[key]), named - errata_of(PAPERS[key])


@pytest.mark.parametrize("key", KEYS)
def test_what_is_read_otherwise_than_printed_has_a_reason(key: str) -> None:
    paper = PAPERS[key]
    assert len({choice.key for choice in paper.choices}) == len(paper.choices)
    for choice in paper.choices:
        assert choice.place, choice.key
        if choice.as_printed != choice.as_read:
            assert choice.why or choice.erratum, choice.key


@pytest.mark.parametrize("key", KEYS)
def test_claims_are_numbered_and_say_why(key: str) -> None:
    claims = PAPERS[key].claims
    numbers = [claim.number for claim in claims]
    assert len(set(numbers)) == len(numbers)
    assert [each for each in numbers if not re.fullmatch(rf"{key}-[a-z0-9-]+", each)] == []
    for claim in claims:
        assert claim.place, claim.number
        if claim.lost:
            continue
        assert claim.measure is not None, claim.number
        assert (claim.least, claim.most) != (None, None), claim.number
        assert claim.why, claim.number
        assert not claim.configuration or claim.configuration.startswith(NAMES), claim.number


@pytest.mark.parametrize("key", KEYS)
def test_every_way_is_there(key: str) -> None:
    paper = PAPERS[key]
    used = {way for claim in paper.claims for way in claim.ways}
    assert used <= set(paper.ways), used - set(paper.ways)


def told_of(text: str) -> Iterator[str]:
    yield from re.findall(r"[“\"]([^”\"]*)[”\"]", text)


@pytest.mark.parametrize("key", KEYS)
def test_at_most_half_a_sentence_is_quoted(key: str) -> None:
    long = {
        claim.number: quoted
        for claim in PAPERS[key].claims
        for quoted in told_of(claim.says)
        if len(quoted.split()) > 15
    }
    assert not long


DOCS = Path(__file__).parents[2] / "docs"
SAYS = {claim.number: claim.says for paper in PAPERS.values() for claim in paper.claims}


def _compared(name: str) -> list[dict[str, str]]:
    with (DOCS / "what-holds" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_page_of_what_holds_has_every_claim_as_it_is_said() -> None:
    shown = run_path(str(DOCS / "hooks.py"))["on_page_markdown"]
    page = (DOCS / "what-holds.md").read_text(encoding="utf-8")
    failed = dict(re.findall(r"^\| ([a-z]{2}-[a-z0-9-]+) \| (.*?) \| ", page, re.M))
    assert failed.keys() == {row["claim"] for row in _compared("failures")}
    assert failed.items() <= SAYS.items()
    every = re.findall(r'^\| <span id="([a-z0-9-]+)">\1</span> \| (.*?) \| ', shown(page), re.M)
    assert dict(every) == SAYS
    assert len(every) == len(SAYS)


def test_claims_and_changes_are_as_they_are_said() -> None:
    rows = [*_compared("claims"), *_compared("failures")]
    assert {(row["claim"], row["says"]) for row in rows} == SAYS.items()
    changes = {text for paper in PAPERS.values() for text in paper.ways.values()}
    assert not [text for text in changes if "; " in text]
    for row in _compared("failures"):
        listed = re.sub("^(unknown, but holds|unknown;|holds) ", "", row["cause"]).split("; ")
        tried = {text.rpartition(": ")[0] for text in listed}
        assert tried <= changes or row["cause"] == "not sought: no intervention", row
