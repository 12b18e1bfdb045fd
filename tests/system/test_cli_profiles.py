"""Averaged profiles as commands: attacked, and judged for publication."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from starshade.audit.checks.attribute import AttributeDisclosure
from starshade.plain import percent
from tests.policies import as_options
from tests.system.conftest import Made, call, refused, told
from tests.system.test_cli_docs import documented


@pytest.fixture(scope="module")
def released(ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    where = tmp_path_factory.mktemp("profiles")
    out, receipt = where / "out", where / "receipt"
    told(
        *("anonymize", ratings_csv, "--method", "predictive", "--profile", "padded", "--k", 4),
        *("--out", out, "--private", receipt, "--seed", 1),
    )
    return out, receipt


def test_padding_is_looked_for(released: tuple[Path, Path], ratings_csv: Path) -> None:
    out, receipt = released
    asked = ("attack", out, "--original", ratings_csv, "--private", receipt, "--seed", 1)
    found = told(*asked, "--attack", "padding", "--top", 0.05, "--rank", 2)
    plain = documented("attack") - {"tradeoff"}
    assert set(found) == plain | documented("attack", "`--attack padding`")
    assert (found["rank"], found["top"]["share"], found["non_null"]) == (2, 0.05, 1)
    assert found["auc"]["low"] <= found["auc"]["rate"] <= found["auc"]["high"]
    shown = call(*asked, "--attack", "padding").stdout
    assert "Detection of real ratings (AUC)" in shown
    assert "the released levels" in shown
    assert "--targets" not in refused(*asked, "--attack", "padding", "--classes", 1)
    assert "targets 5" in refused(*asked, "--attack", "padding", "--targets", 5)
    label = told(*asked, "--attack", "label", "--known", 2)
    assert label["config"]["tolerance"] == 0.5
    assert label["expected_top1"] <= 1 / 4


def test_the_audit_passes_and_says_what_is_given_away(
    released: tuple[Path, Path], ratings_csv: Path
) -> None:
    out, receipt = released
    asked = ("audit", ratings_csv, out, "--private", receipt, "--known", 2, "--seed", 1)
    found = told(*asked, *as_options())
    assert found["pass"]
    assert set(found) == documented("audit")
    assert set(found["profile_disclosure"]) == {
        "attribute",
        "class_linkage",
        "homogeneity",
        "link_existence",
        "padding",
        "fake_edges",
    }
    assert "means over a class, of real ratings and predictions" in found["text"]
    shown = call(*asked, "--details").stdout
    assert "Disclosure by profiles (not bounded by any model)" in shown
    attribute = found["profile_disclosure"]["attribute"]
    assert set(attribute) == {each.name for each in fields(AttributeDisclosure)}
    read = percent(attribute["read_by_residual"])
    assert re.search(rf"Ratings read from residuals\W+{re.escape(read)}", shown)
    without = told("audit", ratings_csv, out, "--known", 2, "--seed", 1, code=1)
    assert "Only the private key file says who is in which class" in " ".join(without["reasons"])
    assert re.search(r"\(tolerance ±0\.5\b", shown)  # of a mean, what is known exactly
    shown = call("audit", ratings_csv, out, "--known", 2, "--seed", 1, "--details").stdout
    assert "Disclosure by profiles: not measured without the key file (--private)." in shown
    assert "not bounded by any model" not in shown
    assert not re.search(r"(?<!\d)0\.0% \[", shown.split("Initial and residual risk")[1])


def test_who_is_in_it_is_asked(released: tuple[Path, Path], made: Made, ratings_csv: Path) -> None:
    out, receipt = released
    asked = ("attack", out, "--original", ratings_csv, "--private", receipt, "--seed", 1)
    asked = (*asked, "--shadows", 2, "--known", 2)
    plain = documented("attack") - {"tradeoff"}
    found = told(*asked, "--attack", "membership")
    assert set(found) == plain | documented("attack", "`--attack membership`")
    assert [at["known"] for at in found["by_known"]] == [2, 4, 8, 20, None]
    assert found["auc"] == found["by_known"][-1]["auc"]
    assert found["config"] == {"shadows": 2, "targets": None}
    shown = call(*asked, "--attack", "membership").stdout
    assert "Membership inference (AUC)" in shown
    found = told(*asked, "--attack", "inference", "--questions", 3)
    assert set(found) == plain | documented("attack", "`--attack inference`")
    assert [way["by"] for way in found["adversaries"]] == ["all", "best", "residual"]
    assert found["known"] == 2
    shown = call(*asked, "--attack", "inference").stdout
    assert "Error reduction from participation" in shown
    assert (
        "knowledge is drawn from"
        not in call(
            *("attack", made.folder, "--original", ratings_csv, "--private", made.receipt),
            *("--attack", "membership", "--shadows", 1),
        ).stderr
    )  # but from the ten released items alone
    # who made it is in the receipt alone
    without = ("attack", out, "--original", ratings_csv, "--attack", "membership")
    assert "private key file" in refused(*without)
    assert "--shadows" in refused(*without, "--private", receipt, "--shadows", 0)
