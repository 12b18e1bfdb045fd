import pytest

from starshade.server.jobs.engine import sweep, sweep_job
from starshade.server.jobs.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "work")
    yield opened
    opened.close()


def fill(*folders):
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "file").write_text("x")


def files(store):
    return sorted(
        str(path.parent.relative_to(store.work))
        for path in store.work.rglob("*")
        if path.is_file()
        if path.name == "file"
    )


def test_the_start_keeps_what_rows_speak_of_and_removes_the_rest(store):
    upload = store.add_data("upload", "a", "file")
    read, again = (store.add_job("read", upload.id) for _ in range(2))
    store.finish(read.id, "done", result={}, facts={"job": read.id})
    store.finish(again.id, "interrupted")
    unread = store.add_data("file", "b", "/b")
    done, half = (store.add_job("release", upload.id) for _ in range(2))
    store.finish(done.id, "done", result={})
    store.finish(half.id, "interrupted")
    places = store.places
    fill(
        places.upload(upload.id),
        places.upload(99),
        places.data(upload.id) / str(read.id),
        places.data(upload.id) / str(again.id),
        places.data(upload.id) / ".tmp-3-0123456789abcdef",
        places.data(unread.id) / "17",
        places.data(99) / "1",
        places.release(done.id),
        places.release(half.id),
        places.release(99),
        places.scratch / "starshade-x",
    )
    (store.work / "uploads" / "part-y").write_text("half")
    sweep(store)
    assert files(store) == [
        f"data/{upload.id}/{read.id}",
        f"releases/{done.id}",
        f"uploads/{upload.id}",
    ]
    assert [path.name for path in (store.work / "uploads").iterdir()] == [str(upload.id)]


def test_what_the_studio_did_not_name_stays(store):
    fill(*(store.work / name / "mine" for name in ("uploads", "data", "releases")))
    before = files(store)
    sweep(store)
    assert files(store) == before


def test_a_link_is_removed_and_not_followed(store, tmp_path):
    outside = tmp_path / "outside"
    fill(outside)
    (store.work / "releases" / "5").symlink_to(outside)
    sweep(store)
    assert not (store.work / "releases" / "5").is_symlink()
    assert (outside / "file").exists()


def test_a_reading_that_failed_leaves_the_one_before(store):
    data = store.add_data("file", "a", "/a")
    first, second = (store.add_job("read", data.id) for _ in range(2))
    store.finish(first.id, "done", result={}, facts={"job": first.id})
    store.finish(second.id, "failed", error="no")
    fill(store.places.data(data.id) / str(first.id), store.places.data(data.id) / str(second.id))
    sweep_job(store, second)
    assert files(store) == [f"data/{data.id}/{first.id}"]


def test_a_reading_that_is_done_replaces_the_one_before(store):
    data = store.add_data("file", "a", "/a")
    first, second = (store.add_job("read", data.id) for _ in range(2))
    for job in (first, second):
        store.finish(job.id, "done", result={}, facts={"job": job.id})
        fill(store.places.data(data.id) / str(job.id))
    sweep_job(store, second)
    assert files(store) == [f"data/{data.id}/{second.id}"]


@pytest.mark.parametrize(("state", "kept"), [("done", 1), ("failed", 0), ("cancelled", 0)])
def test_a_release_stays_if_its_job_is_done(store, state, kept):
    data = store.add_data("file", "a", "/a")
    job = store.add_job("release", data.id)
    store.finish(job.id, state)
    fill(store.places.release(job.id))
    sweep_job(store, job)
    assert len(files(store)) == kept
