"""Keywords of a method and of a layout, told apart."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from starshade.release.build import Provenance

_OWN = {field.name for field in fields(Provenance)}


def made_and_rest(arguments: dict[str, Any]) -> tuple[Provenance, dict[str, Any]]:
    """Return the `Provenance` that these keywords say, and those that are not its own.

    The owner's settings are those of the manifest and one beside, if nothing else is said.
    """
    arguments = {"private_config": arguments["config"] | {"seed": 4_077_112_233}} | arguments
    own = {key: value for key, value in arguments.items() if key in _OWN}
    return Provenance(**own), {key: value for key, value in arguments.items() if key not in _OWN}
