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
from starshade.report.page import POLICY, render_report, save_report
from starshade.report.phrases import figure
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
    assert levels.count(2) == len(sections)


@EDITIONS
def test_it_is_read_in_order(pages: dict[bool, str], dossier: Dossier, public: bool) -> None:
    text = Page(pages[public]).text
    told = dossier.public() if public else dossier.internal()
    in_order = [
        told["verdict"]["headline"],
        told["verdict"]["paragraph"],
        told["claims"][0]["asked"],
        told["claims"][0]["verified"],
        told["claims"][0]["how"],
        told["findings"][0]["text"],
        told["data"]["sparsity"]["meaning"],
        told["stand_out"]["meaning"],
        told["attack_meaning"],
        told["models"][-1]["text"],
        told["disclosure"]["rows"][0]["meaning"],
        told["losses"][0]["meaning"],
        told["recommender_how"],
        told["files"][0]["sha256"],
        *([] if public else ["Signature", told["people"]["text"], COMMAND]),
    ]
    at = 0
    for part in in_order:
        at = text.find(" ".join(part.split()), at)
        assert at >= 0, part


def test_every_figure_stands_with_its_meaning(pages: dict[bool, str], told: dict[str, Any]) -> None:
    text = Page(pages[False]).text
    for row in (*told["losses"], *told["disclosure"]["rows"]):
        said = f"{row['title']} {row['meaning']} {figure(row['value'], row['unit'])}"
        assert " ".join(said.split()) in text
    for row in told["attacks"]:
        before, after = percent(row["before"]["rate"]), percent(row["after"]["rate"])
        limit, ends = percent(row["limit"]), r"[\d.]+ to [\d.]+%"
        said = (
            rf"{re.escape(row['knowledge'])} (?:{row['tried']} )?{after} {ends} {limit} {before} "
        )
        assert re.search(said, text), said
    for name in ("histogram", "long_tail", "ratings_per_user", "sparsity"):
        assert told["data"][name]["meaning"] in text
    assert percent(told["attacks"][0]["limit"]) == "20.0%"
    assert told["tracker"]["meaning"] in text
    assert all(file["sha256"] in text for file in told["files"])


def test_the_owners_edition_names_people_seed_and_command(
    pages: dict[bool, str], told: dict[str, Any], place: Path
) -> None:
    text = Page(pages[False]).text
    rows = told["people"]["rows"]
    assert rows
    assert all(row["user"] in text for row in rows)
    for part in (
        str(SEED),
        COMMAND,
        told["run"]["digest"],
        str(place / "release"),
        "never publish",
    ):
        assert part in text


def test_the_public_edition_is_about_nobody(
    pages: dict[bool, str], dossier: Dossier, told: dict[str, Any]
) -> None:
    html = unescape(pages[True])
    secret = [told["run"]["digest"], COMMAND, str(SEED), "person-", "film-"]
    secret += [told["data"]["first_day"], told["data"]["last_day"]]
    secret += [text for text in texts(told["run"]) if len(text) > 3]
    assert not [text for text in secret if text in html]
    assert set(dossier.public()) == set(told) - {"people", "run"}


def test_each_edition_asks_for_its_own(told: dict[str, Any]) -> None:
    owner = {**told, "warnings": ["For the owner."]}
    two: Any = Shown(owner, {"warnings": ["For everybody."]})
    for public, said in ((True, "For everybody."), (False, "For the owner.")):
        text = Page(render_report(two, public=public)).text
        assert [each for each in ("For everybody.", "For the owner.") if each in text] == [said]


@EDITIONS
def test_texts_are_shown_not_obeyed(told: dict[str, Any], public: bool) -> None:
    mark = "<b class=evil>&\"'"
    html = render_report(_shown(marked(told, mark)), public=public)
    page = Page(html)
    assert "evil" not in page.named("class")
    assert mark in page.text  # the data were shown
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert any("evil" in picture for picture in pictures)
    assert not any("<b" in picture for picture in pictures)


@EDITIONS
def test_what_cannot_be_seen_is_shown(told: dict[str, Any], public: bool) -> None:
    unseen = "\u202e\x1b\x01"
    odd = {**marked(told, unseen), "run": {**told["run"], "command": f"one{unseen}\ntwo <b>"}}
    html = render_report(_shown(odd), public=public)
    assert not [c for c in html if c != "\n" and not c.isprintable()]
    assert r"\u202e\x1b\x01" in html
    assert public or "one\\u202e\\x1b\\x01\ntwo &lt;b&gt;" in html


@EDITIONS
def test_which_data_a_figure_is_of_is_said(dossier: Dossier, public: bool) -> None:
    told = dossier.public() if public else dossier.internal()
    text = Page(render_report(dossier, public=public)).text
    data, released = told["data"], told["data"]["released"]
    assert data["of"] in text
    assert told["histogram"]["of"] in text
    assert (released is None) == public
    if released is None:
        assert f"made of the {data['ratings']:,} ratings that 70 people gave to them" in text
        return
    assert released["ratings"] < data["ratings"]
    assert f"made of the {released['ratings']:,} ratings that 70 people gave to them" in text
    assert f"All your data are {data['ratings']:,} ratings by 70 people on 200 items" in text
    assert f"of all your data; {percent(released['sparsity'])} of the released part" in text


def test_the_promise_tells_the_fewest_people(told: dict[str, Any]) -> None:
    text = Page(render_report(_shown({**told, "fewest": 7}), public=True)).text
    assert "what speaks of fewer than 7 people is withheld or given as a bound" in " ".join(
        text.split()
    )


@EDITIONS
def test_what_is_not_known_is_said_so(told: dict[str, Any], public: bool) -> None:
    bare: dict[str, Any] = {
        **told,
        "claims": [],
        "models": [],
        "warnings": ["Beware."],
        "stand_out": {**told["stand_out"], "steps": []},
        "attacks": [
            {**told["attacks"][0], "after": None, "profile": None, "limit": None},
            {**told["attacks"][1], "before": None, "withheld": {"before": "less than 8.4%"}},
        ],
        "tracker": None,
        "histogram": None,
        "losses": [],
        "people": None,
        "data": {
            **told["data"],
            "attributes": [],
            "histogram": {"bins": [], "meaning": ""},
            "ratings_per_user": {"mean": None, "bins": [], "meaning": ""},
            "long_tail": {"points": [], "top_1_percent": None, "top_10_percent": None}
            | {"meaning": ""},
        },
        "run": {**told["run"], "command": None},
    }
    text = Page(render_report(_shown(bare), public=public)).text
    dash = "less than 8.4%"
    for said in ("claims no privacy model", "Beware.", "Too few people", "not known", dash):
        assert said in text
    assert public or "Nobody is identified" in text


def test_steps_of_too_few_people_are_not_told(told: dict[str, Any]) -> None:
    steps = [{"known": 2, "identified": None}]
    few = {**told, "stand_out": {**told["stand_out"], "steps": steps}}
    assert "2 ratings: withheld: too few people" in render_report(_shown(few), public=True)


def test_a_rate_that_is_withheld_is_said_so_in_the_picture(told: dict[str, Any]) -> None:
    row = told["attacks"][0] | {
        "after": None,
        "withheld": {"after": "withheld: fewer than 5 people"},
    }
    before = {"rate": 0.5, "low": None, "high": None}  # of a number that is withheld
    html = render_report(_shown({**told, "attacks": [row | {"before": before}]}), public=True)
    assert "in the ratings is 50.0%, in the release withheld; the limit" in html
    assert "in the release withheld</text>" in html
    assert "50.0%</td>" in html.replace("\n", "")


def test_no_heading_stands_over_nothing(told: dict[str, Any]) -> None:
    empty: dict[str, Any] = {"histogram": {"bins": []}, "long_tail": {"points": []}}
    data = {name: told["data"][name] | part for name, part in empty.items()}
    data["ratings_per_user"] = told["data"]["ratings_per_user"] | {"bins": [], "mean": None}
    page = Page(render_report(_shown({**told, "data": told["data"] | data}), public=True))
    assert "How people rated Not told, for the reason given above." in page.text
    assert "Not told, for" not in Page(render_report(_shown(told), public=True)).text


def test_what_a_missing_receipt_hides_is_said_so(told: dict[str, Any]) -> None:
    why = "Not told: people were left out. Give the receipt."
    stand_out = {**told["stand_out"], "steps": [], "withheld": why}
    data = {**told["data"], "ratings": None, "released": None}
    more = {"attacks": [], "attacks_how": why, "stand_out": stand_out, "data": data}
    text = Page(render_report(_shown({**told, **more}), public=True)).text
    assert text.count(why) == 2
    assert "Too few people" not in text
    assert "ratings withheld" in " ".join(text.split())


def test_a_release_that_fails_says_so_first(told: dict[str, Any]) -> None:
    failed = [{"name": "attack", "passed": False, "text": "Found."}]
    verdict = {"passed": False, "headline": "It should not", "paragraph": "No."}
    verdict |= {"reasons": ["Found."], "advice": ["Raise k."]}
    text = Page(render_report(_shown(told | {"verdict": verdict, "findings": failed}), public=True))
    assert "✗ It should not" in text.text
    assert "the release may not" in text.text
    assert "Does every attack stay within the limit? No. Found." in text.text
    assert "Raise k." in text.text


def test_averaged_profiles_and_held_out_ratings_have_their_place(told: dict[str, Any]) -> None:
    row = {"name": "a", "title": "Right group named", "value": 0.25, "unit": "share"}
    row |= {"meaning": "High means risk."}
    error = {"name": "b", "title": "Typical error", "before": 0.9, "after": 0.99, "ratio": 1.1}
    error |= {"unit": "ratings", "low_is_good": True, "meaning": "Low is good."}
    query = {"name": "c", "title": "Queries off by", "value": 7.25, "unit": "percent"}
    query |= {"meaning": "0 is exact."}
    more = {
        "gives_away": {"rows": [row], "text": "Whoever finds a group reads it."},
        "recommender": {"rows": [error], "tested": 1234, "meaning": "How well it predicts."},
        "query_error": {"rows": [query], "conditions": 77, "meaning": "How far off."},
    }
    text = Page(render_report(_shown(told | more), public=True)).text
    for said in (
        "Right group named High means risk. 25.0%",
        "Typical error Low is good. 0.900 0.990 1.100",
        "1,234 held-out ratings",
        "77 averages",
        "Queries off by 0 is exact. 7.2%",
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


@pytest.mark.parametrize("missing", ["jinja2", "vl_convert"])
def test_without_the_extra_it_says_what_to_install(
    dossier: Dossier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=r"pip install 'starshade\[report\]'"):
        save_report(dossier, tmp_path / "report.html", public=True)
    assert not list(tmp_path.iterdir())


def _shown(told: dict[str, Any]) -> Any:
    return Shown(told)
