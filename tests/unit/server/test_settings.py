import pytest

from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.attack.knowledge import Knowledge
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.errors import ConfigError
from starshade.registry import find
from starshade.server.settings import built, checked


@pytest.mark.parametrize("entry", [*ATTACKS, *METHODS], ids=lambda entry: entry.name)
def test_every_attack_and_method_can_be_made(entry):
    cls = entry.load()
    needed = {"k": 5, "eps": 1}
    asked = {key: needed[key] for key in needed.keys() & entry.names}
    made = built(cls, entry.name, asked)
    assert isinstance(made, cls)
    assert {name: getattr(made, name) for name in asked} == asked


def test_what_is_left_alone_has_its_default():
    asked = {"known": 4, "dates": False}
    assert built(Knowledge, "knowledge", asked) == Knowledge(known=4, dates=False)


def test_an_unknown_setting_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="'knwon'") as refused:
        built(Knowledge, "knowledge", {"knwon": 4})
    assert "known, wrong, wrong_kind" in refused.value.advice
    assert refused.value.advice.endswith("Did you mean known?")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"known": "many"}, "known = 'many': must be a whole number"),
        ({"wrong_kind": "day"}, "wrong_kind = 'day': must be value or item"),
        ({"except_items": 3}, "except_items = 3: must be a list of texts"),
        ({"known": None}, "known = None: must be"),
        ({"known": 0}, "known = 0: must be"),
    ],
)
def test_values_of_another_kind_are_refused(values, said):
    with pytest.raises(ConfigError, match=said):
        built(Knowledge, "knowledge", values)


def test_ids_in_a_list_are_not_named():
    with pytest.raises(ConfigError) as refused:
        built(Knowledge, "knowledge", {"except_items": ["secret-item", {"a": 1}]})
    assert "secret" not in str(refused.value)


def test_a_missing_k_is_said():
    method = find(METHODS, "k-likeness", "method").load()
    with pytest.raises(ConfigError, match="k is missing"):
        built(method, "the method k-likeness", {})


def test_what_is_set_in_another_way_is_not_among_the_settings():
    method = find(METHODS, "k-likeness", "method").load()
    assert built(method, "m", {"k": 3}, items=None).items is None
    with pytest.raises(ConfigError, match="'items'"):
        built(method, "m", {"k": 3, "items": "top:4"}, items=None)


def test_settings_that_are_no_names_are_refused():
    with pytest.raises(ConfigError, match="given by name"):
        checked("an attack", [1, 2], {"known": int})
