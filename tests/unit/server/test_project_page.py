"""The studio reads `starshade.toml` where it was started, and writes one for a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from starshade.audit.dossier.context import Context
from starshade.errors import ConfigError
from starshade.project.file import parse_project
from starshade.server.jobs.store import DataRow, Store
from starshade.server.page.data import data_page
from starshade.server.page.project import first_data, project_of
from tests.unit.server.desk import FACTS

PROJECT = """\
[data]
ratings = "it.csv"
user-col = "who"
null-values = ["98", "99"]
users = "people.csv"
[release]
method = "mondrian"
k = 7
items = "top:9"
[audit]
known = [3]
limit = ["class=0.5"]
shadows = 0
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "starshade.toml").write_text(PROJECT)
    return tmp_path


def test_it_begins_with_the_ratings_of_the_file(home: Path) -> None:
    first = first_data(None)
    assert first == {
        "path": "it.csv", "user_col": "who", "null_values": ["98", "99"],
        "users": str(home / "people.csv"),
    }  # fmt: skip
    assert first_data("it.csv") == first
    assert first_data("other.csv") == {"path": "other.csv"}
    (home / "starshade.toml").unlink()
    assert first_data(None) == {}


def test_a_wrong_file_and_an_address_are_refused(home: Path) -> None:
    (home / "starshade.toml").write_text(PROJECT.replace("k = 7", "k = 1"))
    with pytest.raises(ConfigError, match="line 8"):
        first_data(None)
    (home / "starshade.toml").write_text(PROJECT.replace("it.csv", "s3://me:kiwi@b/it.csv"))
    with pytest.raises(ConfigError, match="reads only files on this machine") as caught:
        first_data(None)
    assert "kiwi" not in str(caught.value)


def stored(home: Path, source: str) -> tuple[Store, DataRow]:
    store = Store(home / "work")
    data = store.add_data("file", "it.csv", str(home / source), {})
    read = store.add_job("read", data.id, {"user_col": "who", "null_values": ["98"]})
    store.begin(read.id)
    assert store.finish(read.id, "done", result=FACTS, facts=FACTS)
    return store, store.data(data.id)


def filled(store: Store, data: DataRow) -> tuple[dict[str, object], str]:
    form = data_page(store, data).release
    return {field.name: field.value for field in form.fields}, form.intro


def test_the_form_of_a_release_says_what_the_file_says(home: Path) -> None:
    store, data = stored(home, "it.csv")
    values, intro = filled(store, data)
    assert (values["method"], values["k"], values["items"]) == ("mondrian", "7", "9")
    assert (values["known"], values["threshold"]) == ("3", "class=0.5")
    assert "from starshade.toml; this form cannot set shadows" in intro


def test_the_form_of_a_release_has_the_context_of_the_file(home: Path) -> None:
    stated = '[context]\npurpose = "Research"\nreview = 2099-06-30\n'
    (home / "starshade.toml").write_text(PROJECT + stated)
    values, _ = filled(*stored(home, "it.csv"))
    assert (values["purpose"], values["review"]) == ("Research", "2099-06-30")


def test_of_other_ratings_it_says_nothing(home: Path) -> None:
    store, data = stored(home, "other.csv")
    values, intro = filled(store, data)
    assert values["k"] == "5"
    assert "starshade.toml" not in intro


def test_a_release_has_a_file_that_says_the_same(home: Path) -> None:
    store, data = stored(home, "it.csv")
    config = {"k": 3, "attributes": "generalized", "sensitive_attributes": ['a "b"', "zip"]}
    settings = {"method": "k-exchange", "config": config, "items": "top:9", "known": [2, 4],
                "targets": 9, "threshold": ["class=0.5"], "held_out": 0.0}  # fmt: skip
    job = store.add_job("release", data.id, settings)
    project, problems = parse_project(project_of(store, data, job), {})
    assert problems == []
    assert project.data == {
        "ratings": str(home / "it.csv"), "user_col": "who", "null_values": ("98",)
    }  # fmt: skip
    told = {name: list(v) if isinstance(v, tuple) else v for name, v in project.release.items()}
    assert told == {"method": "k-exchange", "items": "top:9", **config}
    assert project.audit == {
        "policy": "partner", "known": (2, 4), "targets": 9, "threshold": ("class=0.5",)
    }  # fmt: skip
    assert project.stated == Context()
    stated = {"purpose": "Research", "release_model": "agreement"}
    job = store.add_job("release", data.id, settings | {"context": stated})
    assert parse_project(project_of(store, data, job), {})[0].stated.stated == stated
    held = store.add_job("release", data.id, settings | {"held_out": 0.1})
    assert project_of(store, data, held) == ""
