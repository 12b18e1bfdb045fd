"""What the owner is told of a run, in a paragraph."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from starshade.project.ran import Ran

PLACE = "published/release-2"


def told(passed: bool, published: bool, audit: Any = None, **more: Any) -> str:
    ran = Ran("release-2", passed, "PASS", PLACE, audit=audit, published=published, **more)
    return str(ran)


def audited(*, answered: bool = True) -> Any:
    limits = {"record": 0.5, "class": None}.items()
    measured = [SimpleNamespace(name=name, limit=limit) for name, limit in limits]
    questions = [SimpleNamespace(measured=measured)]
    return SimpleNamespace(answered=answered, about="All about it.", questions=questions)


def test_without_an_audit_the_place_is_all_there_is() -> None:
    assert told(True, True) == f"PASS. release-2 is published as {PLACE}."
    assert told(False, False) == f"PASS. release-2 is not published, and stays at {PLACE}."
    assert "Nothing is new since the last run: release-2" in told(True, True, again=True)


def test_the_report_and_the_receipt_are_named() -> None:
    text = told(True, True, audited(), facts="Facts.")
    report = "A report on it is .starshade/reports/release-2.html"
    receipt = ", its receipt .starshade/receipts/release-2.json"
    assert text.endswith(f"{PLACE}. {report}{receipt}. Facts. All about it.")
    text = told(False, False, audited(), facts="Facts.")
    assert text.endswith(f"{PLACE}. {report}. Facts.")  # its receipt is not beside others


@pytest.mark.parametrize("passed", [True, False])
def test_what_was_not_judged_is_named_where_it_passes(passed: bool) -> None:
    assert ("No limit is set on class:" in told(passed, True, audited(answered=False))) == passed
    assert "No limit" not in told(passed, True, audited())


def test_what_is_out_and_no_longer_passes_is_said() -> None:
    said = "It is out, and would not be published as [audit] is now."
    assert [said in told(*each) for each in ((False, True), (True, True), (False, False))] == [
        True,
        False,
        False,
    ]


def test_a_dry_run_says_that_nothing_was_made() -> None:
    ran = Ran("release-2", None, "", PLACE, dry=True, plan="It would be so.")
    assert not ran.published
    assert str(ran) == "It would be so. Nothing was made."
