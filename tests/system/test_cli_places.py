"""Where commands write: there, and all of it or nothing, whatever comes between."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.system.conftest import Demo, Made, call, refused, told

Shell = Callable[..., "subprocess.CompletedProcess[str]"]

WRITERS = [
    "anonymize RATINGS --k 3 --out PLACE",
    "anonymize RATINGS --k 3 --out free --private PLACE",
    "data convert RATINGS --out PLACE",
    "data split RATINGS --out PLACE --probe free",
    "data split RATINGS --out free --probe PLACE",
    "data synth --out PLACE",
    "data describe RATINGS --log-file PLACE",
    "attack RATINGS --risk-list PLACE",
    "audit RATINGS RELEASE --report PLACE",
    "report RATINGS RELEASE --out PLACE",
    "report RATINGS RELEASE --out free --pdf PLACE",
    "report RATINGS RELEASE --out free --risk-list PLACE",
    "compare RATINGS --out PLACE",
    "reproduce ns --data RATINGS --out PLACE",
    "reproduce pa --data RATINGS --out PLACE",
    "reproduce kl --out PLACE",
    "reproduce sr --out PLACE",
    "reproduce all --out PLACE",
    "demo --out PLACE",
]


def filled(command: str, place: str, ratings: Path, made: Made) -> list[str]:
    named = {"RATINGS": str(ratings), "RELEASE": str(made.folder), "PLACE": place}
    return [named.get(word, word) for word in command.split()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: empty but for a link to ``far/deep``, from which up is ``far``."""
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "far" / "deep")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("command", WRITERS)
def test_up_from_a_folder_that_is_not_there(
    command: str, here: Path, ratings_csv: Path, made: Made
) -> None:
    said = refused(*filled(command, "nope/../x", ratings_csv, made))
    assert "nope/.. does not exist" in said
    assert "nope/../x: " in said
    assert [path.name for path in here.iterdir()] == ["link"]


def test_nothing_is_left_where_the_command_fails(ratings_csv: Path, here: Path) -> None:
    refused("anonymize", ratings_csv, "--k", 3, "--out", "nope/../x1", "--private", "x1.json")
    assert [path.name for path in here.iterdir()] == ["link"]


def test_up_from_a_link_is_where_it_leads(ratings_csv: Path, here: Path) -> None:
    far = here.parent / "far"
    found = told(
        *("anonymize", ratings_csv, "--k", 3, "--out", "link/../x1", "--private", "link/x1.json")
    )
    assert found["out"] == "link/../x1"
    assert (here / found["out"] / "release.json").is_file()
    assert sorted(path.name for path in far.iterdir()) == ["deep", "x1"]
    assert [path.name for path in (far / "deep").iterdir()] == ["x1.json"]
    assert [path.name for path in here.iterdir()] == ["link"]
    refused("anonymize", ratings_csv, "--k", 3, "--out", far / "x1")
    audit = ("audit", ratings_csv, found["out"], "--private", "link/x1.json", "--targets", 20)
    assert told(*audit, "--shadows", 0, code=1)["utility"]["users_deleted"] == 0


def test_a_demo_lies_beside_its_reports(demo: Demo) -> None:
    pytest.importorskip("vl_convert")
    assert sorted(path.name for path in (demo.folder / "far").iterdir()) == [
        *("deep", "x", "x-report-public.html", "x-report.html"),
    ]
    here = demo.folder / "here"
    assert all((here / report).is_file() for report in demo.found["reports"])
    assert [path.name for path in here.iterdir()] == ["link"]


KILLED = """
import os, signal, sys
true, left = os.rename, int(sys.argv[1])
def rename(*names, **more):
    global left
    if ".tmp-" in str(names[0]):
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
    true(*names, **more)
os.rename = rename
from starshade.cli import main
main(sys.argv[2:])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "whole"),
    [
        ("anonymize RATINGS --k 3 --seed 1 --out a --private b", 2),
        ("anonymize RATINGS --k 3 --seed 1 --out a --private far/b", 2),
        ("data split RATINGS --seed 1 --out a --probe b", 2),
        ("data split RATINGS --seed 1 --out a.csv --probe far/b.csv", 2),
        ("data convert RATINGS --users PEOPLE --out a.csv", 2),
        ("data split RATINGS --users PEOPLE --seed 1 --out a.csv --probe b.csv", 4),
    ],
)
def test_killed_between_two_renames_the_same_command_begins_anew(
    command: str,
    whole: int,
    ratings_csv: Path,
    people_csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far").mkdir()
    named = {"RATINGS": str(ratings_csv), "PEOPLE": str(people_csv)}
    words = [named.get(word, word) for word in command.split()]
    for renames in range(1, whole):
        killed = [sys.executable, "-c", KILLED, str(renames), *words]
        assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
        assert len(visible(tmp_path)) == renames
    done = call(*words)
    assert done.exit_code == 0, done.stderr
    assert len(visible(tmp_path)) == whole
    assert not list(tmp_path.rglob(".*"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "exists already" in refused(*words)
    assert {path: path.read_bytes() for path in before} == before


def visible(folder: Path) -> list[Path]:
    """Return what was written and has its name."""
    found = [*folder.iterdir(), *(folder / "far").iterdir()]
    return [path for path in found if path.name != "far" and path.name[0] != "."]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_unpacked_rows_do_not_outlive_a_killed_command(
    tmp_path: Path, shell: Shell, number: signal.Signals
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    packed = tmp_path / "big.csv.gz"
    row = b"".join(b"%d,%d,3\n" % (user, user % 97) for user in range(100_000))
    with gzip.open(packed, "wb", compresslevel=1) as file:
        file.write(b"user,item,rating\n")
        for _ in range(30):
            file.write(row)
    with subprocess.Popen(
        [sys.executable, "-m", "starshade", "data", "describe", str(packed), "--quiet"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while not any(path.is_file() and path.stat().st_size for path in temporary.rglob("*")):
            assert process.poll() is None
            time.sleep(0.002)
        process.send_signal(number)
    left = [path for path in temporary.rglob("*") if path.is_file()]
    assert bool(left) == (number == signal.SIGKILL)
    assert shell("list", "methods", env={"TMPDIR": str(temporary)}).returncode == 0
    assert list(temporary.iterdir()) == []


def packed(kind: str, folder: Path, content: str) -> Path:
    """Write text in one of the forms that are unpacked before they are read."""
    path = folder / f"ratings.{kind}"
    raw = content.encode()
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ratings.csv", raw)
    elif kind == "utf16":
        path.write_bytes(content.encode("utf-16"))
    elif kind == "zst":
        import pyarrow as pa

        with pa.output_stream(path, compression="zstd") as file:
            file.write(raw)
    else:
        opener = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind]
        path.write_bytes(opener(raw))
    return path


KINDS = ["gz", "bz2", "xz", "zst", "zip", "utf16"]


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder with room for 256 kB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def rows(count: int) -> str:
    return "user,item,rating\n" + "".join(f"{n},{n % 97},{n % 5 + 1}\n" for n in range(count))


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_temporary_folder_is_not_blamed_on_the_input(
    kind: str, tiny: Path, tmp_path: Path
) -> None:
    path = packed(kind, tmp_path, rows(100_000))
    said = refused("data", "describe", path)
    assert f"{tiny}: the temporary folder has no space left" in said
    assert "MB free" in said
    assert "TMPDIR" in said
    assert path.name not in said
    assert list(tiny.iterdir()) == []
    assert call("data", "describe", packed(kind, tmp_path, rows(1000))).exit_code == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_too_large_for_the_temporary_folder(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(kind, tmp_path, rows(100_000))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        said = refused("data", "describe", path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert f"{temporary}: the temporary folder cannot be written to: File too large" in said
    assert list(temporary.iterdir()) == []


def test_what_is_printed_names_the_place_as_it_was_named(ratings_csv: Path, here: Path) -> None:
    found = json.loads(call("data", "convert", ratings_csv, "--out", "./x", "--json").stdout)
    assert found["out"] == "./x"
    assert (here / "x" / "store.json").is_file()
