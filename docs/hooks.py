"""What MkDocs does beyond its settings: an index of keys, and the pages of the notebooks."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

_COMMANDS = Path(__file__).with_name("command-line.md")
_MARK = "<!-- keys -->"
_PAGE = re.compile(r'(href="(?!https?:)[^"#]+)\.(?:md|ipynb)(?=["#])')
_IN_TABLE = re.compile(r"(?<=<td>).*?(?=</td>)", re.S)
_PATH = re.compile(r"<code>([^<]*/[^<]*)</code>")
_JOINT = re.compile(r"(?<=::)|(?<=[/_])")
_DIAGRAMS = re.compile(r'<script type="module">(?:(?!</script>).)*mermaid.*?</script>', re.S)


def keys_of_commands(page: str) -> dict[str, list[str]]:
    """Return each key of the page of commands, and the commands that have it.

    Keys are the words in code before the first colon of an entry, as the page's test reads them.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for command, text in re.findall(r"^## `starshade (.*?)`\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        for entry in re.findall(r"^- (.*?)(?=^- |^$|\Z)", text, re.M | re.S):
            for part in entry.split(";"):
                for key in re.findall(r"`([a-z0-9_]+)`", part.split(":")[0]):
                    if command not in found[key]:
                        found[key].append(command)
    return dict(sorted(found.items()))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the index of keys where its mark stands."""
    if _MARK not in markdown:
        return markdown
    rows = ["| key | command |", "|---|---|"]
    for key, commands in keys_of_commands(_COMMANDS.read_text(encoding="utf-8")).items():
        links = (f"[{c}](../command-line.md#starshade-{c.replace(' ', '-')})" for c in commands)
        rows.append(f"| `{key}` | {', '.join(links)} |")
    return markdown.replace(_MARK, "\n".join(rows))


def on_page_content(html: str, **_: Any) -> str:
    """Let long paths in tables break where they join, and nowhere else."""

    def broken(path: re.Match[str]) -> str:
        return "<code>" + _JOINT.sub("<wbr>", path[1]) + "</code>"

    return _IN_TABLE.sub(lambda cell: _PATH.sub(broken, cell[0]), html)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Name what the theme leaves without a name; let a notebook's page link to pages.

    Nothing is left in it that would load a script from another machine.
    """
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    if not page.file.src_uri.endswith(".ipynb"):
        return output
    return _PAGE.sub(r"\1.html", _DIAGRAMS.sub("", output))
