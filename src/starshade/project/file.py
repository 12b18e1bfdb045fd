"""`starshade.toml`: read, checked by line, and what an environment says instead."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starshade.anonymize.registry import ENTRIES, Usual, usual_method
from starshade.audit.dossier.context import Context, context_of
from starshade.audit.settings import AuditSettings
from starshade.errors import ConfigError
from starshade.files.side import PROJECT_FILE, read_side_text
from starshade.files.toml import Lines, UnusableToml, load_toml, no_toml
from starshade.progress import note
from starshade.project.accept import (
    SECTION,
    Acceptance,
    expired,
    in_force,
    read_acceptances,
)
from starshade.project.check import secrets_in, what_is_wrong
from starshade.project.settings import DataSettings, PublishSettings, ReleaseSettings
from starshade.ratings.readers.addresses.address import SECRETS_LIE, hidden_in
from starshade.registry import find
from starshade.setting import Setting, settings_of, shown

NAME = "starshade.toml"
FOLDER = ".starshade"  # what runs keep beside it
VERSION = 2  # from 2 on, a code for "no answer" is a question until null-values answers it
_READS = (1, VERSION)
ENVIRONMENT = "STARSHADE_SET_"

#: the sections that are tables of settings; `sections` has the settings
SECTIONS = ("data", "release", "audit", "publish", "context")
_PLAIN = "Give one value, in the syntax of the file."


def key_of(name: str) -> str:
    """Spell a setting as the file does."""
    return name.replace("_", "-")


#: section, key → its older name
_FORMERLY = {
    ("audit", key_of(setting.name)): key_of(setting.formerly)
    for setting in settings_of(AuditSettings)
    if setting.formerly
}
#: what earlier versions knew: section, key → what holds instead
_IGNORED = {
    ("audit", "judge"): "the policy decides, and checks without a measurement are INCOMPLETE."
}

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Project:
    """What a project file says, and the environment instead: by section, each as its kind has it.

    Attributes
    ----------
    data, release, audit, publish, context : mapping of str to value
        By the settings' names, those that are said alone.
    accepted : tuple of Acceptance
        Risks that the owner accepts.
    overridden : tuple of str
        The variables of the environment that were taken.
    version : int
        Of the file; 1 where it states none.
    """

    data: Values
    release: Values
    audit: Values
    publish: Values
    context: Values = field(default_factory=dict)
    accepted: tuple[Acceptance, ...] = ()
    overridden: tuple[str, ...] = ()
    version: int = 1

    @property
    def stated(self) -> Context:
        """What the owner states on the release."""
        return context_of(self.context)

    @property
    def statements(self) -> dict[str, Any]:
        """What reports print today of the owner's statements, as plain values."""
        return {
            SECTION: in_force(self.accepted),
            "context": self.stated.stated,
            "notices": [*expired(self.accepted), *self.stated.notices],
        }

    @property
    def method(self) -> str:
        """The method that makes the release."""
        return str(self.release.get("method", self._usual.method))

    @property
    def method_settings(self) -> Values:
        """The settings of that method; where the file names none, with those of the usual one."""
        said = {name: value for name, value in self.release.items() if name != "method"}
        return said if "method" in self.release else {**self._usual.settings, **said}

    @property
    def _usual(self) -> Usual:
        return usual_method(self.release.get("items"))


@dataclass(frozen=True)
class Problem:
    """Something wrong in a project file, and what to do. `line` from 1; 0: not in the file."""

    line: int
    text: str
    advice: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", hidden_in(self.text))

    def __str__(self) -> str:
        return self.within(NAME)

    def within(self, file: str) -> str:
        """Say where it is in a file, and what it is."""
        return f"{file}, line {self.line}: {self.text}" if self.line else f"{file}: {self.text}"


def sections(method: str) -> dict[str, dict[str, Setting]]:
    """Return what each section may say, by the keys of the file.

    Examples
    --------
    >>> list(sections("mondrian")), sections("mondrian")["data"]["user-col"].label
    (['data', 'release', 'audit', 'publish', 'context'], 'Column of the users')
    """
    own = find(ENTRIES, method, "method").declaration()
    return {
        "data": keys_of(DataSettings),
        "release": keys_of(own) | keys_of(ReleaseSettings),
        "audit": keys_of(AuditSettings),
        "publish": keys_of(PublishSettings),
        "context": keys_of(Context),
    }


def read_project(folder: Path = Path()) -> Project | None:
    """Read the project file of a folder; None where there is none.

    Raises
    ------
    ConfigError
        Something is wrong in it: the first thing, by line; `problems_of` returns all.
    """
    path = folder / NAME
    if not os.path.lexists(path):
        return None
    text = _text(path)
    project, problems = _parsed(text, folder)
    if problems:
        more = len(problems) - 1
        also = f" ({more} more: starshade check-config)" if more else ""
        raise ConfigError(f"{problems[0]}{also}", advice=problems[0].advice)
    return project


def problems_of(folder: Path = Path()) -> list[Problem]:
    """Return everything that is wrong in a folder's project file, in the order of its lines."""
    return _parsed(_text(folder / NAME), folder)[1]


def _parsed(text: str, folder: Path) -> tuple[Project, list[Problem]]:
    """Parse, and look where releases would go: they may not take the receipts along."""
    project, problems = parse_project(text, os.environ)
    to = Path(str(project.publish.get("to", PublishSettings().to)).replace("\0", ""))
    real, home = Path(os.path.realpath(folder / to)), Path(os.path.realpath(folder))
    if home == real or real in home.parents or real.is_relative_to(home / FOLDER):
        problems.append(
            Problem(
                _line(text, project, "publish", "to"),
                f"to = {str(to)!r}: the published folder would contain {FOLDER} and its private "
                "key files",
                'Name a separate folder, for example to = "published".',
            )
        )
    for section, name, what, advice in what_is_wrong(project, folder):
        problems.append(Problem(_line(text, project, section, key_of(name)), what, advice))
    problems.sort(key=lambda each: each.line)
    for section, name in secrets_in(project):
        line = _line(text, project, section, key_of(name))
        where = f"{NAME}, line {line}" if line else NAME
        note(f"{where}: {key_of(name)} contains a password or a key. {SECRETS_LIE}")
    return project, problems


def _renamed(key: str, known: Mapping[str, Setting]) -> Setting | None:
    """Return the setting that had this key before, and say what it is called now."""
    for now, setting in known.items():
        if setting.formerly and key_of(setting.formerly) == key:
            note(setting.renamed(key, now))
            return setting
    return None


def _line(text: str, project: Project, section: str, key: str) -> int:
    """Return in which line a value stands; 0: in none, or the environment says another."""
    variable = f"{ENVIRONMENT}{section}_{key}".upper().replace("-", "_")
    if variable in project.overridden:
        return 0
    lines, before = Lines(text), _FORMERLY.get((section, key), key)
    return lines.of(section, key if (section, key) in lines.first else before)


def parse_project(text: str, environment: Mapping[str, str]) -> tuple[Project, list[Problem]]:
    r"""Read the text of a project file; what is wrong is left out, and said.

    Examples
    --------
    >>> project, wrong = parse_project("[data]\nratings = 'u.csv'\n[release]\nk = 1", {})
    >>> dict(project.data), [str(each) for each in wrong]
    ({'ratings': 'u.csv'}, ['starshade.toml, line 4: k = 1: must be a whole number, 2 or more'])
    """
    try:
        said = load_toml(text)
    except tomllib.TOMLDecodeError as error:
        return Project({}, {}, {}, {}), [Problem(*no_toml(error, text))]
    lines = Lines(text)
    problems = list(_version(said, lines))
    taken = _override(said, environment, problems)
    method, wrong = _method(said, lines)
    problems += wrong
    kept = {
        section: values_in(said, section, known, lines, problems, method=method, taken=taken)
        for section, known in sections(method).items()
    }
    accepted = accepted_in(said, lines, problems)
    problems += unknown_sections(said, kept, lines)
    problems += _lacking(sections(method)["release"], said.get("release"), lines)
    problems.sort(key=lambda problem: problem.line)
    version = 1 if said.get("version") != VERSION else VERSION
    overridden = tuple(taken.values())
    return Project(**kept, accepted=accepted, overridden=overridden, version=version), problems


def values_in(
    said: Mapping[str, Any],
    section: str,
    known: Mapping[str, Setting],
    lines: Lines,
    problems: list[Problem],
    *,
    method: str = "",
    taken: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the values of a section, by the settings' names; what is wrong is a problem instead.

    `method`: of the release. `taken`: the variable of the environment of each section and key.
    """
    kept = {}
    for key, value in _table(said, section, lines, problems).items():
        if (section, key) in _IGNORED:
            note(f"{key} of [{section}] no longer has an effect: {_IGNORED[section, key]}")
            continue
        setting = known.get(key) or _renamed(key, known)
        line = 0 if (section, key) in taken else lines.of(section, key)
        if setting is None:
            problems.append(_unknown(key, known, line, section, method))
        elif key == "method":
            kept["method"] = method
        elif problem := _checked(setting, taken.get((section, key), key), value):
            problems.append(Problem(line, *problem))
        else:
            kept[setting.name] = _kept(setting, value)
    return kept


def accepted_in(
    said: Mapping[str, Any], lines: Lines, problems: list[Problem]
) -> tuple[Acceptance, ...]:
    """Return the accepted risks; what is wrong is a problem instead."""
    accepted, wrong_entries = read_acceptances(said.get(SECTION, []))
    for number, key, what, advice in wrong_entries:
        line = lines.of(f"{SECTION} {number}", key) if number else lines.of("", SECTION)
        problems.append(Problem(line, what, advice))
    return accepted


def unknown_sections(
    said: Mapping[str, Any], known: Iterable[str], lines: Lines
) -> Iterator[Problem]:
    """Find the sections that no project file has."""
    named = [*known, SECTION]
    for section in said.keys() - {*named, "version"}:
        yield Problem(
            lines.of(section), f"[{section}]: unknown section",
            f"Sections are {', '.join(named)}.{_near(section, dict.fromkeys(named))}",
        )  # fmt: skip


def _text(path: Path) -> str:
    if path.is_dir():
        raise ConfigError(
            f"{path}: is a folder, but the project file needs this name",
            advice="Rename the folder; `starshade init RATINGS` writes the file.",
        )
    return read_side_text(path, PROJECT_FILE)


def keys_of(declaration: type) -> dict[str, Setting]:
    """Return the settings of a declaration by the keys of the file."""
    return {key_of(setting.name): setting for setting in settings_of(declaration)}


def _version(said: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    version = said.get("version", VERSION)
    if version in map(str, _READS):
        what = f"version = {shown(version)}: must be the number {version}"
        yield Problem(lines.of("", "version"), what, f"Without quotes: version = {version}")
    elif version not in _READS or isinstance(version, bool):
        yield Problem(
            lines.of("", "version"),
            f"version = {shown(version)}: this starshade reads versions 1 and {VERSION}",
            "Use the starshade version that wrote it, or write a new file: starshade init.",
        )


def _override(
    said: dict[str, Any], environment: Mapping[str, str], problems: list[Problem]
) -> dict[tuple[str, str], str]:
    """Take what the environment says instead of the file; return the variable of each key."""
    taken = {}
    for variable in sorted(environment):
        if not variable.startswith(ENVIRONMENT):
            continue
        section, _, key = variable.removeprefix(ENVIRONMENT).lower().partition("_")
        if section not in SECTIONS or not key:
            problems.append(
                Problem(0, f"{variable}: unknown setting",
                        f"The form is {ENVIRONMENT}RELEASE_K=5.")
            )  # fmt: skip
            continue
        table = said.setdefault(section, {})
        if isinstance(table, dict):
            try:
                table[key_of(key)] = _value(environment[variable])
            except UnusableToml as error:
                what = str(error).partition(" (at ")[0]
                problems.append(Problem(0, f"{variable}: {what}", _PLAIN))
                continue
            taken[section, key_of(key)] = variable
    return taken


def _value(text: str) -> Any:
    """Read what TOML reads; anything else is a text."""
    try:
        return load_toml(f"value = {text}")["value"]
    except UnusableToml:
        raise
    except tomllib.TOMLDecodeError:
        return text


def _method(said: Mapping[str, Any], lines: Lines) -> tuple[str, list[Problem]]:
    table = said.get("release", {})
    usual = usual_method(table.get("items") if isinstance(table, dict) else None).method
    chosen = table.get("method", usual) if isinstance(table, dict) else usual
    try:
        return find(ENTRIES, str(chosen), "method").name, []
    except ConfigError as error:
        problem = Problem(lines.of("release", "method"), error.message, error.advice)
        return usual, [problem]


def _table(
    said: Mapping[str, Any], section: str, lines: Lines, problems: list[Problem]
) -> Mapping[str, Any]:
    table = said.get(section, {})
    if isinstance(table, dict):
        return table
    advice = f"Begin it with a line [{section}]."
    problems.append(Problem(lines.of("", section), f"{section}: must be a section", advice))
    return {}


def _unknown(
    key: str, known: Mapping[str, Setting], line: int, section: str, method: str
) -> Problem:
    where = f"[release] with the method {method}" if section == "release" else f"[{section}]"
    near = _near(key_of(key), known)
    listed = f"It has {', '.join(sorted(known))}."
    name = key if key.isprintable() else shown(key)
    return Problem(line, f"{name}: {where} has no such setting", near.strip() or listed)


def _near(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _checked(setting: Setting, key: str, value: Any) -> tuple[str, str] | None:
    """Say what is wrong with a value, and what to do."""
    advice = setting.advice
    if setting.kind == "file":  # in Python an object too
        fits = isinstance(value, str)
    elif setting.kind == "files":
        fits = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    else:
        try:
            setting.checked(value)
            fits = True
        except ConfigError as error:
            fits, advice = False, error.advice
    if fits:
        return None
    must = "a text" if setting.kind == "file" else setting.allowed
    return f"{key} = {setting.value_text(value)}: must be {must}", advice


def _kept(setting: Setting, value: Any) -> Any:
    return value if setting.kind in ("file", "files") else setting.checked(value)


def _lacking(known: Mapping[str, Setting], said: Any, lines: Lines) -> Iterator[Problem]:
    for key, setting in known.items():
        if setting.default is MISSING and key not in (said if isinstance(said, dict) else ()):
            yield Problem(
                lines.of("release"), f"[release] lacks {key}: {setting.help}",
                f"Add {key} = {setting.usual or 'VALUE'}, for example.",
            )  # fmt: skip
