"""The tables that papers work by hand, as all of them make theirs."""

from importlib import import_module

import pytest

from tests.unit.ratings.samples import listening


@pytest.mark.parametrize("paper", ["kl", "ns", "pa", "sr"])
def test_they_do_not_tell_how_they_are_read(paper: str) -> None:
    listener, watching = listening()
    with watching:
        import_module(f"starshade.audit.reproduction.{paper}.worked").worked_tables()
    assert not [note for note in listener.notes if "table" in note]
