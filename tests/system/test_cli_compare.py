"""``starshade compare`` and ``starshade reproduce kl`` as they are called."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.system.conftest import USERS, call, refused, told

QUICK = ("--runs", 1, "--most-k", 2, "--draws", 2, "--seed", 3)


@pytest.fixture(scope="module")
def users_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "users.csv"
    lines = [f"{u},{20 + u * 7 % 50},{'fm'[u % 2]}" for u in range(1, USERS + 1)]
    path.write_text("userId,age,gender\n" + "\n".join(lines) + "\n")
    return path


def test_methods_are_compared(ratings_csv: Path, users_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "compared"
    found = told(
        *("compare", ratings_csv, "--users", users_csv, "--items", "top:8", "--seed", 1),
        *("--methods", "k-likeness, suppress", "--k", "2,5", "--eps", 3, "--out", out),
    )
    rows = found["rows"]
    assert [(row["method"], row["k"]) for row in rows] == [
        ("k-likeness", 2),
        ("k-likeness", 5),
        ("suppress", 2),
        ("suppress", 5),
    ]
    assert found["attribute"] == "age"
    assert rows[0]["query_error"] > 0
    assert rows[1]["expected_top1"] <= 0.2 < found["original"]["expected_top1"]
    assert json.loads((out / "compare.json").read_text("utf-8"))["rows"] == rows
    assert (out / "frontier.svg").is_file()


def test_the_profile_is_named_in_the_table_and_on_the_page(
    ratings_csv: Path, tmp_path: Path
) -> None:
    asked = ("compare", ratings_csv, "--methods", "predictive", "--k", 5, "--seed", 1)
    result = call(*asked, "--held-out", 0.1, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "predictive, pooled (k = 5)" in " ".join(result.stdout.split())
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "| predictive, pooled | 5 |" in page
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    (original,) = [row for row in rows if row[0] == "| original"]
    assert original[rows[0].index("RMSE ratio")] == "1"
    found = told(*asked, "--profile", "simple")
    assert [row["profile"] for row in found["rows"]] == ["simple"]
    assert "none of the methods has a profile" in refused(
        "compare", ratings_csv, "--methods", "k-likeness", "--profile", "simple"
    )


def test_a_person_reads_rows_as_they_are_done(ratings_csv: Path) -> None:
    args = ("--methods", "k-likeness", "--k", "3,121", "--items", "top:4", "--seed", 1)
    result = call("compare", ratings_csv, *args)
    assert result.exit_code == 0, result.stderr
    assert "k-likeness (k = 3): " in result.stderr
    assert "k-likeness (k = 121): refused" in result.stderr
    assert "Utility: ratings recoverable from the release" in result.stdout
    assert re.search(r"^ *k-likeness +3 ", result.stdout, re.M)
    assert "query error" not in result.stdout  # no attribute, no such column
    assert "Refused" in result.stdout
    told = result.stdout.replace("\n", " ")
    assert re.search(r" 4 ratings re-identifies [\d.]+% of \d+ targets \(scoreboard-rh\)", told)
    table = told.split("Singling out")[1].split("Linkability")[0]
    assert "original" in table
    assert "likelihood" in table


def test_all_refused_is_not_a_success(ratings_csv: Path, tmp_path: Path) -> None:
    args = ("compare", ratings_csv, "--methods", "k-likeness", "--k", 121, "--seed", 1)
    why = "--k = 121, records = 120"
    asked = ("--method", "k-exchange", "--k", 121, "--out", tmp_path / "out")
    for said in (refused(*args), refused("anonymize", ratings_csv, *asked)):
        assert f"Error: {why}" in said
        assert "Choose k from 2 to 120." in said
    near = ("--methods", "interval", "--k", 2, "--eps", 1, "--sensitive", 1, "--l", 50)
    found = told("compare", ratings_csv, *near, code=1)  # what these data do not meet
    assert "l = 50" in found["rows"][0]["refused"]


def test_what_is_given_twice_is_tried_once_and_told(ratings_csv: Path) -> None:
    result = call("compare", ratings_csv, "--methods", "mondrian,mondrian", "--k", "5,2,5")
    assert "--methods: mondrian given more than once, and tried once" in result.stderr
    assert "--k: 5 given more than once, and tried once" in result.stderr
    assert [
        line.split(":")[0] for line in result.stderr.splitlines() if " re-identified " in line
    ] == [
        "mondrian (k = 2)",
        "mondrian (k = 5)",
    ]


def test_what_only_proximity_asks_for_reaches_its_methods(ratings_csv: Path) -> None:
    asked = ("--methods", "k-likeness,interval", "--k", 3, "--eps", 1, "--items", "top:4")
    asked = ("compare", ratings_csv, *asked, "--seed", 1)
    near = ("--sensitive", 1, "--l", 0.5, "--nulls", "zero")
    usual, other = (told(*asked, *more)["rows"] for more in ((), near))
    assert usual[0]["gen_iloss"] == other[0]["gen_iloss"]
    assert usual[1]["distortion"] != other[1]["distortion"]
    said = refused("compare", ratings_csv, "--methods", "mondrian", "--nulls", "zero")
    assert "--nulls zero: none of the methods has such a setting" in said
    assert "interval or suppress" in said


def test_no_name_in_the_table_is_cut(ratings_csv: Path) -> None:
    methods = "mondrian-relaxed,predictive,interval"
    asked = ("--methods", methods, "--k", "2,10", "--eps", 1, "--held-out", 0.1, "--seed", 1)
    command = [sys.executable, "-m", "starshade", "compare", str(ratings_csv), *map(str, asked)]
    main, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL) as process:
        os.close(terminal)
        shown = b"".join(iter(lambda: _from(main), b"")).decode()
        os.close(main)
        assert process.wait() == 0
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert max(map(len, lines)) <= 80
    first = next(i for i, line in enumerate(lines) if line.startswith("Utility: ratings"))
    table = "\n".join(lines[first:])
    assert "…" not in table
    for name in ("mondrian-relaxed", "predictive,", "class", "ratio", "re-identification"):
        assert name in table.split(), name


def _from(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so that the other end is closed
        return b""


def test_what_cannot_be_compared_is_told_before_the_long_work(
    ratings_csv: Path, tmp_path: Path
) -> None:
    compare = ("compare", ratings_csv)
    assert "exists already" in refused(*compare, "--out", tmp_path)
    assert "Did you mean k-member" in refused(*compare, "--methods", "k-membr")
    assert "eps is missing" in refused(*compare, "--methods", "interval")
    assert "commas" in refused(*compare, "--k", "2;5")
    assert "one or more whole numbers" in refused(*compare, "--k", ",")
    assert "2 or more" in refused(*compare, "--k", "1")
    assert "no such attribute" in refused(*compare, "--attribute", "age")
    assert "no method to compare: at least one is needed" in refused(*compare, "--methods", ",")


@pytest.mark.slow
def test_the_study_of_riyana_and_natwichai(
    ratings_csv: Path, users_csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "study"
    data = ("--data", ratings_csv, "--users", users_csv, "--items", "top:4")
    found = told("reproduce", "kl", *data, "--scale", "1:5:1", "--out", out, *QUICK)
    own = {figure["figure"] for figure in found["figures"]}
    assert own == {"16a", *(str(n) for n in range(10, 17))}
    assert found["data"]["items"] == 4
    assert (found["attribute"], found["seed"]) == ("age", 3)
    assert json.loads((out / "kl.json").read_text("utf-8"))["claims"] == found["claims"]
    assert (out / "points.csv").is_file()


def test_a_person_reads_what_holds(ratings_csv: Path) -> None:
    result = call("reproduce", "kl", "--data", ratings_csv, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert "Riyana and Natwichai" in result.stdout
    assert "10 items" in result.stdout
    assert "no numeric personal" in result.stdout.replace("\n", " ")


def test_a_wrong_study_is_refused_at_once(ratings_csv: Path, tmp_path: Path) -> None:
    study = ("reproduce", "kl")
    assert "--data" in refused(*study, "--scale", "1:5:1")
    assert "exists already" in refused(*study, "--out", tmp_path)
    assert "no such attribute" in refused(*study, "--data", ratings_csv, "--attribute", "age")
    assert "most-k" in call(*study, "--data", ratings_csv, "--most-k", 1).stderr
