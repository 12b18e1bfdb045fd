"""On a page a setting is the label of its field, and a file has the name that its reader knows."""

from __future__ import annotations

import pytest

from starshade.naming import Value, aside, named, speak, together
from starshade.server.ask.data import MAPPING
from starshade.server.ask.labels import as_field, settings_of
from starshade.server.jobs.store import JobKind
from starshade.server.parts import without_paths

ELSEWHERE = "a setting of the command line only"


@pytest.mark.parametrize(
    ("kind", "setting", "value", "said"),
    [
        ("read", "user_col", 1, "“Column of the users”: 1"),
        ("read", "wide", True, "“One row per user, one column per item (a survey)”"),
        ("read", "id_col", "NAME", "“Survey: column of the user ids”"),
        ("read", "null_values", None, "“Values that mean ‘not rated’”"),
        ("read", "null_values", ["98", "99"], "“Values that mean ‘not rated’”: 98, 99"),
        ("read", "attribute_cols", ["NAME", "NAME"], "“Survey: columns of personal attributes”"),
        ("read", "format", "csv", "“Format”: csv"),
        ("read", "header", False, "“The first line names the columns”: no"),
        ("read", "dates", False, "“Ignore the dates”"),
        ("attack", "known", None, "“Known ratings per target”"),
        ("attack", "rating_error", 0.5, "“Error of known ratings”: 0.5"),
        ("attack", "aux.item_col", None, ELSEWHERE),
        ("compare", "k", None, "“Values of k”"),
        ("release", "k", None, "“Minimum class size (k)”"),
        ("release", "items", "top:N", "“Only the most rated items”"),
        ("release", "items", "top:100", "“Only the most rated items”: 100"),
        ("release", "original.items", None, "“Only the most rated items”"),
        ("release", "rare_items", "keep", "“Items that fewer than k people rated”: keep them"),
        ("release", "scale", "1:5", "“Scale of the ratings” under “Columns and format”: 1:5"),
        ("release", "users", "FILE",
         "“File of personal attributes (optional)” under “Columns and format”"),
        ("release", "memory", None, "the option --memory of starshade studio"),
        ("release", "private", "FILE", ELSEWHERE),
        (None, "work", None, "the option --work of starshade studio"),
        (None, "k", None, ELSEWHERE),
    ],
)  # fmt: skip
def test_a_setting_is_the_label_of_its_field(
    kind: JobKind | None, setting: str, value: Value, said: str
) -> None:
    with speak(as_field(kind)):
        assert named(setting, value) == said
        assert aside(setting, value) == ("" if said == ELSEWHERE else f" ({said})")


def test_several_fields_stand_one_after_the_other() -> None:
    with speak(as_field("read")):
        both = together(("user_col", 1), ("item_col", 2))
    assert both == "“Column of the users”: 1, “Column of the items”: 2"


def test_every_field_of_reading_is_called_by_its_label() -> None:
    for setting in MAPPING.settings({}):
        assert settings_of("read")[setting.name].label == setting.label


def test_a_file_has_the_name_that_it_was_brought_under() -> None:
    inside = "/srv/studio/uploads/18/two_good.zip"
    said = without_paths(f"{inside}:b.csv, line 2: no rating", {inside: "two good.zip"})
    assert said == "two good.zip:b.csv, line 2: no rating"
    assert without_paths(f"{inside}: empty") == "two_good.zip: empty"
