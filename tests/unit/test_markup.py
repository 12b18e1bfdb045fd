from __future__ import annotations

from html.parser import HTMLParser

from starshade.markup import block, paragraph, table

NASTY = "<script>alert('x')</script> & \"quoted\""


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.open, "every tag is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_everything_is_text() -> None:
    read = Reader(
        block(
            NASTY,
            paragraph(NASTY),
            table([NASTY, "n"], [[NASTY, NASTY]], caption=NASTY, numbers=(1,)),
        )
    )
    assert {tag for tag, _ in read.tags} <= {
        "div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert read.words.count(NASTY) == 6


def test_tables_say_what_heads_what_and_scroll_in_their_own_box() -> None:
    read = Reader(table(["name", "n"], [["a", "1"], ["b", "2"]], caption="Two"))
    heads = [attrs["scope"] for tag, attrs in read.tags if tag == "th"]
    assert heads == ["col", "col", "row", "row"]
    box = next(attrs for tag, attrs in read.tags if tag == "div")
    assert (box["tabindex"], box["aria-label"]) == ("0", "Two")


def test_no_colour_but_the_pages_own() -> None:
    text = block("t", table(["a"], [["b"]]))
    assert not [colour for colour in ("#", "rgb(", "color:#") if colour in text]


def test_an_empty_paragraph_is_none() -> None:
    assert paragraph("") == ""
