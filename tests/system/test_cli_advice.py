"""What a command says to do next, and what it does not say."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from starshade.anonymize.registry import ENTRIES
from starshade.registry import Entry
from tests.system.conftest import Made, call, refused, told


def test_the_next_command_can_be_typed(ratings_csv: Path, tmp_path: Path) -> None:
    data = tmp_path / "my ratings.csv"
    data.write_text(ratings_csv.read_text().replace("userId", "who"))
    made = call(
        *("anonymize", data, "--user-col", "who", "--k", 3, "--items", "top:10", "--no-dates"),
        *("--out", tmp_path / "a release", "--private", tmp_path / "its receipt"),
    )
    assert made.exit_code == 0, made.stderr
    program, *words = shlex.split(made.stdout.splitlines()[-1])
    assert program == "starshade"
    assert words == [
        *("audit", str(data), str(tmp_path / "a release"), "--user-col", "who", "--no-dates"),
        *("--private", str(tmp_path / "its receipt")),
    ]
    audited = call(*words, "--targets", 20, "--shadows", 0)
    assert audited.exit_code == 1  # k = 3 is below the smallest class that the policy allows
    assert audited.stdout.startswith("FAIL  policy partner v1  ")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (("--method", "predictive", "--k", 4), "ratings were averaged"),
        (
            ("--method", "suppress", "--k", 2, "--eps", 1, "--items", "top:3", "--nulls", "zero"),
            "left out",
        ),
        (("--method", "k-likeness", "--k", 3), None),
    ],
)
def test_no_audit_is_advised_that_cannot_pass(
    ratings_csv: Path, tmp_path: Path, settings: tuple[object, ...], why: str | None
) -> None:
    asked = ("anonymize", ratings_csv, *settings, "--seed", 0)
    alone = " ".join(call(*asked, "--no-key-file", "--out", tmp_path / "alone").stdout.split())
    assert ("starshade audit" in alone) == (why is None)
    assert ("repeat with --private FILE" in alone) == (why is not None)
    assert why is None or re.search(rf"cannot pass: [a-z ]*{why}\. Before publication", alone)
    if why is not None:
        found = told("audit", ratings_csv, tmp_path / "alone", "--known", 1, code=1)
        assert f"{why}; without the private key file" in " ".join(found["reasons"]).lower()
    kept = call(*asked, "--out", tmp_path / "kept", "--private", tmp_path / "receipt").stdout
    assert "starshade audit" in kept
    assert "repeat with --private" not in kept


def jester(path: Path, *, distinct: bool) -> Path:
    """Write a count and 100 ratings a line, 99 for none; no line names the columns."""
    lines = []
    for user in range(30):
        values = [((user + 1) * (item + 1)) % 997 / 50 - 10 for item in range(100)]
        cells = [f"{v:.2f}" if distinct or (user + i) % 3 else "99" for i, v in enumerate(values)]
        lines.append(",".join([str(100 - cells.count("99")), *cells]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("wide", "distinct"), [(True, False), (True, True), (False, False)])
def test_a_wide_file_without_a_header_is_read_as_the_advice_says(
    wide: bool, distinct: bool, tmp_path: Path
) -> None:
    file = jester(tmp_path / "jester.csv", distinct=distinct)
    asked = ("data", "describe", file, "--null", 99, "--scale=-10:10")
    if distinct:  # nothing is wrong with such a header, if it is one
        said = call("data", "describe", file, "--wide", "--id-col", "#").stderr
        assert "the first line contains only numbers" in said
    else:
        said = refused(*asked, *(["--wide"] if wide else []))
    _, flag, rest = said.partition("--no-header --id-col '#'")
    assert flag
    assert wide or "--wide --no-header" in said
    assert "If it contains counts, add --attribute-cols 1" in rest
    options = ["--wide", *shlex.split(flag), "--attribute-cols", 1]
    found = told(*asked, *options)
    assert (found["users"], found["items"]) == (30, 100)
    assert "contains only numbers" not in call(*asked, *options).stderr


def test_the_list_of_attributes_can_be_typed_as_it_is_advised(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv"
    rows = [f"p{i},{i % 5 + 1},{4 - i % 4},{i * 3 % 5 + 1},{200 + i},{20 + i},x" for i in range(20)]
    header = 'id,a,b,"c, d\'s",Duration,"Your age, in years","say ""why"""'
    file.write_text("\n".join([header, *rows]) + "\n")
    said = refused("data", "describe", file, "--wide")
    flag = re.search("--attribute-cols .*?(?=\\. If)", said)[0]
    assert "'" in flag
    assert "'Your age, in years'" in said  # by its values: perhaps an item
    option, names = shlex.split(flag)
    names += ',"Your age, in years"'
    found = told("data", "describe", file, "--wide", option, names)
    assert (found["users"], found["items"]) == (20, 3)
    chosen = shlex.split("""--item-cols 'a,"c, d'"'"'s"' """)
    assert told("data", "describe", file, "--wide", *chosen)["items"] == 2


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_no_audit_can_pass_is_refused_before_the_work(
    entry: Entry, ratings_csv: Path, tmp_path: Path
) -> None:
    needs = getattr(entry.load(), "needs_receipt", None)
    eps = ("--eps", 4) if entry.name in ("interval", "suppress") else ()
    asked = ("anonymize", ratings_csv, "--method", entry.name, "--k", 3, "--items", "top:3", *eps)
    both = ("--private", tmp_path / "receipt", "--no-key-file")
    assert "--no-key-file: not applicable with --private" in refused(
        *asked, *both, "--out", tmp_path / "both"
    )
    if needs is not None:
        # not even the ratings are looked at
        said = refused(asked[0], tmp_path / "none", *asked[2:], "--out", tmp_path / "alone")
        assert f"--method {entry.name} without --private: {needs}" in said
        assert "--no-key-file" in said
        assert not list(tmp_path.iterdir())
    asked += ("--no-key-file",) * (needs is not None)
    assert call(*asked, "--out", tmp_path / "out").exit_code == 0


def test_what_was_not_left_out_is_not_told(ratings_csv: Path, tmp_path: Path) -> None:
    whole = call(
        "anonymize", ratings_csv, "--method", "k-exchange", "--k", 3, "--out", tmp_path / "whole"
    )
    assert "Left out" not in whole.stdout
    rare = tmp_path / "rare.csv"
    rare.write_text(ratings_csv.read_text() + "1,99,5,0\n")
    made = call("anonymize", rare, "--method", "k-exchange", "--k", 3, "--out", tmp_path / "rare")
    text = " ".join(made.stdout.split())
    assert "Left out: 1 item that fewer than 3 users rated." in text


def test_measure_and_anonymize_use_the_same_words(made: Made, ratings_csv: Path) -> None:
    shown = call("measure", ratings_csv, made.folder).stdout
    assert "Generalization loss (GenILoss)" in shown
    assert "–" not in shown  # what does not apply is left out
    assert "Distortion per record" not in shown
    assert "figures that do not apply are omitted" in " ".join(shown.split())
    assert "release with personal attributes (--users)" in " ".join(shown.split())
    assert told("measure", ratings_csv, made.folder)["distortion_per_record"] is None


def test_explain_names_classes_of_a_release(made: Made) -> None:
    shown = call("check", made.folder, "--k", 100, "--explain")
    assert shown.exit_code == 1
    assert "of the release, 4 records" in shown.stdout
    assert "row" not in shown.stdout
    assert shown.stdout.count("of the release, ") == 5  # listed once
    assert "The model holds for k up to 4." in shown.stdout
    assert "of the release, " not in call("check", made.folder, "--k", 100).stdout


def test_explain_does_not_number_the_rows_of_ratings(ratings_csv: Path) -> None:
    shown = call("check", ratings_csv, "--k", 3, "--explain", "--scale", "1:5:1")
    assert "a row that equals no other (5 shown)" in shown.stdout
    advised = shown.stdout.splitlines()[-3]
    assert advised == (
        f"  starshade anonymize {ratings_csv} --scale 1:5:1 --k 3 --out DIR --private FILE"
    )


def test_no_seed_is_told_before_anything_is_drawn(tmp_path: Path, ratings_csv: Path) -> None:
    assert "--seed" not in call("attack", tmp_path / "none.csv").stderr
    assert "--seed" not in call("anonymize", ratings_csv, "--k", 1, "--out", tmp_path / "o").stderr
    assert "(drawn;" in call("attack", ratings_csv, "--known", 2).stderr


def test_day_errors_without_days_are_told(made: Made, ratings_csv: Path) -> None:
    base = ("attack", made.folder, "--original", ratings_csv, "--known", 2, "--items", "top:10")
    said = "--day-error has no effect"
    assert said in call(*base, "--day-error", 3).stderr
    assert said not in call(*base).stderr
    assert said not in call("attack", ratings_csv, "--known", 2, "--day-error", 3).stderr
    assert told(*base)["knowledge"]["dates"] is False


def test_an_ending_that_says_nothing(ratings_csv: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no-such-file.csv"  # would be told first, were it read first
    message = refused("data", "convert", missing, "--out", tmp_path / "x.xyz")
    assert ".xyz" in message
    assert ".parquet" in message
    assert "--to" in message
    assert ".xyz" in refused("data", "synth", "--out", tmp_path / "x.xyz")
    named = told("data", "convert", ratings_csv, "--out", tmp_path / "x.xyz", "--to", "tsv")
    assert named["to"] == "tsv"
    store = call("data", "convert", ratings_csv, "--out", tmp_path / "x")
    assert "a folder" in store.stdout


def test_the_names_to_resemble_are_listed(tmp_path: Path) -> None:
    said = " ".join(call("data", "synth", "--help").stdout.split())
    assert "movielens-100k, netflix or survey" in said
    message = refused("data", "synth", "--like", "movielens", "--out", tmp_path / "x")
    assert "movielens-100k" in message
    assert "netflix" in message


def test_a_survey_has_no_number_of_ratings(tmp_path: Path) -> None:
    synth = ("data", "synth", "--like", "survey")
    message = refused(*synth, "--n-ratings", 500, "--out", tmp_path / "x")
    assert "number of ratings cannot be chosen" in message
    assert "questions" in message
    assert not (tmp_path / "x").exists()


def test_ctrl_c_while_the_command_line_loads() -> None:
    code = """
        import os, signal, sys
        class Slow:
            def find_spec(self, name, path=None, target=None):
                if name == "click":
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Slow())
        from starshade.__main__ import main
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "Interrupted; nothing was written.\n"


@pytest.mark.parametrize("method", ["predictive", "k-likeness", "interval", "suppress", "mondrian"])
def test_a_missing_k_is_advised(ratings_csv: Path, tmp_path: Path, method: str) -> None:
    said = refused("anonymize", ratings_csv, "--method", method, "--out", tmp_path / "out")
    needed = {"interval": "--k, --eps are", "suppress": "--k, --eps are"}
    assert f"the method {method}: {needed.get(method, '--k is')} missing" in said
    assert "Add --k 5" in said
    eps = refused(
        "anonymize", ratings_csv, "--method", "suppress", "--k", 5, "--out", tmp_path / "o"
    )
    assert "--eps is missing" in eps
    assert "Add --eps 1, for example" in eps


def test_the_defaults_and_choices_of_predictive_are_told() -> None:
    from starshade.recommend.registry import ENTRIES
    from starshade.recommend.regularized_svd import RegularizedSVD

    told = call("anonymize", "--method", "predictive", "--help").stdout
    said = re.sub(r"(?<=-)\s+", "", " ".join(told.split()))
    for entry in ENTRIES:
        assert entry.name in said
    own = RegularizedSVD()
    assert f"factors [default: {own.regularization:g};" in said
    assert f"rounds [default: {own.sweeps};" in said


def test_the_method_used_by_default_is_said_first(ratings_csv: Path, tmp_path: Path) -> None:
    asked = ("anonymize", ratings_csv, "--k", 4, "--seed", 1)

    def first(*words: object) -> str:
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        result = call(*asked, *words, "--out", out, "--private", f"{out}.json")
        assert result.exit_code == 0, result.stderr
        return " ".join(result.stdout.split("\n\n")[0].split())

    assert first() == "Method: predictive, the default for all items."
    chosen = "the default for a choice of items (for all items: predictive)."
    assert first("--items", "top:5") == f"Method: k-exchange with disclosure weight 0.2, {chosen}"
    weight = ("--disclosure-weight", 0)
    assert (
        first("--items", "top:5", *weight)
        == f"Method: k-exchange with disclosure weight 0, {chosen}"
    )
    assert not first("--method", "k-exchange", "--items", "top:5").startswith("Method:")
    said = refused(*asked, "--quasi", "age", "--out", tmp_path / "no")
    assert "--quasi: predictive, the default for all items, has no such setting" in said
    assert "--method k-exchange or --method k-likeness" in said


@pytest.mark.parametrize(
    ("rows", "words", "said"),
    [
        ([f"{u},{i},4" for u in range(10) for i in range(3)], (), "all profiles are equal"),
        ([f"{u},{i},{1 + (u + i) % 5}" for u in range(9) for i in range(3)], (), "k up to 4"),
        ([f"{u},{i},{1 + (u + i) % 5}" for u in range(3) for i in range(3)], (), "k-exchange"),
    ],
)
def test_what_suits_no_profiles_is_refused(
    rows: list[str], words: tuple[object, ...], said: str, tmp_path: Path
) -> None:
    data, out = tmp_path / "r.csv", tmp_path / "out"
    data.write_text("\n".join(["user,item,rating", *rows]) + "\n")
    k = 2 if len(rows) < 10 else 5
    asked = ("anonymize", data, "--k", k, "--out", out, "--private", tmp_path / "p.json", *words)
    message = refused(*asked, code=1)
    assert said in message
    assert "--method k-exchange" in message
    assert not out.exists()


@pytest.mark.parametrize(("people", "items", "choice"), [(10, 3, ()), (20, 1, ()), (20, 4, (1,))])
def test_ten_people_one_item_and_a_choice_of_one(
    people: int, items: int, choice: tuple[int, ...], tmp_path: Path
) -> None:
    data, out = tmp_path / "r.csv", tmp_path / "out"
    rows = [f"{u},{i},{1 + (u * (i + 2)) % 5}" for u in range(people) for i in range(items)]
    data.write_text("\n".join(["user,item,rating", *rows]) + "\n")
    chosen = [word for n in choice for word in ("--items", f"top:{n}")]
    asked = ("anonymize", data, "--k", 5, *chosen, "--out", out, "--private", tmp_path / "p.json")
    assert told(*asked)["method"] == ("k-exchange" if choice else "predictive")
    assert call("verify", out).exit_code == 0
