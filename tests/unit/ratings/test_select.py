from __future__ import annotations

import numpy as np
import pytest

from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.select import ItemSelection, listed_items, parse_items, top_items
from tests.strategies import table

ROWS = [{0: 5, 1: 3}, {0: 4, 2: 2}, {2: 1}, {3: 4}]  # item 1 and 3 are tied at one rating


def ratings():
    return table(ROWS, Scale(1, 5, 1))


def test_top_keeps_the_most_rated_items_and_drops_and_counts_users() -> None:
    kept = top_items(2).apply(ratings())
    assert list(kept.items) == ["1", "3"]
    assert list(kept.users) == ["1", "2", "3"]
    assert (kept.report.dropped_users, kept.report.dropped_items) == (1, 2)


def test_ties_go_to_the_lower_item_key() -> None:
    assert list(top_items(3).apply(ratings()).items) == ["1", "2", "3"]


def test_all_items_change_nothing() -> None:
    whole = ratings()
    kept = top_items(4).apply(whole)
    assert np.array_equal(kept.columns, whole.columns)
    assert kept.users == whole.users


@pytest.mark.parametrize("n", [0, -3])
def test_top_below_one_is_refused(n: int) -> None:
    with pytest.raises(ConfigError, match="at least 1 item"):
        top_items(n)


def test_top_above_the_number_of_items_is_refused() -> None:
    with pytest.raises(ConfigError, match="top:5: the data have 4 items"):
        top_items(5).apply(ratings())


def test_list_in_any_order_gives_items_in_key_order() -> None:
    assert list(listed_items(["4", "1"]).apply(ratings()).items) == ["1", "4"]


def test_file_with_blank_lines_and_windows_line_ends(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_bytes("\ufeff3\r\n\r\n1\r\n  \n".encode())
    selection = parse_items(str(path))
    assert selection.keys == ("3", "1")
    assert str(selection) == "listed:2"


def test_unknown_ids_are_named_by_line_never_by_value(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("1\n\nsecret\n007\n")
    selection = parse_items(str(path))
    with pytest.raises(ConfigError, match=r"2 of 3 are not in the data, lines 3, 4") as caught:
        selection.apply(ratings())
    assert "secret" not in str(caught.value)
    assert "7 and 007 are two items" in str(caught.value)
    with pytest.raises(ConfigError, match=r"'secret', '007'"):
        selection.apply(ratings(), show_values=True)


def test_blanks_around_a_known_id_are_pointed_out(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("1 \n")
    with pytest.raises(ConfigError, match="Blanks around an id"):
        parse_items(str(path)).apply(ratings())


def test_repeated_ids_are_named_by_line(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("secret\n1\nsecret\n1\n")
    with pytest.raises(
        ConfigError, match="2 ids occur more than once, again on lines 3, 4"
    ) as caught:
        parse_items(str(path))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("top:", "whole number"),
        ("top:ten", "whole number"),
        ("top:1.5", "whole number"),
        ("top:-1", "whole number"),
        ("top:٣", "whole number"),
        ("top:" + "9" * 30, "whole number"),
        ("top:0", "at least 1"),
        ("no/such/file", "cannot be read"),
        ("nul\0byte", "cannot be read"),
        (".", "cannot be read"),
    ],
)
def test_texts_that_are_no_selection(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_items(text)


def test_a_file_that_is_not_text(tmp_path) -> None:
    path = tmp_path / "items.bin"
    path.write_bytes(b"12\xff")
    with pytest.raises(ConfigError, match="not UTF-8 \\(byte 2\\)"):
        parse_items(str(path))
    path.write_bytes(b"\n \n")
    with pytest.raises(ConfigError, match="no item id"):
        parse_items(str(path))


def test_a_selection_never_prints_its_ids() -> None:
    selection = listed_items(["secret"])
    assert "secret" not in repr(selection) + str(selection)
    assert isinstance(selection, ItemSelection)


def test_items_that_nobody_rated() -> None:
    empty = table([{0: 1}], Scale(1, 5, 1), n_items=2)
    with pytest.raises(ConfigError, match="no user rated any of them"):
        listed_items(["2"]).apply(empty)


@pytest.mark.real
def test_movielens_top_ten_is_the_papers_table(ml100k_dir) -> None:
    read = pytest.importorskip("starshade.ratings.read")
    kept = top_items(10).apply(read.read_ratings(ml100k_dir / "u.data"))
    assert (kept.n_users, kept.n_items, kept.n_ratings) == (927, 10, 4863)
