"""Files that the browser sends: whole or not at all, under names that can do no harm."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from starshade.errors import InputError
from starshade.server import uploads
from starshade.server.guard import COOKIE
from starshade.server.page.job import files_of, job_view
from starshade.server.parts import without_paths
from starshade.server.uploads import file_name, shown_name
from tests.unit.server.desk import PORT, TOKEN, Desk

BODY = b"user,item,stars\n1,1,5\n"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    opened = Desk(tmp_path / "work", most_upload=1000)
    yield opened
    opened.close()


def left_behind(desk: Desk) -> list[str]:
    return [str(p) for p in (desk.store.work / "uploads").rglob("*") if p.is_file()]


def upload(desk: Desk, name: str = "a.csv", body: bytes = BODY, **more: Any) -> Any:
    headers = {"Accept": "application/json"}
    return desk.post("/data/upload", params={"name": name}, content=body, headers=headers, **more)


def test_a_file_that_is_sent_lies_there_whole_and_is_to_be_read(desk: Desk) -> None:
    answer = upload(desk)
    (data,) = desk.store.all_data()
    assert answer.json() == {"location": f"/data/{data.id}"}
    assert (data.kind, data.name) == ("upload", "a.csv")
    place = desk.store.places.upload(data.id) / data.source
    assert place.read_bytes() == BODY
    assert left_behind(desk) == [str(place)]
    (job,) = desk.store.jobs(data.id)
    assert (job.kind, job.state) == ("read", "queued")
    assert desk.engine.woken == 1


def test_uploads_are_for_the_owner_alone_also_while_they_are_written(desk: Desk) -> None:
    folder, parts = desk.store.work / "uploads", []

    async def pieces() -> AsyncIterator[bytes]:
        yield BODY[:9]
        parts.extend(folder.iterdir())
        modes.extend(stat.S_IMODE(part.stat().st_mode) for part in parts)
        yield BODY[9:]

    modes: list[int] = []
    before = os.umask(0)
    try:
        upload(desk, body=pieces())  # type: ignore[arg-type]
        made_up = desk.store.add_data("synthetic", "made up", "survey")
        at = f"/data/{made_up.id}/beside?role=users&name=p.csv"
        assert desk.post(at, content=BODY).status_code == 303
    finally:
        os.umask(before)
    assert modes == [0o600]
    written = list(folder.rglob("*"))
    assert len(written) == 5  # two files, the folders of two data sets, one of a role
    for place in written:
        mode = stat.S_IMODE(place.stat().st_mode)
        assert mode == (0o700 if place.is_dir() else 0o600), place


@pytest.mark.parametrize("size", [1, 7, len(BODY), len(BODY) + 1])
def test_a_file_is_whole_however_it_is_gathered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(uploads, "_CHUNK", size)

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(BODY), 3):
            yield BODY[at : at + 3]

    upload(desk, body=pieces())  # type: ignore[arg-type]
    (data,) = desk.store.all_data()
    assert (desk.store.places.upload(data.id) / data.source).read_bytes() == BODY


def test_files_beside_the_ratings_are_read_with_them(desk: Desk) -> None:
    store, people = desk.store, b"user,age\n1,20\n2,30\n"
    assert desk.post("/data/upload?name=a.csv&more=true", content=BODY).status_code == 303
    assert store.jobs(1) == ()  # more is on its way
    for role, more in (("users", "true"), ("item_names", "false")):
        at = f"/data/1/beside?role={role}&name=../p%20q.csv&more={more}"
        assert desk.post(at, content=people).headers["location"] == "/data/1"
    (job,) = store.jobs(1)
    folder = store.places.upload(1)
    assert job.settings == {
        role: str(folder / role / "p_q.csv") for role in ("users", "item_names")
    }
    # another one takes its place, and what was said before stays said
    store.finish(job.id, "done", result={}, facts={})
    assert desk.post("/data/1/beside?role=users&name=new.csv", content=people).status_code == 303
    assert [file.name for file in (folder / "users").iterdir()] == ["new.csv"]
    # to the page's script where it lies is told, so that it is sent with how to read it all
    at, script = "/data/1/beside?role=users&name=new.csv&more=true", {"accept": "application/json"}
    assert desk.post(at, content=people, headers=script).json() == {
        "location": "/data/1",
        "path": str(folder / "users" / "new.csv"),
    }
    assert store.jobs(1)[0].settings["item_names"] == str(folder / "item_names" / "p_q.csv")
    assert without_paths(f"{folder}/users/new.csv, line 2: no age") == "new.csv, line 2: no age"


def test_a_file_beside_that_is_wrong_is_called_by_its_name(desk: Desk) -> None:
    store = desk.store
    assert desk.post("/data/upload?name=a.csv&more=true", content=BODY).status_code == 303
    assert desk.post("/data/1/beside?role=users&name=ages.csv", content=b"x").status_code == 303
    (job,) = store.jobs(1)
    store.finish(
        job.id, "failed", error=f"{job.settings['users']}: no column is recognised as the user"
    )
    files = files_of(store, store.data(1))
    assert (
        job_view(store.job(job.id), files).error == "ages.csv: no column is recognised as the user"
    )


@pytest.mark.parametrize(
    ("at", "status"),
    [
        ("/data/9/beside?role=users&name=a.csv", 404),
        ("/data/1/beside?role=../../x&name=a.csv", 404),
        ("/data/1/beside?role=users&name=", 400),
    ],
)
def test_a_file_beside_nothing_is_refused(desk: Desk, at: str, status: int) -> None:
    desk.post("/data/upload?name=a.csv", content=BODY)
    assert desk.post(at, content=b"x").status_code == status
    assert not list((desk.store.work / "uploads").glob("part*"))


def test_a_form_without_a_script_is_led_to_the_page(desk: Desk) -> None:
    answer = desk.post("/data/upload?name=a.csv", content=BODY)
    assert (answer.status_code, answer.headers["location"]) == (303, "/data/1")


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "..\\..\\windows\\system32\\a.csv",
        "/etc/cron.d/a.csv",
        "a\0b.csv",
        "a\nSet-Cookie: x.csv",
        "\u202egpj.csv",  # turns the line round
        "<script>alert(1)</script>.csv",
        "'; DROP TABLE data; --.csv",
        ".bashrc",
        "-rf.csv",
        "con.csv",
        "a" * 3000 + ".csv",
        "ratings.csv/",
        "名前.csv",
        "🎬",
    ],
)
def test_a_name_does_no_harm(desk: Desk, name: str) -> None:
    answer = upload(desk, name)
    if answer.status_code == 400:  # nothing of it is a name
        assert left_behind(desk) == []
        return
    (data,) = desk.store.all_data()
    (place,) = left_behind(desk)
    assert Path(place).parent == desk.store.places.upload(data.id)
    assert Path(place).name == data.source
    assert len(data.source.encode()) <= 255
    assert not data.source.startswith((".", "-"))
    assert len(data.name) <= 100
    assert data.name.isprintable()
    page = desk.get(f"/data/{data.id}").text
    assert "<script>alert" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("name", ["", "..", "/", "../..", "\u202e", "a/"])
def test_no_name_is_refused(desk: Desk, name: str) -> None:
    answer = upload(desk, name)
    assert answer.status_code == 400
    assert "has no name" in answer.json()["error"]["message"]
    assert desk.store.all_data() == ()


def test_a_name_keeps_its_ending() -> None:
    # formats are recognised by it too
    assert shown_name("x" * 500 + ".tar.gz").endswith(".tar.gz")
    assert file_name("my ratings (1).csv.gz") == "my_ratings_1_.csv.gz"


def test_what_is_too_large_is_refused_before_it_comes(desk: Desk) -> None:
    answer = upload(desk, body=b"x" * 1001)
    assert answer.status_code == 413
    error = answer.json()["error"]
    assert "1.0 kB" in error["message"]
    assert "path on this machine" in error["advice"]
    assert answer.headers["connection"] == "close"
    assert left_behind(desk) == []
    assert desk.store.all_data() == ()


def test_what_fits_to_the_byte_is_taken(desk: Desk) -> None:
    assert upload(desk, body=b"x" * 1000).status_code == 200


def test_nothing_is_no_file(desk: Desk) -> None:
    assert upload(desk, body=b"").status_code == 400
    assert left_behind(desk) == []


def call(
    desk: Desk, messages: list[dict[str, Any]], length: int | None
) -> tuple[int, list[dict[str, Any]]]:
    """Send a request by hand: what httpx would not."""
    headers = [
        (b"host", desk.entrance.host.encode()),
        (b"cookie", f"{COOKIE}={TOKEN}".encode()),
        (b"accept", b"application/json"),
    ]
    headers += [] if length is None else [(b"content-length", str(length).encode())]
    waiting, sent = iter(messages), []
    scope = {
        "type": "http", "method": "POST", "path": "/data/upload", "raw_path": b"/data/upload",
        "query_string": b"name=a.csv", "headers": headers, "http_version": "1.1",
        "scheme": "http", "server": ("127.0.0.1", PORT), "client": ("127.0.0.1", 1),
        "root_path": "",
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return next(waiting, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    run: Callable[..., Awaitable[None]] = desk.app
    desk.wait(run(scope, receive, send))
    return sent[0]["status"], sent


def part(body: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize("length", [100, None])
def test_a_connection_that_breaks_leaves_nothing(desk: Desk, length: int | None) -> None:
    status, sent = call(desk, [part(b"half a file")], length)
    assert status == 400
    assert b"arrived" in sent[1]["body"]
    assert left_behind(desk) == []
    assert desk.store.all_data() == ()


@pytest.mark.parametrize("length", [5, 500])
def test_more_or_less_than_was_announced_is_refused(desk: Desk, length: int) -> None:
    status, _ = call(desk, [part(b"ten bytes!", more=False)], length)
    assert status == 400
    assert left_behind(desk) == []


def test_what_grows_beyond_the_limit_is_cut_off(desk: Desk) -> None:
    taken = []

    def long() -> Iterator[dict[str, Any]]:
        for _ in range(100):
            taken.append(1)
            yield part(b"x" * 100)

    status, _ = call(desk, long(), None)  # type: ignore[arg-type]
    assert status == 413
    assert len(taken) == 11
    assert left_behind(desk) == []


@pytest.mark.parametrize(("held", "status"), [(1000, 200), (1001, 413)])
def test_a_zip_file_counts_unpacked(desk: Desk, held: int, status: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"1" * 500)
        archive.writestr("b.csv", b"1" * (held - 500))
    answer = upload(desk, "a.zip", packed.getvalue())
    assert answer.status_code == status
    if status == 413:
        assert "npacked, the file has 1.0 kB" in answer.json()["error"]["message"]
        assert left_behind(desk) == []


@pytest.mark.parametrize(("what", "by"), [(b"\xc3\xa9", b"\xff\xff"), (b"PK\1\2", b"PK\1\3")])
def test_a_broken_zip_file_is_for_the_reader_to_refuse(desk: Desk, what: bytes, by: bytes) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("é.csv", b"1")
    assert upload(desk, "a.zip", packed.getvalue().replace(what, by)).status_code == 200


def test_a_disk_that_is_nearly_full_is_said_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads.shutil, "disk_usage", lambda _: SimpleNamespace(free=6 * 10**6))
    answer = upload(desk)
    assert answer.status_code == 507
    told = answer.json()["error"]["message"]
    assert "too little disk space" in told.lower()
    assert "6.0 MB are free in the work folder, and 64.0 MB must stay free" in told
    assert left_behind(desk) == []


def test_a_disk_that_fills_up_meanwhile_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads, "_settle", full)
    answer = upload(desk)
    assert answer.status_code == 507
    assert "space" in answer.json()["error"]["message"]
    assert left_behind(desk) == []
    assert desk.store.all_data() == ()


def test_a_name_that_is_too_strange_says_so() -> None:
    with pytest.raises(InputError, match="has no name"):
        shown_name("...")
