"""What a release's manifest, and its receipt, record of the settings that it was made with."""

from __future__ import annotations

import os
from typing import Any

from starshade.setting import Setting, settings_of

__all__ = ["config_of", "private_config_of"]


def config_of(settings: Any, **resolved: Any) -> dict[str, Any]:
    """Return what the manifest says: no seed, no path, no item id but of those that are sensitive.

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
    """Return what the owner's receipt needs beside the seed to make the release again."""
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
