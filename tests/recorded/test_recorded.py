"""What releases and commands give is what was recorded (``python -m tests.recorded.record``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.recorded.entries import GROUPS
from tests.recorded.record import load, made_with, shortened
from tests.recorded.workshop import Workshop

EXPECTED, ANSWERS = load()
SHOWN = 12  # differing keys of one entry


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("recorded"))
        yield Workshop()


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_nothing_changed(workshop: Workshop, group: str) -> None:
    changed = [
        line
        for name in GROUPS[group]
        for line in differences(name, workshop.entry(name), EXPECTED["entries"], ANSWERS)
    ]
    assert not changed, "\n".join(changed)


def differences(
    name: str, given: dict[str, Any], expected: dict[str, Any], answers: dict[str, Any]
) -> list[str]:
    """Say where an entry differs from what is recorded: exit code, keys of the answer, files."""
    if name not in expected:
        return [f"{name}: not recorded"]
    now, then = shortened(given), expected[name]
    found = []
    if now["exit"] != then["exit"]:
        found.append(f"{name}: exit code {now['exit']}, was {then['exit']}")
    if now["answer"] != then["answer"]:
        keys = list(unequal(given["answer"], answers[name])) or ["the keys are in another order"]
        found += [f"{name}: {key}" for key in keys[:SHOWN]]
        found += [f"{name}: … {len(keys) - SHOWN} more"] * (len(keys) > SHOWN)
    files, recorded = now.get("files", {}), then.get("files", {})
    wrong = sorted(file for file in files | recorded if files.get(file) != recorded.get(file))
    found += [f"{name}: file {file}" for file in wrong]
    if not wrong and now.get("bytes") != then.get("bytes") and made_with() == EXPECTED["made with"]:
        found.append(f"{name}: equal files in other bytes")
    return found


def unequal(now: Any, then: Any, path: str = "") -> Iterator[str]:
    """Find the paths of the values that differ."""
    if isinstance(now, dict) and isinstance(then, dict):
        for key in then | now:
            if key not in now or key not in then:
                yield f"{path}.{key} is {'new' if key in now else 'gone'}"
            else:
                yield from unequal(now[key], then[key], f"{path}.{key}")
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for place, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from unequal(one, other, f"{path}[{place}]")
    elif now != then or type(now) is not type(then):
        yield f"{path} is {now!r:.60}, was {then!r:.60}"


def test_every_entry_is_recorded() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert names == list(EXPECTED["entries"]) == list(ANSWERS)
    assert len(names) == len(set(names))


def test_a_difference_is_named() -> None:
    answer = {"a": 1, "b": {"c": [1, 2.5]}, "d": 0}
    then = {"exit": 0, "answer": answer, "files": {"x": "1", "y": "2"}, "bytes": "3"}
    recorded, answers = {"entry": shortened(then)}, {"entry": answer}
    assert differences("entry", then, recorded, answers) == []
    now = {"exit": 1, "answer": {"a": 1.0, "b": {"c": [1, 2.6]}, "e": 0}, "files": {"x": "2"}}
    assert differences("entry", now, recorded, answers) == [
        "entry: exit code 1, was 0",
        "entry: .a is 1.0, was 1",
        "entry: .b.c[1] is 2.6, was 2.5",
        "entry: .d is gone",
        "entry: .e is new",
        "entry: file x",
        "entry: file y",
    ]
    assert differences("entry", then | {"bytes": "4"}, recorded, answers) == [
        "entry: equal files in other bytes"
    ]
    turned = then | {"answer": dict(reversed(answer.items()))}
    assert differences("entry", turned, recorded, answers) == [
        "entry: the keys are in another order"
    ]
    assert differences("other", then, recorded, answers) == ["other: not recorded"]
