"""Parts of a study: measured once, kept for a run that goes on."""

import numpy as np
import pytest

from starshade.audit.reproduction.parts import Parts
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
