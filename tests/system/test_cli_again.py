"""`anonymize --after`: what continues another release, what is refused, what a kill leaves."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from starshade.release.folder.read import read_release
from tests.system.conftest import Made, call, refused, told
from tests.system.test_cli_places import KILLED
from tests.unit.release.damage import signed


@pytest.fixture(scope="module")
def next_csv(ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same people a year later: ten left, ten came."""
    path = tmp_path_factory.mktemp("next") / "ratings.csv"
    head, *lines = ratings_csv.read_text().splitlines()
    later = []
    for line in lines:
        user, rest = line.split(",", 1)
        later.append(f"{int(user) + 990 if int(user) <= 10 else user},{rest}")
    path.write_text("\n".join([head, *later]) + "\n")
    return path


def again(made: Made) -> list[object]:
    return ["--k", 4, "--after", made.folder, "--after-private", made.receipt, "--seed", 2]


def test_a_release_that_continues_another(made: Made, next_csv: Path, tmp_path: Path) -> None:
    out, private = tmp_path / "out", tmp_path / "private"
    found = told("anonymize", next_csv, *again(made), "--out", out, "--private", private)
    facts = json.loads(private.read_text())
    assert found["dummy_records"] == facts["dummy_records"] == len(facts["chain"]["dummies"])
    # with those of whose group fewer than half are left
    assert set(facts["chain"]["left_before"]) >= {str(user) for user in range(1, 11)}
    assert set(facts["users"]) >= {str(user) for user in range(991, 1001)}
    manifest = json.loads((made.folder / "release.json").read_text())
    assert json.loads((out / "release.json").read_text())["items"] == manifest["items"]
    assert call("check", out).exit_code == 0
    third = call(
        *("anonymize", next_csv, "--k", 4, "--after", out, "--after-private", private),
        *("--shortfall", "withhold", "--out", tmp_path / "third", "--private", tmp_path / "3"),
    )
    assert third.exit_code == 0, third.stderr


def test_the_older_choice_of_shortfall_is_noted(made: Made, next_csv: Path, tmp_path: Path) -> None:
    for name, choice in (("older", "invent"), ("newer", "dummies")):
        place = ("--out", tmp_path / name, "--private", tmp_path / f"{name}.json")
        result = call("anonymize", next_csv, *again(made), "--shortfall", choice, *place)
        assert result.exit_code == 0, result.stderr
        assert ("--shortfall invent is now called dummies" in result.stderr) == (name == "older")
    keys = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("older", "newer")]
    assert keys[0]["config"] == keys[1]["config"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--after RELEASE --private p", "--after without --after-private"),
        ("--after RELEASE --after-private RECEIPT", "--after without --private"),
        ("--after RELEASE --after-private RECEIPT --no-key-file", "--after without --private"),
        ("--after-private RECEIPT --private p", "without --after"),
        ("--shortfall withhold --private p", "without --after"),
        ("--after nowhere --after-private RECEIPT --private p", "not a release"),
        ("--after RELEASE --after-private nowhere --private p", "cannot be read"),
        ("--after RELEASE --after-private RATINGS --private p", "not a private key file"),
        ("--after RELEASE --after-private OTHER --private p", "belongs to another release"),
        ("--after RELEASE --after-private DAMAGED --private p", "damaged"),
        (
            "--after RELEASE --after-private RECEIPT --private p --items top:3",
            "chosen items differ",
        ),
        ("--method predictive --after RELEASE --after-private RECEIPT --private p", "layout"),
        (
            "--method interval --eps 1 --after RELEASE --after-private RECEIPT --private p",
            "this method cannot continue a release",
        ),
        (
            "--method suppress --eps 1 --after RELEASE --after-private RECEIPT --private p",
            "this method cannot continue a release",
        ),
    ],
)
def test_what_is_refused(
    options: str,
    message: str,
    made: Made,
    next_csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    facts = json.loads(made.receipt.read_text())
    names = {
        "RELEASE": str(made.folder),
        "RECEIPT": str(made.receipt),
        "RATINGS": str(next_csv),
        "OTHER": str(tmp_path / "other.json"),
        "DAMAGED": str(tmp_path / "damaged.json"),
    }
    Path(names["OTHER"]).write_text(signed(facts | {"release": "0" * 64}))
    Path(names["DAMAGED"]).write_text(json.dumps(facts | {"seed": 5}))
    for name in ("OTHER", "DAMAGED"):
        Path(names[name]).chmod(0o600)
    words = [names.get(word, word) for word in options.split()]
    said = refused("anonymize", next_csv, "--k", 4, "--out", "o", *words)
    assert message in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged.json", "other.json"]


def test_too_many_left(made: Made, ratings_csv: Path, tmp_path: Path) -> None:
    release = read_release(made.folder, private=made.receipt)
    link = release.private.link
    group = release.class_of_record[link.record].tolist()
    one_each = dict(zip(group, link.users, strict=True))
    head, *lines = ratings_csv.read_text().splitlines()
    few = [head, *(line for line in lines if line.split(",")[0] in one_each.values())]
    (tmp_path / "few.csv").write_text("\n".join(few) + "\n")
    out = ["--out", tmp_path / "o", "--private", tmp_path / "p"]
    said = refused("anonymize", tmp_path / "few.csv", *again(made), *out, code=1)
    assert "too many have left" in said
    assert "--slack" in said
    assert [path.name for path in tmp_path.iterdir()] == ["few.csv"]


@pytest.mark.slow
def test_killed_between_the_receipt_and_the_release(
    made: Made, next_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["anonymize", next_csv, *again(made), "--out", "out", "--private", "private"]
    killed = [sys.executable, "-c", KILLED, "1", *map(str, words)]
    assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()  # a release that is there has its receipt
    done = call(*words)
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "private"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stop_in_the_middle_leaves_both_or_nothing(
    number: signal.Signals, made: Made, next_csv: Path, tmp_path: Path
) -> None:
    places = ["--out", tmp_path / "out", "--private", tmp_path / "private"]
    words = ["anonymize", next_csv, *again(made), *places]
    command = [sys.executable, "-m", "starshade", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and not any(tmp_path.iterdir()):
        time.sleep(0.001)  # until the save has begun
    process.send_signal(number)
    process.wait()
    left = {path.name for path in tmp_path.iterdir() if path.name[0] != "."}
    assert "out" not in left or "private" in left
    if "out" not in left:
        done = call(*words)
        assert done.exit_code == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"out", "private"}
