from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
import pytest

from starshade import Likelihood, MembershipAttack, PaddingAttack
from starshade.attack.registry import ENTRIES
from starshade.errors import ConfigError
from starshade.setting import Setting, check, declared, json_schema, settable, settings_of


@dataclass(frozen=True)
class Declared:
    whole: int = field(metadata=declared("Whole", "A count.", least=1, most=16))
    share: float = settable("Share", "A share.", default=0.5, least=0, above=True)
    below: float = settable("Below", "A share.", default=0.5, most=1, below=True)
    far: float | None = settable(
        "Far", "How far.", default=None, least=0, endless=True, unset="near"
    )
    on: bool = settable("On", "Whether.", default=False)
    one: Literal["a", "b"] = settable("One", "Which.", default="a")
    text: str = settable("Text", "A text.", default="")
    names: Sequence[str] = settable("Names", "Some names.", default=())
    places: Sequence[int] = settable("Places", "Some places.", default=())
    counts: Sequence[int] = settable("Counts", "Some.", default=(2, 4), kind="integers", least=2)
    amount: int | str | None = settable("Amount", "How many.", default=None, kind="amount")
    day: str | None = settable("Day", "When.", default=None, kind="date")
    own: object = None

    def __post_init__(self) -> None:
        check(self)


def made(**asked: Any) -> Declared:
    return Declared(**{"whole": 1} | asked)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("whole", np.int8(16), 16),
        ("whole", 2.0, 2),
        ("share", 1, 1.0),
        ("share", np.float32(0.5), 0.5),
        ("below", -3, -3.0),
        ("far", None, None),
        ("far", math.inf, math.inf),
        ("on", np.bool_(True), True),
        ("one", "b", "b"),
        ("names", ["x", "y"], ("x", "y")),
        ("places", np.array([0, 2]).tolist(), (0, 2)),
        ("places", [np.int64(3)], (3,)),
        ("counts", [np.int8(3), 2], (3, 2)),
        ("amount", None, None),
        ("amount", np.int64(3), 3),
        ("amount", 4.0, 4),
        ("amount", "12", 12),
        ("amount", "010.50 %", "10.5%"),
        ("amount", "100%", "100%"),
        ("amount", "0.000000000001%", "0.000000000001%"),
        ("day", None, None),
        ("day", "2027-06-30", "2027-06-30"),
        ("day", datetime.date(2027, 6, 30), "2027-06-30"),
        ("own", math.nan, math.nan),
    ],
)
def test_what_is_allowed_is_kept_as_its_kind_has_it(name: str, value: Any, kept: Any) -> None:
    found = getattr(made(**{name: value}), name)
    assert type(found) is type(kept)
    assert found is kept or found == kept


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("whole", 0, "whole = 0: must be a whole number from 1 to 16"),
        ("whole", 17, "whole = 17: must be a whole number from 1 to 16"),
        ("whole", 1.5, "whole = 1.5: must be a whole number"),
        ("whole", True, "whole = True: must be a whole number"),
        ("whole", np.bool_(True), "whole = True: must be a whole number"),
        ("whole", -math.inf, "whole = -inf: must be a whole number"),
        ("whole", 2**63, "whole = 9.22337203685e+18: must be a whole number"),
        ("whole", 2.0**64, "whole = 1.84467440737e+19: must be a whole number"),
        ("whole", 10**4000, "whole = a number too large for a float: must be a whole number"),
        ("share", 10**400, "share = a number too large for a float: must be a finite number"),
        ("share", [0.5], "share = a list: must be a finite number"),
        ("whole", "4", "whole = '4': must be a whole number"),
        ("whole", None, "whole = None: must be a whole number"),
        ("whole", math.nan, "whole = nan: must be a whole number"),
        ("whole", math.inf, "whole = inf: must be a whole number"),
        ("share", 0, "share = 0: must be a finite number, above 0"),
        ("share", math.inf, "share = inf: must be a finite number, above 0"),
        ("share", 1j, "share = something of type complex: must be a finite number"),
        ("below", 1, "below = 1: must be a finite number, below 1"),
        ("far", -1, "far = -1: must be a number, 0 or more"),
        ("far", -math.inf, "far = -inf: must be a number, 0 or more"),
        ("far", math.nan, "far = nan: must be a number, 0 or more"),
        ("on", 1, "on = 1: must be True or False"),
        ("one", "c", "one = 'c': must be a or b"),
        ("one", ["a"], "must be a or b"),
        ("text", 3, "text = 3: must be a text"),
        ("names", "x", "names = 'x': must be a list of texts"),
        ("names", [3], "a list of texts"),
        ("names", 3, "names = 3: must be a list of texts"),
        ("counts", [], "counts = nothing: must be one or more whole numbers, 2 or more"),
        ("counts", [2, 1], "counts = 2, 1: must be one or more whole numbers, 2 or more"),
        ("counts", 2, "counts = 2: must be one or more"),
        ("day", "30.6.2027", "day = '30.6.2027': must be a date such as 2027-06-30"),
        ("day", "2027-02-30", "day = '2027-02-30': must be a date"),
        ("day", datetime.datetime(2027, 6, 30), "something of type datetime: must be a date"),
        ("counts", "22", "counts = '22': must be one or more"),
        ("places", [-1], "a list of places"),
        ("places", [True], "a list of places"),
        ("places", "12", "places = '12': must be a list of places"),
        *(
            (
                "amount",
                value,
                f"amount = {said}: must be a whole number, 1 or more, or a percentage",
            )
            for value, said in [
                (0, "0"),
                (-1, "-1"),
                (1.5, "1.5"),
                (True, "True"),
                (math.nan, "nan"),
                (math.inf, "inf"),
                (2**63, "9.22337203685e+18"),
                ("0", "'0'"),
                ("-1", "'-1'"),
                ("abc", "'abc'"),
                ("", "''"),
                ("0%", "'0%'"),
                ("0.0%", "'0.0%'"),
                ("100.1%", "'100.1%'"),
                ("1e1%", "'1e1%'"),
                ("%", "'%'"),
                ("١٠%", "'١٠%'"),
                ("1_0", "'1_0'"),
                ("9" * 30, repr("9" * 30)),
                ([5], "a list"),
            ]
        ),
    ],
)
def test_what_is_not_allowed_is_refused_and_told(name: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(**{name: value})
    assert said in caught.value.message


def test_a_schema_says_the_same() -> None:
    schema = json_schema(Declared)
    assert schema["required"] == ["whole"]
    assert schema["additionalProperties"] is False
    assert "own" not in schema["properties"]
    told = schema["properties"]
    assert told["whole"] == {
        "title": "Whole",
        "description": "A count.",
        "type": "integer",
        "minimum": 1,
        "maximum": 16,
    }
    assert told["share"]["exclusiveMinimum"] == 0
    assert told["below"]["exclusiveMaximum"] == 1
    assert told["far"]["type"] == ["number", "null"]
    assert told["far"]["default"] is None
    assert told["one"]["enum"] == ["a", "b"]
    assert told["counts"]["items"] == {"type": "integer", "minimum": 2}
    assert told["counts"]["default"] == [2, 4]
    assert told["amount"]["type"] == ["integer", "string", "null"]
    assert told["amount"]["minimum"] == 1
    assert (told["day"]["type"], told["day"]["format"]) == (["string", "null"], "date")
    assert re.search(told["amount"]["pattern"], "10.5%")
    assert told["names"] == {
        "title": "Names",
        "description": "Some names.",
        "type": "array",
        "items": {"type": "string"},
        "default": [],
    }
    assert told["places"]["items"] == {"type": "integer", "minimum": 0}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_attack_has_the_fields_that_are_declared_and_their_defaults(entry: Any) -> None:
    declaration, cls = entry.declaration(), entry.load()
    assert issubclass(cls, declaration)
    # `method`: an object that makes releases; `known`: further numbers, which audits ask about
    beside = {"method", "known"} - {s.name for s in settings_of(declaration)}
    own = [f.name for f in fields(cls) if f.name not in beside]
    assert own == [s.name for s in settings_of(declaration)]
    made = cls()  # what is declared as a default is allowed
    assert all(getattr(made, s.name) == s.default for s in settings_of(declaration))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_setting_is_explained(entry: Any) -> None:
    for setting in settings_of(entry.declaration()):
        assert setting.help.endswith("."), setting.name
        assert setting.label, setting.name
        assert not setting.label.endswith("."), setting.name
        assert setting.default is not None or setting.unset, setting.name


@pytest.mark.parametrize(
    ("value", "advice"),
    [(2**63, "The largest allowed number is 2**63 - 1."), (-math.inf, ""), (17, "")],
)
def test_too_many_are_told_as_such(value: Any, advice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(whole=value)
    assert (caught.value.advice or "") == advice


def test_what_is_no_type_of_a_setting_is_named() -> None:
    @dataclass(frozen=True)
    class Odd:
        odd: int | str = settable("Odd", "Odd.", default=1)

    with pytest.raises(TypeError, match=r"Odd\.odd: .* is no type of a setting"):
        settings_of(Odd)


@pytest.mark.parametrize(("default", "told"), [(0, "0"), (True, "True"), (1000, "1,000"), ("", "")])
def test_a_default_is_told(default: Any, told: str) -> None:
    kind: Any = "flag" if isinstance(default, bool) else "integer"
    assert Setting("one", kind, default, False, (), "One", "One.").default_text == told


def test_what_is_only_for_a_choice_says_so_first_and_applies_beside_it() -> None:
    @dataclass(frozen=True)
    class Some:
        way: str = settable("Way", "Which way.", default="near")
        depth: int = settable("Depth", "How deep.", default=3, beside=("way", "far"))

    depth = settings_of(Some)[1]
    assert depth.help == "With way far: how deep."
    assert [depth.applies(Some(way)) for way in ("near", "far")] == [False, True]


def test_settings_by_the_names_of_earlier_versions() -> None:
    for attack, before, now in (
        (Likelihood, "sure", "min_posterior"),
        (PaddingAttack, "groups", "classes"),
        (MembershipAttack, "rounds", "shadows"),
    ):
        text = f"{before}=…) is now called {now}"
        with pytest.warns(DeprecationWarning, match=re.escape(text)) as warned:
            assert attack(**{before: 0.5 if before == "sure" else 2}) == attack(
                **{now: 0.5 if before == "sure" else 2}
            )
        assert warned[0].filename == __file__
    with (
        pytest.warns(DeprecationWarning, match="sure"),
        pytest.raises(ConfigError, match="min_posterior = 2"),
    ):
        Likelihood(sure=2)
    with pytest.raises(TypeError, match="sure"):
        Likelihood(sure=0.5, min_posterior=0.5)
