"""What only the whole of a project file shows: where releases would go, and what refuses a value.

What a run would refuse for its file's sake is refused at once, not after a night's work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from starshade.errors import StarshadeError
from starshade.naming import speak
from starshade.project.settings import PublishSettings
from starshade.ratings.places.place import resolve_folder
from starshade.ratings.readers.addresses.address import has_secret, path_of, scheme_of
from starshade.ratings.settings import OF_LONG, OF_WIDE

if TYPE_CHECKING:
    from starshade.project.file import Project


class Wrong(NamedTuple):
    """What is wrong with a setting, by its name in Python, and what to do."""

    section: str
    setting: str
    text: str
    advice: str


_ELSEWHERE = 'Name a separate folder, for example to = "published".'
_HOME = re.compile(r"~[^/]*/")


def what_is_wrong(project: Project, folder: Path) -> Iterator[Wrong]:
    """Find what is wrong in a project whose file lies in a folder, each value alone being right."""
    yield from _unread_homes(project)
    yield from _no_place(project, folder)
    yield from _given_away(project, folder)
    yield from _receipts(project)
    yield from _refused_values(project)
    yield from _long_and_wide(project)


def secrets_in(project: Project) -> Iterator[tuple[str, str]]:
    """Find the addresses that hold a password or a key, by section and setting."""
    for section in ("data", "release", "publish"):
        for name, value in getattr(project, section).items():
            if any(map(has_secret, texts_in(value))):
                yield section, name


def texts_in(value: Any) -> Iterator[str]:
    """Find every text in settings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def _to(project: Project) -> str:
    return str(project.publish.get("to", PublishSettings().to))


def _unread_homes(project: Project) -> Iterator[Wrong]:
    """Refuse a ~: it is the shell's, and no shell reads the file."""
    for section in ("data", "release", "publish"):
        for name, value in getattr(project, section).items():
            alone = name == "to" and value.startswith("~")
            for text in texts_in(value):
                if alone or _HOME.match(text):
                    what = f"{text!r}: ~ is not expanded here"
                    yield Wrong(section, name, what, "Write the full path.")


def _no_place(project: Project, folder: Path) -> Iterator[Wrong]:
    """Refuse a published place that is no folder and cannot become one."""
    to = _to(project)
    place, what = folder / to, f"to = {to!r}"
    if "\0" in to or not to:
        yield Wrong("publish", "to", f"{what}: is not a valid folder name", _ELSEWHERE)
        return
    if os.path.islink(place):
        advice = "Replace it by a folder, or name the folder that it leads to."
        yield Wrong("publish", "to", f"{what}: is a link, whose target may change", advice)
        return
    try:
        above = resolve_folder(place)
    except StarshadeError as error:
        yield Wrong("publish", "to", f"{what}: {error.message}", _ELSEWHERE)
        return
    while not above.exists():
        above = above.parent
    if not os.access(above, os.W_OK | os.X_OK):
        yield Wrong("publish", "to", f"{what}: nothing can be written in {above}", _ELSEWHERE)


def _given_away(project: Project, folder: Path) -> Iterator[Wrong]:
    """Refuse a published place that holds a file which this one names: it would go out as well."""
    to, home = _real(folder, _to(project)), Path(os.path.realpath(folder))
    if to is None or to == home or to in home.parents:  # of these the file's reader speaks
        return
    source = str(project.data.get("ratings", ""))
    named = (
        (section, name, text)
        for section in ("data", "release", "publish")
        for name, value in getattr(project, section).items()
        if name not in ("to", "earlier")
        for text in texts_in(value)
    )
    for section, name, text in named:
        place = _real(folder, text)
        if place is None:
            continue
        inside = to in place.parents or (to == place and text == source)
        if inside and os.path.exists(place):
            what = f"to = {_to(project)!r}: the published folder would contain "
            what += f"the file that [{section}] {name.replace('_', '-')} names"
            yield Wrong("publish", "to", what, _ELSEWHERE)
            return


def _real(folder: Path, text: str) -> Path | None:
    """Return where a text leads, of a pattern the folder above it; None: to no place here."""
    path = str(path_of(text))
    if scheme_of(path) == "sqlite":
        path = path.partition("://")[2].removeprefix("/")
    elif scheme_of(path):
        return None
    plain = re.split(r"[*?\[]", path)[0]
    if plain != path and not os.path.exists(folder / path):
        path = os.path.dirname(plain)
    try:
        return Path(os.path.realpath(folder / path))
    except (OSError, ValueError):
        return None


def _receipts(project: Project) -> Iterator[Wrong]:
    earlier = project.publish.get("earlier", ())
    receipts = project.publish.get("earlier_private", ())
    if receipts and len(receipts) != len(earlier):
        yield Wrong(
            "publish",
            "earlier_private",
            f"{len(earlier)} named by earlier, {len(receipts)} by earlier-private: each release "
            "needs its private key file",
            "Name one private key file per release, in the same order, or none.",
        )


def _refused_values(project: Project) -> Iterator[Wrong]:
    """Let those judge a value who will take it."""
    with speak(lambda setting, value: setting.replace("_", "-")):
        for section, name, takes in _TAKES:
            if name in getattr(project, section):
                try:
                    takes(getattr(project, section)[name])
                except StarshadeError as error:
                    yield Wrong(section, name, error.message, error.advice)


def _long_and_wide(project: Project) -> Iterator[Wrong]:
    """Refuse columns of a long table in a wide one, and the other way round."""
    data = project.data
    wide = data.get("wide") or data.get("format") == "wide"
    for name in OF_LONG if wide else OF_WIDE:
        if data.get(name):
            what, instead = (
                ("long", "this table is wide") if wide else ("wide", "this table is long")
            )
            yield Wrong(
                "data",
                name,
                f"{name.replace('_', '-')}: names a column of a {what} table, but {instead}",
                "Remove the line; a wide table has id-col, item-cols and attribute-cols."
                if wide
                else "Add wide = true, or remove the line.",
            )


def _items(value: Any) -> None:
    from starshade.ratings.select import parse_items

    parse_items(str(value))


def _threshold(value: Any) -> None:
    from starshade.audit.checks.policy import thresholds_of

    thresholds_of(value)


def _policy(value: Any) -> None:
    from starshade.audit.checks.policy import read_policy

    read_policy(value)


def _recipes(value: Any) -> None:
    from starshade.anonymize.personal.settings import hierarchies_of

    hierarchies_of(value)


_TAKES: tuple[tuple[str, str, Callable[[Any], None]], ...] = (
    ("release", "items", _items),
    ("release", "attribute_hierarchies", _recipes),
    ("audit", "threshold", _threshold),
    ("audit", "policy", _policy),
)
