"""``starshade list``, ``doctor`` and ``completion``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from starshade import budget
from starshade._version import __version__
from starshade.cli.options.declared import option_of
from starshade.cli.options.help import Explained
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, page
from starshade.registry import Entry
from starshade.setting import Setting

if TYPE_CHECKING:
    from starshade.audit.checks.policy import Policy

_ROOMS = {
    "attacks": "starshade.attack.registry",
    "models": "starshade.privacy.registry",
    "methods": "starshade.anonymize.registry",
    "measures": "starshade.utility.registry",
}
_WITHOUT_OPTIONS = {"measures"}


@click.command(name="list", cls=Explained, example="starshade list methods")
@click.argument("kind", type=click.Choice([*_ROOMS, "policies", "settings"]), required=False)
@running()
def listing(kind: str | None, run: Run) -> None:
    """List attacks, models, methods, measures, policies or settings.

    Without a kind: attacks, models, methods and measures. Policies are listed with their
    thresholds. With --json the settings of each are a JSON Schema.
    """
    if kind in _OTHERS:
        _OTHERS[kind](run)
        return
    kinds = {each: import_module(_ROOMS[each]).ENTRIES for each in ([kind] if kind else _ROOMS)}
    run.emit(
        {each: [entry.to_dict() for entry in entries] for each, entries in kinds.items()},
        lambda: page(*(_summary(each, entries) for each, entries in kinds.items())),
    )


def _list_settings(run: Run) -> None:
    from starshade.setting import json_schema, settings_of

    entries = {room: import_module(module).ENTRIES for room, module in _ROOMS.items()}
    schemas = {
        room: {entry.name: json_schema(entry.declaration()) for entry in of}
        for room, of in entries.items()
    }
    tables = [
        columns(
            ("setting", "default", "meaning"),
            [_row(setting, options=room not in _WITHOUT_OPTIONS) for setting in settings],
            title=entry.name,
            align="left",
            names=True,
        )
        for room, of in entries.items()
        for entry in of
        if (settings := settings_of(entry.declaration()))
    ]
    run.emit({"settings": schemas}, lambda: page(*tables))


def _list_policies(run: Run) -> None:
    """Show the thresholds of each policy, and where each comes from."""
    from starshade.audit.checks.policy import CHECKED, POLICIES, read_policy

    policies = {name: read_policy(name) for name in POLICIES}
    some = next(iter(policies.values()))
    known, shadows, large = some.known, some.shadows, some.shadows_large
    rows = [
        (
            name,
            checked.meaning,
            *(_threshold(policy, name) for policy in policies.values()),
        )
        for name, checked in CHECKED.items()
    ]
    sources = [
        (name, policy.name, policy.thresholds[name].source)
        for name in CHECKED
        for policy in policies.values()
        if name in policy.thresholds
    ]
    run.emit(
        {"policies": {name: policy.to_dict() for name, policy in policies.items()}},
        lambda: page(
            columns(
                ("check", "measures", *policies),
                rows,
                title=f"policies: {known} known ratings per target; {shadows} shadow releases, "
                f"{large} above 20 million ratings",
                align="left",
                names=True,
            ),
            figures(list(POLICIES.items()), title="Audience of each policy"),
            columns(("check", "policy", "source"), sources, title="sources", align="left"),
        ),
    )


def _threshold(policy: Policy, name: str) -> str:
    limit = policy.thresholds.get(name)
    return "no threshold" if limit is None else limit.text(name)


_OTHERS = {"settings": _list_settings, "policies": _list_policies}


def _row(setting: Setting, *, options: bool) -> tuple[str, ...]:
    """Write a setting as Python spells it, and below as the command line does."""
    names = f"{setting.name}\n{option_of(setting)}" if options else setting.name
    default = "required" if setting.default is MISSING else setting.default_text
    return names, default, f"{setting.help} Allowed: {setting.allowed}."


def _summary(kind: str, entries: Sequence[Entry]) -> Any:
    return columns(
        ("name", "description", "source"),
        [
            (
                entry.name,
                entry.summary + (_finds(entry) if kind == "measures" else ""),
                entry.source,
            )
            for entry in entries
        ],
        title=kind,
        align="left",
        names=True,
    )


def _finds(entry: Entry) -> str:
    """Name the figures of a measure, as `measure` and `compare` show them."""
    return "".join(f"\n· {figure.title}" for figure in entry.load().FIGURES)


_CORE = ("numpy", "numba", "pyarrow", "scipy", "pydantic", "click", "rich")
_EXTRAS = {  # extra → a module of each package in it
    "report": ("jinja2", "vl_convert"),
    "light": ("fastapi", "jinja2", "uvicorn"),
    "web": ("fastapi", "jinja2", "uvicorn", "vl_convert"),
    "compare": ("implicit", "sklearn", "surprise"),
    "spark": ("pandas", "pyspark"),
}


@click.command(cls=Explained, example="starshade doctor")
@running()
def doctor(run: Run) -> None:
    """Print version and environment.

    Versions, threads, kernel cache and memory. Send this with a bug report.
    """
    import platform
    from importlib import metadata, util

    facts = {
        "starshade": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {name: metadata.version(name) for name in _CORE},
        "extras": {
            name: all(util.find_spec(module) is not None for module in modules)
            for name, modules in _EXTRAS.items()
        },
        "cpus": budget.available_processors(),
        "threads": budget.threads(),
        "threading_layer": _threading_layer(),
        "kernel_cache": _kernel_cache(),
        "memory_free": budget.free_memory(),
        "memory_planned": budget.memory(),
    }
    run.emit(facts, lambda: _facts(facts))


def _threading_layer() -> str:
    """Name the layer that Numba's parallel kernels really use, by running one."""
    import numba

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set on reload
        return "none (kernels run interpreted)"

    @numba.njit(parallel=True)
    def probe(n: int) -> Any:
        out = 0
        for i in numba.prange(n):
            out += i
        return out

    try:
        probe(2)
        return str(numba.threading_layer())  # type: ignore[attr-defined]  # exported by *
    except ValueError as error:  # no layer could be loaded
        return f"none ({error})"


def _kernel_cache() -> dict[str, Any]:
    from starshade.kernels.warm import kernel_cache

    cache = kernel_cache()
    return {
        "place": cache.place or None,
        "writable": cache.writable,
        "kernels": cache.kernels,
        "ready": cache.ready,
    }


def _facts(facts: dict[str, Any]) -> Any:
    cache = facts["kernel_cache"]
    extras = [name for name, present in facts["extras"].items() if present]
    missing = [name for name, present in facts["extras"].items() if not present]
    state = "writable" if cache["writable"] else "not writable: kernels compile in every run"
    rows = [
        ("starshade", facts["starshade"]),
        ("Python", f"{facts['python']} on {facts['platform']}"),
        ("packages", ", ".join(f"{k} {v}" for k, v in facts["versions"].items())),
        ("extras installed", ", ".join(extras) or "none"),
        ("extras not installed", ", ".join(missing) or None),
        ("processors", facts["cpus"]),
        ("threads in use", facts["threads"]),
        ("threading layer", facts["threading_layer"]),
        ("kernel cache", f"{cache['place']} ({state})" if cache["place"] else "none"),
        ("kernels compiled", f"{cache['ready']} of {cache['kernels']}, the rest on first use"),
        ("memory free", f"{facts['memory_free'] / 1e9:.1f} GB"),
        ("memory planned", f"{facts['memory_planned'] / 1e9:.1f} GB"),
    ]
    return page(figures(rows))


_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Explained, example="starshade completion bash > starshade.bash")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for the shell.

    bash, zsh: source the script in ~/.bashrc or ~/.zshrc. fish: save the script as
    ~/.config/fish/completions/starshade.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "starshade", "_STARSHADE_COMPLETE").source())
