"""What the forms offer is what the classes have, and what they ask for can be done."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from starshade.anonymize.registry import ENTRIES as METHOD_ENTRIES
from starshade.attack.knowledge import Knowledge
from starshade.attack.registry import ENTRIES as ATTACK_ENTRIES
from starshade.audit.checks.policy import CHECKED
from starshade.audit.compare.compare import compare
from starshade.audit.dossier.context import Context
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError
from starshade.ratings.read import read_ratings
from starshade.ratings.select import parse_items
from starshade.ratings.synth.synth import synthesize
from starshade.registry import find
from starshade.server.ask.asking import Asking, Facts, job_settings
from starshade.server.ask.attack import ATTACK, ATTACKS
from starshade.server.ask.compare import COMPARE
from starshade.server.ask.data import MAPPING, PATH, SYNTHETIC, values_before
from starshade.server.ask.labels import address, form_values
from starshade.server.ask.release import METHODS, RELEASE
from starshade.server.forms import Sent, prefilled
from starshade.server.jobs.store import JobKind
from tests.unit.server.desk import FACTS

GROUPS = {"method": "k-exchange"}
DATED = ("scoreboard-rh", "scoreboard")  # the others look at no dates
ALL = (ATTACK, COMPARE, RELEASE, MAPPING, PATH, SYNTHETIC)


def sent(asking: Asking, facts: Facts = FACTS, **said: str | list[str]) -> Sent:
    """Send a form as it is offered, but for what is said."""
    told = {name: [value] if isinstance(value, str) else value for name, value in said.items()}
    return prefilled(asking.settings(facts), {}) | told


def settings(asking: Asking, facts: Facts = FACTS, **said: str | list[str]) -> dict[str, Any]:
    found, errors = job_settings(asking, facts, sent(asking, facts, **said))
    assert not errors
    return found


def errors(asking: Asking, facts: Facts = FACTS, **said: str | list[str]) -> dict[str, str]:
    return job_settings(asking, facts, sent(asking, facts, **said))[1]


def attack_of(told: dict[str, Any]) -> tuple[Any, Knowledge]:
    entry = find(ATTACK_ENTRIES, told["attack"], "attack")
    return entry.load()(**told["config"]), Knowledge(**told["knowledge"])


def method_of(told: dict[str, Any]) -> Any:
    items = None if told["items"] is None else parse_items(told["items"])
    Audit(known=tuple(told["known"]), targets=told["targets"])
    return find(METHOD_ENTRIES, told["method"], "method").load()(**told["config"], items=items)


def test_every_method_is_offered() -> None:
    assert set(METHODS) == set(METHOD_ENTRIES)


@pytest.mark.parametrize("name", [entry.name for entry in ATTACKS])
def test_every_attack_can_be_made_as_it_is_offered(name: str) -> None:
    attack, knowledge = attack_of(settings(ATTACK, attack=name))
    assert attack == find(ATTACK_ENTRIES, name, "attack").load()()
    assert knowledge == Knowledge(dates=name in DATED)


def test_no_dates_in_the_data_none_in_the_form() -> None:
    facts = FACTS | {"first_day": None}
    assert "day_error" not in sent(ATTACK, facts)
    assert not settings(ATTACK, facts)["knowledge"]["dates"]


def test_dates_that_are_left_empty_are_not_known() -> None:
    _, knowledge = attack_of(settings(ATTACK, day_error=""))
    assert not knowledge.knows_days


@pytest.mark.parametrize("name", [entry.name for entry in METHODS])
def test_every_method_can_be_made_as_it_is_offered(name: str) -> None:
    method = method_of(settings(RELEASE, method=name))
    assert method.k == 5
    assert getattr(method, "profile", "pooled") == "pooled"
    assert (method.items is None) == (name == "predictive")  # recommenders want them all


def filled(value: Any) -> str | list[str]:
    return value if isinstance(value, list) else str(value)


@pytest.mark.parametrize(
    ("asking", "chosen", "said", "config"),
    [
        (ATTACK, "scoreboard", {"alpha": "0.25", "theta": "0.5"}, {"alpha": 0.25, "theta": 0.5}),
        (ATTACK, "scoreboard-rh", {"d0": "30", "rho0": "", "alpha": "0.9"}, {}),
        (RELEASE, "predictive", {"factors": "5", "biases": "no"}, {"factors": 5, "biases": False}),
        (RELEASE, "predictive", {"profile": "simple", "l_predictive": "2", "l": "9"}, {"l": 2}),
        (RELEASE, "interval", {"partition": "whole", "factors": "5"}, {"partition": "whole"}),
    ],
)
def test_what_a_class_declares_has_a_field_that_says_it(
    asking: Asking, chosen: str, said: dict[str, str], config: dict[str, Any]
) -> None:
    told = settings(asking, **{asking.chooser: chosen, **said})
    usual = settings(asking, **{asking.chooser: chosen})["config"]
    assert told["config"] == usual | {k: v for k, v in said.items() if k == "profile"} | config
    again = form_values(asking.id, told)  # as “Change the settings” fills the form in
    assert settings(asking, **{k: filled(v) for k, v in again.items() if v is not None}) == told


def test_predictive_releases_may_be_of_few_items() -> None:
    told = settings(RELEASE, method="predictive", items_predictive="7", items="99")
    assert told["items"] == "top:7"


def every_choice() -> list[tuple[Asking, str, str, dict[str, str]]]:
    found = []
    for asking in (ATTACK, RELEASE):
        for setting in asking.settings(FACTS):
            beside = {asking.chooser: setting.only_for[0]} if setting.only_for else {}
            if setting.name in ("clip", "recommender"):
                beside |= {"profile": "padded"}  # of means
            if setting.name == "fake_edges":
                beside |= {"profile": "simple", "l_predictive": "2"}  # which asks for them
            found += [
                (asking, setting.name, choice.value, beside)
                for choice in setting.choices
                if setting.kind == "choice"
            ]
    return found


@pytest.mark.parametrize(("asking", "name", "value", "beside"), every_choice())
def test_every_choice_is_one_for_the_class_too(
    asking: Asking, name: str, value: str, beside: dict[str, str]
) -> None:
    told = settings(asking, **{**beside, name: value})
    if asking is ATTACK:
        attack_of(told)
    else:
        method_of(told)


@pytest.mark.parametrize("method", [entry.name for entry in METHODS])
def test_every_method_has_an_item_support(method: str) -> None:
    said = {"method": method} | ({"eps": "1"} if method in ("interval", "suppress") else {})
    assert settings(RELEASE, **said, item_support="10%")["config"]["item_support"] == "10%"
    assert "item_support" not in settings(RELEASE, **said)["config"]


@pytest.mark.parametrize(
    ("asking", "said", "at"),
    [
        (ATTACK, {"known": "0"}, "known"),
        (ATTACK, {"known": "2.5"}, "known"),
        (ATTACK, {"known": ""}, "known"),
        (ATTACK, {"wrong": "-1"}, "wrong"),
        (ATTACK, {"wrong": "9"}, "wrong"),
        (ATTACK, {"rating_error": "-0.1"}, "rating_error"),
        (ATTACK, {"rating_error": "nan"}, "rating_error"),
        (ATTACK, {"rating_error": "inf"}, "rating_error"),
        (ATTACK, {"day_error": "65535"}, "day_error"),
        (ATTACK, {"phi": "-1"}, "phi"),
        (ATTACK, {"tolerance": "-1", "attack": "label"}, "tolerance"),
        (ATTACK, {"attack": "telepathy"}, "attack"),
        (ATTACK, {"wrong_kind": "both"}, "wrong_kind"),
        (RELEASE, {"k": "1"}, "k"),
        (RELEASE, {"method": "magic"}, "method"),
        (RELEASE, {"method": "interval", "eps": "-1"}, "eps"),
        (RELEASE, {"method": "interval", "l": "1"}, "sensitive"),
        (RELEASE, {"method": "predictive", "profile": "vague"}, "profile"),
        (RELEASE, GROUPS | {"distinct": "2"}, "attributes"),
        (RELEASE, GROUPS | {"attributes": "generalized", "distinct": "2"}, "sensitive_attributes"),
        (RELEASE, {"rare_items": "eat"}, "rare_items"),
        (RELEASE, {"item_support": "101%"}, "item_support"),
        (RELEASE, GROUPS | {"attributes": "generalized", "rare_values": "keep"}, "rare_values"),
    ],
)
def test_what_a_class_refuses_is_refused_at_its_field(
    asking: Asking, said: dict[str, str], at: str
) -> None:
    message = errors(asking, **said)
    assert list(message) == [at]
    assert message[at][0].isupper() or message[at][0] == "“"
    assert message[at].endswith(".")
    assert message[at].isprintable()


@pytest.mark.parametrize("known", ["0", "2.5"])
def test_the_classes_agree(known: str) -> None:
    with pytest.raises(ConfigError):
        Knowledge(known=float(known))  # type: ignore[arg-type]
    for settings_of in ({"phi": -1.0}, {"absent": False, "phi": float("nan")}):
        with pytest.raises(ConfigError):
            find(ATTACK_ENTRIES, "scoreboard-rh", "attack").load()(**settings_of)


@pytest.mark.parametrize(
    ("asking", "said", "at", "told"),
    [
        (ATTACK, {"known": "5000"}, "known", "1,682 items"),
        (RELEASE, {"k": "944"}, "k", "943 people"),
        (RELEASE, GROUPS | {"items": "1683"}, "items", "from 1 to 1,682"),
        (RELEASE, {"known": "2, four"}, "known", "2, 5, 10"),
        (COMPARE, {"methods": ["predictive"], "held_out": "0"}, "held_out", "for example 0.1"),
        (COMPARE, {"k": "1, 5"}, "k", "from 2"),
        (COMPARE, {"k": "5000"}, "k", "943 people"),
        (COMPARE, {"k": ""}, "k", "A value is required"),
        (COMPARE, {"disclosure_weights": "0, a"}, "disclosure_weights", "from 0 to 100"),
        (COMPARE, {"disclosure_weights": "-1"}, "disclosure_weights", "from 0 to 100"),
        (COMPARE, {"k": ", ".join(map(str, range(2, 20)))}, "k", "at most 12"),
        (COMPARE, {"methods": []}, "methods", "at least one"),
        (COMPARE, {"methods": ["k-exchange", "magic"]}, "methods", "not one of the choices"),
        (SYNTHETIC, {"like": "survey", "n_ratings": "5"}, "n_ratings", "survey"),
        (SYNTHETIC, {"n_users": "0"}, "n_users", "of at least 1"),
        (SYNTHETIC, {"n_users": "1e17"}, "n_users", "of at least 1"),
        (SYNTHETIC, {"n_users": "5,0"}, "n_users", "not a whole number"),
        (SYNTHETIC, {"n_users": "1,00,000"}, "n_users", "not a whole number"),
        (SYNTHETIC, {"n_users": "1_000"}, "n_users", "not a whole number"),
        (SYNTHETIC, {"like": ["survey", "movielens-100k"]}, "like", "sent 2 times"),
        (SYNTHETIC, {"n_users": ["5", "50"]}, "n_users", "sent 2 times"),
        (ATTACK, {"outside_top": "1682"}, "outside_top", "at most 1,681"),
        (ATTACK, {"outside_top": "1680"}, "known", "at most 2 without the 1,680 most rated ones"),
        (RELEASE, GROUPS | {"known": "2, 11"}, "known", "from 1 to 10."),
        (RELEASE, {"known": ""}, "known", "for example 2, 4, 8"),
        (RELEASE, {"method": "interval", "eps": "1e20"}, "eps", "of at least 0"),
        (COMPARE, {"known": "11"}, "known", "10 items. Give at most 10"),
        (COMPARE, {"methods": ["magic"]}, "methods", "Choose one of: predictive"),
        (COMPARE, {"k": ""}, "k", "for example 2, 5, 10"),
        (PATH, {"path": ""}, "path", "beginning with / or ~"),
        (PATH, {"path": "/nowhere/at all.csv"}, "path", "/nowhere/at all.csv does not exist"),
        (PATH, {"path": "a\0b"}, "path", "character"),
        (PATH, {"path": "x" * 5000}, "path", "too long"),
        (PATH, {"path": "/" + "x" * 3000}, "path", "cannot be opened"),
        (MAPPING, {"id_col": "who"}, "id_col", "survey"),
        (MAPPING, {"users": "/nowhere"}, "users", "does not exist"),
    ],
)
def test_what_cannot_be_is_said_at_the_field(
    asking: Asking, said: dict[str, Any], at: str, told: str
) -> None:
    assert told in errors(asking, **said)[at]


def test_thousands_may_be_written_with_commas() -> None:
    assert settings(SYNTHETIC, n_users="1,000")["n_users"] == 1000
    assert settings(RELEASE, known="2, 11", items="")["known"] == [2, 11]


@pytest.mark.parametrize("people", [2, 3, 5])
def test_what_is_offered_for_tiny_data_can_be_sent_as_it_is(people: int) -> None:
    spread = dict.fromkeys(("mean", "q05", "q25", "median", "q75", "q95"), 1.0)
    tiny = FACTS | {"users": people, "items": 3, "ratings": 4, "ratings_per_user": spread}
    assert settings(ATTACK, tiny)["knowledge"]["known"] == 1
    assert max(settings(COMPARE, tiny)["k"]) <= people
    told = settings(RELEASE, tiny)
    fits = {2: ("k-exchange", 2), 3: ("k-exchange", 3), 5: ("predictive", 2)}  # two groups
    assert (told["method"], told["config"]["k"]) == fits[people]
    assert f"only {people} people" in errors(RELEASE, tiny, k="9")["k"]


def test_one_person_alone_cannot_hide() -> None:
    alone = FACTS | {"users": 1}
    for asking, name in ((RELEASE, "k"), (COMPARE, "k")):
        message = errors(asking, alone)[name]
        assert "is only 1 person in the data. A release needs" in message
        assert "at most 1" not in message


def test_a_comparison_is_asked_as_compare_takes_it() -> None:
    told = settings(COMPARE, methods=["k-exchange", "predictive", "interval"], held_out=".1")
    assert (told["eps"], told["profile"]) == (1, "pooled")
    inspect.signature(compare).bind(None, **{k: v for k, v in told.items() if k != "seed"})
    alone = settings(COMPARE)  # an ε or a profile that no method has a use for is refused there
    assert (alone["eps"], alone["profile"]) == (None, "pooled")
    weighed = settings(COMPARE, disclosure_weights="0, .2;1")
    assert weighed["disclosure_weights"] == [0, 0.2, 1]
    assert "disclosure_weights" not in settings(
        COMPARE, methods=["mondrian"], disclosure_weights="0.2"
    )


def test_reading_is_asked_as_read_ratings_takes_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("")
    said = {
        "user_col": "who", "scale": "1:5:1", "wide": "yes", "id_col": "#", "header": "no",
        "attribute_cols": "age, sex", "item_cols": 'Q1, "Sweet, or salty?"',
        "null_values": "99,", "no_dates": "yes",
        "on_duplicate": "mean", "users": str(tmp_path / "people.csv"),
    }  # fmt: skip
    told = settings(MAPPING, **said)
    assert told["attribute_cols"] == ["age", "sex"]
    assert told["item_cols"] == ["Q1", "Sweet, or salty?"]
    assert told["null_values"] == ["99"]
    assert (told["header"], told["dates"]) == (False, False)
    inspect.signature(read_ratings).bind("a.csv", **told)
    again, _ = job_settings(MAPPING, FACTS, sent(MAPPING) | values_before(told))
    assert again == told


def test_nothing_said_of_the_mapping_is_nothing_asked() -> None:
    assert settings(MAPPING) == {}


def test_made_up_data_are_asked_as_synthesize_takes_them() -> None:
    told = settings(SYNTHETIC, n_users="50", n_items="20", n_ratings="300", seed="1")
    seed = told.pop("seed")
    assert synthesize(**told, rng=seed).n_ratings == 300


def test_a_path_may_be_quoted_or_begin_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "my ratings.csv"
    file.write_text("")
    for typed in (f'"{file}"', "~/my ratings.csv", f"  {file} ", f"file://{file}"):
        assert settings(PATH, path=typed) == {"path": str(file)}


def test_a_path_is_read_where_the_system_finds_it(tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    (tmp_path / "far" / "there.csv").touch()
    (tmp_path / "other.csv").touch()
    told = settings(PATH, path=f"{tmp_path}/link/../there.csv")
    assert Path(told["path"]).samefile(tmp_path / "far" / "there.csv")
    for name in ("nope/../other.csv", "link/../other.csv"):
        assert "does not exist" in errors(PATH, path=f"{tmp_path}/{name}")["path"]


@pytest.mark.parametrize(
    ("kind", "asking", "said_first"),
    [
        ("attack", ATTACK, {}),
        ("attack", ATTACK, {"day_error": "", "ratings": "", "absent": "yes", "rating_error": ".5",
                            "phi": "2", "wrong_kind": "item", "seed": "7", "about_count": "yes"}),
        ("attack", ATTACK, {"attack": "label", "tolerance": "0.25", "known": "3"}),
        ("compare", COMPARE, {"disclosure_weights": "0, 0.2"}),
        ("compare", COMPARE, {"methods": ["predictive", "interval"], "held_out": "0.2", "eps": "2",
                              "profile": "model", "items": "", "k": "3", "seed": "1"}),
        ("release", RELEASE, {}),
        ("release", RELEASE, {"method": "suppress", "eps": "0.5", "l": "1.5", "items": "7",
                              "sensitive": "12, 50", "nulls": "ignore", "known": "1"}),
        ("release", RELEASE, {"method": "predictive", "profile": "simple", "held_out": "0.1",
                              "items_predictive": "100"}),
        ("release", RELEASE, {"attributes": "generalized", "distinct": "2", "hierarchy": "range",
                              "sensitive_attributes": ["age", "zip <code>"],
                              "rare_items": "keep", "rare_values": "blank",
                              "item_support": "10%"}),
        ("release", RELEASE, {"purpose": "Research & teaching", "review": "2099-06-30",
                              "release_model": "agreement"}),
    ],
)  # fmt: skip
def test_what_was_asked_can_be_asked_again(
    kind: JobKind, asking: Asking, said_first: dict[str, Any]
) -> None:
    told = settings(asking, **said_first)
    place = urlsplit(address(1, kind, form_values(kind, told)))
    given = parse_qs(place.query, keep_blank_values=True)
    assert given.pop("form") == [asking.id] == [place.fragment]
    assert settings(asking, **given) == told


def test_every_setting_says_what_it_is() -> None:
    for asking in ALL:
        names = [setting.name for setting in asking.settings(FACTS)]
        assert len(names) == len(set(names))
        for setting in asking.settings(FACTS):
            assert setting.label
            assert setting.help or setting.kind in ("yes-no", "choice"), setting.name
            assert not (setting.kind == "choice" and not setting.choices)


def test_policy_and_thresholds_are_asked_for_and_wrong_ones_are_refused() -> None:
    told = settings(RELEASE, policy="public", threshold="membership=20%, linkability=0.1")
    assert told["policy"] == "public"
    assert told["threshold"] == ["membership=20%", "linkability=0.1"]
    again = form_values("release", told)
    assert settings(RELEASE, **{k: filled(v) for k, v in again.items() if v is not None}) == told
    usual = settings(RELEASE)
    assert (usual["policy"], "threshold" in usual) == ("partner", False)
    (field,) = (each for each in RELEASE.settings(FACTS) if each.name == "threshold")
    for name in CHECKED:  # what each is on stands beside the field
        assert (f"{name} (" in field.help) == (name != "composition")
    for text, said in (
        ("success=0.1", "there is no check 'success'"),
        ("membership=2", "membership = '2': must be a share"),
        ("class=0.1, class-linkage=0.2", "class-linkage is set twice"),
        ("composition=0", "composition needs an earlier release"),
    ):
        assert said in errors(RELEASE, threshold=text)["threshold"]


def test_the_context_of_a_report_is_asked_for_in_a_fold() -> None:
    own = [each for each in RELEASE.settings(FACTS) if each.under.startswith("Context")]
    assert [each.name for each in own] == [each.name for each in fields(Context)]
    assert all(each.more and not each.required and "Default" not in each.help for each in own)
    told = settings(RELEASE, purpose=" Research ", release_model="agreement", review="2099-06-30")
    assert told["context"] == {
        "purpose": "Research",
        "release_model": "agreement",
        "review": "2099-06-30",
    }
    assert "context" not in settings(RELEASE)
    assert errors(RELEASE, review="next year") == {"review": "Give a date such as 2027-06-30."}
    assert "is not one of the choices" in errors(RELEASE, release_model="open")["release_model"]
