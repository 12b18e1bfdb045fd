"""Bars under a cell: for what takes long, in one output, gone with the last of them."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from time import sleep
from typing import Any

import pytest

from starshade import progress
from starshade.progress import notebook
from starshade.progress.notebook import Notebook


class Screen:
    """What a notebook would show: the output of each id, and all that was ever shown."""

    def __init__(self) -> None:
        self.outputs: dict[str, dict[str, str]] = {}
        self.history: list[dict[str, str]] = []

    def __call__(self, bundle: dict[str, str], *, display_id: str, update: bool) -> None:
        assert update == (display_id in self.outputs)
        self.outputs[display_id] = bundle
        self.history.append(bundle)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "PATIENCE", 0.02)
    monkeypatch.setattr(notebook, "_EVERY", 0.01)


def seen(screen: Screen, words: str) -> None:
    """Wait until the words are on the screen: the display has a thread of its own."""
    for _ in range(1500):
        if screen.history and words in screen.history[-1]["text/plain"]:
            return
        sleep(0.01)
    raise AssertionError(f"{words!r} was never shown; last: {screen.history[-1:]}")


def test_a_bar_says_what_and_how_far_and_goes_away() -> None:
    screen = Screen()
    with progress.watch(Notebook(screen, lambda: 1)), progress.task("reading", 4) as step:
        seen(screen, "reading: 0%")
        step(2)
        seen(screen, "reading: 50%, ")
        assert screen.history[-1]["text/plain"].endswith("left") or "almost done" in str(
            screen.history[-1]
        )
    assert list(screen.outputs.values()) == [{"text/html": "", "text/plain": ""}]


def test_work_that_cannot_say_how_far_is_shown_too() -> None:
    screen = Screen()
    with progress.watch(Notebook(screen, lambda: 1)), progress.task("verifying"):
        seen(screen, "verifying: 0 s so far")
    assert "value=" not in screen.history[0]["text/html"]


def test_quick_work_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "PATIENCE", 60)
    screen = Screen()
    with progress.watch(Notebook(screen, lambda: 1)):
        for _ in range(3):
            with progress.task("quick", 1) as step:
                step(1)
    assert not screen.history


def test_bars_of_one_cell_share_an_output_and_the_next_cell_has_its_own() -> None:
    screen, cell = Screen(), [1]
    with progress.watch(Notebook(screen, lambda: cell[0])):
        for running in (1, 1, 2):
            cell[0] = running
            with progress.task("outer", 2), progress.task("inner"):
                seen(screen, "outer: 0%\ninner: 0 s so far")
    assert len(screen.outputs) == 2


def test_words_of_strangers_are_escaped_and_bars_are_labelled() -> None:
    screen = Screen()
    with progress.watch(Notebook(screen, lambda: 1)), progress.task("<script>", 1):
        progress.note("compiling <b>")
        seen(screen, "compiling <b>")
    drawn = screen.history[-2]["text/html"]
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(drawn)
    assert tags.index("label") < tags.index("progress")


def test_an_error_takes_the_bars_away() -> None:
    screen = Screen()

    def interrupted() -> None:
        with progress.watch(Notebook(screen, lambda: 1)), progress.task("long"):
            seen(screen, "long")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert set(next(iter(screen.outputs.values())).values()) == {""}


def test_silent_where_there_is_no_notebook(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.task("anything", 1) as step:
        step(1)
        progress.note("nobody listens")
        progress.insist("nobody at all")
    assert capfd.readouterr() == ("", "")


def test_a_notebook_is_found_by_itself_and_silence_is_kept(monkeypatch: Any) -> None:
    screen = Screen()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(notebook, "reporter_here", lambda: here)
    here = Notebook(screen, lambda: 1)
    with progress.task("found"):
        seen(screen, "found")
    shown = len(screen.history)
    with progress.silence(), progress.task("kept"):
        sleep(0.1)
    assert len(screen.history) == shown
