"""``starshade doctor``."""

from __future__ import annotations

from typing import Any

import click

from starshade import budget
from starshade._version import __version__
from starshade.cli.running.run import Run, running
from starshade.cli.show import figures, page

__all__ = ["doctor"]

_CORE = ("numpy", "numba", "pyarrow", "scipy", "pydantic", "click", "rich")
_EXTRAS = {  # extra → a module of each package in it
    "report": ("jinja2", "vl_convert"),
    "web": ("fastapi", "jinja2", "uvicorn"),
    "compare": ("implicit", "sklearn", "surprise"),
}


@click.command()
@running()
def doctor(run: Run) -> None:
    """Versions, threads, kernel cache and memory: what to send with a bug report."""
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
    run.emit(facts, lambda: _summary(facts))


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


def _summary(facts: dict[str, Any]) -> Any:
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
        ("memory planned with", f"{facts['memory_planned'] / 1e9:.1f} GB"),
    ]
    return page(figures(rows))
