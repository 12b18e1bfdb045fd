from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.conftest import Made, call, refused, small_csv, told

QUICK = ("--rounds", 0, "--seed", 1)


def test_a_release_that_may_leave(made: Made, ratings_csv: Path) -> None:
    found = told("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    assert found["pass"] is True
    assert found["reasons"] == []
    assert found["verdict"].startswith("This release may be published.")
    assert found["claims"][0]["holds"]
    assert found["claims"][0]["verified"]["smallest_group"] >= 4
    assert found["attack_after"]["credit"] == "linked"
    assert found["attack_after"]["expected_top1"] <= 1 / 4
    assert found["attack_before"]["expected_top1"] > found["attack_after"]["expected_top1"]
    settings = found["attack_after"]["settings"]
    assert {s["knowledge"]["known"] for s in settings} == {2, 4, 8}
    assert any(s["knowledge"]["wrong"] for s in settings)
    for before, after in zip(found["attack_before"]["settings"], settings, strict=True):
        assert before["knowledge"] == after["knowledge"]
        assert before["targets"] == after["targets"]
        assert after["expected_top1"] <= 1 / 4
    shares = {"users_rating_disclosed", "users_rating_exists", "records_alone_with_sensitive"}
    assert set(found["disclosure"]) == shares
    assert found["disclosure"]["records_alone_with_sensitive"] is None
    assert found["utility"]["gen_iloss"] > 0
    assert found["audience"] == "publish"


def test_without_the_receipt_answers_are_credited_when_compatible(
    made: Made, ratings_csv: Path
) -> None:
    linked = told("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    found = told("audit", ratings_csv, made.folder, *QUICK)
    assert found["pass"]
    assert found["attack_after"]["credit"] == "compatible"
    for a, b in zip(
        linked["attack_after"]["settings"], found["attack_after"]["settings"], strict=True
    ):
        assert a["expected_top1"] <= b["expected_top1"] + 1e-12
    assert any("receipt" in warning for warning in found["warnings"])


def test_limits_decide(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--known", 4, *QUICK)
    strict = told(*base, "--limit", "record=0.0001", code=1)
    assert not strict["pass"]
    assert "the right record is named" in strict["reasons"][0]
    silent = told(*base, "--limit", "disclosed=0", code=1)
    assert "The release shows a rating of" in silent["reasons"][0]
    assert told(*base, "--limit", "disclosed=100%", "--limit", "record=1")["pass"]


def test_a_release_for_queries_does_not_leave(ratings_csv: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.csv"
    users.write_text("userId,age\n" + "".join(f"{u},{20 + u % 50}\n" for u in range(1, 121)))
    out = tmp_path / "query"
    told(
        *("anonymize", ratings_csv, "--users", users, "--attributes", "exact"),
        *("--k", 3, "--out", out),
    )
    found = told("audit", ratings_csv, out, "--users", users, "--rounds", 0, code=1)
    assert found["audience"] == "query"
    assert "query service" in found["reasons"][0]


def test_a_second_release_of_the_same_data_may_not_leave(ratings_csv: Path, tmp_path: Path) -> None:
    store, first, second = (tmp_path / name for name in ("store", "n1", "n2"))
    told("data", "convert", ratings_csv, "--out", store)
    for out in (first, second):
        told(
            "anonymize",
            store,
            "--k",
            5,
            "--items",
            "top:10",
            "--out",
            out,
            "--private",
            f"{out}.json",
        )
    mine = ("audit", store, second, "--private", f"{second}.json", "--rounds", 0)
    assert told(*mine)["pass"] is True
    found = told(*mine, "--earlier", first, code=1)
    assert found["pass"] is False
    (reason,) = found["reasons"]
    assert reason.startswith(f"{first} is a release of the same data.")
    assert reason in found["verdict"]
    assert told(*mine, "--earlier", second)["pass"] is True
    result = call(*mine, "--earlier", first)
    assert result.exit_code == 1
    assert result.stdout.startswith("FAIL beside an earlier release; by itself it passes\n")
    file = tmp_path / "third"
    told("anonymize", ratings_csv, "--k", 5, "--items", "top:10", "--out", file)
    (reason,) = told(*mine, "--earlier", file, code=1)["reasons"]
    assert "fits these ratings" in reason
    assert "starshade data convert" in reason


def test_for_a_person(made: Made, ratings_csv: Path) -> None:
    result = call("audit", ratings_csv, made.folder, *QUICK)
    assert result.exit_code == 0
    assert result.stdout.startswith("PASS\n")
    for text in ("The same attacks, before and after", "What it is still good for", "Findings"):
        assert text in result.stdout
    failed = call("audit", ratings_csv, made.folder, "--limit", "disclosed=0", *QUICK)
    assert failed.exit_code == 1
    assert failed.stdout.startswith("FAIL\n")


@pytest.mark.parametrize(
    "options",
    [
        ["--limit", "record=2"],
        ["--limit", "record=nan"],
        ["--limit", "disclosed=-1"],
        ["--limit", "record"],
        ["--judge", "some"],
        ["--rounds", "-1"],
        ["--rounds", "11"],
        ["--known", "0"],
        ["--targets", "0"],
        ["--earlier", "no-such-folder"],
        ["--private", "no-such-file"],
    ],
    ids=" ".join,
)
def test_bad_limits(made: Made, ratings_csv: Path, options: list[str]) -> None:
    refused("audit", ratings_csv, made.folder, *options)


def test_other_ratings_are_refused(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    few = small_csv(tmp_path / "few.csv", users=100)
    assert "was not made of them" in refused("audit", few, made.folder)
    other = small_csv(tmp_path / "other.csv", seed=1)
    base = ("audit", other, made.folder, "--private", made.receipt)
    refused(*base)
    assert "is no release" in refused("audit", ratings_csv, tmp_path)


def test_people_who_were_left_out(ratings_csv: Path, tmp_path: Path) -> None:
    out, receipt = tmp_path / "out", tmp_path / "receipt.json"
    made = told(
        *("anonymize", ratings_csv, "--method", "suppress", "--k", 4, "--eps", 1, "--items"),
        *("top:3", "--out", out, "--private", receipt),
    )
    assert made["users_deleted"] > 0
    audit = ("audit", ratings_csv, out, "--limit", "record=1", *QUICK)
    alone = told(*audit, code=1)
    assert "without the receipt (--private) nobody can tell them from those who" in str(alone)
    assert told(*audit, "--private", receipt)["utility"]["users_deleted"] == made["users_deleted"]
    assert "right in the same" in " ".join(call(*audit, "--private", receipt).stdout.split())
    assert "right in the same" not in " ".join(call(*audit).stdout.split())
    measure = ("measure", ratings_csv, out)
    measured = " ".join(call(*measure, "--private", receipt).stdout.split())
    assert f"People left out by the method {made['users_deleted']} " in measured
    measured = " ".join(call(*measure).stdout.split())
    assert re.search(r"People left out by the method (under \d+ %|20 % or more) ", measured)
    assert told(*measure)["users_deleted"] is None
    assert "Items left out because too few rated them" in measured
