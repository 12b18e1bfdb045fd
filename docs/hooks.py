"""What MkDocs does beyond its settings: indexes, tables of settings, the pages of notebooks."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

_COMMANDS = Path(__file__).with_name("command-line.md")
_MARK = "<!-- keys -->"
_SETTINGS = re.compile(r"<!-- settings: (\w+) -->")
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


def settings_of_room(room: str) -> str:
    """Return a section with a table of settings for everything that a room registers."""
    from starshade.setting import settings_of

    sections = []
    for entry in import_module(f"starshade.{room}.registry").ENTRIES:
        rows = [
            f"| `{s.name}` | `--{s.name.replace('_', '-')}` | `{_default(s)}` | {_meaning(s)} |"
            for s in settings_of(entry.declaration())
        ]
        head = [f"### `{entry.name}`", "", "| setting | option | default | meaning |"]
        sections.append("\n".join([*head, "|---|---|---|---|", *rows]))
    return "\n\n".join(sections)


def _default(setting: Any) -> str:
    numeric = type(setting.default) in (int, float)
    return f"{setting.default:.12g}" if numeric else str(setting.default)


def _meaning(setting: Any) -> str:
    unset = f" None: {setting.unset}." if setting.unset else ""
    bounded = f" ({setting.allowed})" if setting.kind in ("integer", "number", "choice") else ""
    return f"{setting.help.removesuffix('.')}{bounded}.{unset}"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put tables of settings and the index of keys where their marks stand."""
    markdown = _SETTINGS.sub(lambda mark: settings_of_room(mark[1]), markdown)
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
