"""Every page, with what the worker really finds: what a context says, its page shows."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from starshade.cli.anonymize import anonymize
from starshade.cli.audit import audit
from starshade.plain import plain
from starshade.ratings.readers.preview import preview
from starshade.server import forms, parts
from starshade.server.answers import rendered
from starshade.server.ask.asking import job_settings
from starshade.server.ask.attack import ATTACK
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.data import MAPPING, values_before
from starshade.server.ask.labels import settings_of
from starshade.server.ask.release import RELEASE
from starshade.server.forms import prefilled
from starshade.server.jobs.store import JobKind, JobRow, Step
from starshade.server.page.data import data_page
from starshade.server.page.frame import bare_frame, home_page, job_line
from starshade.server.page.job import job_page, job_view
from starshade.server.page.release import larger_k_may_help, release_page
from starshade.server.page.repeat import command_of
from starshade.server.tasks.tasks import Order, perform
from tests.policies import NO_LIMITS
from tests.unit.server.desk import FACTS, Desk

#: what a page may leave unsaid: names by which it knows things, and what it says in other words
UNSAID = {"id", "kind", "state", "chooser", "created", "moment", "only_for", "default", "allowed",
          "status", "svg"}  # fmt: skip
ELSEWHERE = re.compile(
    r"frame\.running\.(state_text|when|summary)$"  # the job's own page says it
)
MARKUP = "<img src=x onerror=alert(1)>"


class Words(HTMLParser):
    """All that somebody can read on a page, or send from it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.attributes: set[str] = set()
        self.tags: list[str] = []
        self.feed(page)
        self.text = re.sub(r"\s+", " ", self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {value for _, value in attrs if value}

    def handle_data(self, data: str) -> None:
        self.text += data


def said(context: Any, path: str = "page") -> Iterator[tuple[str, str]]:
    """Return every text of a context, and where it stands."""
    if isinstance(context, str):
        yield path, re.sub(r"\s+", " ", context).strip()
    elif isinstance(context, tuple | list):  # a picture's specification is none
        for i, entry in enumerate(context):
            yield from said(entry, f"{path}[{i}]")
    elif dataclasses.is_dataclass(context) or isinstance(context, SimpleNamespace):
        for name, value in vars(context).items():
            if name not in UNSAID:
                yield from said(value, f"{path}.{name}")


def unsaid(template: str, page: Any) -> list[str]:
    words = Words(rendered(template, page))
    return [
        f"{path}: {text}"
        for path, text in said(page)
        if text not in words.text and text not in words.attributes and not ELSEWHERE.search(path)
    ]


class Whole:
    """A studio in which everything was done once."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.data_id = desk.store.add_data("synthetic", f"mine {MARKUP}", "movielens-100k").id
        made_up = {"like": "movielens-100k", "n_users": 60, "n_items": 40, "n_ratings": 900}
        self.read = self.do("read", {**made_up, "seed": 1})
        self.attack = self.do("attack", self.settings(ATTACK, known="4", targets="30"))
        methods = ["k-exchange", "predictive", "k-likeness"]
        self.compare = self.do(
            "compare",
            self.settings(COMPARE, methods=methods, k="2, 60", targets="20", held_out="0.1"),
        )
        self.release = self.do(
            "release",
            self.settings(
                RELEASE,
                k="3",
                known="2",
                targets="20",
                items="10",
                threshold=", ".join(f"{name}=1" for name in NO_LIMITS),
            ),
        )

    def settings(self, asking: Any, **said: Any) -> dict[str, Any]:
        facts = self.desk.store.data(self.data_id).facts or {}
        told = {name: [value] if isinstance(value, str) else value for name, value in said.items()}
        found, errors = job_settings(asking, facts, prefilled(asking.settings(facts), {}) | told)
        assert not errors
        return {**found, "seed": 1}

    def do(self, kind: JobKind, settings: dict[str, Any]) -> JobRow:
        """Have the worker's function do a job in this process."""
        store = self.desk.store
        job = store.add_job(kind, self.data_id, settings)
        done = perform(Order(job.id, kind, store.data(self.data_id), settings, store.work))
        return self.desk.end(job, result=plain(done.result), facts=plain(done.facts))

    def pages(self) -> dict[str, tuple[str, Any]]:
        store = self.desk.store
        data = store.data(self.data_id)
        file = self.desk.read(f"{MARKUP}.csv", notes=[MARKUP], attributes=[MARKUP])
        waiting = store.add_job("attack", file.id, self.attack.settings)
        store.begin(waiting.id)
        store.report(waiting.id, STEPS, [MARKUP])
        failed = store.add_job("compare", file.id, self.compare.settings)
        self.desk.end(failed, "failed", error=f"no such item {MARKUP}", advice=MARKUP)
        unread = store.add_data("upload", MARKUP, "a.csv")
        store.add_job("read", unread.id)
        broken = SimpleNamespace(
            frame=bare_frame("Not here"), status=404, message=f"There is no {MARKUP}.", advice="Go."
        )
        return {
            "home": ("home.html.j2", home_page(store, most_upload=10**9)),
            "data": ("data.html.j2", data_page(store, data)),
            "file": ("data.html.j2", data_page(store, file)),
            "unread": ("data.html.j2", data_page(store, unread)),
            "attack": ("job.html.j2", job_page(store, self.attack)),
            "compare": ("job.html.j2", job_page(store, self.compare)),
            "made": ("job.html.j2", job_page(store, self.release)),
            "running": ("job.html.j2", job_page(store, store.job(waiting.id))),
            "failed": ("job.html.j2", job_page(store, store.job(failed.id))),
            "release": ("release.html.j2", release_page(store, self.release)),
            "error": ("error.html.j2", broken),
        }


STEPS = [Step("reading", 1, 1, 2.0, over=True), Step(f"attacking {MARKUP}", 25, 100, 30.0)]
NAMES = ("home", "data", "file", "unread", "attack", "compare", "made", "running", "failed",
         "release", "error")  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    desk = Desk(tmp_path_factory.mktemp("pages") / "work")
    yield Whole(desk)
    desk.close()


@pytest.fixture(scope="module")
def pages(whole: Whole) -> dict[str, tuple[str, Any]]:
    found = whole.pages()
    assert set(found) == set(NAMES)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_all_that_its_context_says(
    pages: dict[str, tuple[str, Any]], name: str
) -> None:
    left = unsaid(*pages[name])
    assert not left, "\n".join(left)


class Addresses(HTMLParser):
    """The addresses of a page on its own host."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.places: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            place = (value or "").removeprefix("2;url=")
            if place.startswith("/") and name != "value":  # which is the path of a file
                self.places.append(place)


@pytest.mark.parametrize("name", NAMES)
def test_every_address_begins_at_the_root(pages: dict[str, tuple[str, Any]], name: str) -> None:
    places = Addresses(rendered(*pages[name])).places
    assert len(places) > 6
    assert Addresses(rendered(*pages[name], "/a-token")).places == [f"/a-token{p}" for p in places]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_stranger_becomes_markup(pages: dict[str, tuple[str, Any]], name: str) -> None:
    words = Words(rendered(*pages[name]))
    assert "onerror" not in "".join(words.tags)
    assert not any(value == "alert(1)" for value in words.attributes)
    assert MARKUP in words.text or MARKUP in " ".join(words.attributes) or name == "home"


def test_the_reader_of_pages_sees_what_is_missing(pages: dict[str, tuple[str, Any]]) -> None:
    template, page = pages["attack"]
    other = dataclasses.replace(page.outcome, headline="Nobody says this.")
    shown = Words(rendered(template, page))
    assert page.outcome.headline in shown.text
    assert other.headline not in shown.text


def contexts_of() -> list[type]:
    return [
        each
        for room in (forms, parts)
        for each in vars(room).values()
        if dataclasses.is_dataclass(each) and each.__module__ == room.__name__
    ]


@pytest.mark.parametrize("context", contexts_of(), ids=lambda c: c.__name__)
def test_a_context_is_frozen(context: type) -> None:
    assert context.__dataclass_params__.frozen  # type: ignore[attr-defined]


def mains(page: Any) -> list[Any]:
    return [step for step in page.next if step.main]


def test_each_page_suggests_one_thing_and_its_address_is_there(
    whole: Whole, pages: dict[str, tuple[str, Any]]
) -> None:
    for name in ("data", "file", "attack", "compare", "made", "failed", "release"):
        page = pages[name][1]
        assert len(mains(page)) == 1, name
        for step in page.next:
            assert step.why.endswith((".", "?")), step.why
            assert whole.desk.get(step.link.href).status_code == 200, step.link.href


def find(name: str, form: Any) -> Any:
    return next(field for field in form.fields if field.name == name)


def test_after_reading_an_attack_is_suggested(whole: Whole) -> None:
    fresh = whole.desk.read("fresh.csv")
    (step,) = data_page(whole.desk.store, fresh).next
    assert "8 ratings" in step.why
    assert "2 of them wrong" in step.why
    few = whole.desk.read("few.csv", ratings_per_user={**FACTS["ratings_per_user"], "q25": 2.7})
    (step,) = data_page(whole.desk.store, few).next
    assert "known=2&wrong=0" in step.link.href


def test_a_headline_says_who_was_attacked_and_by_whom(whole: Whole) -> None:
    knowledge = {"known": 8, "wrong": 2, "wrong_kind": "value", "rating_error": 0.0,
                 "day_error": 14, "ratings": True, "dates": True}  # fmt: skip
    result = {**(whole.attack.result or {}), "knowledge": knowledge, "records": 400}
    told = {}
    for targets, ineligible in ((355, 45), (100, 45), (400, 0), (399, 1)):
        counted = {**result, "targets": targets, "ineligible": ineligible}
        page = job_page(whole.desk.store, dataclasses.replace(whole.attack, result=counted))
        assert page.outcome is not None
        told[targets] = (page.outcome.headline, page.outcome.reading_help)
    headline, help_text = told[355]
    assert "8 of a person's ratings (exactly, dates to within 14 days, 2 of them wrong)" in headline
    assert "of the 355 people with at least 8 ratings; 45 with fewer are ineligible." in headline
    assert "sample" not in help_text
    assert "targets and their known ratings were drawn" not in help_text
    assert "of 100 people drawn from 355 with at least 8 ratings" in told[100][0]
    assert "targets and their known ratings were drawn" in told[100][1]
    assert told[400][0].endswith("of all 400 people.")
    assert "1 with fewer is ineligible" in told[399][0]


def test_a_picture_and_its_figures_call_things_by_the_same_names(whole: Whole) -> None:
    outcome = job_page(whole.desk.store, whole.attack).outcome
    assert outcome is not None
    assert outcome.chart is not None
    labels = {figure.label.lower() for figure in outcome.figures}
    told = (whole.attack.result or {})["figures"]
    names = {each["title"].lower() for each in told if "[" in each["text"]}
    drawn = str(outcome.chart.spec).lower()
    assert len(names) >= 4
    assert names <= labels
    assert all(name in drawn for name in names)


def test_every_figure_says_what_the_attacker_knows(
    whole: Whole, pages: dict[str, tuple[str, Any]]
) -> None:
    page = pages["compare"][1]
    knows = "4 of a person's ratings (exactly, no dates)"
    assert knows in page.outcome.figures[0].meaning
    assert f"who knows {knows}" in Words(rendered(*pages["compare"])).text
    assert knows in mains(page)[0].why
    (figures,) = [each for each in pages["release"][1].tables if each.title == "Results"]
    meaning = next(row[2] for row in figures.rows if "this release" in row[0])
    assert re.search(r"knowing [1-9] ratings", meaning)
    assert "A comparison may show another value" in meaning


def test_one_person_alone_is_offered_no_release(whole: Whole) -> None:
    alone = whole.desk.read("alone.csv", users=1)
    page = data_page(whole.desk.store, alone)
    assert (page.compare, page.release) == (None, None)
    assert page.attack is not None
    (step,) = page.next
    assert "There is only 1 person in these data. A release needs at least two." in step.why


def test_after_an_attack_methods_and_a_release_are_suggested(whole: Whole) -> None:
    page = job_page(whole.desk.store, whole.attack)
    compare, release = page.next
    assert "compare" in compare.link.href
    assert "predictive with k = 5." in release.why
    assert "method=predictive&k=5&items=#" in release.link.href
    assert "20.0%" in release.why


def test_likes_are_to_be_grouped_on_few_items(whole: Whole) -> None:
    one = [{"low": 1.0, "high": 1.0, "ratings": 100_000}, {"low": 2.0, "high": 2.0, "ratings": 0}]
    likes = whole.desk.read("likes.csv", histogram=one)
    job = whole.desk.store.add_job("attack", likes.id, {})
    ended = whole.desk.end(job, result={"expected_top1": 0.3, "records": 10})
    release = job_page(whole.desk.store, ended).next[1]
    assert "k-exchange with k = 5 on the 10 most rated items" in release.why
    assert "method=k-exchange&k=5&items=10&disclosure_weight=0.2" in release.link.href


def test_who_found_nobody_is_told_to_try_harder(whole: Whole) -> None:
    harmless = dataclasses.replace(
        whole.attack, result={**(whole.attack.result or {}), "expected_top1": 0.004}
    )
    step = mains(job_page(whole.desk.store, harmless))[0]
    assert "known=8" in step.link.href  # twice the 4 that were known


def test_survey_data_are_to_be_moved_not_grouped(whole: Whole) -> None:
    survey = whole.desk.read("survey.csv", sparsity=0.1, items=20)
    job = whole.desk.store.add_job("attack", survey.id, {})
    ended = whole.desk.end(job, result={"expected_top1": 0.3, "records": 10})
    release = job_page(whole.desk.store, ended).next[1]
    assert "method=interval&k=5" in release.link.href


def test_a_point_of_the_picture_leads_to_the_form_that_makes_it(whole: Whole) -> None:
    outcome = job_page(whole.desk.store, whole.compare).outcome
    assert outcome is not None
    assert outcome.chart is not None
    linked = dict(data_of(outcome.chart.spec))
    made = [point for point in outcome.points if not point.refused]
    assert {point.href for point in made} == set(linked)
    for point in made:
        assert linked[point.href]["k"] == point.k
        form = whole.desk.get(point.href).text
        assert re.search(rf'value="{point.method}"[^>]*checked', form)
        given = {k: [v] for k, v in re.findall(r"(\w+)=([^&#]*)", point.href)}
        filled = data_page(whole.desk.store, whole.desk.store.data(1), given=given).release
        assert filled is not None
        assert filled.open
        assert find("k", filled).value == str(point.k)
        predictive = point.method == "predictive"
        assert find("items_predictive" if predictive else "items", filled).value == "10"
        if predictive:
            chosen = [c.value for c in find("profile", filled).choices if c.chosen]
            assert chosen == ["pooled"]
    assert any(point.best for point in outcome.points)


def data_of(node: Any) -> Iterator[tuple[str, Any]]:
    """Return what in a picture has an address."""
    if isinstance(node, dict):
        if "href" in node:
            yield node["href"], node
        for child in node.values():
            yield from data_of(child)
    elif isinstance(node, list):
        for child in node:
            yield from data_of(child)


def test_progress_says_how_far_and_how_long_still(pages: dict[str, tuple[str, Any]]) -> None:
    over, now = pages["running"][1].job.steps
    assert (over.done, over.percent) == (True, 100)
    assert (now.percent, now.text) == (25, "25.0%, about 2 minutes left")


def in_state(state: Any, *progress: Step, **more: Any) -> JobRow:
    return JobRow(1, "release", 1, {}, state, 0.0, started=1.0, progress=progress, **more)


def test_only_one_bar_moves_and_says_what_goes_on_inside() -> None:
    now = [Step("judging it", 0, None, 9.0), Step("auditing", 1, 4, 8.0), Step("trees", 3, 4, 1.0)]
    over, bar = job_view(
        in_state("running", Step("opening", 0, None, 1.0, over=True), *now), {}
    ).steps
    assert over.done
    assert (bar.label, bar.percent, bar.within) == ("auditing", 25, "trees: 75.0%")
    (bar,) = job_view(in_state("running", now[0]), {}).steps
    assert (bar.label, bar.percent, bar.within) == ("judging it", None, "")


def test_what_went_wrong_is_not_called_done() -> None:
    steps = Step("opening", 0, None, 1.0, over=True), Step("reading", 0, None, 1.0, over=True)
    opened, broken = job_view(in_state("failed", *steps, error="no"), {}).steps
    assert opened.done
    assert (broken.label, broken.text, broken.done) == ("reading", "not finished", False)


def test_what_cannot_be_read_is_to_be_read_otherwise(whole: Whole) -> None:
    store = whole.desk.store
    data = store.add_data("upload", "two good.csv", "two_good.csv")
    place = store.places.upload(data.id) / "two_good.csv"
    told = {"error": f"{place}, line 2: no rating", "advice": f"See {place}."}
    job = whole.desk.end(store.add_job("read", data.id), "failed", **told)
    page = data_page(store, data)
    assert page.reading is not None
    assert page.reading.error == "two good.csv, line 2: no rating"
    assert page.reading.advice == "See two good.csv."
    assert not page.reading.again
    assert mains(page)[0].link.text == "Change the reading settings"
    assert "uploads/" not in whole.desk.get("/").text
    assert job.state == "failed"


def test_what_went_wrong_stands_at_its_field(whole: Whole) -> None:
    store = whole.desk.store
    data = store.add_data("file", "a.csv", "/somewhere/a.csv")
    told = {
        "error": "format 'x': unknown",
        "advice": "Known: csv.",
        "result": {"setting": "format"},
    }
    whole.desk.end(store.add_job("read", data.id), "failed", **told)
    page = data_page(store, data)
    assert page.reading is not None
    assert page.reading.error == "“Format”: format 'x': unknown."
    assert page.mapping is not None
    wrong = {field.name: field.error for field in page.mapping.fields if field.error}
    assert wrong == {"format": "Format 'x': unknown."}


@pytest.mark.parametrize(
    ("kind", "settings", "setting", "wrong"),
    [
        ("attack", {"attack": "label", "knowledge": {"known": 500}}, "known", "known"),
        ("attack", {"attack": "label", "config": {"tolerance": 9}}, "tolerance", "tolerance"),
        ("attack", {"attack": "scoreboard"}, "attack", "attack"),  # of several boxes
        ("compare", {"methods": ["interval"], "k": [500]}, "k", "k"),
        ("compare", {"methods": ["interval"], "k": [2], "items": "top:7"}, "items", "items"),
        ("release", {"method": "k-likeness", "config": {"k": 500}}, "k", "k"),
        ("release", {"method": "interval", "config": {"k": 5, "l": 9.5}}, "l", "l"),
        ("release", {"method": "mondrian", "config": {"k": 5, "l": 9}}, "l", "distinct"),
        (
            "release",
            {"method": "predictive", "config": {"k": 5}, "items": "top:7"},
            "items",
            "items_predictive",
        ),
    ],
)
def test_settings_to_change_say_what_was_wrong_with_them(
    whole: Whole, kind: JobKind, settings: dict[str, Any], setting: str, wrong: str
) -> None:
    desk = whole.desk
    told = {"error": "too <many>", "advice": "Lower it.", "result": {"setting": setting}}
    job = desk.end(desk.store.add_job(kind, whole.data_id, settings), "failed", **told)
    (step,) = job_page(desk.store, job).next
    text = desk.get(step.link.href.partition("#")[0]).text
    marked = re.findall(r'id="(\w+)-(\w+)-error">([^<]*)<', text)
    assert marked == [(kind, wrong, "Too &lt;many&gt;.")]
    place = f'aria-describedby="{kind}-{wrong}-help {kind}-{wrong}-error"'
    assert text.count(place) == 1
    of_boxes = f'<fieldset id="{kind}-{wrong}" {place}'
    assert place + ' aria-invalid="true"' in text or of_boxes in text
    words = Words(text).text
    label = settings_of(kind)[wrong].label
    assert f"Failed. Check: {label}." in words
    assert words.count("Lower it.") == 1
    other = {"attack": "release", "compare": "attack", "release": "compare"}[kind]
    for place in (f"form={other}&failed={job.id}", f"form={kind}&failed=0", f"form={kind}"):
        assert "-error" not in desk.get(f"/data/{whole.data_id}?{place}").text


def test_what_no_field_did_is_said_on_top_of_the_form(whole: Whole) -> None:
    desk = whole.desk
    told = {"error": "no memory left", "advice": "Ask for less.", "result": {"setting": "memory"}}
    job = desk.end(
        desk.store.add_job("release", whole.data_id, {"method": "predictive"}), "failed", **told
    )
    (step,) = job_page(desk.store, job).next
    text = desk.get(step.link.href.partition("#")[0]).text
    assert "-error" not in text
    assert "No memory left. Ask for less." in Words(text).text
    assert 'id="release-trouble"' in text
    assert 'id="release-trouble"' not in desk.get(f"/data/{whole.data_id}?form=release").text


def test_a_label_that_is_said_is_not_said_again(whole: Whole) -> None:
    at = {"setting": "known"}
    job = whole.desk.store.add_job("attack", whole.data_id)
    advice = "Lower “Known ratings per target”."
    failed = whole.desk.end(job, "failed", error="nobody can be", advice=advice, result=at)
    assert job_view(failed, {}).error == "Nobody can be."
    other = whole.desk.end(
        whole.desk.store.add_job("attack", whole.data_id),
        "failed",
        error="no",
        result={"setting": "x"},
    )
    assert job_view(other, {}).error == "No."


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        (b'\xef\xbb\xbfwho,"what, when",stars\n1,2,3\n', ("who", "what, when", "stars")),
        (b"1::2::5::978\n", ("1", "2", "3", "4")),
        (b"user\titem\tstars", ("user", "item", "stars")),
        (b"PK\x03\x04,,,\x00\n", ()),
        (b"\xff\xfe,a", ()),
        (b"kunde,titel,note\nA,B,4\n", ("kunde", "titel", "note")),
        (b"Dear all\n", ()),
        (b"", ()),
    ],
)
def test_the_columns_of_a_file_are_offered(
    whole: Whole, tmp_path: Path, head: bytes, columns: tuple[str, ...]
) -> None:
    file = tmp_path / "ratings.csv"
    file.write_bytes(head)
    store = whole.desk.store
    data = store.add_data("file", "ratings.csv", str(file))
    store.finish(store.add_job("read", data.id).id, "failed", error="no")
    page = data_page(store, data)
    assert page.mapping is not None
    offered = [choice.value for choice in find("user_col", page.mapping).choices]
    assert offered == (["", *columns] if columns else [])


def export(folder: Path, *rows: str, head: str = "email,film,stars,rated_on") -> Path:
    file = folder / "export.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return file


def test_the_first_rows_are_shown_before_anything_is_read(whole: Whole, tmp_path: Path) -> None:
    file = export(tmp_path, "ann@x.example,F1,3.5,2021-04-01", "ben@x.example,F2,0.5,2021-04-02")
    store = whole.desk.store
    page = data_page(store, store.add_data("file", "export.csv", str(file)))
    assert page.rows.head == ("email: people", "film: items", "stars: ratings", "rated_on: dates")
    assert page.rows.rows[0] == ("ann@x.example", "F1", "3.5", "2021-04-01")
    chosen = {name: find(f"{name}_col", page.mapping) for name in ("user", "item", "rating", "day")}
    for name, column in zip(chosen, ("email", "film", "stars", "rated_on"), strict=True):
        assert [c.value for c in chosen[name].choices if c.chosen] == [column]
    assert "one value per user; 2 different values" in chosen["user"].help
    assert "0.5 to 3.5 in the first 2 rows" in chosen["rating"].help


def test_a_column_that_nobody_knows_is_asked_for_first(whole: Whole, tmp_path: Path) -> None:
    desk = whole.desk
    file = export(tmp_path, "A,B,4", "A,C,3", head="kunde,titel,note")
    at = desk.post("/data/path", {"path": str(file)}).headers["location"]
    data_id = int(at.rpartition("/")[2])
    assert desk.store.jobs(data_id) == ()
    asked = {"user_col": "kunde", "item_col": "titel", "rating_col": ""}
    text = desk.post(f"{at}/mapping", asked).text
    assert "Choose the column, or select" in text
    desk.post(f"{at}/mapping", {**asked, "rating_col": "note"})
    (job,) = desk.store.jobs(data_id)
    assert job.settings == {"user_col": "kunde", "item_col": "titel", "rating_col": "note"}


def test_what_is_as_guessed_is_no_setting_and_no_dates_are_none(
    whole: Whole, tmp_path: Path
) -> None:
    file = export(tmp_path, "ann@x.example,F1,3.5,2021-04-01")
    facts = {"preview": preview(file)}
    sent = {"user_col": ["email"], "item_col": ["film"], "rating_col": ["stars"], "day_col": [""]}
    assert job_settings(MAPPING, facts, sent) == ({"dates": False}, {})
    (day,) = [field for field in MAPPING.settings(facts) if field.name == "day_col"]
    assert day.default == "rated_on"
    before = values_before({"dates": False})
    assert prefilled([day], before)["day_col"] == [""]
    # of a survey columns mean something else
    assert job_settings(MAPPING, facts, {**sent, "wide": ["yes"]})[0] == {"wide": True}


def test_nobody_works_with_ratings_of_which_it_is_open_which_count(
    whole: Whole, tmp_path: Path
) -> None:
    desk, again = whole.desk, "ann@x.example,F1,3.5,2021-04-01"
    file = export(tmp_path, again, "ben@x.example,F1,0.5,2021-04-02", again.replace("3.5", "4.0"))
    at = desk.post("/data/path", {"path": str(file)}).headers["location"]
    data_id = int(at.rpartition("/")[2])
    data, (job,) = desk.store.data(data_id), desk.store.jobs(data_id)
    done = perform(Order(job.id, "read", data, job.settings, desk.store.work))
    desk.end(job, result=plain(done.result), facts=plain(done.facts))
    page = data_page(desk.store, desk.store.data(data_id))
    assert (page.attack, page.compare, page.release, page.mapping.open) == (None, None, None, True)
    assert page.mapping.fields[0].name == "on_duplicate"
    assert "1 rating repeats an item" in mains(page)[0].why
    assert "the lowest 1 time, the highest 1 time" in find("scale", page.mapping).help
    assert "First choose which rating counts" in desk.post(f"{at}/attack", {"attack": "label"}).text
    columns = {"user_col": "email", "item_col": "film", "rating_col": "stars",
               "day_col": "rated_on"}  # fmt: skip
    before = len(desk.store.jobs(data_id))
    unsaid = desk.post(f"{at}/mapping", columns)
    assert unsaid.status_code == 422
    assert "Choose which rating counts. Without this, the ratings cannot be used." in unsaid.text
    assert len(desk.store.jobs(data_id)) == before
    desk.post(f"{at}/mapping", {**columns, "on_duplicate": "mean"})
    job = desk.store.jobs(data_id)[0]
    assert job.settings == {"on_duplicate": "mean"}
    done = perform(Order(job.id, "read", data, job.settings, desk.store.work))
    assert "undecided" not in (done.facts or {})
    assert [each["ratings"] for each in done.result["histogram"] if each["ratings"]] == [1, 1]


def test_a_file_of_people_is_named(whole: Whole) -> None:
    store = whole.desk.store
    data = store.add_data("file", "r.csv", "/at/r.csv", {"users": "/at/people.csv"})
    read = store.add_job("read", data.id, {"users": "/at/people.csv"})
    whole.desk.end(read, result=FACTS, facts=FACTS)
    page = data_page(store, store.data(data.id))
    assert page.columns is not None
    assert page.columns.rows[-1] == ("age, zip <code>", "the file people.csv")


def test_what_is_no_file_is_not_waited_for(whole: Whole, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    data = whole.desk.store.add_data("file", "pipe", str(tmp_path / "pipe"))
    page = data_page(whole.desk.store, data)
    assert page.mapping is not None
    assert find("user_col", page.mapping).choices == ()


def test_a_list_says_when_something_ended() -> None:
    ended = JobRow(1, "attack", 1, {}, "done", 0.0, started=1.0, finished=time.time() - 120)
    assert job_line(ended).when == "2 minutes ago"


def test_what_was_asked_for_is_said_as_the_form_says_it(whole: Whole) -> None:
    page = job_page(whole.desk.store, whole.attack)
    told = {figure.label: figure.value for figure in page.job.settings}
    assert "Eccentricity needed for an answer (φ)" not in told  # as is usual
    assert told["Known ratings per target"] == "4"
    assert "Kind of error" not in told
    assert told["Attack"].startswith("Best match")


def test_means_are_written_as_they_are(whole: Whole) -> None:
    spread = FACTS["ratings_per_user"] | {"mean": 16.5}
    page = data_page(whole.desk.store, whole.desk.read("mean.csv", ratings_per_user=spread))
    assert page.per_user is not None
    assert page.per_user.rows[0][-1] == "16.5"
    assert page.per_user.rows[0][1] == "21"


def test_a_verdict_s_page_says_what_may_leave_and_what_must_not(
    pages: dict[str, tuple[str, Any]],
) -> None:
    page = pages["release"][1]
    assert page.word == "PASS (7 checks without effective threshold)"
    assert page.status == "pass"
    assert page.download is not None
    claims = next(each for each in page.tables if "Claims" in each.title)
    assert claims.rows[0][3] == "✓ PASS"
    assert any("Private key file" in line for line in page.keep)
    assert page.publish[0].startswith("Publish the release unchanged.")


def test_a_failed_verdict_suggests_no_publication(whole: Whole) -> None:
    made = whole.release.result or {}
    verdict = {**made["verdict"], "verdict": "FAIL", "word": "FAIL"}
    checks = [{**made["checks"][0], "status": "fail"}, *made["checks"][1:]]
    result = {**made, "passed": False, "verdict": verdict, "checks": checks}
    page = release_page(whole.desk.store, dataclasses.replace(whole.release, result=result))
    assert (page.word, page.status) == ("FAIL", "fail")
    assert page.publish[0].startswith("Do not publish: the verdict is FAIL")
    assert [answer.label for answer in page.answers] == [checks[0]["title"]]
    assert "Do not publish" in mains(page)[0].why
    assert "k=7" in mains(page)[0].link.href  # the next that a search would try
    assert "not for publication" in page.download.text  # type: ignore[union-attr]
    settings = {**whole.release.settings, "method": "k-likeness"}
    other = dataclasses.replace(whole.release, result=result, settings=settings)
    link = mains(release_page(whole.desk.store, other))[0].link
    assert link.text == "Try the method predictive"
    assert "method=predictive" in link.href


def test_what_was_not_measured_is_not_published(whole: Whole) -> None:
    made = whole.release.result or {}
    verdict = {**made["verdict"], "verdict": "INCOMPLETE", "word": "INCOMPLETE"}
    checks = [{**each, "status": "pass", "threshold": 0.1} for each in made["checks"]]
    checks[1] |= {"status": "not measured", "advice": "Give the key file."}
    result = {**made, "passed": False, "verdict": verdict, "checks": checks}
    page = release_page(whole.desk.store, dataclasses.replace(whole.release, result=result))
    assert page.status == "open"
    unmeasured = f"Not measured: {checks[1]['title']}."
    assert page.publish[0] == f"Not decided: the verdict is INCOMPLETE. {unmeasured}"
    (answer,) = page.answers
    assert "Give the key file." in answer.meaning


def test_a_release_begins_with_answers_a_bar_and_rows(pages: dict[str, tuple[str, Any]]) -> None:
    template, page = pages["release"]
    text = rendered(template, page)
    order = ["Class size (k)", page.remains.title, page.attacked.title,
             page.rows[0].title, ">Files</h2>", "<summary><h3>"]  # fmt: skip
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert page.answers == []
    assert len(page.checks.rows) >= 10
    assert {row[-1] for row in page.checks.rows} >= {"∞ accepted without limit", "no threshold"}
    assert page.remains.svg.startswith("<svg role=")
    assert page.rows[0].head == ("Item", "Original ratings", "Release")
    assert page.command == ""  # made-up ratings have no file


@pytest.mark.parametrize(
    ("method", "config"),
    [
        ("k-exchange", {"k": 3, "rare_items": "keep", "attributes": "generalized",
                        "sensitive_attributes": ["age", "zip"]}),
        ("predictive", {"k": 5, "profile": "pooled", "biases": False}),
        ("interval", {"k": 4, "eps": 0.5, "sensitive": ["-1", "b c"], "nulls": "zero"}),
    ],
)  # fmt: skip
def test_the_command_makes_the_same_release(
    whole: Whole, method: str, config: dict[str, Any]
) -> None:
    store = whole.desk.store
    data = store.add_data("file", "it.csv", "/my data/it.csv")
    read = {"user_col": "who", "null_values": ["98", "99"], "dates": False, "wide": True,
            "attribute_cols": ["age", "zip"]}  # fmt: skip
    whole.desk.end(store.add_job("read", data.id, read), result=FACTS, facts=FACTS)
    settings = {"method": method, "config": config, "items": "top:9", "held_out": 0.0, "seed": None}
    job = store.add_job("release", data.id, settings)
    whole.desk.end(job, result={"seed": 77})
    whole.desk.end(store.add_job("read", data.id, {}), result=FACTS, facts=FACTS)  # read anew
    program, *words = shlex.split(command_of(store, data, store.job(job.id)))
    assert (program, words.pop(0)) == ("starshade", "anonymize")
    given = anonymize.make_context("anonymize", words).params
    assert (given["ratings"], given["method"], given["items"], given["seed"]) == (
        "/my data/it.csv", method, "top:9", 77)  # fmt: skip
    plainly = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
    assert {name: plainly[name] for name in config} == config
    assert {name: plainly[name] for name in read} == read


def test_policy_and_thresholds_are_in_the_command(whole: Whole) -> None:
    store = whole.desk.store
    data = store.add_data("file", "it.csv", "/my data/it.csv")
    settings = {"method": "k-exchange", "config": {"k": 3}, "known": [2, 4], "targets": 9,
                "threshold": ["class=0.5", "halves=5%"], "policy": "public"}  # fmt: skip
    job = store.add_job("release", data.id, settings)
    whole.desk.end(job, result={"seed": 77})
    making, judging = command_of(store, data, store.job(job.id)).splitlines()
    assert making.startswith("starshade anonymize '/my data/it.csv' ")
    program, *words = shlex.split(judging)
    assert (program, words.pop(0)) == ("starshade", "audit")
    given = audit.make_context("audit", words).params
    out = shlex.split(making)[shlex.split(making).index("--out") + 1]
    assert (given["ratings"], given["release"], given["seed"]) == ("/my data/it.csv", out, 77)
    for name in ("policy", "threshold"):
        value = given[name]
        assert (list(value) if isinstance(value, tuple) else value) == settings[name]


def test_files_lie_where_the_page_says(whole: Whole, pages: dict[str, tuple[str, Any]]) -> None:
    page = pages["release"][1]
    for link in (page.download, page.report, page.public_report, page.receipt):
        answer = whole.desk.get(link.href)
        assert answer.status_code == 200
        assert len(answer.content) > 100
    folder: Callable[[int], Path] = whole.desk.store.places.release
    assert (folder(whole.release.id) / "release").is_dir()


@pytest.mark.slow
def test_a_release_that_does_not_pass_has_no_public_report(whole: Whole) -> None:
    failed = whole.do("release", {**whole.release.settings, "threshold": ["attribute=0%"]})
    page = release_page(whole.desk.store, failed)
    assert (page.passed, page.public_report) == (False, None)
    assert "no public report" in page.publish[0]
    folder = whole.desk.store.places.release(failed.id)
    assert [each.name for each in folder.glob("report*.html")] == ["report.html"]


def test_what_is_found_has_the_range_of_its_check(whole: Whole) -> None:
    made = whole.release.result or {}
    cut = {"value": 0.2, "low": 0.193, "high": 0.2}
    checks = [
        {**each, **cut} if each["name"] == "re-identification" else each for each in made["checks"]
    ]
    page = release_page(
        whole.desk.store, dataclasses.replace(whole.release, result={**made, "checks": checks})
    )
    assert page.attacked is not None
    assert "attack: 20.0% (19.3 to 20.0%)." in page.attacked.text
    table = next(each for each in page.tables if each.title == "Results")
    assert table.rows[1][1] == "20.0% (19.3 to 20.0%)"


def test_what_to_do_in_place_of_a_second_release_is_said(whole: Whole) -> None:
    page = data_page(whole.desk.store, whole.desk.store.data(whole.release.data_id))
    assert any("starshade anonymize RATINGS --after FOLDER" in step.why for step in page.next)


@pytest.mark.parametrize(
    ("status", "failed", "records", "helps"),
    [
        ("fail", "membership", 10, True),
        ("not demonstrated", "membership", 10, True),
        ("fail", "membership", 9, False),  # too few people for k = 10
        ("not measured", "membership", 50, False),
    ],
)
def test_a_larger_k_is_offered_only_where_it_can_help(
    status: str, failed: str, records: int, helps: bool
) -> None:
    result = {"checks": [{"name": failed, "status": status}], "records": records}
    assert larger_k_may_help(result, 10) == helps


@pytest.mark.parametrize(("condition", "helps"), [("audience", False), ("tracker", True)])
def test_a_larger_k_helps_against_the_tracker(condition: str, helps: bool) -> None:
    result = {"findings": [{"name": condition, "passed": False}], "records": 50}
    assert larger_k_may_help(result, 10) == helps
