"""The commands that make a release, and the report on it, again."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading
from starshade.cli.options.spelling import words_of

if TYPE_CHECKING:
    from starshade.release.table import Release

__all__ = ["made_by", "repeated"]

#: options that change nothing in what is found, and the seed, which comes last
_ELSEWHERE = {"as_json", "threads", "memory", "quiet", "log_file", "seed"}
_WRITTEN = {"out", "report"}  # made again a report goes beside the release
_UNSAID: tuple[Any, ...] = (None, "none", [], {}, "")


def repeated(context: click.Context, release: Release, reading: Reading, seed: int) -> str:
    """Return what to type to do it all again, a command a line: the release, then the report.

    Every option that was given to the command of the `context` is in it.
    """
    given = context.params
    ratings, folder = given["ratings"], given["release"]
    words = ["starshade", str(context.info_name), ratings, folder, *reading.arguments()]
    for option in context.command.params:
        name = str(option.name)
        if name in _ELSEWHERE or hasattr(reading, name) or not isinstance(option, click.Option):
            continue
        value = given.get(name)
        if option.is_flag:
            words += [option.opts[0]] if value else []
        elif name in _WRITTEN:
            words += _spelled(option, f"{folder.rstrip('/')}-report.html")
        elif value != option.default:
            words += _spelled(option, value)
    words += ["--seed", str(seed)]
    made = made_by(release, ratings, folder, reading)
    return "\n".join([*([made] if made else []), shlex.join(words)])


def made_by(release: Release, ratings: str, out: str, reading: Reading) -> str | None:
    """Return the command that makes a release again, byte for byte; None without its receipt.

    What the receipt holds and a command cannot say, the content of files, stands in capitals.

    The release lies at `out`; made again it goes to a place beside.
    """
    if release.private is None:
        return None
    from starshade.anonymize.registry import ENTRIES
    from starshade.cli.anonymize import anonymize
    from starshade.registry import find

    method, config = release.manifest.method, release.private.config
    cls = find(ENTRIES, method, "method").load()
    own = {field.name for field in fields(cls)}
    words = ["starshade", "anonymize", ratings, "--method", method]
    for option in anonymize.params:
        if isinstance(option, click.Option) and option.name in own - {"items"}:
            words += _spelled(option, config.get(option.name))
    if config.get("items", "all") != "all":
        words += ["--items", config["items"] if not config.get("item_keys") else "ITEMS-FILE"]
    words += [*reading.arguments(), "--seed", str(release.private.seed)]
    again = f"{out.rstrip('/')}-again"
    words += ["--out", again, "--private", f"{again}.json"]
    return shlex.join(words)


def _spelled(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[0]
    if option.is_flag:  # --no-biases: the setting is on
        return [] if value is not False else [flag]
    if any(value is unsaid or value == unsaid for unsaid in _UNSAID):
        return []
    if isinstance(value, dict):
        return [word for name in value for word in (flag, f"{name}=FILE")]
    values = value if isinstance(value, (list, tuple)) else [value]
    return words_of(flag, [*map(_text, values)])


def _text(value: Any) -> str:
    text = f"{value:.12g}" if isinstance(value, float) else str(value)
    return "FILE" if "\n" in text else text
