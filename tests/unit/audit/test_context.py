"""The context of a release: what its owner states, and in which report it stands."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from starshade import Audit, Context, KMember
from starshade.audit.dossier.context import INTERNAL, NOT_STATED
from starshade.audit.dossier.dossier import Dossier, compile_dossier
from starshade.errors import ConfigError
from starshade.ratings.synth.synth import synthesize
from starshade.setting import settings_of

NAMES = [
    "purpose",
    "release_model",
    "recipient",
    "other_data",
    "controls",
    "custodian",
    "responsible",
    "direct_identifiers",
    "review",
    "complaints",
]


def test_every_setting_has_a_row_in_its_order() -> None:
    assert [each.name for each in settings_of(Context)] == NAMES == list(Context().rows)
    assert {row["value"] for row in Context().rows.values()} == {NOT_STATED}
    assert all(row["title"] for row in Context().rows.values())
    assert list(Context().public_rows) == [name for name in NAMES if name not in INTERNAL]


def test_what_is_stated_stands_in_its_row() -> None:
    context = Context(purpose=" A \n study ", recipient="  ", release_model="public")
    assert context.stated == {"purpose": "A study", "release_model": "public"}
    assert context.rows["purpose"]["value"] == "A study"
    assert context.rows["recipient"]["value"] == NOT_STATED
    assert context.rows["release_model"]["value"].startswith("public: ")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("purpose", 3, "purpose = 3: must be a text"),
        ("release_model", "open", "must be public, agreement or controlled"),
        ("review", "next year", "review = 'next year': must be a date such as 2027-06-30"),
    ],
)
def test_what_is_no_value_is_refused(name: str, value: Any, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Context(**{name: value})
    assert says in caught.value.message


def test_a_review_date_that_has_passed_is_a_notice() -> None:
    today = datetime.date.today()
    assert Context(review=str(today)).notices == []
    assert Context(review="2025-01-01").notices == ["The review date 2025-01-01 has passed."]
    day: Any = datetime.date(2025, 1, 1)
    assert Context(review=day) == Context(review="2025-01-01")


@pytest.fixture(scope="module")
def dossier(tmp_path_factory: pytest.TempPathFactory) -> Dossier:
    folder: Path = tmp_path_factory.mktemp("context")
    ratings = synthesize(n_users=30, n_items=8, n_ratings=150, rng=0)
    KMember(k=3).anonymize(ratings, rng=0).save(folder / "out", private=folder / "out.json")
    stated = dict.fromkeys(NAMES, "words of the owner")
    context = Context(**stated | {"release_model": "agreement", "review": "2025-01-01"})  # type: ignore[arg-type]
    return compile_dossier(
        ratings,
        folder / "out",
        private=folder / "out.json",
        audit=Audit(known=(1,), targets=2, shadows=0),
        context=context,
        notices=["The acceptance of membership expired on 2025-01-01."],
        rng=0,
    )


def test_both_reports_have_the_context_and_the_notices(dossier: Dossier) -> None:
    own, public = dossier.internal(), dossier.public()
    assert list(own["context"]) == NAMES
    assert own["context"]["controls"] == {
        "title": "Controls at the recipient",
        "value": "words of the owner",
    }
    assert NOT_STATED not in str(own["context"])
    assert (
        own["notices"]
        == public["notices"]
        == [
            "The acceptance of membership expired on 2025-01-01.",
            "The review date 2025-01-01 has passed.",
        ]
    )


def test_what_would_help_an_adversary_is_internal(dossier: Dossier) -> None:
    own, public = dossier.internal()["context"], dossier.public()["context"]
    assert own.keys() - public.keys() == set(INTERNAL)
    assert all(public[name] == own[name] for name in public)
