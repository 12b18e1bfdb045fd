"""What MkDocs does beyond its settings: indexes, tables of settings, floors, notebooks."""

from __future__ import annotations

import ast
import csv
import re
import shutil
from collections import defaultdict
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from typing import Any

import click

_COMMANDS = Path(__file__).with_name("command-line.md")
_MARK = "<!-- keys -->"
_SETTINGS = re.compile(r"<!-- settings: ([\w.:]+)(?: of (\w+))? -->")
#: room → the command that sets its settings
_COMMANDS_OF = {
    "attack": "attack",
    "privacy": "check",
    "anonymize": "anonymize",
    "recommend": "anonymize",
    "audit": "audit",
    "query": "query",
    "ratings": "check",
    "compare": "compare",
}
_OPTIONS = re.compile(r"<!-- options: (\w+) -->")
_FLOORS = "<!-- floors -->"
_REGISTERED = re.compile(r"<!-- registered: (\w+) -->")
_PAGE = re.compile(r'(href="(?!https?:)[^"#]+)\.(?:md|ipynb)(?=["#])')
_IN_TABLE = re.compile(r"(?<=<td>).*?(?=</td>)", re.S)
_PATH = re.compile(r"<code>([^<]*/[^<]*)</code>")
_JOINT = re.compile(r"(?<=::)|(?<=[/_])")
#: the site of made-up ratings that `make reproduce` wrote, and where the documentation has it
_MADE_UP = Path(__file__).parents[1] / "reproduction" / "made-up"
_REPRODUCED, _SITE = "<!-- reproduced -->", "made-up-ratings"
#: what `reproduce compare --out` wrote of the papers' claims
_COMPARED = Path(__file__).with_name("what-holds")
_CLAIMS, _CHANGES = "<!-- claims -->", "<!-- changes -->"
_VERDICTS = {"holds": "✓", "does not hold": "✗", "cannot be tested": "–"}
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


def tables_of(what: str, room: str | None = None) -> str:
    """Return tables of settings: of all that a room registers, or of one declaration of a room."""
    module, is_one, name = what.partition(":")
    if is_one:
        return _table(getattr(import_module(module), name), _options(room or ""))
    sections = []
    for entry in import_module(f"starshade.{what}.registry").ENTRIES:
        table = _table(entry.declaration(), _options(what))
        sections.append(f"### `{entry.name}`\n\n{entry.source}.\n\n{table or 'No settings.'}")
    return "\n\n".join(sections)


def options_of(room: str) -> str:
    """Return a table of all that a room registers, and the options that not all of them have."""
    from starshade.setting import settings_of

    options = _options(room)
    entries = import_module(f"starshade.{room}.registry").ENTRIES
    of = {entry.name: settings_of(entry.declaration()) for entry in entries}
    shared = set.intersection(*map(set, of.values()))
    names: dict[str, list[str]] = defaultdict(list)
    for name, settings in of.items():
        told = (
            f"`{' '.join([options[s.name], *_choices(s)])}`" for s in settings if s not in shared
        )
        names[", ".join(told)].append(f"`{name}`")
    rows = [f"| {', '.join(of)} | {told or '–'} |" for told, of in names.items()]
    return "\n".join([f"| {_command(room).chooser[2:]} | options |", "|---|---|", *rows])


def _choices(setting: Any) -> list[str]:
    return [r"\|".join(setting.choices)] if setting.choices else []


def _command(room: str) -> click.Command | None:
    from starshade.cli import main

    return main.get_command(click.Context(main), _COMMANDS_OF.get(room, ""))


def _options(room: str) -> dict[str, str]:
    """Return how the command of a room writes each setting that it has an option for."""
    command = _command(room)
    params = [] if command is None else command.params
    return {str(option.name).removeprefix("no_"): option.opts[0] for option in params}


def _table(declaration: type, options: dict[str, str]) -> str:
    from starshade.setting import settings_of

    rows = [
        f"| `{s.name}` | {f'`{options[s.name]}`' if s.name in options else '–'} | {_default(s)} "
        f"| {_meaning(s)} |"
        for s in settings_of(declaration)
    ]
    head = ["| setting | option | default | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) if rows else ""


def _default(setting: Any) -> str:
    if setting.default is MISSING:
        return "required"
    numeric = type(setting.default) in (int, float)
    return f"`{setting.default:.12g}`" if numeric else f"`{setting.default}`"


def _meaning(setting: Any) -> str:
    unset = f" None: {setting.unset}." if setting.unset else ""
    unit = f", in {setting.unit}" if setting.unit else ""
    bounded = setting.kind in ("integer", "number", "choice")
    allowed = f" ({setting.allowed}{unit})" if bounded else ""
    return f"{setting.help.removesuffix('.')}{allowed}.{unset}"


def _others(room: str, page: str) -> str:
    """Return the classes that a room registers and the page does not name."""
    entries = import_module(f"starshade.{room}.registry").ENTRIES
    named = {f"::: starshade.{entry.cls}" for entry in entries} - set(page.splitlines())
    return "\n\n".join(sorted(named))


def floors() -> str:
    """Return a table of the rooms and their wings, the highest floor first."""
    from tests.house.floors import FLOORS, SRC

    rows = ["| floor | room | what lives there | wings |", "|---|---|---|---|"]
    for floor in reversed(range(len(FLOORS))):
        for room in sorted(FLOORS[floor]):
            wings = sorted(file.parent.name for file in SRC.glob(f"{room}/*/__init__.py"))
            file = SRC / room / "__init__.py" if (SRC / room).is_dir() else SRC / f"{room}.py"
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            listed = ", ".join(f"`{wing}`" for wing in wings)
            rows.append(f"| {floor} | `{room}` | {said.splitlines()[0]} | {listed} |")
    return "\n".join(rows)


def _compared(name: str) -> list[dict[str, str]]:
    with (_COMPARED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _table_of(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def claims() -> str:
    """Return a table of every claim: its verdict and value on each data set."""
    found = _compared("claims")
    data = list(found[0])[2:]
    rows = []
    for row in found:
        cells, reasons = [], []
        for name in data:
            verdict, _, rest = row[name].partition(": ")
            measured = rest[:1] == "-" or rest[:1].isdigit()
            cells.append(f"{_VERDICTS.get(verdict, '')} {rest if measured else ''}".strip())
            reasons += [] if measured else [rest]
        why = "; ".join(dict.fromkeys(filter(None, reasons)))
        rows.append([f'<span id="{row["claim"]}">{row["claim"]}</span>', row["says"], *cells, why])
    return _table_of(["claim", "says", *data, "reason"], rows)


def changes() -> str:
    """Return a table of the changes tried on each claim that does not hold; ✓: it then holds."""
    found = _compared("failures")
    data = list(dict.fromkeys(row["data"] for row in found))
    tried: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for row in found:
        head, mark, rest = row["cause"].partition("holds ")
        if not mark:
            head, mark, rest = row["cause"].partition("; ")
        tried[row["claim"], "none"][row["data"]] = f"✗ {row['here']}"
        for each in filter(None, rest.split("; ")):
            change, _, value = each.rpartition(": ")
            tried[row["claim"], change][row["data"]] = "✓ " * (mark != "; ") + value
    rows = [[*key, *(own.get(name, "") for name in data)] for key, own in tried.items()]
    return _table_of(["claim", "change", *data], rows)


def reproduced() -> str:
    """Return the link to the site of made-up ratings, where it exists."""
    if not (_MADE_UP / "index.html").is_file():
        return "`make reproduce` without data adds an example site to these pages."
    return f'<a href="{_SITE}/index.html">Example site of made-up ratings</a>.'


def on_post_build(config: Any, **_: Any) -> None:
    """Copy the site of made-up ratings to the pages, readable for all."""
    if (_MADE_UP / "index.html").is_file():
        place = Path(config["site_dir"]) / _SITE
        shutil.copytree(_MADE_UP, place, dirs_exist_ok=True)
        place.chmod(0o755)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put classes, tables of settings and floors and the index of keys where their marks stand."""
    if _FLOORS in markdown:
        markdown = markdown.replace(_FLOORS, floors())
    markdown = markdown.replace(_REPRODUCED, reproduced())
    if _CLAIMS in markdown:
        markdown = markdown.replace(_CLAIMS, claims()).replace(_CHANGES, changes())
    markdown = _REGISTERED.sub(lambda mark: _others(mark[1], markdown), markdown)
    markdown = _OPTIONS.sub(lambda mark: options_of(mark[1]), markdown)
    markdown = _SETTINGS.sub(lambda mark: tables_of(*mark.groups()), markdown)
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
