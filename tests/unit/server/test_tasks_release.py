"""What was stated on a release goes into its reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from starshade.audit.dossier.dossier import Dossier
from starshade.errors import ConfigError
from starshade.server.jobs.store import DataRow, Store
from starshade.server.tasks import read, release
from starshade.server.tasks.tasks import Order

pytest.importorskip("jinja2", reason="pip install 'starshade[report]'")
pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")

SETTINGS = {"method": "k-member", "config": {"k": 3}, "known": [1], "targets": 2, "shadows": 0}
SETTINGS |= {"seed": 1}


@pytest.fixture
def order(tmp_path: Path) -> Order:
    store = Store(tmp_path / "work")
    data = DataRow(1, "a", "synthetic", "survey", {}, 0.0)
    made_up = {"n_users": 20, "n_items": 5, "seed": 0}
    facts = read.perform(Order(1, "read", data, made_up, store.places.work)).facts
    return Order(2, "release", replace(data, facts=facts), SETTINGS, store.places.work)


def test_the_reports_have_the_context_of_the_job(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Dossier] = []

    def save(dossier: Dossier, out: Path, **more: Any) -> None:
        written.append(dossier)

    monkeypatch.setattr("starshade.report.page.save_report", save)
    stated = {"purpose": "Research", "review": "2025-01-01"}
    release.perform(replace(order, settings=SETTINGS | {"context": stated}))
    own = written[0].internal()
    assert own["context"]["purpose"]["value"] == "Research"
    assert own["context"]["recipient"]["value"] == "not stated"
    assert own["notices"][0] == "The review date 2025-01-01 has passed."


@pytest.mark.parametrize(
    ("stated", "says", "setting"),
    [
        ({"review": "soon"}, "must be a date such as 2027-06-30", "review"),
        ({"purpos": "x"}, "the context has no setting 'purpos'", None),
    ],
)
def test_a_wrong_context_is_refused_at_once(
    order: Order, stated: dict[str, str], says: str, setting: str | None
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        release.perform(replace(order, settings=SETTINGS | {"context": stated}))
    assert caught.value.setting == setting
    assert not order.places.release(order.job).exists()
