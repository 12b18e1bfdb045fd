"""A setting is named in the way of the door; without one, as Python has it."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from starshade.naming import Value, aside, named, speak, together


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("on_duplicate", None, "on_duplicate"),
        ("aux.item_col", None, "item_col"),
        ("memory", None, "budget.limits(memory=…)"),
        ("original.items", None, "original=top_items(n).apply(ratings)"),
        ("items", "top:50", "items=top_items(50)"),
        ("users", "FILE", "users=FILE"),
        ("rare_items", "keep", 'rare_items="keep"'),
        ("scale", "1:5", 'scale="1:5"'),
        ("dates", False, "dates=False"),
        ("rating_error", 1.0, "rating_error=1"),
        ("null_values", ["98", "NA x"], 'null_values=[98, "NA x"]'),
        ("id_col", "CASEID", 'id_col="CASEID"'),
        ("id_col", "2019", 'id_col="2019"'),
        ("id_col", 1, "id_col=1"),
        ("attribute_cols", ["AGE", "SEX"], 'attribute_cols=["AGE", "SEX"]'),
        ("attribute_hierarchies", "zip=FILE", 'attribute_hierarchies={"zip": FILE}'),
        ("bounds", "Age=0:120", 'bounds={"Age": (0, 120)}'),
        ("bounds", "AGE=LOW:HIGH", 'bounds={"AGE": (LOW, HIGH)}'),
    ],
)
def test_in_python_a_setting_is_an_argument(setting: str, value: Value, said: str) -> None:
    assert named(setting, value) == said
    assert aside(setting, value, "does it") == f" ({said} does it)"


def only_k(setting: str, value: Value) -> str:
    return f"<{setting} {value}>" if setting == "k" else ""


def test_a_door_names_settings_until_it_is_left() -> None:
    with speak(only_k, between=" "):
        assert together(("k", 2), ("k", 3)) == "<k 2> <k 3>"
        with suppress(ZeroDivisionError), speak(lambda setting, _: setting.upper()):
            assert together(("k", 2), ("l", 3)) == "K, L"
            raise ZeroDivisionError
        assert named("k") == "<k None>"
    assert together(("k", 2), ("l", 3)) == "k=2, l=3"


def test_what_a_door_does_not_have_is_no_aside() -> None:
    with speak(only_k):
        assert named("l") == "a setting of the command line only"
        assert f"Give it{aside('l')}." == "Give it."
        assert f"Give it{aside('k')}." == "Give it (<k None>)."


def test_threads_speak_as_the_process_does() -> None:
    said: list[str] = []
    with speak(only_k):
        thread = threading.Thread(target=lambda: said.append(named("k")))
        thread.start()
        thread.join()
    assert said == ["<k None>"]
