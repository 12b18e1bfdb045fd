from __future__ import annotations

import re
from pathlib import Path

import pytest

from starshade.attack.shadows.halves import seed_of
from starshade.audit.questions.limits import LIMITED
from tests.system.conftest import Made, call, refused, small_csv, told

QUICK = ("--shadows", 0, "--seed", 1)


def test_a_release_that_may_leave(made: Made, ratings_csv: Path) -> None:
    found = told("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    assert found["pass"] is True
    assert found["reasons"] == []
    assert found["verdict"].startswith(
        "1 of 7 limits is set (by the model), and it holds; 6 are not set."
    )
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
    shares = {
        "users_rating_disclosed",
        "users_exact_values_listed",
        "users_rating_exists",
        "records_alone_with_sensitive",
    }
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
    assert "names the right record" in strict["reasons"][0]
    silent = told(*base, "--limit", "disclosed=0", code=1)
    assert "of the people a rating can be read once their class is found" in silent["reasons"][0]
    assert told(*base, "--limit", "disclosed=100%", "--limit", "record=1")["pass"]


def test_a_release_for_queries_does_not_leave(ratings_csv: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.csv"
    users.write_text("userId,age\n" + "".join(f"{u},{20 + u % 50}\n" for u in range(1, 121)))
    out = tmp_path / "query"
    told(
        *("anonymize", ratings_csv, "--users", users, "--attributes", "exact"),
        *("--k", 3, "--out", out),
    )
    found = told("audit", ratings_csv, out, "--users", users, "--shadows", 0, code=1)
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
    mine = ("audit", store, second, "--private", f"{second}.json", "--shadows", 0)
    assert told(*mine)["pass"] is True
    found = told(*mine, "--earlier", first, code=1)
    assert found["pass"] is False
    (reason,) = found["reasons"]
    assert reason.startswith(f"{first} is a release of the same data.")
    assert reason in found["verdict"]
    assert told(*mine, "--earlier", second)["pass"] is True
    result = call(*mine, "--earlier", first)
    assert result.exit_code == 1
    beside = "FAIL beside an earlier release; by itself its limits hold"
    assert result.stdout.startswith(f"{beside}: joint-class not\nmeasured, limit 0.0%\n")
    assert result.stdout.endswith(f"\n{beside}\n")
    file = tmp_path / "third"
    told("anonymize", ratings_csv, "--k", 5, "--items", "top:10", "--out", file)
    (reason,) = told(*mine, "--earlier", file, code=1)["reasons"]
    assert "fits these ratings" in reason
    assert "made from one store" in reason


def test_for_a_person(made: Made, ratings_csv: Path) -> None:
    result = call("audit", ratings_csv, made.folder, *QUICK)
    assert result.exit_code == 0
    assert result.stdout.startswith("LIMITS HOLD; NOT EVERYTHING WAS JUDGED\n")
    for text in (
        "The same attacks, before and after",
        "What remains of each rating takes",
        "Findings",
        "none set",
        "--limit NAME=VALUE",
    ):
        assert text in result.stdout
    assert "(intervals on the release hold together)" in " ".join(result.stdout.split())
    failed = call("audit", ratings_csv, made.folder, "--limit", "disclosed=0", *QUICK)
    assert failed.exit_code == 1
    assert re.match(r"FAIL: disclosed \d+\.\d%, limit 0\.0%\n", failed.stdout)
    assert failed.stdout.endswith("\nFAIL\n")


@pytest.mark.parametrize(
    "options",
    [
        ["--limit", "record=2"],
        ["--limit", "record=nan"],
        ["--limit", "disclosed=-1"],
        ["--limit", "record"],
        ["--limit", "joint-class=0.1"],  # beside nothing
        ["--judge", "some"],
        ["--shadows", "-1"],
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
    assert "without the receipt nobody can tell them from those who" in str(alone)
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


def test_three_questions(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--known", 4, *QUICK)
    found = told(*base)
    titles = {
        "singled-out": "Can a person be singled out?",
        "linked": "Can records be linked?",
        "inferred": "Can something be inferred about somebody because they are in it?",
    }
    assert {each["name"]: each["question"] for each in found["questions"]} == titles
    by_question = {
        each["name"]: [measured["name"] for measured in each["measured"]]
        for each in found["questions"]
    }
    assert by_question == {
        "singled-out": ["record", "predicate"],
        "linked": ["class", "halves"],
        "inferred": ["membership", "inference", "disclosed"],
    }
    keys = {"name", "title", "answer", "attack", "knew", "rate", "guessing", "limit", "limit_by"}
    every = {each["name"]: each for one in found["questions"] for each in one["measured"]}
    assert all(set(each) == keys | {"beside", "text", "people"} for each in every.values())
    record, membership = every["record"], every["membership"]
    assert record["answer"] == "within limits"
    assert (record["limit"], record["limit_by"]) == (0.25, "the model")
    assert set(record["rate"]) == {"rate", "low", "high"}
    assert record["rate"]["rate"] <= record["rate"]["high"] <= 0.25
    assert (every["class"]["limit"], every["class"]["limit_by"]) == (None, None)
    # left out, and said so
    assert (membership["answer"], membership["rate"]) == ("not measured", None)
    assert "no shadow releases were requested" in membership["text"]
    assert "within limits" not in [each["answer"] for each in found["questions"]]
    assert found["config"]["limit"] == {}


def test_being_in_it_is_measured_by_making_it_again(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--known", 4, "--shadows", 3, "--seed", 1)
    found = told(*base, "--private", made.receipt)
    every = {each["name"]: each for one in found["questions"] for each in one["measured"]}
    assert every["membership"]["rate"] is None  # fewer than ten false alarms
    for rate in every["membership"]["beside"].values():
        assert 0 <= rate["low"] <= rate["rate"] <= rate["high"] <= 1
    (row,) = (each for each in found["checks"] if each["name"] == "membership")
    assert (row["value"], row["status"]) == (None, "not measured")
    assert every["membership"]["title"] == LIMITED["membership"].title
    # of few people no more is known than enough of them gave
    assert every["halves"]["knew"] == "twice 1 rating"
    alone = told(*base)
    for one in alone["questions"]:
        for each in one["measured"]:
            if each["name"] in ("class", "halves", "membership", "inference"):
                assert each["answer"] == "not measured"
                assert "receipt" in each["text"]


def test_a_limit_must_be_shown_to_hold(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--known", 4, *QUICK)
    for limit, code in (
        ("class=1", 0),
        ("class=0", 1),
        ("membership=100%", 1),  # not measured is not shown
        ("halves=1", 1),
        ("inference=1", 1),
    ):
        name = limit.split("=")[0]
        found = told(*base, "--limit", limit, code=code)
        assert found["pass"] == (code == 0)
        (finding,) = (each for each in found["findings"] if each["name"] == name)
        assert finding["pass"] == (code == 0)
        assert ", by the owner" in finding["text"]


def test_every_question_can_be_judged(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--known", 4, *QUICK)
    assert told(*base, "--judge", "set")["pass"]
    found = told(*base, "--judge", "all", code=1)
    failed = [each["name"] for each in found["findings"] if not each["pass"]]
    assert failed == [
        each["name"] for each in found["questions"] if each["answer"] != "within limits"
    ]
    assert failed
    assert all(title in " ".join(found["reasons"]) for title in ("singled out?", "be linked?"))


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (["success=0.1"], "--limit: there is no limit 'success'"),
        (["record=0.1", "record=0.2"], "--limit: record is set twice"),
        (["record=nan"], "--limit: record=nan: must be a share from 0 to 1, or in percent"),
        (["record=-5%"], "--limit: record=-5%: must be a share from 0 to 1, or in percent"),
    ],
)
def test_a_bad_limit_is_refused_in_words(
    made: Made, ratings_csv: Path, limits: list[str], said: str
) -> None:
    options = [word for limit in limits for word in ("--limit", limit)]
    text = " ".join(refused("audit", ratings_csv, made.folder, *options).split())
    assert said in text
    assert "Set limits as NAME=VALUE, such as record=0.1" in text
    assert "joint-class" in text


@pytest.mark.parametrize("command", [("audit",), ("report", "--out", "report.html")])
@pytest.mark.parametrize("limit", ["success=0.1", "record=2", "joint-class=0.1"])
def test_a_bad_limit_is_refused_before_anything_is_read(
    command: tuple[str, ...], limit: str
) -> None:
    said = refused(*command, "no ratings", "no release", "--limit", limit)
    assert "--limit: " in said
    assert "no ratings" not in said


def test_rounds_is_an_older_name_of_shadows(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--known", 4, "--seed", 1)
    older = told(*base, "--rounds", 0)
    assert older["config"]["shadows"] == 0
    result = call(*base, "--rounds=0")
    assert "--rounds is now called --shadows: releases of random halves" in result.stderr
    assert "--rounds" not in call("audit", "--help").stdout
    attack = ("attack", ratings_csv, "--attack", "membership", "--targets", 20, "--seed", 1)
    assert told(*attack, "--rounds", 2)["shadows"] == 2


def test_an_audit_of_one_table_goes_on_where_it_was_stopped(
    made: Made, ratings_csv: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    asked = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--shadows", 4)
    asked += ("--known", 2, "--targets", 20)
    whole = told(*asked, "--seed", 3)
    assert not [*tmp_path.rglob("run-*")]
    made_releases: list[int] = []

    def stopping(seed: int, number: int) -> int:
        made_releases.append(number)
        if len(made_releases) == 4:
            raise KeyboardInterrupt
        return seed_of(seed, number)

    monkeypatch.setattr("starshade.attack.shadows.halves.seed_of", stopping)
    stopped = call(*asked, "--seed", 3)
    assert stopped.exit_code == 130
    assert "the same with --resume goes on" in stopped.stderr
    assert "--seed" in refused(*asked, "--resume")
    resumed = told(*asked, "--seed", 3, "--resume")
    assert made_releases == [0, 1, 2, 3, 3, 4]
    for name in ("questions", "checks", "findings"):
        assert resumed[name] == whole[name]
    assert not [*tmp_path.rglob("run-*")]
