"""Jobs over shards on this machine: in order, with what is finished kept and found again."""

from __future__ import annotations

import errno
import os
import re

import numpy as np
import pytest

from starshade import budget
from starshade.engine.files import Desks, left_in
from starshade.engine.job import Job
from starshade.engine.journal import Journal, journal_in
from starshade.engine.local import Local
from starshade.errors import OutputError
from starshade.progress import watch


class Shards:
    """Some numbers in shards."""

    def __init__(self, *parts):
        self.parts = parts
        self.opened = []

    @property
    def keys(self):
        return [repr(part) for part in self.parts]

    @property
    def first_users(self):
        return np.cumsum([0, *map(len, self.parts[:-1])]).tolist()

    def __len__(self):
        return len(self.parts)

    def shard(self, number):
        self.opened.append(number)
        return self.parts[number]

    def bytes_of(self, number):
        return 1000 * len(self.parts[number])


class Notes:
    def __init__(self):
        self.said = []

    def start(self, *_):
        return 0

    def advance(self, *_): ...

    def stop(self, *_): ...

    def note(self, message):
        self.said.append(message)


def times(shard, first, settings, tables):
    return {"all": np.array(shard) * settings["by"] + tables["add"] + 100 * first}


JOB, TABLES = Job("multiplying", times, {"by": 2}, threaded=True), {"add": np.array([1])}


def many():
    return Shards([1, 2], [3], [], [4, 5, 6], [7])


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("limits", [{"threads": 1}, {"threads": 2}, {"memory": 1}])
def test_answers_come_in_the_order_of_the_shards(threaded, limits):
    job = Job("multiplying", times, {"by": 2}, threaded=threaded)
    with budget.limits(**limits):
        found = [a["all"].tolist() for a in Local().run(job, many(), {"add": np.array([1])})]
    assert found == [[3, 5], [207], [], [309, 311, 313], [615]]


def test_what_was_asked_is_known_again(tmp_path):
    shards, job = many(), Job("multiplying", times, {"by": 2})
    add = {"add": np.array([1])}
    keys = {job.key(key, add) for key in shards.keys}
    others = [
        Job("multiplying", times, {"by": 3}).key(shards.keys[0], add),
        Job("multiplying", tmp_path.__class__, {"by": 2}).key(shards.keys[0], add),
        job.key(shards.keys[0], {"add": np.array([2])}),
        job.key(shards.keys[0], {"add": np.array([1.0])}),
        job.key(shards.keys[0], {"added": np.array([1])}),
    ]
    assert len(keys | set(others)) == len(shards) + len(others)
    assert Job("in other words", times, {"by": 2}).key(shards.keys[0], add) in keys


def pairs(desk, first, settings, tables):
    desk.leave({name: np.array(desk.shard) for name in "ab"})
    return {}


def test_no_half_of_what_a_job_left_is_taken_over(tmp_path, monkeypatch):
    job, shards = Job("pairing", pairs), Shards([1, 2])

    def left(*, resume):
        with journal_in(tmp_path, resume=resume) as journal:
            desks = Desks.of(job, shards, {}, journal.folder)
            list(Local(journal).run(job, desks, {}))
            return [left_in(desks.folders[0], name).tolist() for name in "ab"]

    def killed(folder, *_, dir_fd, **__):
        os.unlink(f"{folder}/b.npy", dir_fd=dir_fd)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            left(resume=False)
    assert left(resume=True) == [[1, 2], [1, 2]]


def test_columns_without_an_answer_are_left_again(tmp_path):
    """As of a run that is killed while it takes over: the columns are moved first."""
    job, shards = Job("pairing", pairs), Shards([1, 2], [3])

    def run(*, stop):
        with journal_in(tmp_path, resume=True) as journal:
            desks = Desks.of(job, shards, {}, journal.folder)
            list(Local(journal).run(job, desks, {}))
            if stop:
                (journal.folder / f"{desks.folders[0].name}.npz").unlink()
                raise KeyboardInterrupt
            return [left_in(folder, "a").tolist() for folder in desks.folders]

    with pytest.raises(KeyboardInterrupt):
        run(stop=True)
    assert run(stop=False) == [[1, 2], [3]]


class Stopped(Exception):  # noqa: N818 - it is no fault
    """Ends a run in the middle."""


def some(place, *, resume, stop=99, shards=None):
    shards = shards or many()
    job = Job("multiplying", times, {"by": 2}, threaded=True)
    found = []
    with journal_in(place, resume=resume) as journal:
        for answer in Local(journal).run(job, shards, {"add": np.array([1])}):
            found.append(answer["all"].tolist())
            if len(found) == stop:
                raise Stopped
    return found, shards.opened


def test_a_run_goes_on_where_another_stopped(tmp_path):
    whole, opened = some(tmp_path, resume=False)
    assert opened == [0, 1, 2, 3, 4]
    assert list(tmp_path.iterdir()) == []
    for stop in (1, 3):
        with pytest.raises(Stopped):
            some(tmp_path, resume=True, stop=stop)
        (left,) = tmp_path.iterdir()
        assert left.name.startswith(".journal-")
        assert left.stat().st_mode & 0o777 == 0o700
    assert some(tmp_path, resume=True) == (whole, [3, 4])
    assert list(tmp_path.iterdir()) == []


def test_who_does_not_resume_begins_anew(tmp_path):
    with pytest.raises(Stopped):
        some(tmp_path, resume=False, stop=3)
    assert some(tmp_path, resume=False)[1] == [0, 1, 2, 3, 4]


def test_a_part_that_is_damaged_is_done_again(tmp_path):
    with pytest.raises(Stopped):
        some(tmp_path, resume=False, stop=3)
    for file in tmp_path.glob(".journal-*/*.npz"):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
    whole, opened = some(tmp_path, resume=True)
    assert opened == [0, 1, 2, 3, 4]
    assert whole == some(tmp_path, resume=False)[0]


def test_a_shard_that_changed_is_done_again(tmp_path):
    with pytest.raises(Stopped):
        some(tmp_path, resume=False, stop=3)
    changed = Shards([1, 2], [8], [], [4, 5, 6], [7])
    found, opened = some(tmp_path, resume=True, shards=changed)
    assert opened == [1, 3, 4]
    assert found[1] == [217]


def test_of_a_run_that_stops_before_anything_is_finished_nothing_is_kept(tmp_path):
    def stops(_shard, _first, _settings, _tables):
        (journal,) = tmp_path.iterdir()
        (journal / "job.pickle").write_bytes(b"what was asked")
        raise Stopped

    with pytest.raises(Stopped), journal_in(tmp_path, resume=False) as journal:
        list(Local(journal).run(Job("a", stops), many(), TABLES))
    assert not list(tmp_path.iterdir())


def test_a_run_at_work_is_left_alone(tmp_path):
    with journal_in(tmp_path, resume=False) as journal:
        journal.keep("a", {"x": np.array([1])})
        some(tmp_path, resume=True)
        some(tmp_path, resume=False)
        found = journal.find("a")
        assert found is not None
        assert found["x"].tolist() == [1]


def test_a_full_disk_says_how_to_go_on(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(Stopped):
        some(tmp_path, resume=False, stop=2)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="no space left for the finished parts") as caught:
            some(tmp_path, resume=True)
    assert "resume=True" in caught.value.advice
    assert some(tmp_path, resume=True)[1] == [2, 3, 4]


def test_a_full_disk_in_a_part_is_told_of_the_same_place(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OutputError, match=f"^{tmp_path}: no space left for the finished parts"),
        journal_in(tmp_path, resume=False) as journal,
        Local(journal).within("part") as engine,
    ):
        list(engine.run(JOB, many(), TABLES))


def test_of_a_part_that_is_done_nothing_is_kept(tmp_path):
    with journal_in(tmp_path, resume=False) as journal, Local(journal).within("part") as engine:
        assert engine.folder == journal.folder / "part"
        assert list(engine.run(JOB, many(), TABLES))
        assert list(engine.folder.iterdir())
        assert os.stat(engine.folder).st_mode & 0o777 == 0o700
        within = engine.folder
    assert not within.exists()
    with Local().within("part") as engine:
        assert engine.folder is None


def test_no_half_of_a_part_is_left_under_its_name(tmp_path, monkeypatch):
    def killed(folder, **_):
        raise Stopped

    monkeypatch.setattr("shutil.rmtree", killed)
    with (
        pytest.raises(Stopped),
        journal_in(tmp_path, resume=False) as journal,
        Local(journal).within("part") as engine,
    ):
        assert list(engine.run(JOB, many(), TABLES))
    monkeypatch.undo()
    (left,) = tmp_path.iterdir()
    assert [each.name for each in left.iterdir()] == ["part.part"]
    with journal_in(tmp_path, resume=True) as journal:
        assert list(journal.folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_part_goes_on_where_it_stopped(tmp_path):
    def part(*, resume, stop=None):
        shards = many()
        with journal_in(tmp_path, resume=resume) as journal, Local(journal).within("part") as it:
            for number, _ in enumerate(it.run(JOB, shards, TABLES)):
                if number == stop:
                    raise Stopped
        return shards.opened

    with pytest.raises(Stopped):
        part(resume=False, stop=1)
    assert part(resume=True) == [2, 3, 4]
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_kept_the_run_is_done_all_the_same(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("starshade.engine.journal.own", refused)
    watcher = Notes()
    with watch(watcher):
        assert some(tmp_path, resume=False)[1] == [0, 1, 2, 3, 4]
    assert any("are not kept" in said for said in watcher.said)


def test_a_run_that_resumes_nothing_says_why(tmp_path):
    watcher = Notes()
    with watch(watcher):
        some(tmp_path, resume=True)
        with pytest.raises(Stopped):
            some(tmp_path, resume=False, stop=3)
        for answer in tmp_path.glob(".journal-*/*.npz"):
            answer.write_bytes(b"x")
        some(tmp_path, resume=True)
    empty, changed = (said for said in watcher.said if "beginning" in said)
    assert empty.endswith("from the beginning: no finished part of an interrupted run was found")
    assert re.search(
        r"beginning: \d finished parts were not written by this user here, or", changed
    )


def test_a_journal_of_nowhere_keeps_nothing():
    Journal(None).keep("a", {"x": np.array([1])})
    assert Journal(None).find("a") is None
