"""Commands that write, in processes of their own: killed at random instants, or several at once.

``python -m tests.hostile.commands kills [N]`` kills (``kill -9``), goes on, and compares with what
nobody killed. ``python -m tests.hostile.commands races [N]`` starts two or three at once: one may
win, the others must say so. Neither may leave anything beside the results.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.hostile.running import Fault, table

SECONDS = 120.0
#: what differs from run to run
_MEASURED = ("seconds", "read_seconds", "postings_per_second", "peak_rss_mb", "out")
_MANIFESTS = ("shards.json", "store.json")  # of ratings: their lineage is random


@dataclass(frozen=True)
class Command:
    """A command in a folder of its own.

    Attributes
    ----------
    words : str
    out : tuple of str
        What it writes.
    resumes : bool
        Whether it is gone on with by ``--resume``.
    exits : tuple of int
        How it may end.
    losers : tuple of int
        How those may end that come second; 0: they have nothing to lose.
    inside : str
        The folder it runs in.
    timed : tuple of str
        Patterns of the files it writes that say how long it took.
    """

    words: str
    out: tuple[str, ...] = ()
    resumes: bool = False
    exits: tuple[int, ...] = (0,)
    losers: tuple[int, ...] = (2,)
    inside: str = ""
    timed: tuple[str, ...] = ()


COMMANDS = (
    Command("data convert r.csv --shards 3 --out s", ("s",), resumes=True),
    Command("data convert r.csv.gz --shards 3 --out s", ("s",), resumes=True),
    Command("data convert r.csv --append shards --on-duplicate last --out s", ("s",), resumes=True),
    Command("data convert r.csv.gz --out t", ("t",)),
    Command(
        "anonymize shards --method predictive --k 5 --seed 1 --out rel --private key",
        ("rel", "key"),
        resumes=True,
    ),
    Command("attack shards --known 4 --seed 1", resumes=True, losers=(0,)),
    Command(
        "anonymize r.csv --method k-exchange --items top:8 --k 5 --seed 1 --out rel --private key",
        ("rel", "key"),
    ),
    Command("data split r.csv --share 0.2 --seed 1 --out a --probe b", ("a", "b")),
    Command(
        "data synth --n-users 50 --n-items 20 --n-ratings 500 --seed 1 --out y.csv", ("y.csv",)
    ),
    Command("init r.csv --yes", ("starshade.toml",)),
    Command(
        "report r.csv release --private key.json --out p.html --seed 1", ("p.html",), timed=("*",)
    ),
    Command("erase ids.txt old.json", ("old.json",), losers=(0, 2)),
    Command("run --seed 1", ("published",), losers=(0, 2), inside="project"),
    Command("demo --out d --seed 1", ("d",)),
    Command(
        "compare r.csv --methods mondrian --k 2 --targets 10 --seed 1 --out c",
        ("c",),
        timed=("README.md", "compare.*"),
    ),
    Command(
        "reproduce kl --data few.csv --most-k 2 --draws 1 --runs 1 --seed 1 --out kl",
        ("kl",),
        resumes=True,
        timed=("times*",),
    ),
    Command("reproduce compare made --out across", ("across",)),
    Command("attack r.csv --risk-list few --risk-draws 1 --targets 10 --seed 1", ("few",)),
    Command(
        "audit r.csv release --private key.json --shadows 0 --targets 20 --known 4 --seed 1 "
        "--report a.html",
        ("a.html",),
        timed=("*",),
    ),
)
AUDIT = Command(
    "audit shards srel --private skey.json --seed 1 --targets 20 --shadows 1 --known 4",
    resumes=True,
    exits=(0, 1),
    losers=(0, 1),
)

_PROJECT = """version = 2
[data]
ratings = "r.csv"
[release]
method = "k-exchange"
k = 5
items = "top:8"
[audit]
shadows = 0
[publish]
to = "published"
"""


def make(folder: Path) -> None:
    """Write what the commands read."""
    draw = random.Random(1)
    lines = ["user,item,rating"]
    lines += [
        f"u{user},{item},{draw.randint(1, 5)}"
        for user in range(600)
        for item in draw.sample(range(40), 20)
    ]
    text = "\n".join(lines)
    (folder / "r.csv").write_text(text)
    (folder / "r.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "ids.txt").write_text("u1\nu2\n")
    (folder / "few.csv").write_text("\n".join(lines[:400]))
    (folder / "project").mkdir()
    shutil.copy(folder / "r.csv", folder / "project")
    (folder / "project" / "starshade.toml").write_text(_PROJECT)
    for words in (
        "reproduce kl --data few.csv --most-k 2 --draws 1 --runs 1 --seed 1 --out made",
        "data convert r.csv --shards 2 --out shards",
        "anonymize r.csv --method k-exchange --items top:8 --k 5 --out release --private key.json",
        "anonymize shards --method predictive --k 5 --out srel --private skey.json",
    ):
        code, _, err = ended(start(words, folder))
        assert code == 0, err
    shutil.copy(folder / "key.json", folder / "old.json")


def start(words: str, folder: Path, *, resume: bool = False) -> subprocess.Popen[str]:
    """Start a command in a folder, with a place for what is temporary of its own."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    wanted = [sys.executable, "-m", "starshade", *words.split(), "--json"]
    return subprocess.Popen(
        wanted + ["--resume"] * resume,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a command; returns its exit code and what it said."""
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def result_of(command: Command, folder: Path, said: str) -> str:
    """Return the digest of what a command wrote, or else said."""
    digest = hashlib.sha256()
    for name in command.out:
        place = folder / name
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            timed = any(fnmatch(file.name, each) for each in (*_MANIFESTS, *command.timed))
            if file.is_file():
                digest.update(str(file.relative_to(folder)).encode())
            if file.is_file() and not timed:
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    if not command.out:
        digest.update(json.dumps(_unmeasured(json.loads(said)), sort_keys=True).encode())
    return digest.hexdigest()


def _unmeasured(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _unmeasured(value) for key, value in said.items() if key not in _MEASURED}
    return [_unmeasured(each) for each in said] if isinstance(said, list) else said


def left_in(folder: Path) -> list[str]:
    """List what is hidden in a folder, or temporary."""
    hidden = [path for path in folder.rglob(".*") if path.name != ".starshade"]
    return sorted(str(path.relative_to(folder)) for path in (*hidden, *folder.glob("temporary/*")))


def kill_once(command: Command, folder: Path, before: float, wanted: str) -> str:
    """Kill a command at an instant, and run it to its end; return what is wrong, or nothing."""
    folder /= command.inside
    process = start(command.words, folder)
    time.sleep(before)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    killed = process.returncode == -signal.SIGKILL
    present = [name for name in command.out if (folder / name).exists()]
    if killed and present and present != list(command.out):
        # several places are put right by the next writer to any of them
        present = []
    code, out, err = ended(start(command.words, folder, resume=command.resumes))
    complete = bool(present) and code == 2 and "already" in err
    if code not in command.exits and not complete:
        return f"exit code {code}: {err[-300:]}"
    if "Traceback" in err or "internal error" in err:
        return err[-300:]
    if result_of(command, folder, out) != wanted:
        return "another result"
    if left := left_in(folder):
        return f"left: {left}"
    return ""


def try_kills(n: int, seed: int = 1) -> tuple[Counter[str], list[Fault]]:
    """Kill so many times, command by command in turn."""
    draw = random.Random(seed)

    def once(command: Command, own: Path, seconds: float, wanted: str) -> tuple[str, str]:
        instant = draw.uniform(0.2, 1.05) * seconds
        return f"after {instant:.2f} s", kill_once(command, own, instant, wanted)

    return _in_turn(n, once)


def race_once(command: Command, folder: Path, processes: int, wanted: str) -> str:
    """Start a command several times at once; return what is wrong, or nothing."""
    folder /= command.inside
    running = [start(command.words, folder) for _ in range(processes)]
    codes, said = [], []
    for process in running:
        code, out, err = ended(process)
        codes.append(code)
        said.append(err)
        if "Traceback" in err or "internal error" in err:
            return err[-300:]
        if code in command.exits and not command.out and result_of(command, folder, out) != wanted:
            return "another answer"
    winners = [code for code in codes if code in command.exits]
    losers = [code for code in codes if code not in command.exits]
    if not winners or not set(losers) <= set(command.losers):
        return f"exit codes {codes}: {said}"
    if command.out and 0 not in command.losers and len(winners) != 1:
        return f"{len(winners)} say that they wrote"
    if command.out and result_of(command, folder, "") != wanted:
        return "another result"
    if left := left_in(folder):
        return f"left: {left}"
    return ""


def try_races(n: int, seed: int = 1) -> tuple[Counter[str], list[Fault]]:
    """Start two or three at once, so many times, command by command in turn."""
    draw = random.Random(seed)

    def once(command: Command, own: Path, _: float, wanted: str) -> tuple[str, str]:
        processes = draw.choice((2, 3))
        return f"{processes} at once", race_once(command, own, processes, wanted)

    return _in_turn(n, once)


def _in_turn(
    n: int, once: Callable[[Command, Path, float, str], tuple[str, str]]
) -> tuple[Counter[str], list[Fault]]:
    """Try commands in turn, each beside what it takes and gives when it is left alone."""
    calls, faults, commands = Counter[str](), list[Fault](), (*COMMANDS, AUDIT)
    with tempfile.TemporaryDirectory() as top:
        source = Path(top) / "source"
        source.mkdir()
        make(source)
        known: dict[str, tuple[float, str]] = {}
        for number in range(n):
            command = commands[number % len(commands)]
            if command.words not in known:
                own = _copy(source, Path(top) / "whole")
                began = time.perf_counter()
                inside = own / command.inside
                code, out, err = ended(start(command.words, inside))
                assert code in command.exits, err
                known[command.words] = time.perf_counter() - began, result_of(command, inside, out)
                shutil.rmtree(own)
            own = _copy(source, Path(top) / "own")
            calls[command.words[:42]] += 1
            how, fault = once(command, own, *known[command.words])
            if fault:
                faults.append(Fault(command.words[:42], how, fault))
            shutil.rmtree(own)
    return calls, faults


def _copy(source: Path, place: Path) -> Path:
    shutil.copytree(source, place)
    return place


if __name__ == "__main__":
    tries = {"kills": try_kills, "races": try_races}[sys.argv[1]]
    found = tries(int(sys.argv[2]) if sys.argv[2:] else {"kills": 156, "races": 60}[sys.argv[1]])
    print(table(*found))
    sys.exit(bool(found[1]))
