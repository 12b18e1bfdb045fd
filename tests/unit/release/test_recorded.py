from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from starshade.ratings.select import ItemSelection, listed_items, top_items
from starshade.release.manifest import config_of, private_config_of
from starshade.setting import check, declared


class Lines:
    def to_text(self) -> list[str]:
        return ["a;b"]


def said(**more: Any) -> dict[str, Any]:
    return declared("Some", "What it is.", **more)


@dataclass(frozen=True)
class Method:
    name: ClassVar[str] = "method"
    recorded_first: ClassVar[tuple[str, ...]] = ("way", "found")

    eps: float = field(metadata=said())
    way: Literal["near", "far"] = field(default="near", metadata=said())
    depth: int = field(default=3, metadata=said(beside=("way", "far")))
    l: float = field(default=0.0, metadata=said())  # noqa: E741
    t: float | None = field(default=None, metadata=said())
    told: Sequence[str] = field(default=(), metadata=said())
    known: Sequence[str] = field(default=(), metadata=said(private=True))
    items: ItemSelection | None = field(default=None, metadata=said(kind="file", unset="all"))
    file: str | Path | None = field(default=None, metadata=said(kind="file"))
    files: Mapping[str, Any] | Sequence[Any] = field(default=(), metadata=said(kind="files"))
    own: int = 0

    def __post_init__(self) -> None:
        check(self)


@pytest.mark.parametrize(
    ("asked", "recorded"),
    [
        ({}, {}),
        ({"eps": 0}, {"eps": 0.0}),
        ({"way": "far"}, {"way": "far", "depth": 3}),
        ({"l": 0.5, "t": 0}, {"l": 0.5, "t": 0.0}),
        ({"told": ["a"], "known": ["b"], "own": 3}, {"told": ["a"]}),
        ({"items": top_items(3)}, {"items": "top:3"}),
        ({"items": listed_items(["b"])}, {"items": "listed:1"}),
        ({"file": Path("secret")}, {"file": "file"}),
        ({"files": {"a": Lines()}}, {"files": ["a"]}),
    ],
)
def test_what_is_set_is_recorded_in_json_s_values(
    asked: dict[str, Any], recorded: dict[str, Any]
) -> None:
    usual = {"way": "near", "eps": 1.0, "items": "all"}
    assert config_of(Method(**{"eps": 1} | asked)) == usual | recorded


def test_what_a_method_resolves_stands_in_the_place_of_its_setting() -> None:
    found = config_of(Method(1, l=2), t=0.5, l=None, found=[1])
    assert list(found.items())[:3] == [("way", "near"), ("found", [1]), ("eps", 1.0)]
    assert (found["t"], "l" in found) == (0.5, False)


def test_the_receipt_has_what_the_manifest_must_not_tell() -> None:
    found = private_config_of(
        Method(1, known=["b"], items=listed_items(["x"]), files={"a": Lines()}), file="ready"
    )
    assert found == {
        "method": "method",
        "way": "near",
        "eps": 1.0,
        "items": "listed:1",
        "file": "ready",
        "files": {"a": ["a;b"]},
        "known": ["b"],
        "item_keys": ["x"],
    }
