"""Releases with generalized personal attributes: every grouping method, settings, refusals."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.baselines import KMember, Mondrian
from starshade.anonymize.grouping import Grouping
from starshade.anonymize.hierarchy.attribute import parse_attribute_hierarchy
from starshade.anonymize.hierarchy.file import parse_hierarchy
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.registry import ENTRIES
from starshade.errors import ConfigError, InternalError, UnmetError
from starshade.privacy.attribute import LDiversity, TCloseness
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items
from starshade.ratings.table import Ratings
from starshade.registry import find
from starshade.release.folder.read import read_release
from tests.naive.class_values import distance, distinct_l
from tests.naive.quasi import joined, said
from tests.strategies import table

METHODS = [entry.load() for entry in ENTRIES if issubclass(entry.load(), Grouping)]
every = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def some(n: int = 40, seed: int = 0, scale: Scale | None = None) -> Ratings:
    """People with an age, a town (of both some unknown) and an illness."""
    scale = scale or Scale(1, 5, 1)
    rng = np.random.default_rng(seed)
    levels = scale.levels if scale.step is not None else np.linspace(-10, 10, 9)
    rows = [
        {int(i): float(rng.choice(levels)) for i in np.flatnonzero(rng.random(4) < 0.7)} or {0: 1.0}
        for _ in range(n)
    ]
    age = [None if i % 4 == 3 else float(rng.integers(18, 80)) for i in range(n)]
    town = [None if i % 8 == 5 else str(rng.choice(["Ulm", "Bonn", "Århus"])) for i in range(n)]
    ill = [str(rng.choice(["no", "flu", "cold"], p=[0.7, 0.2, 0.1])) for _ in range(n)]
    attributes = pa.table({"age": age, "town": town, "ill": ill, "note": ["x"] * n})
    return table(rows, scale, n_items=4).annotate(attributes=attributes)


ASKED: dict[str, Any] = {
    "attributes": "generalized",
    "quasi_identifiers": ["age", "town"],
    "sensitive_attributes": ["ill"],
}


TOWNS = "Ulm;south;*\nÅrhus;north;*\nBonn;south;*\nKiel;north;*\n"


def own_values(release, ratings: Ratings, name: str) -> list[list]:
    """The original values of an attribute, class by class."""
    column = ratings.attributes.column(name).to_pylist()
    out: list[list] = [[] for _ in release.classes.sizes]
    for user, record in zip(release.private.link.users, release.private.link.record, strict=True):
        out[release.class_of_record[record]].append(column[ratings.users.index(user)])
    return out


@every
@pytest.mark.parametrize("scale", [Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(-10, 10)])
def test_each_class_says_of_its_members_what_they_share(method, scale, tmp_path):
    ratings = some(scale=scale)
    release = method(3, **ASKED, l=2).anonymize(ratings, rng=1)
    release.save(tmp_path / "out")  # the verifier recounts the claims
    back = read_release(tmp_path / "out")
    assert back.manifest.audience == "publish"
    assert back.manifest.quasi_identifiers == ("age", "town")
    assert back.attributes.column_names == ["age", "town", "ill"]
    first = np.concatenate([[0], np.cumsum(back.classes.sizes)[:-1]])
    for name, numeric in (("age", True), ("town", False)):
        told = back.attributes.column(name)
        for c, members in enumerate(own_values(release, ratings, name)):
            everybody = ratings.attributes.column(name).to_pylist()
            assert told[int(first[c])].as_py() == said(members, numeric, everybody, 3)
    for members in own_values(release, ratings, "ill"):
        assert len(members) >= 3
        assert distinct_l(members) >= 2
    assert LDiversity(2, "ill").check(back).satisfied


@every
def test_l_is_reached_by_known_values(method, tmp_path):
    ratings = some()
    jobs = [None if i % 3 else "ab"[i % 2] for i in range(ratings.n_users)]
    ratings = ratings.annotate(attributes=ratings.attributes.set_column(2, "ill", [jobs]))
    for missing in (None, "as-value"):
        release = method(3, **ASKED, l=2, missing=missing).anonymize(ratings, rng=1)
        release.save(tmp_path / str(missing))  # the verifier recounts the claims
        (claim,) = (c for c in release.manifest.claims if c.model == "l-diversity")
        assert claim.parameters.get("missing") == missing
        for members in own_values(release, ratings, "ill"):
            assert distinct_l(members, known=missing is None) >= 2
    other = release.manifest.model_copy(
        update={
            "claims": tuple(
                c.model_copy(
                    update={"parameters": {k: v for k, v in c.parameters.items() if k != "missing"}}
                )
                for c in release.manifest.claims
            )
        }
    )
    least = min(distinct_l(members, known=True) for members in own_values(release, ratings, "ill"))
    assert least < 2  # as-value promises less
    with pytest.raises(InternalError, match="l-diversity"):
        replace(release, manifest=other).save(tmp_path / "false")


@every
def test_t_is_reached_by_merging(method):
    ratings = some(120)  # of half as many, some methods' groups end as one
    asked = {**ASKED, "t": 0.15}
    release = method(3, **asked).anonymize(ratings, rng=1)
    free = method(3, **ASKED).anonymize(ratings, rng=1)
    everybody, most = ratings.attributes.column("ill").to_pylist(), Fraction(3, 20)
    assert max(distance(m, everybody) for m in own_values(release, ratings, "ill")) <= most
    assert max(distance(m, everybody) for m in own_values(free, ratings, "ill")) > 0.15
    assert 1 < release.exact.groups < free.exact.groups
    assert TCloseness(0.15, "ill").check(release).satisfied
    assert [(c.model, c.parameters) for c in release.manifest.claims] == [
        ("k-anonymity", {"k": 3}),
        ("t-closeness", {"t": 0.15, "attribute": "ill"}),
    ]


@every
def test_l_as_large_as_the_data_allow_and_beyond(method):
    ratings = some(30)
    release = method(2, **ASKED, l=3).anonymize(ratings, rng=2)
    assert min(map(distinct_l, own_values(release, ratings, "ill"))) == 3
    with pytest.raises(UnmetError, match="'ill' has 3 different values") as caught:
        method(2, **ASKED, l=4).anonymize(ratings, rng=2)
    assert "up to 3" in caught.value.advice


@every
def test_quasi_identifiers_decide_with_whom_one_is_put(method):
    """Ratings all alike: the groups follow the age alone."""
    rows = [{0: 3.0, 1: 4.0}] * 12
    ages = [20.0, 60.0] * 6
    ratings = table(rows, Scale(1, 5, 1)).annotate(attributes=pa.table({"age": ages}))
    release = method(3, attributes="generalized").anonymize(ratings, rng=0)
    told = {(v["low"], v["high"]) for v in release.attributes.column("age").to_pylist()}
    assert told == {(-np.inf, 22.0), (22.0, np.inf)}


def test_without_names_all_that_is_not_sensitive_is_a_quasi_identifier():
    release = Mondrian(3, attributes="generalized", sensitive_attributes=["ill"]).anonymize(some())
    assert release.manifest.quasi_identifiers == ("age", "town", "note")
    assert release.attributes.column_names == ["age", "town", "note", "ill"]


@every
def test_a_hierarchy_joins_values_to_those_of_one_name(method, tmp_path):
    ratings, towns = some(), parse_attribute_hierarchy(TOWNS)
    release = method(2, **ASKED, attribute_hierarchies={"town": towns}).anonymize(ratings, rng=1)
    release.save(tmp_path / "out")
    names = dict(towns.rows)
    first = np.concatenate([[0], np.cumsum(release.classes.sizes)[:-1]])
    seen = set()
    for c, members in enumerate(own_values(release, ratings, "town")):
        told = release.attributes.column("town")[int(first[c])].as_py()
        assert told == joined(names, members, ratings.attributes.column("town").to_pylist(), 2)
        seen.add(tuple(told))
    assert len(seen) > 1
    known = [t for told in seen if (t := tuple(v for v in told if v is not None))]
    assert {len(told) for told in known} <= {1, 2, 4}
    assert {("Bonn", "Ulm"), ("Kiel", "Århus")} >= {told for told in known if len(told) == 2}


def test_users_left_out_take_their_attributes_with_them():
    ratings = some()
    chosen = listed_items(["2", "3"])
    method = KMember(3, items=chosen, **ASKED)
    release = method.anonymize(ratings, rng=1)
    assert release.n_records < ratings.n_users
    first = np.concatenate([[0], np.cumsum(release.classes.sizes)[:-1]])
    ages = own_values(release, ratings, "age")
    everybody = [age for members in ages for age in members]
    for c, members in enumerate(ages):
        told = release.attributes.column("age")[int(first[c])].as_py()
        assert told == said(members, True, everybody, 3)


def digests(release, place: Path) -> dict[str, str]:
    release.save(place)
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in place.iterdir()}


def again(config: dict[str, Any]) -> Grouping:
    """Build the method that a receipt names."""
    settings = dict(config)
    entry = find(ENTRIES, settings.pop("method"), "method")
    levels, keys = settings.pop("levels", None), settings.pop("item_keys")
    if levels:
        settings["hierarchy"] = parse_hierarchy("\n".join(levels))
    settings["items"] = listed_items(keys) if keys else None
    settings["attribute_hierarchies"] = {
        name: parse_attribute_hierarchy("\n".join(lines))
        for name, lines in settings["attribute_hierarchies"].items()
    }
    return entry.load()(**settings)


@every
def test_the_receipt_is_enough_to_make_the_release_again(method, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("[null,2] [3,5]\n[null,5]\n")
    towns = tmp_path / "towns.csv"
    towns.write_text(TOWNS, encoding="utf-8")
    ratings = some()
    release = method(
        3,
        hierarchy=path,
        items=listed_items(["1", "3"]),
        rare_items="keep",
        l=2,
        t=0.4,
        attribute_hierarchies={"town": towns},
        **ASKED,
    ).anonymize(ratings, rng=11)
    assert release.manifest.config["attribute_hierarchies"] == ["town"]
    towns.unlink()  # it was read when the method was made
    remade = again(release.private.config).anonymize(ratings, rng=release.private.seed)
    assert digests(remade, tmp_path / "b") == digests(release, tmp_path / "a")
    assert remade.private.config == release.private.config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attributes": "some"}, "must be none, generalized or exact"),
        ({"quasi_identifiers": ["age"]}, "quasi-identifiers are named, but .* not released"),
        ({"sensitive_attributes": ["ill"]}, "sensitive attributes are named, but .* not released"),
        (
            {"sensitive_attributes": ["ill"], "attributes": "exact"},
            "sensitive attributes are named, but .* as they are",
        ),
        ({**ASKED, "quasi_identifiers": ["age", "ill"]}, "ill named both as"),
        ({**ASKED, "quasi_identifiers": ["age", "age"]}, "quasi_identifiers: age given more than"),
        ({**ASKED, "quasi_identifiers": "age"}, "must be a list of texts"),
        ({**ASKED, "sensitive_attributes": [3]}, "must be a list of texts"),
        ({**ASKED, "l": -1}, "l = -1: must be a whole number, 0 or more"),
        ({**ASKED, "l": 1.5}, "l = 1.5: must be"),
        ({**ASKED, "l": True}, "l = True: must be"),
        ({**ASKED, "t": 1.01}, "t = 1.01: must be a number from 0 to 1"),
        ({**ASKED, "t": -0.1}, "t = -0.1: must be a number from 0 to 1"),
        ({**ASKED, "t": float("nan")}, "t = nan: must be"),
        ({**ASKED, "t": "0.1"}, "t = '0.1': must be"),
        ({**ASKED, "attribute_hierarchies": ["town"]}, "a recipe or a file for each name"),
        ({**ASKED, "attribute_hierarchies": 3}, "a recipe or a file for each name"),
        ({**ASKED, "attribute_hierarchies": {"town": "/no/such"}}, "cannot be read"),
        (
            {"attribute_hierarchies": {"town": parse_attribute_hierarchy(TOWNS)}},
            "hierarchies of attributes are named, but .* not released",
        ),
        ({"attributes": "generalized", "l": 2}, "l applies to sensitive"),
        ({"attributes": "generalized", "t": 0.0}, "t applies to sensitive"),
    ],
)
def test_settings_that_contradict_are_refused_at_once(settings, message):
    with pytest.raises(ConfigError, match=message):
        KLikeness(2, **settings)


@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.5}])
@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, [True, True]),
        ({"attributes": "exact"}, [True, True]),
        ({"attributes": "generalized"}, [False, True]),
        ({"sensitive_attributes": ["ill"]}, [True, False]),
    ],
)
def test_all_that_l_and_t_need_is_told_at_once(settings, asked, needed):
    with pytest.raises(ConfigError, match="applies to sensitive") as caught:
        KLikeness(2, **settings, **asked)
    told = ('attributes="generalized"', "sensitive_attributes=[NAME]")
    assert [setting in caught.value.advice for setting in told] == needed
    assert ("not released" in caught.value.message) == (needed[0] and "attributes" not in settings)


@every
def test_items_must_be_a_choice(method):
    with pytest.raises(ConfigError, match="items of type int: no choice of items") as caught:
        method(2, items=10)
    assert "top_items(5)" in caught.value.advice


@every
def test_help_lists_the_parameters(method):
    lines = inspect.getdoc(method).splitlines()
    named = [line.split(" : ")[0] for line in lines if " : " in line and line[0] != " "]
    assert named == [field.name for field in fields(method)]
    assert lines[0]
    assert "Grouping" not in "".join(lines)
    assert lines.index("Parameters") < lines.index("Raises") < lines.index("Notes")


def test_the_case_of_a_name_does_not_matter():
    hierarchy = {"TOWN": parse_attribute_hierarchy(TOWNS)}
    plain = {"town": hierarchy["TOWN"]}
    odd = {**ASKED, "quasi_identifiers": ["Age", "TOWN"], "sensitive_attributes": ["Ill"]}
    other = Mondrian(3, **odd, attribute_hierarchies=hierarchy).anonymize(some(), 1)
    usual = Mondrian(3, **ASKED, attribute_hierarchies=plain).anonymize(some(), 1)
    assert other.manifest.config == usual.manifest.config
    assert other.attributes.equals(usual.attributes)
    with pytest.raises(ConfigError, match="named more than once"):
        Mondrian(3, **ASKED, attribute_hierarchies=plain | hierarchy).anonymize(some(), 1)


def test_a_name_that_fits_two_is_refused():
    attributes = some().attributes.rename_columns(["Age", "AGE", "ill", "note"])
    with pytest.raises(ConfigError, match="'age' not among") as caught:
        Mondrian(3, **{**ASKED, "quasi_identifiers": ["age"]}).anonymize(
            some().annotate(attributes=attributes)
        )
    assert caught.value.advice.startswith("Did you mean Age or AGE? ")


def test_what_the_data_lack_is_refused():
    ratings = some()
    asked = {**ASKED, "quasi_identifiers": ["age", "Towm"]}
    with pytest.raises(ConfigError, match="'Towm' not among") as caught:
        Mondrian(3, **asked).anonymize(ratings)
    assert caught.value.advice == (
        "Did you mean town? The data have age, town, ill, note; to name several, repeat the option."
    )
    with pytest.raises(ConfigError, match="no personal attributes") as caught:
        Mondrian(3, attributes="generalized").anonymize(ratings.annotate(attributes=None))
    assert "Give a file of them (users=FILE), or" in caught.value.advice
    hierarchies = {"town": parse_attribute_hierarchy("Ulm;*\nBonn;*")}
    with pytest.raises(ConfigError, match="'town': its hierarchy lacks 1 of 3 values"):
        Mondrian(3, **ASKED, attribute_hierarchies=hierarchies).anonymize(ratings)
    with pytest.raises(ConfigError, match="'age': a hierarchy applies to texts"):
        Mondrian(3, **ASKED, attribute_hierarchies={"age": hierarchies["town"]}).anonymize(ratings)
    with pytest.raises(
        ConfigError, match="'note' has a hierarchy but is not a quasi-identifier"
    ) as caught:
        Mondrian(3, **ASKED, attribute_hierarchies={"note": hierarchies["town"]}).anonymize(ratings)
    assert caught.value.advice == "Quasi-identifiers are age, town."
    named = ratings.annotate(attributes=ratings.attributes.rename_columns(["group", "b", "c", "d"]))
    with pytest.raises(ConfigError, match="is record or group"):
        Mondrian(3, attributes="generalized").anonymize(named)
