"""`starshade check` on personal attributes, and on a release with several claims."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import call, refused, told
from tests.unit.release.damage import say


def test_every_claim_is_checked(claiming: Path) -> None:
    found = told("check", claiming)
    assert found["satisfied"]
    assert [c["model"] for c in found["claims"]] == ["k-anonymity", "l-diversity", "t-closeness"]
    assert all(c["satisfied"] for c in found["claims"])
    assert found["model"] == "t-closeness"
    assert found["parameters"] == {"t": 0.5, "attribute": "job"}
    shown = call("check", claiming).stdout
    for model in ("k-anonymity (k = 3) holds", "l-diversity (l = 2", "t-closeness (t = 0.5"):
        assert model in shown


def test_one_that_fails_is_enough(claiming: Path) -> None:
    found = told("check", claiming, "--t", 0, code=1)
    assert not found["satisfied"]
    assert (found["model"], found["parameters"]["t"]) == ("t-closeness", 0)
    assert [c["satisfied"] for c in found["claims"]] == [True, True, False]
    shown = call("check", claiming, "--l", 3, "--k", 3, "--explain")
    assert shown.exit_code == 1
    text = " ".join(shown.stdout.split())
    assert "l-diversity (l = 3, attribute = job, kind = distinct) does not hold" in text
    assert "records: l 2" in text
    assert "k-anonymity (k = 3) holds" in text


def test_a_named_model_is_checked_alone(claiming: Path) -> None:
    found = told("check", claiming, "--model", "l-diversity")
    assert "claims" not in found
    assert found["parameters"] == {"l": 2, "attribute": "job", "kind": "distinct"}
    found = told(
        "check", claiming, "--model", "alpha-k", "--k", 4, "--alpha", 0.9, "--attribute", "job"
    )
    assert found["largest_share"] <= 0.9


def test_k_is_as_claimed_for_a_model_that_is_not(claiming: Path) -> None:
    found = told("check", claiming, "--model", "alpha-k", "--alpha", 0.9, "--attribute", "job")
    assert found["parameters"]["k"] == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--alpha", 0.5], "--alpha: no claimed model has such a setting"),
        (["--graph"], "--graph: shows proximity"),
        (["--model", "l-diversity", "--attribute", "age", "--l", 2], "is a quasi-identifier"),
        (["--model", "l-diversity", "--attribute", "pay", "--l", 2], "values of their own: job"),
        (["--model", "alpha-k", "--attribute", "job", "--k", 4], "--alpha is missing"),
        (["--model", "t-closeness", "--t", 2], "--t = 2: must be a number from 0 to 1"),
        (["--model", "l-diversity", "--l", 0], "--l = 0: must be a finite number, 1 or more"),
        (["--model", "l-diversity", "--l", 99], "different values in all"),
        (["--model", "k-anonymity", "--attribute", "job"], "has no such setting"),
    ],
)
def test_refused(claiming: Path, options: list[object], said: str) -> None:
    assert said in refused("check", claiming, *options)


def test_ratings_with_attributes(ratings_csv: Path, people_csv: Path) -> None:
    users = ("--users", people_csv)
    asked = (*users, "--model", "l-diversity", "--attribute", "job", "--l", 3)
    shown = call("check", ratings_csv, *asked)
    assert shown.exit_code == 1
    assert "fewer than 3 different values of job" in " ".join(shown.stdout.split())
    command = shlex.split(shown.stdout.splitlines()[-3])
    assert command[:2] == ["starshade", "anonymize"]
    assert command[-12:] == [
        *("--attributes", "generalized", "--sensitive-attribute", "job"),
        *("--rare-values", "blank", "--l", "3", "--out", "DIR", "--private", "FILE"),
    ]
    other = [name.upper() if name == "job" else name for name in asked]
    assert shlex.split(call("check", ratings_csv, *other).stdout.splitlines()[-3]) == command
    shown = call("check", ratings_csv, *asked, "--kind", "entropy")
    assert "--l" not in shlex.split(shown.stdout.splitlines()[-3])
    assert "no personal attributes" in refused("check", ratings_csv, *asked[2:])
    assert told(
        "check", ratings_csv, *users, "--model", "t-closeness", "--attribute", "age", "--t", 0.99
    )


def test_diversity_of_a_release_and_its_original(ratings_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    made = ("--method", "predictive", "--profile", "simple", "--k", 3, "--b", 2, "--l", 3)
    made += ("--no-key-file",)
    assert call("anonymize", ratings_csv, *made, "--seed", 1, "--out", out).exit_code == 0
    alone = told("check", out, code=1)
    assert [(c["model"], c["satisfied"]) for c in alone["claims"]] == [
        ("review-graph", True),
        ("diversity", False),
    ]
    assert (alone["model"], alone["undecided"], alone["failing_records"]) == ("diversity", [2], 0)
    assert [s["size"] for s in alone["sets"]] == [1]
    said = " ".join(call("check", out).stdout.split())
    assert "diversity (b = 2, l = 3) is not decided: 0 of" in said
    assert (
        "sets of 2 items are undecided: the release does not show which were rated together" in said
    )
    assert "--original RATINGS" in said
    assert "anonymize the ratings again" not in said
    found = told("check", out, "--original", ratings_csv)
    assert [c["model"] for c in found["claims"]] == ["review-graph", "diversity"]
    assert found["satisfied"]
    sets = found["claims"][1]["sets"]
    assert [s["fewest_classes"] for s in sets] == [3, 3]
    assert found["claims"][1]["undecided"] == []
    said = refused("check", out, "--l", 1e300)
    assert (
        "--l = 1e+300: must be a whole number, 1 or more\nThe largest allowed number is 2**63 - 1."
        in said
    )
    assert all(s["sets"] > 0 for s in sets)
    every = found["claims"][1]["classes"]
    more = ("--model", "diversity", "--l", every, "--original", ratings_csv, "--explain")
    shown = call("check", out, *more)
    assert shown.exit_code == 1
    assert "profiles" in shown.stdout
    assert told("check", out, "--model", "diversity", "--b", 1, "--l", 3)["satisfied"]
    assert "no model checked here uses" in refused(
        "check", out, "--model", "review-graph", "--original", ratings_csv
    )
    assert "DATA is not a release" in refused("check", ratings_csv, "--original", ratings_csv)


@pytest.mark.parametrize(
    "model",
    [
        ("diversity", "--b", 2, "--l", 2),
        ("k-anonymity", "--k", 4),
        ("k-eps", "--k", 4, "--eps", 1),
        ("k-m", "--k", 4, "--m", 2),
        ("l-diversity", "--l", 2, "--attribute", "job"),
        ("t-closeness", "--t", 0.3, "--attribute", "town"),
        ("alpha-k", "--alpha", 0.5, "--k", 3, "--attribute", "job"),
    ],
    ids=lambda model: model[0],
)
def test_what_ratings_that_fail_are_told_to_do_works_as_printed(
    model: tuple[object, ...],
    ratings_csv: Path,
    people_csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people, lines = tmp_path / "people.csv", people_csv.read_text().splitlines()
    names = ["name", *(f"person {i}" for i in range(1, len(lines)))]  # who may not be released
    people.write_text("".join(f"{line},{name}\n" for line, name in zip(lines, names, strict=True)))
    shown = call("check", ratings_csv, "--users", people, "--model", *model)
    assert shown.exit_code == 1
    line = next(text for text in shown.stdout.splitlines() if "starshade anonymize" in text)
    monkeypatch.chdir(tmp_path)
    made = call(*shlex.split(line)[1:])
    assert made.exit_code == 0, made.stderr
    assert Path("DIR").is_dir()
    assert Path("FILE").is_file()


def test_a_release_that_claims_nothing(claiming: Path, tmp_path: Path) -> None:
    out = tmp_path / "a release"
    shutil.copytree(claiming, out)
    say(out, claims=[])
    for beside in ((), ("--explain",)):
        message = " ".join(refused("check", out, *beside).split())
        assert "the release claims no privacy model" in message
        assert f"starshade check '{out}' --k 5" in message
    assert told("check", out, "--k", 3)["model"] == "k-anonymity"


@pytest.mark.parametrize(
    "asked",
    [
        ("k-eps", "--k", 5, "--eps", 5),
        ("k-eps", "--k", 5, "--eps", 4, "--nulls", "ignore"),
        ("l-diversity", "--attribute", "town", "--l", 1),
        ("t-closeness", "--attribute", "town", "--t", 1),
        ("diversity", "--b", 1, "--l", 1),
    ],
    ids=lambda asked: " ".join(map(str, asked)),
)
def test_what_holds_whatever_was_rated_does_not_pass(
    ratings_csv: Path, people_csv: Path, asked: tuple[Any, ...]
) -> None:
    base = ("check", ratings_csv, "--users", people_csv, "--no-dates", "--model", *asked)
    shown = call(*base)
    assert shown.exit_code == 1
    assert "holds, but says nothing: " in " ".join(shown.stdout.split())
    found = json.loads(call(*base, "--json").stdout)
    assert (found["satisfied"], found["vacuous"]) == (True, True)


def test_a_release_whose_claim_says_nothing(claiming: Path, tmp_path: Path) -> None:
    assert told("check", claiming)["vacuous"] is False
    out = tmp_path / "out"
    shutil.copytree(claiming, out)
    claims = json.loads((out / "release.json").read_text())["claims"]
    close = next(claim for claim in claims if claim["model"] == "t-closeness")
    close["parameters"]["t"] = 1.0
    say(out, claims=claims)
    shown = call("check", out, "--json")
    assert shown.exit_code == 1
    found = json.loads(shown.stdout)
    assert (found["model"], found["satisfied"], found["vacuous"]) == ("t-closeness", True, True)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--method", "interval", "--eps", 5), "all records are near each other"),
        (("--method", "suppress", "--eps", 4, "--nulls", "ignore"), "below 4"),
        (("--method", "predictive", "--profile", "simple", "--l", 1), "l = 1"),
    ],
)
def test_a_release_that_would_promise_nothing_is_not_made(
    ratings_csv: Path, tmp_path: Path, asked: tuple[Any, ...], message: str
) -> None:
    out = tmp_path / "out"
    said = refused("anonymize", ratings_csv, *asked, "--k", 3, "--no-key-file", "--out", out)
    assert message in " ".join(said.split())
    assert not out.exists()
