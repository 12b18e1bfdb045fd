"""Partitioned stores at the command line; a killed command resumes with --resume."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from starshade.ratings.read import read_ratings
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.write import write_ratings
from tests.system.conftest import call
from tests.unit.ratings.test_store import assert_same

MEASURED = {"seconds", "read_seconds", "postings_per_second"}
STARSHADE = [sys.executable, "-m", "starshade"]


def said(*arguments: str, code: int = 0) -> tuple[dict[str, object], str]:
    """Run a command; return its JSON without what was measured of the run, and its stderr."""
    done = call(*arguments, "--json")
    assert done.exit_code == code, done.stderr
    told = json.loads(done.stdout) if done.stdout else {}
    return {key: value for key, value in told.items() if key not in MEASURED}, done.stderr


def seconds_of(*arguments: str, code: int = 0) -> float:
    """Run a command in a process of its own; return how long it takes."""
    began = time.perf_counter()
    done = subprocess.run([*STARSHADE, *arguments, "--json"], capture_output=True)
    assert done.returncode == code, done.stderr
    return time.perf_counter() - began


def answers(shards: str) -> int:
    """Count the answers of shards that a run has kept."""
    return len(list(Path(shards).glob(".journal-*/*.npz")))


def killed(delay: float, *arguments: str, once: str | None = None) -> bool:
    """Start a command and kill it after some seconds; tell whether it was still at work.

    `once`: the shards that must have answered first.
    """
    with subprocess.Popen(
        [*STARSHADE, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        while once and process.poll() is None and not answers(once):
            time.sleep(0.02)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return process.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ratings") / "r.parquet"
    write_ratings(synthesize(n_users=400, n_items=30, n_ratings=5000, rng=1), path)
    return path


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough ratings for a command to be killed in the middle."""
    path = tmp_path_factory.mktemp("long") / "r.parquet"
    write_ratings(synthesize(n_users=4000, n_items=300, n_ratings=200_000, rng=1), path)
    return path


ATTACK = ("--known", "4", "--wrong", "1", "--targets", "400", "--absent", "--seed", "1")


@pytest.mark.slow
def test_an_attack_that_is_killed_goes_on(long_file: Path, tmp_path: Path) -> None:
    whole, shards = str(tmp_path / "whole"), str(tmp_path / "shards")
    said("data", "convert", str(long_file), "--out", whole)
    written, _ = said("data", "convert", str(long_file), "--out", shards, "--shards", "6")
    assert written["shards"] == 6
    assert_same(read_ratings(shards), read_ratings(whole))
    one_table, _ = said("attack", whole, *ATTACK)
    by_shard, _ = said("attack", shards, *ATTACK)
    assert by_shard == one_table
    lasts = seconds_of("attack", shards, *ATTACK)
    rng = random.Random(0)
    killed(0, "attack", shards, *ATTACK, "--resume", once=shards)
    left = [answers(shards)]
    assert left[0] > 0
    for delay in [rng.uniform(0.3, 1.0) * lasts for _ in range(5)]:
        killed(delay, "attack", shards, *ATTACK, "--resume")
        left.append(answers(shards))
    resumed, told = said("attack", shards, *ATTACK, "--resume")
    assert resumed == one_table
    if left[-1]:
        assert "resuming from" in told
    assert not list(Path(shards).glob(".journal-*"))


def made(out: Path) -> dict[str, bytes]:
    """What a release and its receipt hold."""
    files = [*sorted(out.iterdir()), out.with_suffix(".json")]
    return {file.name.removeprefix(out.name): file.read_bytes() for file in files}


def anonymize(source: str, out: Path, *more: str) -> tuple[str, ...]:
    receipt = str(out.with_suffix(".json"))
    settings = ("--method", "predictive", "--k", "20", "--seed", "1", *more)
    return ("anonymize", source, *settings, "--out", str(out), "--private", receipt)


def test_a_release_of_one_shard_is_that_of_one_table(file: Path, tmp_path: Path) -> None:
    shards = str(tmp_path / "shards")
    said("data", "convert", str(file), "--out", shards, "--shards", "1")
    by_shard, _ = said(*anonymize(shards, tmp_path / "f"))
    as_one, told = said(*anonymize(shards, tmp_path / "w", "--items", "top:30"))
    assert "30 items" in told  # an option that chooses what is read: one table
    differ = {key for key in by_shard if by_shard[key] != as_one[key]}
    assert differ <= {"peak_rss_mb", "out"}
    for name in ("profiles.parquet", "records.parquet", "items.parquet"):
        assert (tmp_path / "f" / name).read_bytes() == (tmp_path / "w" / name).read_bytes()


def test_who_is_in_a_release_is_asked_shard_by_shard(tmp_path: Path) -> None:
    file, whole, shards = (str(tmp_path / name) for name in ("r.parquet", "whole", "shards"))
    write_ratings(synthesize(n_users=300, n_items=40, n_ratings=5_000, rng=1), Path(file))
    said("data", "convert", file, "--out", whole)
    said("data", "convert", file, "--out", shards, "--shards", "1")
    release, few = tmp_path / "made", tmp_path / "few"
    said(*anonymize(shards, release))
    asked = ("--private", str(release.with_suffix(".json")), "--seed", "1")
    attack = ("attack", str(release), *asked, "--attack", "membership", "--shadows", "1")
    by_shard, _ = said(*attack, "--original", shards, "--engine", "local")
    assert by_shard == said(*attack, "--original", whole)[0]
    audit = (str(release), *asked, "--shadows", "1", "--targets", "50")
    judged, _ = said("audit", shards, *audit, "--engine", "local", code=4)
    of_one_table, _ = said("audit", whole, *audit, code=4)
    assert judged["verdict"] == of_one_table["verdict"] == "INCOMPLETE"  # 1 shadow release of 16
    assert all(judged[name] == of_one_table[name] for name in ("findings", "checks", "pass"))
    said(*anonymize(whole, few, "--profile", "simple", "--min-raters", "2"))
    asked = ("--original", shards, "--private", str(few.with_suffix(".json")), "--seed", "1")
    attack = ("attack", str(few), *asked, "--attack", "membership", "--shadows", "1")
    _, told = said(*attack, "--engine", "local", code=2)
    assert "shadow releases need one table (--min-raters)" in told
    assert said(*attack)[0]["attack"] == "membership"


@pytest.mark.slow
def test_a_store_passes_by_its_figures(tmp_path: Path) -> None:
    """Audit and report make the shadow releases of the store."""
    file, shards, release, key = (
        str(tmp_path / name) for name in ("r.parquet", "s", "made", "key")
    )
    write_ratings(synthesize(n_users=1_200, n_items=150, n_ratings=48_000, rng=1), Path(file))
    said("data", "convert", file, "--out", shards, "--shards", "3")
    said("anonymize", shards, "--k", "10", "--seed", "1", "--out", release, "--private", key)
    judged, _ = said("audit", shards, release, "--private", key, "--seed", "1")
    assert judged["verdict"] == "PASS"
    decided = {each["name"]: each["status"] for each in judged["checks"] if each["threshold"]}
    assert set(decided.values()) == {"pass"}
    assert "singling-out" in decided
    out = ("--out", str(tmp_path / "report.html"))
    reported, _ = said("report", shards, release, "--private", key, "--seed", "1", *out)
    assert reported["verdict"] == "PASS"


CHECK = ("--model", "k-eps", "--k", "4", "--eps", "1", "--nulls", "zero", "--full")


@pytest.mark.slow
def test_a_check_that_is_killed_goes_on(tmp_path: Path) -> None:
    file, whole, shards = (str(tmp_path / name) for name in ("r.parquet", "whole", "shards"))
    write_ratings(synthesize(n_users=20_000, n_items=12, n_ratings=80_000, rng=1), Path(file))
    said("data", "convert", file, "--out", whole)
    said("data", "convert", file, "--out", shards, "--shards", "6")
    one_table, _ = said("check", whole, *CHECK, code=1)
    by_shard, _ = said("check", shards, *CHECK, code=1)
    assert by_shard == one_table
    lasts = seconds_of("check", shards, *CHECK, code=1)
    rng = random.Random(2)
    killed(0, "check", shards, *CHECK, "--resume", once=shards)
    left = [answers(shards)]
    assert left[0] > 0
    for delay in [rng.uniform(0.3, 1.0) * lasts for _ in range(4)]:
        killed(delay, "check", shards, *CHECK, "--resume")
        left.append(answers(shards))
    resumed, told = said("check", shards, *CHECK, "--resume", code=1)
    assert resumed == one_table
    if left[-1]:
        assert "resuming from" in told
    assert not list(Path(shards).glob(".journal-*"))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (("k-m", "--k", "2", "--m", "2"), "with --m 2"),
        (("l-diversity", "--l", "2", "--attribute", "job"), "with the model l-diversity"),
        (("k-eps", "--k", "2", "--eps", "1", "--graph"), "with --graph"),
        (("k-eps", "--k", "2", "--eps", "1", "--groups", "clique"), "with --groups clique"),
    ],
)
def test_what_is_checked_as_one_table_says_so(
    file: Path, tmp_path: Path, model: tuple[str, ...], why: str
) -> None:
    shards = str(tmp_path / "shards")
    said("data", "convert", str(file), "--out", shards, "--shards", "2")
    _, told = said("check", shards, "--model", *model, "--resume", code=2)
    assert f"--resume: not applicable {why}" in " ".join(told.split())


def test_a_shard_that_is_missing_is_named(file: Path, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    said("data", "convert", str(file), "--out", str(shards), "--shards", "3")
    (shards / "shard-00001").rename(tmp_path / "away")
    _, told = said("check", str(shards), "--model", "review-graph", "--k", "2", code=2)
    assert "shard-00001: this partition is missing" in " ".join(told.split())


@pytest.mark.slow
def test_a_release_that_is_killed_goes_on_to_the_same_bytes(
    long_file: Path, tmp_path: Path
) -> None:
    shards = str(tmp_path / "shards")
    said("data", "convert", str(long_file), "--out", shards, "--shards", "5")
    lasts = seconds_of(*anonymize(shards, tmp_path / "whole", "--threads", "1"))
    rng = random.Random(2)
    assert killed(0, *anonymize(shards, tmp_path / "r", "--resume"), once=shards)
    assert answers(shards) > 0
    for turn in range(7):
        out = tmp_path / f"r{turn}"
        killed(rng.uniform(0.2, 1.0) * lasts, *anonymize(shards, out, "--resume"))
        assert out.exists() == out.with_suffix(".json").exists()
    said(*anonymize(shards, tmp_path / "resumed", "--resume"))
    assert made(tmp_path / "resumed") == made(tmp_path / "whole")
    assert not list(Path(shards).glob(".journal-*"))


@pytest.mark.slow
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_a_conversion_that_is_killed_goes_on_or_begins_anew(
    long_file: Path, tmp_path: Path, resume: tuple[str, ...]
) -> None:
    convert = ("data", "convert", str(long_file), "--out", str(tmp_path / "s"), "--shards", "5")
    lasts = seconds_of(*convert)
    whole = read_ratings(tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / "kept")
    rng = random.Random(1)
    for _ in range(4):
        killed(rng.uniform(0.3, 1.0) * lasts, *convert, *resume)
        if (tmp_path / "s").exists():  # all of it was there already
            assert_same(read_ratings(tmp_path / "s"), whole)
            (tmp_path / "s").rename(tmp_path / f"done-{time.monotonic_ns()}")
    said(*convert, *resume)
    assert_same(read_ratings(tmp_path / "s"), whole)
    assert not [name for name in os.listdir(tmp_path) if name.startswith((".tmp-s-", ".runs-s-"))]


#: runs a command that dies at a function's first call after its result is in place
DYING = """
import importlib, os, signal, sys
module, name, out = sys.argv[1:4]
where = importlib.import_module(module)
real = getattr(where, name)

def dying(*arguments, **named):
    if os.path.exists(out):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)

setattr(where, name, dying)
sys.argv[:] = ["starshade", *sys.argv[4:]]
from starshade.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "instant",
    [
        ("starshade.ratings.places.atomic", "end"),  # all was moved
        ("starshade.scratch", "_turn"),  # nothing is cleared away
        ("shutil", "rmtree"),  # files are, folders are not
    ],
)
@pytest.mark.parametrize("verb", ["convert", "anonymize"])
def test_killed_with_its_result_in_place_it_says_so(
    tmp_path: Path, verb: str, instant: tuple[str, str]
) -> None:
    file, out = tmp_path / "r.parquet", tmp_path / "out"
    write_ratings(synthesize(n_users=400, n_items=30, n_ratings=5000, rng=1), file)
    if verb == "convert":
        command = ("data", "convert", str(file), "--out", str(out), "--shards", "3")
        whole: dict[str, object] = {"users": 400, "items": 30, "ratings": 5000, "shards": 3}
    else:
        shards = str(tmp_path / "shards")
        said("data", "convert", str(file), "--out", shards, "--shards", "2")
        command = anonymize(shards, out)
        whole, _ = said(*anonymize(shards, tmp_path / "whole"))
    dead = subprocess.run(
        [sys.executable, "-c", DYING, *instant, str(out), *command], capture_output=True, text=True
    )
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    before = {path: path.stat().st_ino for path in out.rglob("*")}
    told, _ = said(*command, "--resume")
    differ = {key for key in whole if told[key] != whole[key]}
    assert differ <= {"peak_rss_mb", "out"}
    assert {path: path.stat().st_ino for path in out.rglob("*")} == before
    if verb == "anonymize":
        assert made(out) == made(tmp_path / "whole")
    assert not [path for path in tmp_path.rglob(".*") if path.name != ".lock"]
    for again in (command, (*command, "--resume")):  # of a run that is done nothing is left
        _, refused = said(*again, code=2)
        assert "exists already" in refused


def test_ratings_are_added_to_shards(file: Path, tmp_path: Path) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    said("data", "convert", str(file), "--out", old, "--shards", "3")
    more = tmp_path / "more.csv"
    more.write_text("user,item,rating,date\nsomebody,new,3,1999-01-01\n")
    written, _ = said("data", "convert", str(more), "--append", old, "--out", new)
    before = read_ratings(old)
    assert written["ratings"] == before.n_ratings + 1
    assert (written["users"], written["items"]) == (before.n_users + 1, before.n_items + 1)
    _, told = said("data", "convert", str(more), "--append", new, "--out", old + "2", code=2)
    assert "line 2: the user already rated this item, at a rating in the store" in told


def test_sensitive_items_are_named_by_their_ids(file: Path, tmp_path: Path) -> None:
    shards, asked = str(tmp_path / "shards"), ("--attack", "homogeneity", "--sensitive")
    said("data", "convert", str(file), "--out", shards, "--shards", "2")
    run = ("--known", "2", "--targets", "50", "--seed", "1")
    by_shard, _ = said("attack", shards, *asked, "7", *run)
    as_one, _ = said("attack", str(file), *asked, "7", *run)
    assert by_shard["sensitive"]
    assert by_shard == as_one
    _, told = said("attack", shards, *asked, "no such", *run, code=2)
    assert "item 1 is not in the ratings" in told


def test_what_is_of_no_use_says_so(file: Path, tmp_path: Path) -> None:
    shards = str(tmp_path / "shards")
    said("data", "convert", str(file), "--out", shards, "--shards", "2")
    _, told = said("attack", shards, "--known", "4", "--resume", code=2)
    assert "--seed" in told
    _, told = said("attack", shards, "--attack", "predicate", "--resume", code=2)
    assert "--resume: not applicable with the attack predicate" in told
    _, told = said("data", "describe", str(file), "--resume", code=2)
    assert "not applicable without a partitioned store" in told
    _, told = said("attack", str(tmp_path / "gone"), "--engine", "spark", code=2)
    assert "gone, which does not exist\nCheck the path." in told
    _, told = said("data", "convert", str(file), "--out", "x.csv", "--shards", "2", code=2)
    assert "only a store has partitions" in told
    _, told = said("attack", shards, "--attack", "predicate", "--memory", "1k", code=2)
    assert "take" in told
    assert "These work partition by partition: `starshade data describe`" in told
    _, told = said(*anonymize(shards, tmp_path / "r", "--resume")[:-4], "--out", "x", code=2)
    assert "--private" in told
    for more in (("--profile", "simple", "--l", "2"), ("--items", "top:9")):
        _, told = said(*anonymize(shards, tmp_path / "r", "--resume", *more), code=2)
        assert "--resume: not applicable" in told
    (tmp_path / "taken").mkdir()
    _, told = said(*anonymize(shards, tmp_path / "taken"), code=2)
    assert "exists already" in told


def test_where_the_receipt_is_what_is_missing_it_is_said(file: Path, tmp_path: Path) -> None:
    shards, release = str(tmp_path / "shards"), str(tmp_path / "release")
    said("data", "convert", str(file), "--out", shards, "--shards", "2")
    said(*anonymize(shards, Path(release)))
    for asked in (
        ("audit", shards, release),
        ("measure", shards, release),
        ("attack", release, "--original", shards),
    ):
        _, told = said(*asked, "--engine", "spark", code=2)
        assert "--engine: not applicable without the private key file" in " ".join(told.split())
        assert "Add the private key file: --private FILE." in told
