"""Whatever can take long announces itself from its first moment to its last, and is shown.

A stretch without a task is one in which somebody sits before a still screen. It is found here
without a clock: a recorder notes what was running when, and a job must begin with a task and end
with the end of that task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from starshade import progress
from starshade.anonymize import registry as methods
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack import registry as attacks
from starshade.attack.knowledge import Knowledge
from starshade.chart import Chart
from starshade.errors import ConfigError
from starshade.privacy import registry as models
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from starshade.registry import Entry
from starshade.release.folder.read import read_release
from starshade.release.folder.verification import verify
from starshade.release.table import Release
from starshade.utility import registry as measures
from tests.contract.cast import CAST
from tests.contract.make import K, make
from tests.contract.test_models import peopled

DATA = peopled(CAST["ordinary"])


def averaged(data: Ratings) -> Release:
    (predictive,) = (entry for entry in methods.ENTRIES if entry.name == "predictive")
    return make(predictive).anonymize(data, rng=0)  # type: ignore[no-any-return]


def named(entries: Sequence[Entry]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.name)


class Recorder:
    """Writes down what begins, moves on and ends."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.labels: list[str] = []
        self.moved: dict[int, float] = {}
        self.totals: dict[int, float | None] = {}

    def start(self, label: str, total: float | None) -> int:
        self.labels.append(label)
        handle = len(self.labels)
        self.told.append(("start", handle))
        self.totals[handle], self.moved[handle] = total, 0.0
        return handle

    def advance(self, handle: int, amount: float) -> None:
        assert amount >= 0, "work does not go backwards"
        self.moved[handle] += amount

    def stop(self, handle: int) -> None:
        self.told.append(("stop", handle))

    def note(self, message: str) -> None:
        self.told.append(("note", 0))


def announced(job: Callable[[], Any]) -> Any:
    """Run a job; see that it is announced as a whole, and that no bar overruns."""
    recorder = Recorder()
    with progress.watch(recorder):
        result = job()
    assert recorder.told, "nothing was announced"
    assert recorder.told[0] == ("start", 1), "it began in silence"
    assert recorder.told[-1] == ("stop", 1), "it ended in silence"
    for handle, total in recorder.totals.items():
        if total is not None:
            assert recorder.moved[handle] <= total * (1 + 1e-9), recorder.labels[handle - 1]
    return result


class Reader(HTMLParser):
    """Reads markup; every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.feed(text)
        assert not self.inside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag


def shown(result: Any) -> None:
    """See that a notebook can show a result, and draw it if there is a picture of it."""
    html = result._repr_html_()
    Reader(html)
    assert not re.search(r"(?<![a-z])nan", html)
    if hasattr(result, "plot"):
        try:
            chart = result.plot()
        except ConfigError:  # there is nothing to draw
            return
        assert isinstance(chart, Chart)
        assert len(str(chart)) > 20
        pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
        assert chart.svg().startswith("<svg")


@pytest.fixture(scope="module")
def release() -> Release:
    return KLikeness(k=K).anonymize(DATA, rng=0)


@pytest.mark.usefixtures("few_people")
@named(attacks.ENTRIES)
def test_attacks(entry: Entry, release: Release) -> None:
    known = Knowledge(known=1)
    if entry.name == "composition":
        shown(announced(lambda: make(entry).run(release, known, original=DATA, rng=0)))
    elif entry.name in ("link-existence", "padding"):
        data = CAST["ordinary"]
        profiles = averaged(data)
        shown(announced(lambda: make(entry).run(profiles, original=data)))
    elif entry.name == "fake-edges":
        data = CAST["ordinary"]
        simple = PredictiveAnonymizer(k=K, profile="simple", l=2).anonymize(data, rng=0)
        shown(announced(lambda: make(entry).run(simple, original=data)))
    elif entry.name == "tracker":
        shown(announced(lambda: make(entry).run(DATA)))
    else:
        shown(announced(lambda: make(entry).run(DATA, known, rng=0)))


@named(models.ENTRIES)
def test_models(entry: Entry) -> None:
    if entry.name in ("review-graph", "diversity"):
        data: Ratings | Release = averaged(CAST["ordinary"])
    else:
        data = DATA
    shown(announced(lambda: make(entry).check(data)))


@named(methods.ENTRIES)
def test_methods(entry: Entry) -> None:
    shown(announced(lambda: make(entry).anonymize(DATA, rng=0)))


@named(measures.ENTRIES)
def test_measures(entry: Entry, release: Release) -> None:
    train, probe = hold_out(CAST["ordinary"], share=0.2, rng=0)
    if entry in measures.PROBED:
        made = averaged(train)
        shown(announced(lambda: make(entry).measure(made, original=train, probe=probe)))
    else:
        shown(announced(lambda: make(entry).measure(release, original=DATA)))


def test_what_lies_on_disk(release: Release, tmp_path: Path) -> None:
    announced(lambda: DATA.save(tmp_path / "store"))
    again = announced(lambda: read_ratings(tmp_path / "store"))
    shown(again)
    announced(lambda: release.save(tmp_path / "out", private=tmp_path / "receipt"))
    shown(announced(lambda: read_release(tmp_path / "out", private=tmp_path / "receipt")))
    assert announced(lambda: verify(tmp_path / "out")).holds


@pytest.mark.parametrize("name", CAST)
def test_any_table_can_be_shown(name: str) -> None:
    shown(CAST[name])
