"""``release.json``: the facts of a release.

Nothing private has a field here: no seed, no path, no digest of the input, no original id, no
date, no figure about a single user, and no exact figure that the files do not show: those are
bands (`starshade.release.band`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from starshade._version import __version__
from starshade.errors import ConfigError, ReleaseError
from starshade.files.checksum import parse, with_checksum, without_checksum
from starshade.naming import named
from starshade.ratings.scale import Scale
from starshade.release import ProfileKind
from starshade.release.band import Band
from starshade.release.folder.earlier import release_facts
from starshade.setting import Setting, settings_of

FORMAT_VERSION = 4
_OLDEST = 3  # format that is read
Parameter = float | int | str | list[str]
_GENERALIZED = {"quasi_identifiers", "sensitive_attributes", "records_alone_with_sensitive"}
_PROFILE = {"profile", "single_rater_cells"}
_DEEPEST = 16  # lists and objects within one another in settings


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScaleModel(_Closed):
    """The scale of the original ratings."""

    minimum: float
    maximum: float
    step: float | None = None

    @classmethod
    def of(cls, scale: Scale) -> ScaleModel:
        """Copy a `Scale`."""
        return cls(minimum=scale.minimum, maximum=scale.maximum, step=scale.step)

    def to_scale(self) -> Scale:
        """Return the `Scale`."""
        return Scale(self.minimum, self.maximum, self.step)


class Claim(_Closed):
    """A privacy model that the release satisfies, and what the verifier counted."""

    model: str
    #: numbers and names; a list is one of item keys ("sensitive")
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    #: what was counted on the written files, e.g. {"smallest_class": 5}; empty before saving
    verified: dict[str, float | int] = Field(default_factory=dict)

    @field_validator("parameters")
    @classmethod
    def _whole_k(cls, parameters: dict[str, Parameter]) -> dict[str, Parameter]:
        k = parameters.get("k", 1)
        if type(k) is not int or k < 1:
            raise ValueError("k must be a whole number, 1 or more")
        return parameters

    @field_validator("parameters", "verified")
    @classmethod
    def _of_data(cls, figures: dict[str, Any]) -> dict[str, Any]:
        if any(isinstance(v, (int, float)) and not abs(v) < 2**63 for v in figures.values()):
            raise ValueError("a number is out of range")
        return figures


def sensitive_of(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Return the keys of the items that some claim names as sensitive, each once."""
    named = (claim.parameters.get("sensitive") for claim in claims)
    return tuple(dict.fromkeys(k for keys in named if isinstance(keys, list) for k in keys))


class Manifest(_Closed):
    """Contents of ``release.json``, the checksum over them aside."""

    format: int = FORMAT_VERSION
    starshade: str = __version__
    method: str
    #: the method's settings; no seed and no path
    config: dict[str, Any] = Field(default_factory=dict)
    layout: Literal["generalized", "record", "profile"] = "generalized"
    audience: Literal["publish", "query"] = "publish"
    lineage: str | None = None
    scale: ScaleModel
    #: step of the released levels (layout "profile")
    profile_step: float | None = None
    #: what its cells are; only "simple" has nulls
    profile: ProfileKind | None = None
    records: int = Field(ge=0)
    items: int = Field(ge=0)
    classes: int = Field(ge=0)
    #: what these and the shares below are: `starshade.release.figures`
    users_without_rating: Band = "none"
    users_deleted: Band = "none"
    rare_items_dropped: Band = "none"
    rare_items: Literal["drop", "keep"] = "drop"
    attributes: Literal["none", "generalized", "exact"] = "none"
    attribute_columns: tuple[str, ...] = ()
    #: attributes "generalized": the columns that are equal within a class, and those released as
    #: they are; together they are all of `attribute_columns`, in this order
    quasi_identifiers: tuple[str, ...] = ()
    sensitive_attributes: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    #: None where a method invents none by design
    imputed_cells: Band | None = None
    #: layout "profile" alone; None where no cell rests on ratings
    single_rater_cells: Band | None = None
    #: of one that continues an earlier release; None on any other
    dummy_records: Band | None = None
    #: these three are None on layout "profile", whose cells are means or predictions
    users_rating_disclosed: float | None = Field(default=0.0, ge=0, le=1)
    #: None also where an earlier version made the release
    users_exact_values_listed: float | None = Field(default=None, ge=0, le=1)
    users_rating_exists: float | None = Field(default=0.0, ge=0, le=1)
    #: None without any
    records_alone_with_sensitive: float | None = Field(default=None, ge=0, le=1)
    #: file name -> sha256; filled by the store
    files: dict[str, str] = Field(default_factory=dict)

    @field_validator("config")
    @classmethod
    def _settings(cls, config: dict[str, Any]) -> dict[str, Any]:
        if _depth(config) > _DEEPEST:
            raise ValueError("the settings are nested too deeply")
        named = config.get("attribute_hierarchies", [])
        if not isinstance(named, list) or any(type(name) is not str for name in named):
            raise ValueError("attribute_hierarchies must be a list of attribute names")
        least = config.get("min_raters", 1)
        if type(least) is not int or not 1 <= least < 2**31:
            raise ValueError("min_raters must be a number of people")
        return config

    @model_validator(mode="after")
    def _of_its_layout(self) -> Manifest:
        of_profiles = self.profile, self.profile_step, self.single_rater_cells
        if self.layout != "profile" and any(fact is not None for fact in of_profiles):
            raise ValueError(f"layout {self.layout} has no facts of profiles")
        if (self.attributes == "exact") != (self.audience == "query"):
            raise ValueError(f"attributes {self.attributes} do not fit audience {self.audience}")
        return self

    @property
    def claimed_k(self) -> int | None:
        """The largest k that any claim names; None without one."""
        named = [k for claim in self.claims if type(k := claim.parameters.get("k")) is int]
        return max(named, default=None)

    @property
    def sensitive_items(self) -> tuple[str, ...]:
        """Keys of the items that some claim names as sensitive, each once."""
        return sensitive_of(self.claims)

    @property
    def alike_by(self) -> str:
        """Text: in what records of a class are equal; empty if in everything."""
        if not self.sensitive_attributes and self.attributes != "exact":
            return ""
        return " by ratings and quasi-identifiers" if self.quasi_identifiers else " by ratings"

    @property
    def joined_attributes(self) -> tuple[str, ...]:
        """Quasi-identifiers whose lists hold all that a hierarchy joins, not the members' alone."""
        named = self.config.get("attribute_hierarchies")
        joined = named if isinstance(named, list) else []
        return tuple(name for name in self.quasi_identifiers if name in joined)

    def to_json(self) -> str:
        """Return the text of ``release.json``; equal manifests give equal bytes."""
        beside = set() if self.attributes == "generalized" else _GENERALIZED
        beside = beside if self.layout == "profile" else beside | _PROFILE
        beside = beside if self.dummy_records else beside | {"dummy_records"}
        facts = with_checksum(self.model_dump(mode="json", exclude=beside))
        return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, raw: bytes, where: str) -> Manifest:
        """Read the text of the ``release.json`` of a folder `where`."""
        try:
            facts = parse(raw)
            json.dumps(facts, ensure_ascii=False).encode()  # half a character is no text
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise ReleaseError("release.json: not an unambiguous JSON object")
        # the format first: that of another version may have other fields
        version = facts.get("format")
        if type(version) is not int or version < 1:
            raise ReleaseError("release.json: it has no format version")
        refuse_format(f"{where}: release", version)
        try:
            manifest = cls.model_validate(release_facts(without_checksum(facts)))
            manifest.scale.to_scale()
        except ConfigError as error:
            raise ReleaseError(f"release.json: {error.message}") from None
        except ValidationError as error:
            first = error.errors()[0]
            names = ".".join(str(part) for part in first["loc"])
            reason = first["msg"].removeprefix("Value error, ")
            raise ReleaseError(": ".join(filter(None, ("release.json", names, reason)))) from None
        except ValueError as error:
            raise OtherContentError(f"release.json: {error}") from None
        return manifest


class OtherContentError(ReleaseError):
    """A readable ``release.json`` that its checksum does not fit."""


def _depth(value: Any) -> int:
    """Return how deeply lists and objects are nested, up to just beyond the allowed depth."""
    depth, inner = 0, [value]
    while inner and depth <= _DEEPEST:
        held = (each.values() if isinstance(each, dict) else each for each in inner)
        inner = [part for each in held for part in each if isinstance(part, dict | list)]
        depth += 1
    return depth


#: what an unreadable format lacks (an impossible one is taken for the oldest)
_LACKS = {
    1: "It carries no checksum.",
    2: "It states exact figures of private data.",
}


def refuse_format(what: str, version: int) -> None:
    """Refuse a release or a key file whose format this version does not read."""
    if _OLDEST <= version <= FORMAT_VERSION:
        return
    raise ReleaseError(
        f"{what} of format {version}; this version reads {_OLDEST} and {FORMAT_VERSION}",
        advice="Use the version of starshade that wrote it, or a later one."
        if version > FORMAT_VERSION
        else f"{_LACKS.get(version, _LACKS[1])} Make release and key file from the ratings again: "
        f"starshade anonymize with the same options, {named('seed')} (the key file states it) and "
        f"{named('private')}.",
    )


def config_of(settings: Any, **resolved: Any) -> dict[str, Any]:
    """Return the settings for the manifest: no seed, no path, only ids of sensitive items.

    `settings`: what its declaration names in ``recorded_first`` stands first, all else as declared.
    `resolved`: what the method found while it worked, also in the place of a setting; None: nothing
    is recorded.
    """
    config: dict[str, Any] = {}
    for setting in settings_of(settings.__class__):
        if setting.private or not setting.applies(settings):
            continue
        value = _recorded(setting, getattr(settings, setting.name))
        off = not value and value == _plain(setting.default)
        config[setting.name] = None if off else value
    config |= {name: _plain(value) for name, value in resolved.items()}
    first = (name for name in getattr(settings, "recorded_first", ()) if name in config)
    ordered = {name: config[name] for name in (*first, *config)}
    return {name: value for name, value in ordered.items() if value is not None}


def private_config_of(settings: Any, **resolved: Any) -> dict[str, Any]:
    """Return the settings for the key file: with the seed they make the release again."""
    config = {"method": settings.name, **config_of(settings, **resolved)}
    for setting in settings_of(settings.__class__):
        value = getattr(settings, setting.name)
        if setting.name == "items":
            config["item_keys"] = [] if value is None else list(value.keys)
        elif setting.kind == "files":
            config[setting.name] = {name: file.to_text() for name, file in dict(value).items()}
        elif setting.private:
            config[setting.name] = _plain(value)
    return config


def _recorded(setting: Setting, value: Any) -> Any:
    """Return a setting as JSON has it; of files only their names."""
    if setting.kind == "files":
        return list(dict(value))
    if setting.kind != "file":
        return _plain(value)
    if value is None:
        return setting.unset or None
    return "file" if isinstance(value, str | os.PathLike) else str(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
