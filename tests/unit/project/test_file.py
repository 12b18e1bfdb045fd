"""What a project file may say, and by which line it is told what it may not."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from starshade.errors import ConfigError
from starshade.project.file import NAME, parse_project, problems_of, read_project

WHOLE = """\
version = 1
[data]
ratings = "r.csv"
user-col = "email"
null-values = ["99"]
dates = false
[release]
method = "k-exchange"
k = 7
items = "top:20"
disclosure-weight = 0.2
[audit]
known = [2, 4]
limit = ["class=0.5"]
[publish]
to = "out"
"""


def wrong(text: str, **environment: str) -> list[str]:
    return [str(problem) for problem in parse_project(text, environment)[1]]


def test_what_is_said_is_kept_as_settings_are() -> None:
    project, problems = parse_project(WHOLE, {})
    assert problems == []
    assert project.data["user_col"] == "email"
    assert project.data["null_values"] == ("99",)
    assert project.data["dates"] is False
    assert dict(project.release) == {
        "method": "k-exchange", "k": 7, "items": "top:20", "disclosure_weight": 0.2
    }  # fmt: skip
    assert project.audit["known"] == (2, 4)
    assert project.publish["to"] == "out"


@pytest.mark.parametrize(
    ("line", "bad", "says"),
    [
        (1, 'version = 3', "version = 3: this starshade reads versions 1 and 2"),
        (1, 'version = true', "version = True"),
        (3, "ratings = 7", "ratings = 7: must be a text"),
        (4, 'usr-col = "email"', "usr-col: [data] has no such setting"),
        (4, 'user_col = "email"', "user_col: [data] has no such setting"),
        (5, 'null-values = "99"', "null-values = '99': must be a list of texts"),
        (6, 'dates = "no"', "dates = 'no': must be True or False"),
        (7, "[relese]", "[relese]: unknown section"),
        (8, 'method = "k-best"', "method 'k-best': unknown"),
        (8, 'method = "mondrian"', "disclosure-weight: [release] with the method mondrian"),
        (9, "k = 1", "k = 1: must be a whole number, 2 or more"),
        (9, 'k = "7"', "k = '7': must be a whole number"),
        (9, "", "[release] lacks k"),
        (13, "known = 2", "known = 2: must be one or more whole numbers"),
        (13, "known = [0]", "known = 0: must be"),
        (9, "k = 7 7", "invalid TOML"),
        (10, "k = 8", "invalid TOML"),
        (9, "k = " + "9" * 400, "k = a number too large"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_line(line: int, bad: str, says: str) -> None:
    lines = WHOLE.split("\n")
    lines[line - 1] = bad
    found = wrong("\n".join(lines))
    at = {9: (7, 9), 8: (8, 11)}.get(line, (line,))
    assert any(says in each for each in found), found
    assert any(f"{NAME}, line {n}: " in each for each in found for n in at), found


def test_everything_that_is_wrong_is_told_in_the_order_of_the_lines() -> None:
    text = "[x]\n[release]\nkk = 3\n[data]\nratings = 3\n"
    assert [each.split(":")[0].split()[-1] for each in wrong(text)] == ["1", "2", "3", "5"]


def test_an_item_support_is_a_number_or_a_percentage() -> None:
    text = "version = 2\n[data]\nratings = 'r.csv'\n[release]\nk = 5\nitem-support = {}\n"
    for said, kept in (("95", 95), ("'95'", 95), ("'10.0 %'", "10%")):
        project, problems = parse_project(text.format(said), {})
        assert (project.release["item_support"], problems) == (kept, [])
    for said in ("0", "0.1", "'101%'", "'abc'", "true"):
        assert "line 6: item-support = " in wrong(text.format(said))[0]
    given = {"STARSHADE_SET_RELEASE_ITEM_SUPPORT": "10%"}
    assert parse_project(text.format("95"), given)[0].release["item_support"] == "10%"


def test_a_section_is_no_value() -> None:
    assert wrong("data = 3\n[release]\nk = 5")[0] == f"{NAME}, line 1: data: must be a section"


def test_the_environment_wins() -> None:
    said = {"STARSHADE_SET_RELEASE_K": "9", "STARSHADE_SET_DATA_USER_COL": "mail", "OTHER": "1"}
    project, problems = parse_project(WHOLE, said)
    assert problems == []
    assert (project.release["k"], project.data["user_col"]) == (9, "mail")
    assert project.overridden == ("STARSHADE_SET_DATA_USER_COL", "STARSHADE_SET_RELEASE_K")


@pytest.mark.parametrize("variable", ["STARSHADE_SET_K", "STARSHADE_SET_RELEASE", "STARSHADE_SET_"])
def test_a_variable_without_a_setting_is_told(variable: str) -> None:
    assert f"{variable}: unknown setting" in wrong(WHOLE, **{variable: "1"})[0]


def test_a_variable_of_a_wrong_value_is_told_by_its_name() -> None:
    (found,) = wrong(WHOLE, STARSHADE_SET_RELEASE_K="many")
    assert "STARSHADE_SET_RELEASE_K" in found


def test_there_need_be_none(tmp_path: Path) -> None:
    assert read_project(tmp_path) is None
    with pytest.raises(ConfigError, match="starshade init"):
        problems_of(tmp_path)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_project(tmp_path)
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).mkdir()
    with pytest.raises(ConfigError, match="is a folder") as error:
        read_project(tmp_path)
    assert "Rename the folder" in error.value.advice


@pytest.mark.parametrize(
    "said",
    [
        'attribute-hierarchies = { zip = "prefix:3", age = "bands:10" }',
        '[release.attribute-hierarchies]\nzip = "prefix:3"\nage = "bands:10"',
        'attribute-hierarchies.zip = "prefix:3"\nattribute-hierarchies.age = "bands:10"',
    ],
)
def test_recipes_stand_in_the_file_as_a_table(said: str) -> None:
    method = 'method = "k-exchange"\nk = 5\nattributes = "generalized"'
    whole = f'[data]\nratings = "r.csv"\n[release]\n{method}\n{said}\n'
    project, problems = parse_project(whole, {})
    assert problems == []
    told = {"zip": "prefix:3", "age": "bands:10"}
    assert project.release["attribute_hierarchies"] == told
    assert wrong(whole.replace('"bands:10"', "10")) == [
        f"{NAME}, line 7: attribute-hierarchies = a dict: must be a text for each name"
    ]


def of_places(tmp_path: Path, text: str) -> list[str]:
    """Say what is wrong with a file in a folder that has data/export.csv and data/zip.csv."""
    (tmp_path / "data").mkdir(exist_ok=True)
    for name in ("export.csv", "zip.csv", "old.json"):
        (tmp_path / "data" / name).write_text("a;b\nc;d\n")
    (tmp_path / NAME).write_text(text)
    return [str(problem) for problem in problems_of(tmp_path)]


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ('[data]\nratings = "data/export.csv"\n[release]\nk = 5', "ratings"),
        ('[data]\nratings = "data/*.csv"\n[release]\nk = 5', "ratings"),
        ('[data]\nratings = "data"\n[release]\nk = 5', "ratings"),
        ('[data]\nratings = "sqlite:///data/export.csv"\n[release]\nk = 5', "ratings"),
        ('[data]\nusers = "data/export.csv"\n[release]\nk = 5', "users"),
        ('[data]\nitem-names = "./data/../data/zip.csv"\n[release]\nk = 5', "item-names"),
    ],
)
def test_the_published_place_holds_nothing_that_the_file_names(
    said: str, key: str, tmp_path: Path
) -> None:
    (found,) = of_places(tmp_path, f'{said}\n[publish]\nto = "data"\n')
    assert found.startswith(f"{NAME}, line 6: to = 'data': the published folder would contain")
    assert f"[data] {key} names" in found
    assert of_places(tmp_path, f'{said}\n[publish]\nto = "out"\n') == []


def test_nor_receipts_and_hierarchies(tmp_path: Path) -> None:
    zips, receipt = "{ zip = 'data/zip.csv' }", '["data/old.json"]'
    for said in (
        f'attribute-hierarchies = {zips}\n[publish]\nto = "data"',
        f'[publish]\nearlier = ["data/r"]\nearlier-private = {receipt}\nto = "data"',
    ):
        found = of_places(tmp_path, f'[release]\nmethod = "k-exchange"\nk = 5\n{said}\n')
        assert any("to = 'data': the published folder would contain" in each for each in found), (
            found
        )


def test_releases_that_are_out_may_lie_where_the_next_go(tmp_path: Path) -> None:
    assert of_places(tmp_path, '[release]\nk = 5\n[publish]\nearlier = ["data"]\nto = "data"') == []


@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("data/zip.csv", "Not a directory"),
        ("data/zip.csv/deeper", "Not a directory"),
        ("/dev/null", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("", "is not a valid folder name"),
        ("a\\u0000b", "is not a valid folder name"),
        ("~/out", "~ is not expanded here"),
        ("~", "~ is not expanded here"),
        ("leads", "is a link"),
    ],
)
def test_the_published_place_can_be_a_folder(to: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "leads").symlink_to("elsewhere")
    found = of_places(tmp_path, f'[release]\nk = 5\n[publish]\nto = "{to}"\n')
    assert any(each.startswith(f"{NAME}, line 4: ") and says in each for each in found), found


def test_no_home_is_read_anywhere(tmp_path: Path) -> None:
    said = '[data]\nratings = "~/r.csv"\nnull-values = ["~"]\ndelimiter = "~"\n[release]\nk = 5'
    (found,) = of_places(tmp_path, said)
    assert found.startswith(f"{NAME}, line 2: '~/r.csv': ~ is not expanded")


def test_each_release_has_its_receipt(tmp_path: Path) -> None:
    said = '[release]\nk = 5\n[publish]\nearlier = ["a", "b"]\nearlier-private = ["a.json"]'
    (found,) = of_places(tmp_path, said)
    assert found.startswith(f"{NAME}, line 5: 2 named by earlier, 1 by earlier-private")


@pytest.mark.parametrize(
    ("line", "bad", "says"),
    [
        *(
            (14, f"{key} = {thresholds}", f"threshold{says}")
            for key in ("threshold", "limit")  # the older name
            for thresholds, says in (
                ('["membership=nan"]', " membership = 'nan': must be a share from 0 to 1"),
                ('["record=inf"]', " re-identification = 'inf': must be a share"),
                ('["record=0.1", "class=1.01"]', " class-linkage = '1.01': must be a share"),
                ('["membership=101%"]', " membership = '101%': must be a share"),
                ('["membership=20 %"]', " membership = '20 %': must be a share"),
                ('["class=-0.1"]', " class-linkage = '-0.1': must be a share"),
                ('["class="]', " class-linkage = '': must be a share"),
                ('[""]', ": there is no check ''"),
                ('["colour=1"]', ": there is no check 'colour'"),
                ('["class=0.1", "class=0.2"]', ": class-linkage is set twice"),
            )
        ),
        (14, 'policy = "strict"', "policy: there is no policy 'strict'"),
        (14, 'policy = "none.toml"', "policy 'none.toml': cannot be read"),
        (10, 'items = "top:-3"', "items 'top:-3': a whole number"),
        (10, 'items = "top:0"', "items top:0: at least 1"),
        (10, 'items = "blah"', "items 'blah': cannot be read"),
        (10, 'items = ""', "items: an empty path"),
        (11, "attribute-hierarchies = { zip = 'prefix:x' }", "attribute-hierarchies: prefix takes"),
        (11, "attribute-hierarchies = { age = 'bands:0' }", "attribute-hierarchies: bands takes"),
        (1, 'version = "1"', "version = '1': must be the number 1"),
        (10, "k = 8", "invalid TOML: k"),
        (17, "to = 'o'", "invalid TOML: to"),
    ],
)
def test_what_a_run_would_refuse_is_told_by_its_line(
    line: int, bad: str, says: str, tmp_path: Path
) -> None:
    lines = WHOLE.rstrip("\n").split("\n")
    lines[line - 1 : line] = [bad]
    (tmp_path / NAME).write_text("\n".join(lines))
    found = problems_of(tmp_path)
    assert [each.line for each in found] == [line], found
    assert says in found[0].text
    assert "--" not in f"{found[0].text}{found[0].advice}"


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("wide = true\nitem-cols = ['Q1_*', 'Q2']", []),
        (
            "item-cols = ['Q1']",
            ["item-cols: names a column of a wide table, but this table is long"],
        ),
        ("wide = true\nitem-col = 'Q1'", ["item-col: names a column of a long table"]),
    ],
)
def test_columns_of_items(said: str, says: list[str], tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(f"[data]\nratings = 'a.csv'\n{said}\n")
    found = [each.text for each in problems_of(tmp_path) if "item-col" in each.text]
    assert len(found) == len(says)
    assert all(map(str.startswith, found, says))


@pytest.mark.parametrize("key", ["k-col", '"k-col"', "'k-col'"])
def test_a_key_is_found_in_its_line_however_it_is_quoted(key: str) -> None:
    text = WHOLE.replace('user-col = "email"', f'{key} = "email"')
    assert wrong(text) == [f"{NAME}, line 4: k-col: [data] has no such setting"]


@pytest.mark.parametrize(
    ("more", "line", "says"),
    [
        ("\nx = " + "[" * 10**6, 18, "nested too deeply"),
        ("\nx = 1\ny = [\n" + "{a = [\n" * 5000, 5019, "nested too deeply"),
        ("x." * 10**5 + "y = 1", 17, "a name of too many parts"),
        ("[" + "x." * 10**5 + "y]", 17, "a name of too many parts"),
        ("x = { " + "x." * 10**5 + "y = 1 }", 17, "a name of too many parts"),
        ("\n\nx = -1" + "0" * 10**5, 19, "a number of too many digits"),
    ],
)
def test_what_a_reader_of_toml_does_not_survive_is_told_by_its_line(
    more: str, line: int, says: str
) -> None:
    (found,) = wrong(WHOLE + more)
    assert found == f"starshade.toml, line {line}: invalid TOML: {says}"


@pytest.mark.parametrize(
    ("value", "says"),
    [("[" * 10**6, "nested too deeply"), ("7" * 10**5, "a number of too many digits")],
)
def test_a_variable_that_no_reader_survives_is_told_by_its_name(value: str, says: str) -> None:
    (found,) = wrong(WHOLE, STARSHADE_SET_RELEASE_K=value)
    assert found == f"starshade.toml: STARSHADE_SET_RELEASE_K: {says}"


def test_overlong_texts_of_a_variable_are_shortened() -> None:
    (found,) = wrong(WHOLE, STARSHADE_SET_RELEASE_K="k" * 10**6)
    assert len(found) < 500


def test_a_line_of_blanks_takes_no_time() -> None:
    started = time.process_time()
    wrong(f"{WHOLE}[{' ' * 100_000}\n")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("device", "says"), [("/dev/zero", "it is a device"), ("pipe", "it is a pipe")]
)
def test_a_device_in_the_place_of_the_file_is_refused(
    tmp_path: Path, device: str, says: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / NAME).symlink_to(device)
    with pytest.raises(ConfigError, match=says):
        read_project(tmp_path)


def test_a_huge_project_file_is_refused(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(ConfigError, match=r"10,737,418,240 bytes; at most 1,048,576 bytes"):
        problems_of(tmp_path)


def test_older_settings_are_read_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    monkeypatch.setattr("starshade.project.file.note", notes.append)
    project, problems = parse_project(WHOLE.replace("known = [2, 4]", 'judge = "all"'), {})
    assert not problems
    assert dict(project.audit) == {"threshold": ("class=0.5",)}
    assert notes[0].startswith("judge of [audit] no longer has an effect")
    assert notes[1].startswith("limit is now called threshold")
