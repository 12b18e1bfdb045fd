"""The studio's engine in a process of its own: killed at any instant, on a full disk, read-only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from starshade.errors import OutputError
from starshade.server.jobs.engine import Engine
from starshade.server.jobs.store import Store
from tests.system.test_studio_engine import wait_for

pytestmark = pytest.mark.slow

_STUDIO = """
import json, sys, time
from pathlib import Path
from starshade.server.jobs.engine import Engine
from starshade.server.jobs.store import Store

store = Store(Path(sys.argv[1]))
engine = Engine(store)
engine.start()

def tell(**figures):
    print(json.dumps(figures), flush=True)

def do(kind, data, settings=None):
    job = store.add_job(kind, data.id, settings)
    engine.wake()
    while not (row := store.job(job.id)).ended:
        time.sleep(0.02)
    return row

small = {"like": "movielens-100k", "n_users": 100, "n_items": 40, "seed": 1}
"""
_ENDLESS = """
data = store.add_data("synthetic", "small", "movielens-100k", small)
done = do("read", data)
release = do("release", data, {"config": {"k": 4}, "items": "top:5", "targets": 20, "known": [2]})
endless = store.add_data(
    "synthetic", "endless", "netflix", {"n_users": 100_000, "n_ratings": 20_000_000, "seed": 1}
)
running = store.add_job("read", endless.id)
waiting = store.add_job("attack", data.id, {"targets": 10})
engine.wake()
while not store.job(running.id).progress and not store.job(running.id).ended:
    time.sleep(0.02)
tell(worker=engine.worker_pid, release=release.id, state=release.state, running=running.id,
     waiting=waiting.id)
time.sleep(600)
"""


@contextmanager
def studio(work: Path, code: str, *around: str) -> Iterator[subprocess.Popen[str]]:
    """Run a studio; it is killed at the end, if it is still there."""
    command = [*around, sys.executable, "-c", _STUDIO + code, str(work)]
    # a session of its own: a terminal sends Ctrl-C to all processes of the group in front
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with process:
        try:
            yield process
        finally:
            process.kill()


def is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_kill_9_of_the_server_in_the_middle_of_a_job(tmp_path: Path) -> None:
    work = tmp_path / "work"
    with studio(work, _ENDLESS) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert told["state"] == "done"
        assert is_there(told["worker"])
        with pytest.raises(OutputError, match="another studio"):
            Store(work)
        os.kill(told["worker"], signal.SIGSTOP)  # so busy that it hears nothing
        process.send_signal(signal.SIGKILL)
        process.wait()
        if sys.platform == "linux":
            wait_for(lambda: not is_there(told["worker"]))  # nobody stays behind
        else:
            os.kill(told["worker"], signal.SIGCONT)
    # what a reading leaves that is killed while it writes
    half = work / "data" / "2" / f".tmp-{told['running']}-0123456789abcdef"
    half.mkdir(parents=True)
    (half / "by_user.codes.npy").write_bytes(b"half")

    store = Store(work)
    engine = Engine(store)
    engine.start()
    interrupted = store.job(told["running"])
    assert interrupted.state == "interrupted"
    assert interrupted.error == "The studio was stopped during this job."
    assert interrupted.advice is not None
    assert not half.exists()
    folder = store.places.release(told["release"])
    assert store.job(told["release"]).state == "done"
    assert (folder / "release.zip").is_file()
    assert (folder / "report.html").is_file()
    wait_for(lambda: store.job(told["waiting"]).ended)
    assert store.job(told["waiting"]).state == "done"  # it goes on where it was
    engine.close()
    store.close()


_RELEASE = """
data = store.add_data("synthetic", "small", "movielens-100k", small)
do("read", data)
job = store.add_job("release", data.id, {"config": {"k": 4}, "items": "top:5", "targets": 20})
tell(job=job.id)
engine.wake()
"""


def after_the_kill(work: Path, job_id: int) -> tuple[str, list[str]]:
    """Start again; return the job's state and the releases that are left."""
    store = Store(work)
    engine = Engine(store)
    engine.start()
    engine.close()
    state = store.job(job_id).state
    store.close()
    return state, sorted(path.name for path in (work / "releases").iterdir())


def test_kill_9_while_a_release_is_made_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    work = tmp_path / "work"
    with studio(work, _RELEASE + "time.sleep(600)") as process:
        assert process.stdout is not None
        job_id = json.loads(process.stdout.readline())["job"]
        wait_for((work / "releases" / str(job_id)).exists)
        time.sleep(0.4)
        process.send_signal(signal.SIGKILL)
        process.wait()
    state, left = after_the_kill(work, job_id)
    assert (state, left) in [("interrupted", []), ("done", [str(job_id)])]
    assert not left or (work / "releases" / str(job_id) / "release.zip").is_file()


def test_kill_9_between_the_files_and_the_row(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    work = tmp_path / "work"
    code = """
import os
def killed(job, end):
    tell(state=end.state)
    os.kill(os.getpid(), 9)
engine._finish = killed
time.sleep(600)
"""
    with studio(work, _RELEASE + code) as process:
        assert process.stdout is not None
        job_id = json.loads(process.stdout.readline())["job"]
        assert json.loads(process.stdout.readline()) == {"state": "done"}
        process.wait()
    assert (work / "releases" / str(job_id) / "release.zip").is_file()
    assert after_the_kill(work, job_id) == ("interrupted", [])


def test_ctrl_c_is_for_the_server_to_answer(tmp_path: Path) -> None:
    code = """
try:
    while engine.worker_pid is None:
        time.sleep(0.02)
    tell(worker=engine.worker_pid)
    time.sleep(600)
except KeyboardInterrupt:
    worker = engine.worker_pid
    time.sleep(0.5)
    tell(same=engine.worker_pid == worker)
    engine.close()
    store.close()
    tell(closed=True)
"""
    with studio(tmp_path / "work", code) as process:
        assert process.stdout is not None
        worker = json.loads(process.stdout.readline())["worker"]
        os.killpg(process.pid, signal.SIGINT)
        assert json.loads(process.stdout.readline()) == {"same": True}
        assert json.loads(process.stdout.readline()) == {"closed": True}
        assert process.wait(120) == 0
        assert not is_there(worker)


_MOUNT = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'


def mounted(options: str, place: Path) -> list[str]:
    """Return the beginning of a command that sees a small file system of its own at a place."""
    begin = ["unshare", "-rm", "sh", "-c", _MOUNT, "sh", options, str(place)]
    try:
        tried = subprocess.run([*begin, "true"], capture_output=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("needs unshare: apt-get install util-linux")
    if tried.returncode:
        pytest.skip("needs a system that lets one mount in a namespace of one's own")
    return begin


def test_a_read_only_folder_is_refused_in_words(tmp_path: Path) -> None:
    code = """
from starshade.errors import OutputError
from starshade.server.jobs.store import Store
from pathlib import Path
import sys
try:
    Store(Path(sys.argv[1]) / "work")
except OutputError as error:
    print(error.message, error.advice, sep="|")
"""
    begin = mounted("ro", tmp_path)
    done = subprocess.run(
        [*begin, sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
    )
    assert done.stdout == (
        f"{tmp_path / 'work'}: cannot be written to: Read-only file system|Choose another place.\n"
    ).replace("cannot be written to", "cannot be written"), done.stderr


_FULL = """
import os, shutil
from starshade.errors import OutputError

data = store.add_data("synthetic", "small", "movielens-100k", small)
first = do("read", data)
tell(step="read", state=first.state)
other = store.add_data("synthetic", "other", "movielens-100k", small)
do("read", other)

work = Path(sys.argv[1])
def fill(spare):
    free = shutil.disk_usage(work).free
    with open(work.parent / "filler", "ab") as file:
        file.write(b"x" * max(0, free - spare))

job = store.add_job("release", data.id, {"config": {"k": 4}, "items": "top:5", "targets": 20})
fill(24_000)
engine.wake()
while not store.job(job.id).ended:
    time.sleep(0.02)
job = store.job(job.id)
tell(step="release", state=job.state, error=job.error, advice=job.advice,
     left=os.listdir(work / "releases"))

fill(0)
try:
    for _ in range(100):
        store.add_job("attack", data.id, {"long": "x" * 2000})
    tell(step="full", error=None)
except OutputError as error:
    tell(step="full", error=error.message, jobs=len(store.jobs()))
fill(0)
store.remove_data(other.id)
tell(step="deleted", data=[row.name for row in store.all_data()])

(work.parent / "filler").unlink()
after = do("release", data, {"config": {"k": 4}, "items": "top:5", "targets": 20, "known": [2]})
tell(step="room", state=after.state, error=after.error)
engine.close()
store.close()
"""


def test_a_full_disk_is_said_in_words_and_nothing_is_lost(tmp_path: Path) -> None:
    begin = mounted("size=3m", tmp_path)
    with studio(tmp_path / "work", _FULL, *begin) as process:
        out, _ = process.communicate(timeout=120)
    told = {line["step"]: line for line in map(json.loads, out.splitlines())}
    assert told["read"]["state"] == "done"
    assert told["release"]["state"] == "failed"
    assert "no space left" in told["release"]["error"]
    assert "Free some space" in told["release"]["advice"]
    assert told["release"]["left"] == []
    assert "no space left" in told["full"]["error"]
    assert told["deleted"]["data"] == ["small"]
    assert told["room"] == {"step": "room", "state": "done", "error": None}


def test_the_worker_ends_with_its_parent_where_no_signal_tells(tmp_path: Path) -> None:
    # the closed socket alone
    code = """
import os, socket, subprocess, sys, time
ours, theirs = socket.socketpair()
start = (
    "import sys, starshade.server.tasks.worker as worker; "
    "worker._die_with = worker._warm_up = lambda *_: None; worker.main(sys.argv[1:])"
)
(tmp := sys.argv[1])
os.makedirs(tmp + "/scratch")
worker = subprocess.Popen(
    [sys.executable, "-c", start, str(theirs.fileno()), str(os.getpid()), tmp],
    pass_fds=[theirs.fileno()],
)
print(worker.pid, flush=True)
theirs.close()
time.sleep(600)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        wait_for(lambda: len(os.listdir(f"/proc/{worker}/task")) > 1)  # it listens
        assert is_there(worker)
        process.kill()
    wait_for(lambda: not is_there(worker))


@contextmanager
def command(work: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Run ``starshade studio``, and open its first page."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "starshade",
            "studio",
            "--work",
            str(work),
            "--no-browser",
            "--json",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            address = httpx.URL(json.loads(process.stdout.readline())["address"])
            # not every resolver knows names in .localhost
            here = address.copy_with(host="127.0.0.1")
            headers = {"Host": address.netloc.decode()}
            base = here.copy_with(raw_path=b"/")
            with httpx.Client(base_url=base, headers=headers, follow_redirects=True) as client:
                assert client.get(here).status_code == 200
                yield process, client
        finally:
            process.send_signal(signal.SIGTERM)


def test_kill_9_of_the_command_and_its_page_after_starting_again(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="pip install 'starshade[web]'")
    work = tmp_path / "work"
    with command(work) as (process, client):
        small = {"like": "movielens-100k", "n_users": "100", "n_items": "40", "seed": "1"}
        client.post("/data/synthetic", data=small)
        wait_for(lambda: "100 people" in client.get("/data/1").text)
        endless = {"like": "netflix", "n_users": "100000", "n_ratings": "20000000", "seed": "1"}
        client.post("/data/synthetic", data=endless)
        wait_for(lambda: "drawing" in client.get("/jobs/2/panel").text)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with command(work) as (process, client):
        assert "100 people" in client.get("/data/1").text  # what was finished is there
        said = client.get("/jobs/2").text
        assert "The studio was stopped during this job." in said
        assert 'action="/jobs/2/again"' in said
