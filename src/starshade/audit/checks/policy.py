"""Policies: the adversary's knowledge, the checks and their thresholds."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from starshade.attack.settings import MANY_RATINGS
from starshade.errors import ConfigError
from starshade.files.side import POLICY_FILE, read_side_text
from starshade.files.toml import Lines, load_toml, no_toml
from starshade.naming import called
from starshade.setting import is_plain, shown

#: the policies of starshade with their purposes, the strictest first
POLICIES: Mapping[str, str] = {
    "public": "Anyone may download the release.",
    "partner": "A partner receives the release under a contract that forbids re-identification.",
    "controlled": "The release stays in a controlled environment, such as a secure data room.",
}
DEFAULT = "partner"
#: values of k and of the item support that a search for a policy tries, in this order
KS = (5, 7, 11, 15, 20, 30, 50)
SUPPORTS = (None, "2%", "10%")


@dataclass(frozen=True)
class Checked:
    """A check that a policy can have a threshold for.

    `formerly`: the name of the limit on it in earlier versions. `usual`: whether a policy without
    a threshold for it accepts the risk without limit; others are printed only.
    `excess`: whether the baseline is taken off already: (rate − baseline) / (1 − baseline).
    """

    name: str
    title: str
    meaning: str
    formerly: str = ""
    usual: bool = True
    excess: bool = False


CHECKED: Mapping[str, Checked] = {
    each.name: each
    for each in (
        Checked("class-size", "Class size (k)", "the smallest equivalence class"),
        Checked(
            "re-identification",
            "Re-identification",
            "targets whose record the strongest attack finds",
            "record",
        ),
        Checked(
            "singling-out",
            "Singling out, excess",
            "classes of which a predicate isolates one person, beyond the baseline",
            "predicate",
            excess=True,
        ),
        Checked(
            "linkability",
            "Linkability, excess",
            "people whose two partial profiles lead to one class, beyond the baseline",
            "halves",
            excess=True,
        ),
        Checked(
            "membership",
            "Membership, TPR at 1 % FPR",
            "members identified at 1 % false positives by an adversary who knows some ratings",
        ),
        Checked(
            "membership-all",
            "Membership, all ratings known",
            "the same by an adversary who knows all ratings of a person",
            usual=False,
        ),
        Checked(
            "inference",
            "Inference gain",
            "correct answers about a person, beyond releases without them, in percentage points",
        ),
        Checked(
            "attribute",
            "Attribute disclosure (certain)",
            "people with a rating that the release gives with certainty",
            "disclosed",
        ),
        Checked(
            "composition",
            "Composition",
            "people in a joint class below the class size, with earlier releases",
            "joint-class",
        ),
        Checked(
            "class-linkage",
            "Class linkage",
            "targets whose class the strongest attack finds",
            "class",
            usual=False,
        ),
    )
}
_BEFORE = {each.formerly: each.name for each in CHECKED.values() if each.formerly}


@dataclass(frozen=True)
class Threshold:
    """The threshold of a check.

    `share`: exact, in [0, 1]. `source`: where it comes from. `overrides`: whether it replaces the
    threshold of the policy.
    """

    share: Fraction
    source: str = ""
    overrides: bool = False

    @property
    def effective(self) -> bool:
        """Whether a figure can exceed the threshold."""
        return self.share < 1

    @property
    def least(self) -> int | None:
        """The minimum class size, where 1 in its size is allowed; None: none is."""
        return -(-self.share.denominator // self.share.numerator) if self.share else None

    def text(self, name: str) -> str:
        """Format it: the class size as a number of people, else percent.

        >>> Threshold(Fraction(1, 11)).text("class-size"), Threshold(Fraction(1, 5)).text("record")
        ('11', '20%')
        """
        if name == "class-size" and self.share.numerator == 1:
            return str(self.share.denominator)
        return f"{float(100 * self.share):.3g}%"


@dataclass(frozen=True)
class Policy:
    """The adversary's knowledge, and the thresholds of the checks.

    Attributes
    ----------
    name : str
    version : int
    known : int
        Ratings of a person that the adversary knows.
    shadows, shadows_large : int
        Required shadow releases; the second above 20 million ratings.
    thresholds : mapping of str to Threshold
        By check.
    """

    name: str
    version: int
    known: int
    shadows: int
    shadows_large: int
    thresholds: Mapping[str, Threshold]

    @property
    def title(self) -> str:
        """Name and version, with the overridden thresholds."""
        own = ", ".join(f"{name}={self.thresholds[name].text(name)}" for name in self.overridden)
        return f"{self.name} v{self.version}" + f" with {own}" * bool(own)

    @property
    def overridden(self) -> tuple[str, ...]:
        """The checks whose thresholds are not those of the policy."""
        return tuple(name for name, each in self.thresholds.items() if each.overrides)

    @property
    def least_class(self) -> int | None:
        """The minimum class size; None: no threshold on it."""
        limit = self.thresholds.get("class-size")
        return limit.least if limit is not None and limit.effective else None

    def shadows_at(self, ratings: int) -> int:
        """Return the required shadow releases for this number of ratings."""
        return self.shadows_large if ratings > MANY_RATINGS else self.shadows

    def overriding(self, thresholds: Mapping[str, Fraction]) -> Policy:
        """Return the policy with other thresholds."""
        own = {
            name: Threshold(share, "set by the owner", overrides=True)
            for name, share in thresholds.items()
        }
        order = [name for name in CHECKED if name in own or name in self.thresholds]
        merged = {**self.thresholds, **own}
        return replace(self, thresholds={name: merged[name] for name in order})

    def to_dict(self) -> dict[str, Any]:
        """Return name, version, adversary and thresholds as plain values."""
        return {
            "name": self.name,
            "version": self.version,
            "known": self.known,
            "shadows": self.shadows,
            "shadows_above_20_million": self.shadows_large,
            "checks": {
                name: {
                    "threshold": float(each.share),
                    "text": each.text(name),
                    "source": each.source,
                    "overrides": each.overrides,
                }
                for name, each in self.thresholds.items()
            },
        }


def read_policy(policy: str | Path) -> Policy:
    """Read a policy by its name, or from a TOML file.

    Parameters
    ----------
    policy : str or path
        "public", "partner", "controlled", or a file of the same schema (docs/guides/policies.md).

    Raises
    ------
    ConfigError
        There is no such policy, or the file is invalid: the line, the error, what is allowed.

    Examples
    --------
    >>> policy = read_policy("partner")
    >>> policy.title, policy.thresholds["class-size"].text("class-size")
    ('partner v1', '5')
    """
    name = os.fspath(policy)
    if name in POLICIES:
        place = str(Path(__file__).parent / "policies" / f"{name}.toml")
    elif os.sep in name or name.endswith(".toml") or os.path.lexists(name):
        place = name
    else:
        near = get_close_matches(name, POLICIES, 1)
        raise ConfigError(
            f"{called('policy')}: there is no policy {shown(name)}",
            advice=(f"Did you mean {near[0]}? " if near else "")
            + f"Policies are {', '.join(POLICIES)}, or a TOML file: starshade list policies.",
            setting="policy",
        )
    text = read_side_text(Path(place), POLICY_FILE)
    found = parse_policy(text, name)
    if name not in POLICIES and found.name.casefold() in POLICIES:
        raise ConfigError(
            f"{called('policy')} {name}, line {Lines(text).of('', 'name')}: name = "
            f"{shown(found.name)}: starshade has a policy of this name",
            advice="Give it another name.",
            setting="policy",
        )
    return found


def parse_policy(text: str, name: str = "policy") -> Policy:
    """Read the text of a policy; `name`: what messages call it.

    Raises
    ------
    ConfigError
        As `read_policy`.
    """
    try:
        content = load_toml(text)
    except tomllib.TOMLDecodeError as error:
        line, what, advice = no_toml(error, text)
        raise ConfigError(
            f"{called('policy')} {name}, line {line}: {what}", advice=advice, setting="policy"
        ) from None
    lines = Lines(text)
    problem = next(_problems(content, lines), None)
    if problem is not None:
        line, what, advice = problem
        where = f"{name}, line {line}" if line else name
        raise ConfigError(f"{called('policy')} {where}: {what}", advice=advice, setting="policy")
    adversary, checks = content["adversary"], content["checks"]
    return Policy(
        name=content["name"],
        version=content["version"],
        known=adversary["known"],
        shadows=adversary["shadows"],
        shadows_large=adversary.get(_LARGE, adversary["shadows"]),
        thresholds={
            each: Threshold(share_of(each, checks[each]["threshold"]), checks[each]["source"])
            for each in CHECKED
            if each in checks
        },
    )


_LARGE = "shadows-above-20-million"
_NAME = "a name of letters from a to z, digits, dots and hyphens"
_SCHEMA: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    "": {
        "name": (_NAME, True),
        "version": ("a whole number, 1 or more", True),
        "adversary": ("a section", True),
        "checks": ("a section", True),
    },
    "adversary": {
        "known": ("a whole number, 1 or more", True),
        "shadows": ("a whole number from 1 to 1,000", True),
        _LARGE: ("a whole number from 1 to 1,000", False),
    },
}
Problem = tuple[int, str, str]


def _problems(content: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    for section, keys in _SCHEMA.items():
        table = content.get(section, {}) if section else content
        where = f"[{section}]" if section else "a policy"
        for key in table:
            if key not in keys:
                yield (
                    lines.of(section, key) or lines.of(key),
                    f"{shown(key)}: {where} has no such setting",
                    f"It has {', '.join(keys)}.",
                )
        for key, (allowed, needed) in keys.items():
            line = lines.of(section, key)
            if key not in table:
                if needed:
                    yield line, f"{where} lacks {key}, {allowed}", _LIKE
            elif not _fits(table[key], allowed):
                yield line, f"{key} = {shown(table[key])}: must be {allowed}", _LIKE
    yield from _wrong_checks(content["checks"], lines)


_LIKE = "`starshade list policies --json` shows complete policies."


def _fits(value: Any, allowed: str) -> bool:
    if allowed == "a text":
        return isinstance(value, str) and bool(value.strip()) and value.isprintable()
    if allowed == "a section":
        return isinstance(value, dict)
    if allowed == _NAME:
        return isinstance(value, str) and bool(re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]*", value))
    most = 1000 if "1,000" in allowed else 2**31
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _wrong_checks(checks: Mapping[str, Any], lines: Lines) -> Iterator[Problem]:
    if not checks:
        yield lines.of("checks"), "[checks] has no check: every release would pass", _listed("")
    for name, value in checks.items():
        line = lines.of("checks", name)
        if name not in CHECKED:
            yield line, f"there is no check {shown(name)}", _listed(name)
        elif not isinstance(value, dict) or {"threshold", "source"} != value.keys():
            yield (
                line,
                f"{name}: must state threshold and source",
                f'{name} = {{ threshold = 0.2, source = "where the number comes from" }}',
            )
        elif not _fits(value["source"], "a text"):
            yield line, f"{name}: source must be a text", _LIKE
        else:
            try:
                share_of(name, value["threshold"])
            except ConfigError as error:
                yield line, error.message, error.advice


def _listed(name: str) -> str:
    near = get_close_matches(str(name), CHECKED, 1)
    return (f"Did you mean {near[0]}? " if near else "") + f"Checks are {', '.join(CHECKED)}."


def thresholds_in_words(*, earlier: bool = True) -> str:
    """Name each check with its meaning; `earlier`: also composition.

    >>> thresholds_in_words().split("; ")[0]
    'class-size (the smallest equivalence class)'
    """
    return "; ".join(
        f"{each.name} ({each.meaning})"
        for each in CHECKED.values()
        if earlier or each.name != "composition"
    )


def threshold_texts(thresholds: Sequence[str] | Mapping[str, float]) -> Sequence[str]:
    """Write thresholds as ``NAME=VALUE``; texts stay as they are.

    >>> threshold_texts({"membership": 0.1})
    ('membership=0.1',)
    """
    if not isinstance(thresholds, Mapping):
        return thresholds
    return tuple(f"{name}={_plainly(value)}" for name, value in thresholds.items())


def thresholds_of(
    thresholds: Sequence[str] | Mapping[str, float], *, earlier: bool = True
) -> dict[str, Fraction]:
    """Read thresholds, by name or written as ``NAME=VALUE``; names of older limits are taken.

    `earlier`: whether earlier releases are named.

    Raises
    ------
    ConfigError
        There is no such check, it is set twice, its value is invalid, or it is composition without
        earlier releases.

    >>> thresholds_of(["class-size=11", "membership=5%"])
    {'class-size': Fraction(1, 11), 'membership': Fraction(1, 20)}
    """
    out: dict[str, Fraction] = {}
    for text in threshold_texts(thresholds):
        name, equals, value = text.partition("=")
        name = check_named(name)
        if name not in CHECKED:
            raise ConfigError(
                f"{called('threshold')}: there is no check {shown(name)}",
                advice=f"{_listed(name)} E.g. class-size=11 or membership=5%.",
                setting="threshold",
            )
        if name in out:
            raise ConfigError(
                f"{called('threshold')}: {name} is set twice",
                advice="Leave one of them out.",
                setting="threshold",
            )
        try:
            out[name] = share_of(name, value if equals else "")
        except ConfigError as error:
            raise ConfigError(
                f"{called('threshold')} {error.message}", advice=error.advice, setting="threshold"
            ) from None
    if "composition" in out and not earlier:
        raise ConfigError(
            f"{called('threshold')}: composition needs an earlier release, and none is named",
            advice=f"Name the earlier releases ({called('earlier')}), or leave it out.",
            setting="threshold",
        )
    return out


def check_named(name: str) -> str:
    """Return the name of a check; also for the older name of a limit.

    >>> check_named("record"), check_named("membership")
    ('re-identification', 'membership')
    """
    return _BEFORE.get(name, name)


def larger_k(k: int) -> int | None:
    """Return the next k to try, at least twice as large; None: a search tries no larger k.

    Examples
    --------
    >>> larger_k(5), larger_k(50)
    (11, None)
    """
    larger = next((each for each in KS if each >= 2 * k), KS[-1])
    return larger if larger > k else None


def share_of(name: str, value: Any) -> Fraction:
    """Parse a threshold exactly: a share, percent, a fraction, or a class size.

    Raises
    ------
    ConfigError
        The value is none of these.

    >>> share_of("membership", 0.05), share_of("membership", "1/20"), share_of("class-size", 11)
    (Fraction(1, 20), Fraction(1, 20), Fraction(1, 11))
    """
    share = None if isinstance(value, bool) else _exact(_plainly(value))
    if share is not None and name == "class-size":
        if share > 1 and share.denominator == 1:
            share = 1 / share
        share = share or None  # no class is so large
    if share is None or not 0 <= share <= 1:
        size = ", or for class-size a number of people such as 11" * (name == "class-size")
        raise ConfigError(
            f"{name} = {shown(value)}: must be a share from 0 to 1, written as 0.2, 20% or 1/5"
            f"{size}",
            advice="E.g. class-size=11 or membership=5%.",
        )
    return share


def _plainly(value: Any) -> str:
    """Write a number exactly, without an exponent; other values as text."""
    return format(Decimal(repr(float(value))), "f") if isinstance(value, float) else str(value)


def _exact(text: str) -> Fraction | None:
    """Return the exact number that a text states; None where it is none."""
    number, percent = text.removesuffix("%"), text.endswith("%")
    plain = is_plain(number) and number == number.strip() and len(number) <= 2000
    if not plain or ("/" in number and percent) or "e" in number.lower():
        return None
    try:
        return Fraction(number) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        return None
