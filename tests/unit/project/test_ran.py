"""What the owner is told of a run, in a paragraph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from starshade.project.ran import Ran

PLACE = "published/release-2"


def told(by: str, published: bool, audit: Any = None, **more: Any) -> str:
    ran = Ran(
        "release-2",
        by == "policy",
        "PASS",
        PLACE,
        audit=audit,
        published=published,
        policy="partner v1",
        published_by=by,
        **more,
    )
    return str(ran)


def test_without_an_audit_the_place_is_all_there_is() -> None:
    said = f"PASS (policy partner v1). release-2 is published as {PLACE}, by the policy."
    assert told("policy", True) == said
    assert told("", False).endswith(f"release-2 is not published; it stays at {PLACE}.")
    assert "Nothing has changed since the last run: release-2" in told(
        "policy", True, unchanged=True
    )


def test_it_says_by_what_it_is_published() -> None:
    assert "by accepted risks ([[accept]] in starshade.toml)." in told("acceptance", True)


def test_the_report_and_the_key_file_are_named() -> None:
    text = told("policy", True, SimpleNamespace(), notes="Facts.")
    report = "Internal report: .starshade/reports/release-2.html"
    people = "people at risk: .starshade/reports/release-2-at-risk.csv"
    public = "public report: .starshade/reports/release-2-public.html"
    key = "private key file: .starshade/receipts/release-2.json"
    assert text.endswith(f"{report}, {people}, {public}, {key}. Facts.")
    text = told("", False, SimpleNamespace(), notes="Facts.")
    assert text.endswith(
        f"{PLACE}. {report}, {people}. Facts."
    )  # its key file is not beside others


def test_what_is_out_and_no_longer_passes_is_said() -> None:
    said = "It is published already, but the current [audit] settings would not allow it."
    cases = (("", True), ("policy", True), ("acceptance", True), ("", False))
    assert [said in told(*each) for each in cases] == [True, False, False, False]


@pytest.mark.parametrize(
    ("verdict", "by", "code"),
    [
        ("PASS", "policy", 0),
        ("FAIL", "acceptance", 0),
        ("INCOMPLETE", "acceptance", 0),
        ("FAIL", "", 1),
        ("INCOMPLETE", "", 4),
    ],
)
def test_the_exit_code_says_whether_it_is_published(verdict: str, by: str, code: int) -> None:
    ran = Ran("release-2", verdict == "PASS", verdict, PLACE, verdict=verdict, published_by=by)
    assert ran.exit_code == code
    assert ran.to_dict()["published_by"] == (by or None)


def test_a_dry_run_says_that_nothing_was_made() -> None:
    ran = Ran("release-2", None, "", PLACE, dry=True, plan="It would be so.")
    assert not ran.published
    assert ran.exit_code == 0
    assert str(ran) == "It would be so. Nothing was written."
