"""Parts of a study: measured once, kept for a run that goes on."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from starshade.audit.reproduction import parts as module
from starshade.audit.reproduction.parts import Parts, alone, request_of
from starshade.cli.running.studies import Asked
from starshade.errors import ConfigError, OutputError


def test_a_part_is_made_once_in_memory_and_on_disk(tmp_path):
    made = []

    def make():
        made.append(1)
        return {"a": np.arange(3), "why": np.array("refused")}

    for parts in (Parts(), Parts(tmp_path / "parts", {"seed": 1})):
        made.clear()
        first = parts.of("one", make)
        assert parts.of("one", make) is first
        assert len(made) == 1
    resumed = Parts(tmp_path / "parts", {"seed": 1})
    again = resumed.of("one", make)
    assert len(made) == 1
    assert resumed.times(str.upper) == parts.times(str.upper)
    assert [*resumed.times(str.upper)] == ["ONE"]
    assert resumed.times(lambda name: "") == {}
    assert set(again) == {"a", "why"}
    assert again["a"].tolist() == [0, 1, 2]
    assert str(again["why"]) == "refused"


def test_parts_of_another_request_are_refused(tmp_path):
    Parts(tmp_path / "parts", {"seed": 1})
    with pytest.raises(ConfigError, match="parts of another run"):
        Parts(tmp_path / "parts", {"seed": 2})


def test_the_folder_names_no_item(tmp_path):
    request = {"data": "f00d", "seed": 1, "sensitive": ["film-17"], "top": 20}
    Parts(tmp_path / "parts", request)
    text = (tmp_path / "parts" / "request.json").read_text()
    assert "film" not in text
    assert "f00d" not in text
    Parts(tmp_path / "parts", request)
    with pytest.raises(ConfigError, match="unlike this one in sensitive\n") as refused:
        Parts(tmp_path / "parts", request | {"sensitive": ["film-18"]})
    assert "film" not in str(refused.value)
    with pytest.raises(ConfigError, match="unlike this one in data\n"):
        Parts(tmp_path / "parts", request | {"data": "beef", "top": 7})


def test_studies_share_a_folder_and_no_part(tmp_path):
    parts = Parts(tmp_path / "parts", {"seed": 1})
    for value, key in enumerate(("kl", "ns")):
        parts.within(key).of("one", lambda value=value: {"a": np.array(value)})
    again = Parts(tmp_path / "parts", {"seed": 1})
    found = [again.within(key).of("one", dict)["a"].item() for key in ("kl", "ns")]
    assert found == [0, 1]


def test_what_is_no_part_is_not_removed(tmp_path):
    parts = Parts(tmp_path / "parts", {"seed": 1})
    parts.of("one", lambda: {"a": np.array(1)})
    assert request_of(tmp_path / "parts") == {"seed": 1}
    (tmp_path / "parts" / "letter.txt").write_text("dear")
    parts.remove()
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["letter.txt"]
    assert request_of(tmp_path / "parts") is None
    Parts().remove()


@pytest.mark.parametrize("keep", [0, 10, 120, -1])
def test_a_damaged_part_is_made_again(tmp_path, keep):
    folder = tmp_path / "parts"
    Parts(folder, {}).of("one", lambda: {"a": np.arange(99)})
    (part,) = folder.glob("*.part")
    whole = part.read_bytes()
    part.write_bytes(whole[:keep] if keep >= 0 else whole[:200] + b"\x7f" + whole[201:])
    again = Parts(folder, {}).of("one", lambda: {"a": np.arange(3)})
    assert again["a"].tolist() == [0, 1, 2]
    assert Parts(folder, {}).of("one", dict)["a"].tolist() == [0, 1, 2]


def test_a_part_under_another_s_name_is_made_again(tmp_path):
    parts = Parts(tmp_path / "parts", {})
    for value, name in enumerate("ab"):
        parts.of(name, lambda value=value: {"a": np.array(value)})
    one, two = (tmp_path / "parts").glob("*.part")
    one.write_bytes(two.read_bytes())
    again = Parts(tmp_path / "parts", {})
    found = [again.of(name, lambda: {"a": np.array(7)})["a"].item() for name in "ab"]
    assert sorted(found) in ([0, 7], [1, 7])


def test_a_part_that_another_user_wrote_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    Parts(tmp_path / "parts", {}).of("one", lambda: {"a": np.array(0)})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    found = Parts(tmp_path / "parts", {}).of("one", lambda: {"a": np.array(7)})
    assert found["a"].item() == 7


def test_two_runs_share_no_folder(tmp_path):
    Parts(tmp_path / "parts", {})
    with (
        alone(tmp_path / "parts"),
        pytest.raises(OutputError, match="another run is using it"),
        alone(tmp_path / "parts"),
    ):
        pass
    with alone(tmp_path / "parts"):
        pass


def asked(out: Any) -> Asked:
    run: Any = SimpleNamespace(seed=1)
    return Asked("kl", None, str(out), 1, False, None, run)  # type: ignore[arg-type]


def test_a_run_that_is_second_leaves_the_parts_of_the_first(tmp_path):
    with asked(tmp_path / "out").parts(None, {}) as parts:
        with (
            pytest.raises(OutputError, match="another run is using it"),
            asked(tmp_path / "out").parts(None, {}),
        ):
            pass
        assert parts.of("one", lambda: {"a": np.array(1)})["a"] == 1
    assert not (tmp_path / "out.parts").exists()


def test_a_run_that_is_second_begins_nothing_where_the_first_has_ended(tmp_path, monkeypatch):
    begin = module._begin

    def later(folder, request):
        begin(folder, request)
        (tmp_path / "out").mkdir()  # by the first, which removes its parts

    monkeypatch.setattr(module, "_begin", later)
    with (
        pytest.raises(OutputError, match="exists already"),
        asked(tmp_path / "out").parts(None, {}),
    ):
        pytest.fail("it has begun")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
