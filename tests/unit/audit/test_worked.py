"""The tables that papers work by hand, as all of them make theirs."""

from importlib import import_module

import pytest

from starshade.progress import watch


class Notes(list[str]):
    """Whoever watches and hears."""

    note = list.append

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None:
        pass

    def stop(self, handle: int) -> None:
        pass


@pytest.mark.parametrize("paper", ["kl", "ns", "pa", "sr"])
def test_they_do_not_tell_how_they_are_read(paper: str) -> None:
    notes = Notes()
    with watch(notes):
        import_module(f"starshade.audit.reproduction.{paper}.worked").worked_tables()
    assert not [note for note in notes if "table" in note]
