"""Each paper's claims and configurations: numbered, explained, and backed by the errata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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


def test_the_page_of_what_holds_has_every_claim_as_it_is_said() -> None:
    page = (Path(__file__).parents[2] / "docs" / "what-holds.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| ([a-z]{2}-[a-z0-9-]+) \| (.*?) \| ", page, re.M))
    claims = {claim.number: claim.says for paper in PAPERS.values() for claim in paper.claims}
    assert {number: text.replace("\\|", "|") for number, text in said.items()} == claims
