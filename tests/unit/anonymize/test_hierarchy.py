from __future__ import annotations

import numpy as np
import pytest

from starshade.anonymize.hierarchy.file import parse_hierarchy, read_hierarchy
from starshade.anonymize.hierarchy.hierarchy import Dgh, Interval, resolve
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale

STARS, HALVES, REAL = Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(-10, 10)


def told(hierarchy: str | Dgh, scale: Scale, *, null_occurs: bool = True) -> list[str]:
    return resolve(hierarchy, scale, null_occurs=null_occurs).to_text()


def refusal(text: str, scale: Scale = STARS, *, null_occurs: bool = True) -> str:
    with pytest.raises(ConfigError) as caught:
        resolve(parse_hierarchy(text, "h.txt"), scale, null_occurs=null_occurs)
    return str(caught.value)


def test_the_papers_three_hierarchies():
    assert told("dgh-a", STARS) == ["[0,1] [2,3] [4,5]", "[0,5]"]
    assert told("dgh-b", STARS) == ["[0,2] [3,5]", "[0,5]"]
    assert told("dgh-c", STARS) == ["[0,5]"]


@pytest.mark.parametrize("scale", [HALVES, REAL, Scale(0, 5, 1), Scale(2, 5, 1), Scale(1, 4, 1)])
def test_the_papers_hierarchies_are_for_their_scale_only(scale):
    with pytest.raises(ConfigError, match="not for scale") as caught:
        resolve("dgh-b", scale, null_occurs=True)
    assert "Use dgh" in caught.value.advice


@pytest.mark.parametrize(
    ("scale", "levels"),
    [
        (STARS, ["[0,2] [3,5]", "[0,5]"]),
        (HALVES, ["[0,2.5] [3,5]", "[0,5]"]),
        (Scale(1, 4, 1), ["[0,2] [3,4]", "[0,4]"]),  # five values: the first three
        (Scale(0, 1, 1), ["[-1,0] [1,1]", "[-1,1]"]),
        (Scale(3, 3, 1), ["[2,2] [3,3]", "[2,3]"]),
        (REAL, ["[-11,0] (0,10]", "[-11,10]"]),
        (Scale(2, 2), ["[1,2]", "[1,2]"]),
    ],
)
def test_two_halves_of_any_scale(scale, levels):
    assert told("dgh", scale) == levels


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=": unknown") as caught:
        resolve("dgh-z", STARS, null_occurs=True)
    assert "ndgh, range, fixed-intervals, dgh, dgh-a, dgh-b, dgh-c" in caught.value.advice
    with pytest.raises(ConfigError, match="neither a known name nor a file"):
        read_hierarchy("dgh-z")


def test_blocks_of_a_real_scale_meet_without_sharing_a_value():
    halves = resolve("dgh", REAL, null_occurs=True)
    values = np.array([-11.0, -10.5, 0.0, 1e-3, 10.0, 10.1])
    assert halves.blocks(0, values).tolist() == [0, 0, 0, 1, 1, -1]


def test_a_file_of_intervals():
    text = "# liked or not\n[3,5]  [null,2]\n\n[0,5] # all\n"
    assert told(parse_hierarchy(text), STARS) == ["[0,2] [3,5]", "[0,5]"]
    assert told(parse_hierarchy("[null,0.5](.5,1e1]\n[null,10]"), Scale(0, 10))[0] == (
        "[-0.5,0.5] (0.5,10]"
    )


def test_a_file_in_arx_format():
    text = "0;low;*\n1;low;*\n2;low;*\n3;high;*\n4;high;*\n5;high;*\n"
    expected = ["[0,0] [1,1] [2,2] [3,3] [4,4] [5,5]", "[0,2] [3,5]", "[0,5]"]
    assert told(parse_hierarchy(text), STARS) == expected
    assert told(parse_hierarchy(text.replace("0;", "null;", 1)), STARS) == expected
    quoted = "\n".join(";".join(f'"{f}"' for f in line.split(";")) for line in text.split())
    assert told(parse_hierarchy(quoted), STARS) == expected


def test_a_file_on_disk_is_read_with_its_name_in_messages(tmp_path):
    path = tmp_path / "h.txt"
    path.write_text("[0,2] [3,5]\n[0,5]\n")
    assert read_hierarchy(path).to_text() == ["[0,2] [3,5]", "[0,5]"]
    assert str(tmp_path) not in read_hierarchy(path).name
    path.write_text("[0,2] [3,5]\n[0,5] 7\n")
    with pytest.raises(ConfigError, match=r"h\.txt, line 2: '7' is not an interval"):
        read_hierarchy(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_hierarchy(path)
    with pytest.raises(ConfigError, match="neither a known name nor a file"):
        read_hierarchy(tmp_path)


def test_what_is_missing_is_named():
    assert "the rating 3 of the scale 1:5:1 is in no interval" in refusal("[0,2] [4,5]\n[0,5]")
    assert "null (which counts as 0)" in refusal("[1,2] [3,5]\n[1,5]")
    assert "level 2" in refusal("[0,2] [3,5]\n[0,4]")
    assert "the rating 2.5 " in refusal("[0,2] [3,5]\n[0,5]", HALVES)
    assert "the rating 4 " in refusal("0;a;*\n1;a;*\n2;a;*\n3;b;*\n5;b;*")  # listed values only
    assert told(parse_hierarchy("[1,2] [3,5]\n[1,5]"), STARS, null_occurs=False)


def test_a_real_scale_must_be_tiled():
    assert "the rating 0.5 " in refusal("[null,0] [1,10]\n[null,10]", REAL)
    assert "the rating 0 " in refusal("[null,0) (0,10]\n[null,10]", REAL)
    assert "the rating 10 " in refusal("[null,0] (0,10)\n[null,10]", REAL)
    assert "null (which counts as -11)" in refusal("[-10,0] (0,10]\n[-10,10]", REAL)
    assert told(parse_hierarchy("[-10,0] (0,10]\n[-10,10]"), REAL, null_occurs=False)
    assert "is in no interval" in refusal("null;*\n-10;*\n10;*", REAL)  # a list is no tiling


def test_an_end_that_is_left_out_holds_nothing():
    assert "null (which counts as 0)" in refusal("(0,5]")
    assert "the rating 5 " in refusal("[0,5)")
    turned = resolve(parse_hierarchy("[null,0) [0,10]\n[null,10]"), REAL, null_occurs=True)
    assert turned.blocks(0, np.array([-1e-3, 0.0])).tolist() == [0, 1]


def test_overlaps_and_empty_intervals_are_named():
    assert "[0,2] and [2,5] overlap at 2" in refusal("[0,2] [2,5]\n[0,5]")
    assert "[-11,0] and [0,10] overlap at 0" in refusal("[null,0] [0,10]\n[null,10]", REAL)
    assert "[3,2] contains no value" in refusal("[0,5] [3,2]")
    assert "(2,2] contains no value" in refusal("[0,2] (2,2] [3,5]\n[0,5]")


def test_levels_must_nest_and_end_in_one_interval():
    message = refusal("[0,1] [2,3] [4,5]\n[0,2] [3,5]\n[0,5]")
    assert "level 1 joins the values of [2,3], which level 2 separates" in message
    assert "which level 2 separates" in refusal("[null,0] (0,10]\n[null,0) [0,10]\n[-11,10]", REAL)
    assert "the last level has 2 intervals" in refusal("[0,2] [3,5]")
    assert "which level 2 separates" in refusal("[null,0) [0,10]\n[null,0] (0,10]\n[-11,10]", REAL)
    assert "it contains no level" in refusal("# nothing\n")
    # an interval beyond the scale holds nothing that must be released
    assert told(parse_hierarchy("[0,5] [6,9]"), STARS) == ["[0,5] [6,9]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1;a;*\n2;a", "line 2: 2 columns where line 1 has 3"),
        ("1;a\nx;a", "line 2: 'x' is not a number"),
        ("1;a\n1;a", "line 2: the value 1 occurs a second time"),
        ("1;a;*\n2;b;*\n3;a;*", "level 1: 'a' joins 1 and 3"),
        ("1;a\nnan;a", "line 2: 'nan' is not a number"),
        ("[1 2]", r"line 1: '\[1' is not an interval"),
        ("[1,inf]", r"line 1: '\[1,inf\]' is not an interval"),
        ("\n[0,5]\nrubbish", "line 3: 'rubbish' is not an interval"),
    ],
)
def test_a_broken_line_is_named(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_hierarchy(text, "h.txt")


def test_a_hierarchy_may_be_written_in_python():
    mine = Dgh("mine", ((Interval(float("-inf"), 2), Interval(3, 5)), (Interval(0, 5),)))
    assert told(mine, STARS) == ["[0,2] [3,5]", "[0,5]"]
    assert mine.to_text()[0] == "[null,2] [3,5]"
