from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from starshade.attack.shadows.halves import seed_of
from tests.policies import NO_LIMITS
from tests.system.conftest import Made, call, refused, small_csv, told

QUICK = ("--shadows", 0, "--seed", 1)
#: what is left to decide are the claims and other conditions
LOOSE = [word for name in NO_LIMITS for word in ("--threshold", f"{name}=1")]


def test_a_release_that_may_leave(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt)
    found = told(*base, *LOOSE, *QUICK)
    assert (found["verdict"], found["pass"]) == ("PASS", True)
    assert found["headline"] == "PASS (7 checks without effective threshold)"
    assert found["reasons"] == []
    assert found["claims"][0]["holds"]
    assert found["claims"][0]["verified"]["smallest_class"] >= 4
    assert found["attack_after"]["credit"] == "linked"
    assert found["attack_after"]["expected_top1"] <= 1 / 4
    assert found["attack_before"]["expected_top1"] > found["attack_after"]["expected_top1"]
    settings = found["attack_after"]["settings"]
    assert {s["knowledge"]["known"] for s in settings} == {2, 4, 5, 8}  # half of the people have 5
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
    base = ("audit", ratings_csv, made.folder, *LOOSE, *QUICK)
    linked, found = told(*base, "--private", made.receipt), told(*base)
    assert found["pass"]
    assert found["attack_after"]["credit"] == "compatible"
    for a, b in zip(
        linked["attack_after"]["settings"], found["attack_after"]["settings"], strict=True
    ):
        assert a["expected_top1"] <= b["expected_top1"] + 1e-12
    assert any("key file" in warning for warning in found["warnings"])


def checks_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found["checks"]}


def test_thresholds_decide(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--known", 4, *QUICK)
    loose = [*base, *LOOSE]

    for threshold, said in (
        ("class-size=11", "11"), ("re-identification=0.0001", "0.01%"), ("attribute=0", "0%")
    ):  # fmt: skip
        name = threshold.partition("=")[0]
        words = [threshold if word == f"{name}=1" else word for word in loose]
        found = told(*words, code=1)
        assert (found["verdict"], found["pass"]) == ("FAIL", False)
        check = checks_of(found)[name]
        assert check["status"] in ("fail", "not demonstrated")
        assert f"{check['title']}: {check['text']}" in found["reasons"]
        assert check["source"] == "set by the owner"
        assert f"{name}={said}" in " ".join(call(*words).stdout.split())


def test_the_default_policy_decides(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    found = told(*base, code=1)  # k = 4, and the policy asks for 5
    assert found["policy"]["name"] == "partner"
    size = checks_of(found)["class-size"]
    assert (size["status"], size["threshold"], size["value"]) == ("fail", 0.2, 0.25)
    assert size["advice"] == "Make the release with --k 5."
    assert "cell size 5" in size["source"]
    strict = told(*base, "--policy", "public", code=1)
    assert strict["policy"]["checks"]["class-size"]["text"] == "11"


def test_what_was_not_measured_is_incomplete(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK, "--policy")
    loose = ("class-size=1", "attribute=1", "re-identification=1")
    words = [word for each in loose for word in ("--threshold", each)]
    found = told(*base, "partner", *words, code=4)
    assert found["verdict"] == "INCOMPLETE"
    open_ = [each for each in found["checks"] if each["status"] == "not measured"]
    assert {each["name"] for each in open_} == {
        "singling-out", "linkability", "membership", "inference"
    }  # fmt: skip
    assert {each["advice"] for each in open_} == {"Make shadow releases: --shadows 16."}
    result = call(*base, "partner", *words)
    assert result.exit_code == 4
    assert result.stdout.startswith("INCOMPLETE (3 checks without effective threshold)  policy")


def test_a_policy_is_a_file(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    policy = tmp_path / "own.toml"
    text = (
        'name = "own"\nversion = 3\n[adversary]\nknown = 4\nshadows = 2\n[checks]\n'
        'class-size = { threshold = 4, source = "our rule" }\n'
    )
    policy.write_text(text)
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    found = told(*base, "--policy", policy)
    assert (found["verdict"], found["policy"]["version"]) == ("PASS", 3)
    assert checks_of(found)["class-size"]["source"] == "our rule"
    assert checks_of(found)["membership"]["status"] == "no threshold"
    assert "(6 checks without effective threshold)" in found["headline"]
    policy.write_text(text.replace("class-size", "klass-size"))
    said = refused(*base, "--policy", policy)
    assert "own.toml, line 7: there is no check 'klass-size'" in " ".join(said.split())
    assert "Did you mean class-size?" in " ".join(said.split())


def test_a_release_for_queries_does_not_leave(ratings_csv: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.csv"
    users.write_text("userId,age\n" + "".join(f"{u},{20 + u % 50}\n" for u in range(1, 121)))
    out = tmp_path / "query"
    told(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--users",
            users,
            "--attributes",
            "exact",
        ),
        *("--k", 3, "--out", out),
    )
    found = told("audit", ratings_csv, out, "--users", users, *LOOSE, *QUICK, code=1)
    assert found["audience"] == "query"
    assert "query service" in " ".join(found["reasons"])


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
    mine = ("audit", store, second, "--private", f"{second}.json", *LOOSE, "--shadows", 0)
    assert told(*mine)["pass"] is True
    found = told(*mine, "--earlier", first, code=1)
    assert found["pass"] is False
    (reason,) = found["reasons"]
    assert reason.startswith(f"Composition: {first} is a release of the same data.")
    assert reason in found["text"]
    assert told(*mine, "--earlier", second)["pass"] is True
    result = call(*mine, "--earlier", first)
    assert result.exit_code == 1
    assert result.stdout.startswith("FAIL (7 checks without effective threshold)  policy partner")
    assert re.search(r"^  Composition +– .*✗ not measured$", result.stdout, re.MULTILINE)
    file = tmp_path / "third"
    told(
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--k",
        5,
        "--items",
        "top:10",
        "--out",
        file,
    )
    (reason,) = told(*mine, "--earlier", file, code=1)["reasons"]
    assert "fits these ratings" in reason
    assert "made from one store" in reason


def test_the_first_screen_and_the_details(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    result = call(*base, *LOOSE)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("PASS (7 checks without effective threshold)  policy partner v1")
    assert len(lines) <= 25
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[-1].startswith("Next     starshade report ")
    assert "Initial and residual risk by attack" not in result.stdout
    shown = call(*base, *LOOSE, "--details").stdout
    assert shown.startswith(result.stdout)
    for text in ("Initial and residual risk by attack", "Other conditions", "Measurements"):
        assert text in shown
    assert "--policy" not in lines[-1]  # the default needs no mention
    usual = call(*base, *LOOSE, "--policy", "partner", "--targets", 30).stdout.splitlines()[-1]
    assert "--policy partner" in usual
    assert usual.endswith("--targets 30 --shadows 0 --out report.html")
    judged = ("--policy", "controlled", *LOOSE)
    following = call(*base, *judged, "--user-col", "userId").stdout.splitlines()[-1]
    assert "--user-col userId --policy controlled --threshold class-size=1 " in following
    failed = call(*base)
    assert failed.exit_code == 1
    tries, following = failed.stdout.splitlines()[-2:]
    assert tries == "Next     Search for a release that passes (larger k, then fewer rare items):"
    out = f"{Path(made.folder).name}-partner"  # never within a folder that may be published
    assert following.endswith(f"--policy partner --out {out} --private {out}.json")
    assert re.match(r"FAIL  policy partner v1", failed.stdout)
    assert "starshade anonymize" in failed.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "options",
    [
        ["--threshold", "membership=2"],
        ["--threshold", "membership=20 %"],
        ["--threshold", "attribute=-1"],
        ["--threshold", "membership"],
        ["--threshold", "composition=0.1"],  # with no earlier release
        ["--limit", "record=nan"],
        ["--policy", "strict"],
        ["--policy", "no-such.toml"],
        ["--judge", "all"],
        ["--shadows", "-1"],
        ["--known", "0"],
        ["--targets", "0"],
        ["--earlier", "no-such-folder"],
        ["--private", "no-such-file"],
    ],
    ids=" ".join,
)
def test_bad_settings(made: Made, ratings_csv: Path, options: list[str]) -> None:
    refused("audit", ratings_csv, made.folder, *options)


def test_other_ratings_are_refused(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    few = small_csv(tmp_path / "few.csv", users=100)
    assert "was not made of them" in refused("audit", few, made.folder)
    other = small_csv(tmp_path / "other.csv", seed=1)
    base = ("audit", other, made.folder, "--private", made.receipt)
    refused(*base)
    assert "not a release" in refused("audit", ratings_csv, tmp_path)


def test_people_who_were_left_out(ratings_csv: Path, tmp_path: Path) -> None:
    out, receipt = tmp_path / "out", tmp_path / "receipt.json"
    made = told(
        *("anonymize", ratings_csv, "--method", "suppress", "--k", 4, "--eps", 1, "--items"),
        *("top:3", "--out", out, "--private", receipt),
    )
    assert made["users_deleted"] > 0
    audit = ("audit", ratings_csv, out, "--details", *LOOSE, *QUICK)
    alone = told(*audit)
    assert "without the private key file it is unknown who was left out" in str(alone)
    assert told(*audit, "--private", receipt)["utility"]["users_deleted"] == made["users_deleted"]
    assert "same users" in " ".join(call(*audit, "--private", receipt).stdout.split())
    assert "same users" not in " ".join(call(*audit).stdout.split())
    measure = ("measure", ratings_csv, out)
    measured = " ".join(call(*measure, "--private", receipt).stdout.split())
    assert f"People suppressed by the method {made['users_deleted']} " in measured
    measured = " ".join(call(*measure).stdout.split())
    assert re.search(r"People suppressed by the method (under \d+ %|20 % or more) ", measured)
    assert told(*measure)["users_deleted"] is None
    assert "Items suppressed for too few raters" in measured


def test_the_checks_of_a_policy(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--known", 4, *QUICK)
    found = told(*base, code=1)
    names = [each["name"] for each in found["checks"]]
    assert list(dict.fromkeys(names)) == [
        *("class-size", "re-identification", "class-linkage", "singling-out", "linkability"),
        *("membership", "membership-all", "inference", "attribute", "composition"),
    ]
    keys = {"name", "value", "low", "high", "baseline", "threshold", "source", "status", "known"}
    keys |= {"targets", "of", "title", "attack", "knowledge", "initial", "other_values", "text"}
    keys |= {"advice"}
    assert all(set(each) == keys for each in found["checks"])
    every = checks_of(found)
    assert every["re-identification"]["value"] <= every["re-identification"]["high"] <= 0.25
    assert every["class-linkage"]["status"] == "no threshold"
    assert (every["composition"]["status"], every["membership"]["value"]) == (
        "not applicable",
        None,
    )
    assert every["membership"]["text"] == "Not measured. Shadow releases were disabled."


def test_few_shadows_are_shown_and_decide_nothing(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--known", 4, "--shadows", 3, "--seed", 1)
    found = told(*base, "--private", made.receipt, code=1)
    every = [each for each in found["checks"] if each["name"] == "membership"]
    assert {each["status"] for each in every} == {"not measured"}
    assert all(each["value"] is not None for each in every if "Not measured" not in each["text"])
    assert {each["advice"] for each in every} == {"Make shadow releases: --shadows 16."}
    alone = told(*base, code=1)
    for each in alone["checks"]:
        if each["name"] in ("linkability", "membership", "inference"):
            assert each["status"] == "not measured"
            assert "key file" in each["text"]


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        (["success=0.1"], "--threshold: there is no check 'success'"),
        (["record=0.1", "re-identification=0.2"], "--threshold: re-identification is set twice"),
        (["membership=-5%"], "--threshold membership = '-5%': must be a share from 0 to 1"),
    ],
)
def test_a_bad_threshold_is_refused_in_words(
    made: Made, ratings_csv: Path, thresholds: list[str], said: str
) -> None:
    options = [word for each in thresholds for word in ("--threshold", each)]
    text = " ".join(refused("audit", ratings_csv, made.folder, *options).split())
    assert said in text


@pytest.mark.parametrize("command", [("audit",), ("report", "--out", "report.html")])
@pytest.mark.parametrize("threshold", ["success=0.1", "record=2", "composition=0.1"])
def test_a_bad_threshold_is_refused_before_anything_is_read(
    command: tuple[str, ...], threshold: str
) -> None:
    said = refused(*command, "no ratings", "no release", "--threshold", threshold)
    assert "--threshold" in said
    assert "no ratings" not in said


def test_limit_is_an_older_name_of_threshold(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--private", made.receipt, *QUICK)
    older = told(*base, "--limit", "record=0.0001", code=1)
    assert older["policy"]["checks"]["re-identification"]["threshold"] == 0.0001
    assert "--limit is now called --threshold" in call(*base, "--limit=record=1").stderr
    assert "--limit" not in call("audit", "--help-all").stdout


def test_rounds_is_an_older_name_of_shadows(made: Made, ratings_csv: Path) -> None:
    base = ("audit", ratings_csv, made.folder, "--known", 4, "--seed", 1)
    older = told(*base, "--rounds", 0, code=1)
    assert older["config"]["shadows"] == 0
    result = call(*base, "--rounds=0")
    assert "--rounds is now called --shadows\n" in result.stderr
    assert "--rounds" not in call("audit", "--help-all").stdout
    attack = ("attack", ratings_csv, "--attack", "membership", "--targets", 20, "--seed", 1)
    assert told(*attack, "--rounds", 2)["shadows"] == 2


def test_an_audit_of_one_table_goes_on_where_it_was_stopped(
    made: Made, ratings_csv: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    asked = ("audit", ratings_csv, made.folder, "--private", made.receipt, "--shadows", 4)
    asked += ("--known", 2, "--targets", 20)
    whole = told(*asked, "--seed", 3, code=1)
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
    assert "to resume, repeat the command with --resume" in stopped.stderr
    assert "--seed" in refused(*asked, "--resume")
    resumed = told(*asked, "--seed", 3, "--resume", code=1)
    assert made_releases == [0, 1, 2, 3, 3, 4]
    for name in ("checks", "findings"):
        assert resumed[name] == whole[name]
    assert not [*tmp_path.rglob("run-*")]
