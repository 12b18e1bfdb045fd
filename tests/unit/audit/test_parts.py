"""Parts of a study: measured once, kept for a run that goes on."""

import numpy as np
import pytest

from starshade.audit.reproduction.parts import Parts, request_of
from starshade.errors import ConfigError


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
    again = Parts(tmp_path / "parts", {"seed": 1}).of("one", make)
    assert len(made) == 1
    assert again["a"].tolist() == [0, 1, 2]
    assert str(again["why"]) == "refused"


def test_parts_of_another_request_are_refused(tmp_path):
    Parts(tmp_path / "parts", {"seed": 1})
    with pytest.raises(ConfigError, match="parts of another run"):
        Parts(tmp_path / "parts", {"seed": 2})


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
def test_a_damaged_part_is_refused(tmp_path, keep):
    folder = tmp_path / "parts"
    Parts(folder, {}).of("one", lambda: {"a": np.arange(99)})
    (part,) = folder.glob("*.npz")
    whole = part.read_bytes()
    part.write_bytes(whole[:keep] if keep >= 0 else whole[:200] + b"\x7f" + whole[201:])
    with pytest.raises(ConfigError, match=r"\.npz: a finished part is damaged"):
        Parts(folder, {}).of("one", dict)
