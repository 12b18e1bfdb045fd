"""What somebody brought is read as it stood at one moment."""

from __future__ import annotations

import os
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from starshade.errors import InputError
from starshade.ratings import read
from starshade.server.jobs.store import DataRow
from starshade.server.tasks.read import perform
from starshade.server.tasks.tasks import Order


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("how", ["longer", "replaced", "written to", "removed"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, folder: bool
) -> None:
    source = tmp_path / "folder" if folder else tmp_path / "ratings.csv"
    if folder:
        source.mkdir()
    file = source / "ratings.csv" if folder else source
    file.write_text("user,item,rating\n1,2,3\n2,2,4\n")
    reading = read._read

    @wraps(reading)
    def meanwhile(*arguments: Any, **options: Any) -> Any:
        found = reading(*arguments, **options)
        if how == "longer":
            file.write_text(file.read_text() + "5,2,3\n")
        elif how == "replaced":
            other = tmp_path / "other"
            other.write_bytes(file.read_bytes())
            os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
            other.replace(file)
        elif how == "written to":
            os.utime(file, ns=(0, 0))
        else:
            file.unlink()
        return found

    monkeypatch.setattr(read, "_read", meanwhile)
    data = DataRow(1, "a", "file", str(source), {}, 0.0)
    with pytest.raises(InputError, match="changed while it was read"):
        perform(Order(1, "read", data, {}, tmp_path / "work"))
