import pytest

from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.attack.knowledge import Knowledge
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.errors import ConfigError
from starshade.registry import find
from starshade.server.settings import built, checked, hints_of


@pytest.mark.parametrize("entry", [*ATTACKS, *METHODS], ids=lambda entry: entry.name)
def test_every_attack_and_method_can_be_made(entry):
    cls = entry.load()
    needed = {"k": "5", "eps": "1"}
    made = built(cls, entry.name, {key: needed[key] for key in needed.keys() & hints_of(cls)})
    assert isinstance(made, cls)
    for field in needed.keys() & hints_of(cls):
        if entry in METHODS:
            assert getattr(made, field) == float(needed[field])


def test_numbers_may_be_text_and_what_is_left_alone_has_its_default():
    assert built(Knowledge, "knowledge", {"known": "4", "dates": False}) == Knowledge(
        known=4, dates=False
    )


def test_an_unknown_setting_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="'knwon'") as refused:
        built(Knowledge, "knowledge", {"knwon": 4})
    assert "known, wrong, wrong_kind" in refused.value.advice
    assert refused.value.advice.endswith("Did you mean known?")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"known": "many"}, "known 'many' should be a valid integer"),
        ({"wrong_kind": "day"}, "wrong_kind 'day' should be 'value' or 'item'"),
        ({"except_items": 3}, "except_items 3 should be"),
        ({"known": None}, "known should be a valid integer"),
        ({"known": 0}, "known 0"),  # in range is the class's own to say
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
    with pytest.raises(ConfigError, match="have names"):
        checked("an attack", [1, 2], {"known": int})
