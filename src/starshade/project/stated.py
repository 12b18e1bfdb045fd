"""A context file: what the owner of a release states on it, for ``starshade report --context``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starshade.audit.dossier.context import Context, context_of
from starshade.errors import ConfigError
from starshade.files.side import CONTEXT_FILE, read_side_text
from starshade.files.toml import Lines, load_toml, no_toml
from starshade.progress import note
from starshade.project.accept import SECTION, Acceptance, Decision
from starshade.project.file import (
    SECTIONS,
    Problem,
    accepted_in,
    keys_of,
    unknown_sections,
    values_in,
)

if TYPE_CHECKING:
    from starshade.audit.result import AuditResult

_TABLE = "context"


@dataclass(frozen=True)
class Stated:
    """The context and the accepted risks of a file."""

    context: Context
    accepted: tuple[Acceptance, ...]

    def counting(self, audit: AuditResult) -> list[dict[str, str]]:
        """Return the accepted risks that count in an audit; say why others do not."""
        decision = Decision.of(audit, self.accepted)
        for gap in decision.gaps:
            note(gap)
        return decision.rows


def read_stated(path: str) -> Stated:
    """Read the context and the accepted risks of a file; other sections of a project are ignored.

    Raises
    ------
    ConfigError
        It cannot be read, has neither, or something in them is wrong: the first thing, by line.
    """
    text = read_side_text(path, CONTEXT_FILE)
    try:
        said = load_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise _refusal(path, [Problem(*no_toml(error, text))]) from None
    if not {_TABLE, SECTION} & said.keys():
        raise ConfigError(
            f"{path}: has neither [{_TABLE}] nor [[{SECTION}]]",
            advice=f"State the context below a line [{_TABLE}]: {', '.join(keys_of(Context))}.",
        )
    lines, problems = Lines(text), list[Problem]()
    values = values_in(said, _TABLE, keys_of(Context), lines, problems)
    accepted = accepted_in(said, lines, problems)
    problems += unknown_sections(said, SECTIONS, lines)
    if problems:
        raise _refusal(path, sorted(problems, key=lambda each: each.line))
    return Stated(context_of(values), accepted)


def _refusal(path: str, problems: list[Problem]) -> ConfigError:
    more = f" ({len(problems) - 1} more)" if problems[1:] else ""
    return ConfigError(f"{problems[0].within(path)}{more}", advice=problems[0].advice)
