"""The report as a page: what stands in it, in which order, and what does not."""

from __future__ import annotations

import re
import stat
import sys
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.errors import ConfigError, OutputError
from starshade.plain import percent
from starshade.report.page import POLICY, environment, figure, render_report, save_report
from starshade.report.terms import TERMS
from tests.unit.report.dossiers import COMMAND, SEED, Shown, marked, small_dossier

EDITIONS = pytest.mark.parametrize("public", [True, False], ids=["public", "internal"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dossier")


@pytest.fixture(scope="module")
def dossier(place: Path) -> Dossier:
    return small_dossier(place)


@pytest.fixture(scope="module")
def told(dossier: Dossier) -> dict[str, Any]:
    return dossier.internal()


@pytest.fixture(scope="module")
def for_all(dossier: Dossier) -> dict[str, Any]:
    return dossier.public()


@pytest.fixture(scope="module")
def pages(dossier: Dossier) -> dict[bool, str]:
    return {public: render_report(dossier, public=public) for public in (True, False)}


class Page(HTMLParser):
    """What a browser would find: elements, headings, links, and the text in reading order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[int] = []
        self.text = ""
        self._unread = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self._unread += tag in ("style", "title")

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in ("style", "title")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.text = f"{self.text} {' '.join(data.split())}".replace("  ", " ")

    def named(self, attribute: str) -> list[str]:
        return [a[attribute] or "" for _, a in self.tags if attribute in a]


def texts(told: Any) -> list[str]:
    """Return every text in plain data."""
    if isinstance(told, dict):
        return [text for value in told.values() for text in texts(value)]
    if isinstance(told, list | tuple):
        return [text for value in told for text in texts(value)]
    return [told] if isinstance(told, str) else []


@EDITIONS
def test_it_is_one_file_that_loads_and_runs_nothing(pages: dict[bool, str], public: bool) -> None:
    html = pages[public]
    page = Page(html)
    assert len(html.encode()) < 1_000_000
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert not page.named("src")
    assert not [name for _, found in page.tags for name in found if name.startswith("on")]
    assert all(href.startswith("#") for href in page.named("href"))
    assert set(page.named("href")) <= {f"#{name}" for name in page.named("id")}
    assert not re.search(r"url\(|@import", html)
    assert set(re.findall(r"https?://[^\"' ]+", html)) == {"http://www.w3.org/2000/svg"}
    assert POLICY in page.named("content")
    assert "default-src 'none'" in POLICY


@EDITIONS
def test_names_of_places_are_given_once(pages: dict[bool, str], public: bool) -> None:
    names = Page(pages[public]).named("id")
    assert len(names) == len(set(names))


@EDITIONS
def test_headings_go_down_one_step_at_a_time(pages: dict[bool, str], public: bool) -> None:
    levels = Page(pages[public]).headings
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    sections = [tag for tag, _ in Page(pages[public]).tags if tag == "section"]
    assert levels.count(2) == len(sections) + (not public)  # the list of contents


@EDITIONS
def test_it_is_read_in_order(pages: dict[bool, str], dossier: Dossier, public: bool) -> None:
    text = Page(pages[public]).text
    told = dossier.public() if public else dossier.internal()
    in_order = [
        told["verdict"]["headline"],
        *([told["verdict"]["paragraph"], *_of_everybody(told)] if public else _of_the_owner(told)),
    ]
    at = 0
    for part in in_order:
        at = text.find(" ".join(part.split()), at)
        assert at >= 0, part


def _claimed(told: dict[str, Any]) -> list[str]:
    return [told["claims"][0][what] for what in ("asked", "verified", "how")]


def _of_everybody(told: dict[str, Any]) -> list[str]:
    holds = told["holds"]
    return [
        told["verdict"]["advice"][0],
        told["method"]["summary"],
        holds["scale"],
        holds["examples"]["rule"],
        told["uses"]["good_for"][0],
        told["uses"]["not_good_for"][-1],
        holds["classes"]["meaning"],
        holds["cells"]["meaning"],
        told["omitted"]["text"],
        *(row["meaning"] for row in told["omitted"]["rows"]),
        told["checks"][0]["title"],
        told["checks"][0]["source"],
        *_claimed(told),
        told["findings"][0]["text"],
        told["open"][-1],
        holds["disclosure"]["rows"][0]["meaning"],
        told["files"][0]["sha256"],
    ]


def _of_the_owner(told: dict[str, Any]) -> list[str]:
    first, inner = ["Decision", "Why the data need protection", "Utility"], told["verdict"]
    return [
        *first,
        told["first"]["utility"],
        "Residual risk",
        told["first"]["risks"][0]["title"],
        told["first"]["risks"][-1]["title"],
        "Sign-off",
        "Signature",
        "Context assessment",
        "Data assessment",
        told["variables"][0]["technique"],
        told["data"]["sparsity"]["meaning"],
        "Threats and attacks tried",
        told["attack_meaning"],
        "Identifiability assessment",
        inner["paragraph"],
        told["checks"][0]["text"],
        told["stand_out"]["meaning"],
        *_claimed(told),
        told["models"][-1]["text"],
        told["disclosure"]["rows"][0]["meaning"],
        told["findings"][0]["text"],
        "Mitigation and utility",
        inner["advice"][0],
        told["examples"]["rule"],
        inner["utility"][0],
        told["remains"]["meaning"],
        told["recommender_how"],
        "Losses in detail",
        told["histogram"]["meaning"],
        "Generalization loss (GenILoss)",
        "Governance",
        told["files"][0]["sha256"],
        COMMAND,
    ]


def test_what_the_release_holds_stands_with_its_meaning(
    pages: dict[bool, str], for_all: dict[str, Any]
) -> None:
    text, holds = Page(pages[True]).text, for_all["holds"]
    for row in (*holds["disclosure"]["rows"], *holds["inside"]):
        said = f"{row['title']} {row['meaning']} {figure(row['value'], row['unit'])}"
        assert " ".join(said.split()) in text
    for row in for_all["checks"]:
        parts = (row["title"], row["threshold"], row["mark"], row["status"], row["source"] or "–")
        assert " ".join(filter(None, parts)) in text
    assert all(said in text for said in for_all["open"])


def test_every_figure_stands_with_its_meaning(pages: dict[bool, str], told: dict[str, Any]) -> None:
    text = Page(pages[False]).text
    for row in (*told["losses"], *told["disclosure"]["rows"]):
        said = f"{row['title']} {row['meaning']} {figure(row['value'], row['unit'])}"
        assert " ".join(said.split()) in text
    for row in told["attacks"]:
        before, after = percent(row["before"]["rate"]), percent(row["after"]["rate"])
        limit, ends = percent(row["threshold"]), r"[\d.]+ to [\d.]+%"
        said = (
            rf"{re.escape(row['knowledge'])} (?:{row['tried']} )?{after} {ends} {limit} {before} "
        )
        assert re.search(said, text), said
    for name in ("histogram", "long_tail", "ratings_per_user", "sparsity"):
        assert told["data"][name]["meaning"] in text
    assert told["tracker"]["meaning"] in text
    assert all(file["sha256"] in text for file in told["files"])


def test_the_internal_report_has_seed_and_command_and_no_list_of_people(
    pages: dict[bool, str], told: dict[str, Any], place: Path
) -> None:
    text = Page(pages[False]).text
    rows = told["people"]["rows"]
    assert rows
    assert not any(row["user"] in text for row in rows)
    assert f"Few known ratings identify {told['people']['total']} users in the original" in text
    for part in (
        str(SEED),
        COMMAND,
        told["run"]["digest"],
        str(place / "release"),
        "never publish",
    ):
        assert part in text


def test_the_public_edition_is_about_nobody(pages: dict[bool, str], told: dict[str, Any]) -> None:
    html = unescape(pages[True])
    secret = [told["run"]["digest"], COMMAND, str(SEED), "person-", "film-"]
    secret += [told["data"]["first_day"], told["data"]["last_day"]]
    policy = told["run"]["config"]["policy"]  # both editions name it
    secret += [text for text in texts(told["run"]) if len(text) > 3 and text != policy]
    assert not [text for text in secret if text in html]


def test_each_edition_asks_for_its_own(told: dict[str, Any], for_all: dict[str, Any]) -> None:
    owner = {**told, "warnings": ["For the owner."]}
    two: Any = Shown(owner, {**for_all, "warnings": ["For everybody."]})
    for public, said in ((True, "For everybody."), (False, "For the owner.")):
        text = Page(render_report(two, public=public)).text
        assert [each for each in ("For everybody.", "For the owner.") if each in text] == [said]


def test_a_check_stands_with_its_figure_threshold_and_status(place: Path, tmp_path: Path) -> None:
    own = small_dossier(tmp_path, threshold={"re-identification": 0.01, "class-linkage": 1}).own
    text = Page(render_report(_shown(dict(own)), public=False)).text
    rows = {row["name"]: row for row in own["checks"]}
    statuses = {"pass", "fail", "not measured", "not applicable", "no threshold"}
    statuses.add("accepted without limit")
    assert {row["status"] for row in rows.values()} == statuses
    for row in rows.values():
        place = text.index(f" {row['title']} ", text.index("Checks of the policy"))
        line = text[place : place + 400]
        ended = row["low"] is not None and row["low"] != row["high"]
        ends = f"{row['low']:.1%} to {row['high']:.1%}".replace("% to", " to") if ended else ""
        value = "–" if row["status"] == "not applicable" else row["value_text"]
        initial = row["initial"]
        parts = (
            "–" if initial is None else percent(initial["rate"]),
            *(value, ends, row["people_text"]),
            "–" if row["baseline"] is None else percent(row["baseline"]),
            *(row["threshold_text"], row["mark"], row["status"], row["note"]),
        )
        assert line.startswith(f" {row['title']} {' '.join(filter(None, parts))}"), line
    assert rows["attribute"]["note"].startswith("Existence disclosure (that they rated some item)")
    assert (
        "Threshold: our convention; statistical disclosure control requires 0 for public tables."
        in text
    )


VERDICTS = {"PASS": ("yes", "✓"), "FAIL": ("no", "✗"), "INCOMPLETE": ("open", "–")}


@EDITIONS
@pytest.mark.parametrize("word", VERDICTS)
def test_each_verdict_has_its_word_sign_and_colour(
    word: str, public: bool, dossier: Dossier, told: dict[str, Any], for_all: dict[str, Any]
) -> None:
    edition = for_all if public else told
    verdict = edition["verdict"] | {"verdict": word, "headline": f"{word}: policy partner v1"}
    changed = {**edition, "verdict": verdict}
    page = Page(render_report(_shown(changed, changed), public=public))
    colour, sign = VERDICTS[word]
    assert f"{sign} {word}: policy partner v1" in page.text
    assert f"verdict {colour}" in page.named("class")
    others = {f"verdict {other}" for other, _ in VERDICTS.values()} - {f"verdict {colour}"}
    assert not others & set(page.named("class"))


@EDITIONS
def test_checks_that_nothing_can_fail_are_counted_in_the_headline(
    pages: dict[bool, str], public: bool
) -> None:
    text = Page(pages[public]).text
    assert "✓ PASS (7 checks without effective threshold): policy partner v1, with over" in text
    assert "accepted without limit" in text


ACCEPTED = {
    "risk": "membership",
    "up_to": "12.3%",
    "policy": "partner v1",
    "reason": "Agreed with the board.",
    "by": "Data protection officer",
    "until": "2027-06-30",
}


@EDITIONS
def test_accepted_risks_stand_in_both_editions(
    told: dict[str, Any], for_all: dict[str, Any], public: bool
) -> None:
    verdict = {"publishable": "acceptance"}
    shown = [
        {**each, "verdict": each["verdict"] | verdict, "accepted": [ACCEPTED]}
        for each in (told, for_all)
    ]
    text = Page(render_report(_shown(*shown), public=public)).text
    values = " ".join([*list(ACCEPTED.values())[1:]])
    assert f"Membership, TPR at 1 % FPR {values}" in text
    assert "The owner accepted these risks, so the release may be published. This changes" in text
    assert public or "Publish, accepting the risks above" in text
    assert public or f"Accepted until {ACCEPTED['until']} by {ACCEPTED['by']}: Membership" in text


def told_of(told: dict[str, Any], name: str) -> float:
    rows = told["disclosure"]["rows"]
    return float(next(row["value"] for row in rows if row["name"] == name))


def test_the_first_page_has_no_wording_of_the_command_line(pages: dict[bool, str]) -> None:
    for page in pages.values():
        first = re.split("Context assessment|Content of the release", Page(page).text)[0]
        assert not re.search(r"--\w|NAME=|starshade (audit|anonymize|compare|query|attack)", first)


@EDITIONS
def test_texts_are_shown_not_obeyed(
    told: dict[str, Any], for_all: dict[str, Any], public: bool
) -> None:
    mark = "<b class=evil>&\"'"
    html = render_report(_shown(marked(told, mark), marked(for_all, mark)), public=public)
    page = Page(html)
    assert "evil" not in page.named("class")
    assert mark in page.text  # the data were shown
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert any("evil" in picture for picture in pictures)
    assert not any("<b" in picture for picture in pictures)


@EDITIONS
def test_what_cannot_be_seen_is_shown(
    told: dict[str, Any], for_all: dict[str, Any], public: bool
) -> None:
    unseen = "\u202e\x1b\x01"
    odd = {**marked(told, unseen), "run": {**told["run"], "command": f"one{unseen}\ntwo <b>"}}
    html = render_report(_shown(odd, marked(for_all, unseen)), public=public)
    assert not [c for c in html if c != "\n" and not c.isprintable()]
    assert r"\u202e\x1b\x01" in html
    assert public or "one\\u202e\\x1b\\x01\ntwo &lt;b&gt;" in html


def test_which_data_a_figure_is_of_is_said(pages: dict[bool, str], told: dict[str, Any]) -> None:
    text = Page(pages[False]).text
    data, released = told["data"], told["data"]["released"]
    assert data["of"] in text
    assert told["histogram"]["of"] in text
    assert released["ratings"] < data["ratings"]
    assert f"of {released['ratings']:,} ratings by 70 people" in text
    assert told["method"]["left_out"] in text
    whose = "60 people and 10 dummy records (the release continues an earlier one)"
    continued = {**told, "method": told["method"] | {"whose": whose}}
    text = Page(render_report(_shown(continued), public=False)).text
    assert f"70 records on 9 items: {whose}, by k-likeness" in text
    assert f"of all your data; {percent(released['sparsity'])} of the released part" in text


def test_what_is_not_known_is_said_so(told: dict[str, Any]) -> None:
    bare: dict[str, Any] = {
        **told,
        "claims": [],
        "models": [],
        "warnings": ["Beware."],
        "stand_out": {**told["stand_out"], "steps": []},
        "attacks": [{**told["attacks"][0], "after": None, "profile": None, "threshold": None}],
        "tracker": None,
        "histogram": None,
        "losses": [],
        "people": None,
        "data": {
            **told["data"],
            "attributes": [],
            "histogram": {"bins": [], "meaning": ""},
            "ratings_per_user": {"mean": 0.0, "bins": [], "meaning": ""},
        },
        "run": {**told["run"], "command": None},
    }
    text = Page(render_report(_shown(bare), public=False)).text
    for said in ("claims no privacy model", "Beware.", "could know", "not measured"):
        assert said in text


def test_a_scale_without_steps_has_no_histogram(for_all: dict[str, Any]) -> None:
    holds = for_all["holds"]
    real = {**for_all, "holds": {**holds, "cells": {**holds["cells"], "histogram": []}}}
    html = render_report(_shown({}, real), public=True)
    assert html.count("<svg role") == 2
    assert "Share of each rating" not in html


def test_a_release_that_fails_says_so_first(for_all: dict[str, Any]) -> None:
    failed = [{"name": "tracker", "passed": False, "text": "Some are."}]
    verdict = {"verdict": "FAIL", "passed": False, "headline": "FAIL: policy partner v1"}
    verdict |= {"paragraph": "No.", "publishable": "", "advice": ["Raise k."], "policy": "p v1"}
    odd = for_all | {"verdict": verdict, "findings": failed, "holds": None}
    page = Page(render_report(_shown({}, odd), public=True))
    assert "✗ FAIL: policy partner v1" in page.text
    assert "the release may not" in page.text
    assert "Tracker attack (COUNT queries): FAIL. Some are." in page.text
    assert "Raise k." in page.text
    assert "The content of its cells and classes is left out" in page.text
    assert set(page.named("href")) <= {f"#{name}" for name in page.named("id")}


HEADS = (
    "What was released and how",
    "What it is good for",
    "What was left out",
    "Risks tested",
    "Accepted risks",
    "What is not promised",
    "Files and versions",
)


@pytest.mark.parametrize("accepted", [[], [ACCEPTED]])
def test_the_sections_of_the_public_report(
    accepted: list[Any], told: dict[str, Any], for_all: dict[str, Any]
) -> None:
    html = render_report(_shown(told, {**for_all, "accepted": accepted}), public=True)
    heads = re.findall(r"<h2[^>]*>([^<]+)</h2>", html)
    assert heads == [head for head in HEADS if accepted or head != "Accepted risks"]


def test_notices_and_the_stated_context_are_said_first(for_all: dict[str, Any]) -> None:
    context = {
        name: {"title": name.title(), "value": value}
        for name, value in {
            "purpose": "Research <b>",
            "recipient": "not stated",
            "custodian": "not stated",
            "complaints": "privacy@example.org",
        }.items()
    }
    more = {"notices": ["The review date 2020-01-01 has passed."], "context": context}
    page = Page(render_report(_shown({}, for_all | more), public=True))
    first = page.text[: page.text.index(HEADS[0])]
    headline = first.index(for_all["verdict"]["headline"])
    assert headline < first.index("has passed.") < first.index("Purpose Research <b>")
    assert "Custodian not stated" in first
    assert "Complaints privacy@example.org" in first
    assert "Recipient" not in first


def test_each_term_is_explained_once(pages: dict[bool, str]) -> None:
    explained = re.findall(
        r'<small class="term"><strong>([^<]+)</strong>: ([^<]+)</small>', pages[True]
    )
    names = [name.lower() if len(name) > 1 else name for name, _ in explained]
    assert len(names) == len(set(names)) >= 10
    lowered = {name.lower(): text for name, text in TERMS.items()}
    assert [lowered[name] for name in map(str.lower, names)] == [unescape(t) for _, t in explained]
    again = re.findall(r'<small class="term">', pages[True])
    assert len(again) == len(names)


def test_a_term_is_explained_where_it_first_stands() -> None:
    text = (
        '{% from "macros.html.j2" import term %}{{ term("k") }}|{{ term("k") }}|{{ term("cell") }}'
    )
    for _ in range(2):  # anew for each page
        first, again, other = environment().from_string(text).render().split("|")
        assert first == f'<small class="term"><strong>k</strong>: {TERMS["k"]}</small>'
        assert again == ""
        assert other.startswith('<small class="term"><strong>Cell</strong>: ')


def test_a_method_that_is_not_known_has_no_uses(for_all: dict[str, Any]) -> None:
    odd = for_all | {"uses": {"good_for": [], "not_good_for": []}}
    text = Page(render_report(_shown({}, odd), public=True)).text
    assert "Nothing is stated about releases of this method." in text


def test_averaged_profiles_and_held_out_ratings_have_their_place(told: dict[str, Any]) -> None:
    row = {"name": "a", "title": "Right group named", "value": 0.25, "unit": "share"}
    row |= {"meaning": "High means risk."}
    error = {"name": "b", "title": "Typical error", "before": 0.9, "after": 0.99, "ratio": 1.1}
    error |= {"unit": "ratings", "low_is_good": True, "meaning": "Low is good."}
    query = {"name": "c", "title": "Queries off by", "value": 7.25, "unit": "percent"}
    query |= {"meaning": "0 is exact."}
    more = {
        "profile_disclosure": {"rows": [row], "text": "Whoever finds a group reads it."},
        "recommender": {"rows": [error], "tested": 1234, "meaning": "How well it predicts."},
        "query_error": {"rows": [query], "conditions": 77, "meaning": "How far off."},
    }
    text = Page(render_report(_shown(told | more), public=False)).text
    for said in (
        "Right group named High means risk. 25.0%",
        "Typical error Low is good. 0.9 0.99 1.1",
        "1,234 held-out ratings",
        "77 averages",
        "Queries off by 0 is exact. 7.25%",
    ):
        assert said in text


def test_only_the_owner_may_read_the_internal_edition(dossier: Dossier, tmp_path: Path) -> None:
    for public, mode in ((True, 0o644), (False, 0o600)):
        file = save_report(dossier, tmp_path / f"{public}.html", public=public)
        assert file.read_text("utf-8") == render_report(dossier, public=public)
        assert stat.S_IMODE(file.stat().st_mode) & ~0o022 == mode & ~0o022


def test_a_report_never_enters_a_release_nor_overwrites(
    dossier: Dossier, place: Path, tmp_path: Path
) -> None:
    release = place / "release"
    before = sorted(release.iterdir())
    with pytest.raises(OutputError, match="inside the release"):
        save_report(dossier, release / "report.html", public=True)
    assert sorted(release.iterdir()) == before
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        save_report(dossier, tmp_path / "report.html", public=True)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


def test_without_what_draws_charts_are_sentences(
    dossier: Dossier, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = render_report(dossier, public=False)
    monkeypatch.setattr("starshade.report.picture.drawable", lambda: False)
    told = render_report(dossier, public=False)
    names = re.findall(r'<svg role="img" aria-label="([^"]+)"', drawn)
    assert names
    assert "<svg role" not in told
    assert all(f"<p>{name}</p>" in told for name in names)
    assert len(told) < len(drawn)


def test_without_the_extra_it_says_what_to_install(
    dossier: Dossier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[report\]'"):
        save_report(dossier, tmp_path / "report.html", public=True)
    assert not list(tmp_path.iterdir())


def _shown(told: dict[str, Any], for_all: dict[str, Any] | None = None) -> Any:
    return Shown(told, for_all or {})
