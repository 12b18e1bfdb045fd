"""What does not belong where a public function is given it is refused in words."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import starshade as ss
from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.arguments import typed
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.privacy.registry import ENTRIES as MODELS
from starshade.utility.registry import ENTRIES as MEASURES

RATINGS = ss.synthesize(n_users=30, n_items=12, rng=0)
RELEASE = ss.KLikeness(k=2).anonymize(RATINGS, rng=0)
JUNK = {
    "text": "five",
    "nan": math.nan,
    "flag": True,
    "list": [],
    "none": None,
    "dict": {},
    "object": object(),
    "bytes": b"x",
    "negative": -1,
    "half": 5.5,
    "ratings": RATINGS,
    "array": np.zeros(3),
}
SETTINGS = {"k": 2, "m": 2, "eps": 1.0, "b": 1, "l": 2, "attribute": "age", "alpha": 0.5, "t": 0.5}
SETTINGS |= {"sensitive": [RATINGS.items[0]]}
RUN = {"data": RATINGS, "knowledge": ss.Knowledge(known=2), "targets": 3, "rng": 0}


def made(entry: Any) -> Any:
    kind = entry.load() if hasattr(entry, "load") else getattr(ss, entry.cls)
    needed = inspect.signature(kind).parameters.values()
    return kind(**{p.name: SETTINGS[p.name] for p in needed if p.default is p.empty})


def functions() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return what is called, with arguments of which most belong there."""
    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "compare": (ss.compare, {"ratings": RATINGS, "methods": ["k-likeness"], "k": [2]}),
        "compile_dossier": (ss.compile_dossier, {"ratings": RATINGS, "release": "none"}),
        "facts_needed": (ss.facts_needed, {"records": 5, "eps": 0.1, "delta": 0.1}),
        "lineup_facts": (ss.lineup_facts, {"records": 5, "lineup": 2, "delta": 0.1}),
        "sample_sparsity": (ss.sample_sparsity, {"delta": 0.1, "share": 0.5, "gamma": 0.5}),
        "hold_out": (ss.hold_out, {"ratings": RATINGS, "share": 0.1, "rng": 0}),
        "information_gain": (ss.information_gain, {"ratings": RATINGS, "day_error": 14}),
        "link_existence_bound": (ss.link_existence_bound, {"p": 0.1, "g": 2}),
        "link_existence_exact": (ss.link_existence_exact, {"p": 0.1, "g": 2}),
        "listed_items": (ss.listed_items, {"keys": ["a"]}),
        "top_items": (ss.top_items, {"n": 3}),
        "rated_outside_top": (
            ss.rated_outside_top,
            {"ratings": RATINGS, "top": (5,), "at_least": (1,)},
        ),
        "read_attribute_hierarchy": (ss.read_attribute_hierarchy, {"path": "none"}),
        "read_auxiliary": (ss.read_auxiliary, {"source": "none", "name_col": "n", "dates": True}),
        "read_item_mapping": (ss.read_item_mapping, {"source": "none", "aux_col": "a"}),
        "read_ratings": (
            ss.read_ratings,
            {"source": "none", "null_values": (), "user_col": 1, "scale": None, "wide": False},
        ),
        "forget": (ss.forget, {"users": ["a"], "receipts": ["none"], "dry_run": True}),
        "read_release": (ss.read_release, {"path": "none", "private": "none"}),
        "verify": (ss.verify, {"path": "none"}),
        "save_risk_list": (
            ss.save_risk_list,
            {"result": "none", "ratings": RATINGS, "path": "list.csv"},
        ),
        "synthesize": (ss.synthesize, {"like": "survey", "n_users": 10, "n_items": 5}),
        "write_ratings": (ss.write_ratings, {"ratings": RATINGS, "path": "r.csv", "format": None}),
        "Scale": (ss.Scale, {"minimum": 1, "maximum": 5, "step": 1}),
        "Scale.parse": (ss.Scale.parse, {"text": "1:5:1"}),
        "from_arrays": (
            ss.Ratings.from_arrays,
            {"users": ["a"], "items": ["b"], "ratings": [1], "days": [0]},
        ),
        "most_rated": (RATINGS.most_rated, {"n": 3}),
        "keep_users": (RATINGS.keep_users, {"indices": [0]}),
        "keep_items": (RATINGS.keep_items, {"indices": [0]}),
        "Ratings.save": (RATINGS.save, {"path": "store"}),
        "Release.save": (RELEASE.save, {"path": "out", "private": None}),
        "Release.to_csv": (RELEASE.to_csv, {"path": "out.csv"}),
        "eligible_users": (ss.Knowledge().eligible_users, {"original": RATINGS}),
        "ItemSelection.apply": (ss.top_items(3).apply, {"ratings": RATINGS}),
        "Audit.run": (ss.Audit().run, {"ratings": RATINGS, "release": "none", "earlier": ()}),
        "Query.run": (ss.Query("SELECT COUNT(*) WHERE a = 1").run, {"data": RELEASE}),
        "Sparsity.run": (ss.Sparsity().run, {"ratings": RATINGS, "rng": 0}),
        "Risk.run": (ss.Risk().run, RUN),
        "RegularizedSVD.fit": (ss.RegularizedSVD().fit, {"ratings": RATINGS, "rng": 0}),
        "save_report": (ss.save_report, {"dossier": "none", "out": "r.html", "public": True}),
    }
    calls |= {
        name: (getattr(ss, name), {what: "none", "folder": "study"})
        for name, what in {
            "save_comparison": "comparison",
            "save_study": "study",
            "save_site": "everything",
        }.items()
    }
    calls |= {entry.name: (made(entry).run, RUN) for entry in ATTACKS}
    calls |= {entry.name: (made(entry).check, {"data": RATINGS}) for entry in MODELS}
    calls |= {
        entry.name: (made(entry).anonymize, {"ratings": RATINGS, "rng": 0}) for entry in METHODS
    }
    for entry in MEASURES:
        measure = made(entry).measure
        given = {"release": RELEASE, "original": RATINGS, "probe": RATINGS}
        names = inspect.signature(measure).parameters
        calls[entry.name] = (measure, {name: given[name] for name in given if name in names})
    return calls


CALLS = functions()


@pytest.mark.parametrize(
    ("name", "argument"), [(name, each) for name, (_, given) in CALLS.items() for each in given]
)
def test_what_does_not_belong_there_is_refused_in_words(
    name: str, argument: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, given = CALLS[name]
    for junk in JUNK.values():
        with suppress(ss.StarshadeError):  # some of it is right for some: whatever else is a bug
            function(**{**given, argument: junk})


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have(path: str) -> None:
    with pytest.raises(ss.ConfigError, match="path: not a valid file name"):
        ss.read_release(path)


def test_what_was_given_and_what_is_needed_is_said() -> None:
    with pytest.raises(ss.ConfigError, match=r"ratings = 'u\.data': must be Ratings") as refused:
        ss.hold_out("u.data")  # type: ignore[arg-type]
    assert "read_ratings" in str(refused.value)
    with pytest.raises(ss.ConfigError, match="targets = '5': must be a whole number"):
        ss.ScoreboardRH().run(RATINGS, targets="5")  # type: ignore[arg-type]
    with pytest.raises(ss.ConfigError, match="knowledge = a dict: must be a Knowledge"):
        ss.ScoreboardRH().run(RATINGS, {"known": 3})  # type: ignore[arg-type]
    with pytest.raises(ss.ConfigError, match="n = nan: must be a whole number"):
        ss.top_items(math.nan)  # type: ignore[arg-type]


def test_numbers_and_lists_arrive_as_plain_ones() -> None:
    @typed
    def back(n: int, names: Sequence[str], *rest: Any) -> Any:
        return n, names, rest

    assert back(np.int64(3), ["a"], "more") == (3, ("a",), ("more",))
    assert back(3.0, names=("a",)) == (3, ("a",), ())
    with pytest.raises(TypeError):
        back()  # Python says itself what is missing
