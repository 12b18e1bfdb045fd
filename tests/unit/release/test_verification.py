"""What a receiver of a release can verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import starshade
from starshade.errors import ReleaseError
from starshade.release.folder.read import read_release
from starshade.release.folder.verification import ONLY_OWNER
from starshade.release.verify.verify import verify_folder
from tests.hostile.release_samples import MAKERS
from tests.unit.release.damage import change, mend, say


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    MAKERS["sets"]().save(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("name", MAKERS)
def test_every_layout_verifies(tmp_path: Path, name: str) -> None:
    MAKERS[name]().save(tmp_path / "out")
    verification = starshade.verify(tmp_path / "out")
    assert verification.holds
    assert [check.status for check in verification.checks] == ["PASS"] * len(verification.checks)
    assert verification.to_dict()["only_owner"] == list(ONLY_OWNER)
    assert str(verification).startswith("PASS")


def test_a_text_that_describes_something_else(saved: Path) -> None:
    card = (saved / "README.md").read_text(encoding="utf-8")
    (saved / "README.md").write_text(card.replace("5 people", "50 people"), encoding="utf-8")
    mend(saved)
    read_release(saved)  # it has no use for the card
    verification = starshade.verify(saved)
    failing = [check for check in verification.checks if check.status == "FAIL"]
    assert [check.name for check in failing] == ["descriptions"]
    assert failing[0].detail.startswith("README.md: ")
    assert str(verification) == "FAIL: 1 of 5 checks failed (descriptions)."


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"config": {"attribute_hierarchies": "job"}}, "attribute_hierarchies must be a list"),
        ({"config": {"min_raters": "two"}}, "min_raters must be a number of people"),
        ({"config": {"k": [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}}, "nested too deeply"),
        ({"method": "\ud800"}, "not an unambiguous JSON object"),
    ],
)
def test_settings_that_nothing_can_use(saved: Path, facts: dict[str, Any], message: str) -> None:
    say(saved, **facts)
    for read in (read_release, starshade.verify):
        with pytest.raises(ReleaseError, match=message):
            read(saved)


def test_a_figure_that_data_cannot_have(saved: Path) -> None:
    claim = {"model": "k-anonymity", "parameters": {"k": 2}, "verified": {"smallest_class": 10**40}}
    say(saved, claims=[claim])
    with pytest.raises(ReleaseError, match="a number is out of range"):
        read_release(saved)


def test_a_claim_that_states_no_figure_does_not_verify(saved: Path) -> None:
    say(saved, claims=[{"model": "k-eps", "parameters": {}, "verified": {}}])
    assert not starshade.verify(saved).holds


def test_text_that_is_no_unicode_is_refused(saved: Path) -> None:
    def how(columns: dict[str, list[Any]]) -> pa.Table:
        bad = pa.array([b"\xff", b"2", b"3"]).buffers()
        items = pa.Array.from_buffers(pa.string(), 3, bad)
        return pa.table({"item": items, "name": pa.array(columns["name"], pa.string())})

    change(saved, "items.parquet", how)
    for read in (read_release, verify_folder):
        with pytest.raises(ReleaseError, match=r"not a valid Parquet file|cannot be read"):
            read(saved)
    assert not starshade.verify(saved).holds
