from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, InternalError, OutputError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder import write as store
from starshade.release.folder.read import read_release
from starshade.release.manifest import Claim
from tests.naive import generalized_release as naive
from tests.strategies import table
from tests.unit.release.samples import Grouping, contents_of, covering, groupings, plain_rows

ROWS = [{0: 1, 1: 2}, {0: 1, 1: 5}, {0: 4}, {0: 5, 1: 3}, {1: 3}]


def small(**more) -> Grouping:
    people = pa.table({"age": [40.0, 30.0, 20.0, 20.0, 20.0], "job": list("cabab")})
    original = replace(table(ROWS, Scale(1, 5, 1)), attributes=people, **more)
    return covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)


@given(groupings())
def test_classes_as_defined(grouping):
    release = grouping.release()
    expected = naive.classes(grouping.rows, grouping.sizes)
    assert plain_rows(release.classes) == [row for row, _ in expected]
    assert release.classes.sizes.tolist() == [size for _, size in expected]
    shares = naive.disclosure(expected, grouping.original.scale.minimum)
    manifest = release.manifest
    assert (manifest.users_rating_disclosed, manifest.users_rating_exists) == shares
    scale = grouping.original.scale
    fine = scale.step is None and scale.width > 0
    exact = naive.exact_values(expected, "ndgh", scale.minimum, fine=fine)
    assert manifest.users_exact_values_listed == exact
    assert manifest.classes == len(expected)
    assert release.exact.groups == len(grouping.rows)
    record = release.private.link.record
    of_user = release.class_of_record[record]
    assert [expected[c][0] for c in of_user] == [grouping.rows[g] for g in grouping.groups]
    assert sorted(record) == list(range(len(record)))


@given(groupings(), st.booleans(), st.integers(0, 9))
def test_round_trip_and_nothing_but_content_decides_the_bytes(grouping, exact, seed):
    attributes = "exact" if exact and grouping.original.attributes is not None else "none"
    release = grouping.release(attributes=attributes)
    other = grouping.relabelled(np.random.default_rng(seed)).release(
        seed + 1, attributes=attributes
    )
    with tempfile.TemporaryDirectory() as folder:
        a, b, c = (Path(folder) / name for name in "abc")
        release.save(a)
        back = read_release(a)
        assert plain_rows(back.classes) == plain_rows(release.classes)
        assert back.classes.sizes.tolist() == release.classes.sizes.tolist()
        assert back.classes.codes.tolist() == release.classes.codes.tolist()
        assert back.classes.items == release.classes.items
        names = release.item_names
        assert back.item_names == names or (names is None and back.item_names is None)
        assert back.private is None
        if attributes == "exact":
            assert back.attributes.to_pydict() == release.attributes.to_pydict()
        assert back.manifest.claims[0].verified == {"smallest_class": min(back.classes.sizes)}
        other.save(b)
        assert contents_of(a) == contents_of(b)
        back.save(c)
        assert contents_of(a) == contents_of(c)


def test_records_carry_the_attributes_of_their_users(tmp_path):
    release = small().release(attributes="exact")
    release.save(tmp_path / "out")
    records = pq.read_table(tmp_path / "out" / "records.parquet").to_pydict()
    assert records == {
        "record": [0, 1, 2, 3, 4],
        "group": [0, 0, 0, 1, 1],
        "age": [20.0, 20.0, 20.0, 30.0, 40.0],
        "job": ["a", "b", "b", "a", "c"],
    }
    # users 3 and 5 are alike: which of them is record 1 cannot be told from the file
    assert release.private.link.record.tolist() == [4, 3, 1, 0, 2]


def test_published_folders_follow_the_umask_and_others_are_the_owners(tmp_path):
    def modes(path: Path) -> set[int]:
        return {stat.S_IMODE(p.stat().st_mode) for p in path.iterdir()}

    before = os.umask(0o027)
    try:
        small().release().save(tmp_path / "publish")
        small().release(attributes="exact").save(tmp_path / "query")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "publish").stat().st_mode) == 0o750
    assert modes(tmp_path / "publish") == {0o640}
    assert stat.S_IMODE((tmp_path / "query").stat().st_mode) == 0o700
    assert modes(tmp_path / "query") == {0o600}


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path):
    release = small().release()
    (tmp_path / "there").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        release.save(tmp_path / "there")
    with pytest.raises(OutputError, match="does not exist"):
        release.save(tmp_path / "no" / "where")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        release.save(tmp_path / "file" / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "there"]


@pytest.mark.parametrize("exception", [KeyboardInterrupt, InternalError("x"), OSError(28, "full")])
@pytest.mark.parametrize("place", ["recount", "check_folder", "write_receipt", "_open_up"])
def test_what_fails_half_way_leaves_nothing(tmp_path, monkeypatch, place, exception):
    def fail(*_, **__):
        raise exception

    monkeypatch.setattr(store, place, fail)
    with pytest.raises((KeyboardInterrupt, InternalError, OutputError)):
        small().release().save(tmp_path / "out", private=tmp_path / "receipt")
    assert list(tmp_path.iterdir()) == []


def test_a_receipt_without_its_release_is_taken_back(tmp_path, monkeypatch):
    from starshade.ratings.places import atomic

    true = atomic._rename

    def fail(temporary, path):
        if path.name == "out":
            raise OSError(28, "full")
        true(temporary, path)

    monkeypatch.setattr(atomic, "_rename", fail)
    with pytest.raises(OutputError, match="no space left"):
        small().release().save(tmp_path / "out", private=tmp_path / "receipt")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_error(tmp_path):
    code = f"""
import resource, sys
from pathlib import Path
from tests.unit.release.test_store import small
release = small().release()
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
try:
    release.save(Path({str(tmp_path)!r}) / "out")
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
"""
    done = run(code)
    assert done.stdout.startswith("OutputError"), done
    assert "exceeds the largest file size allowed here" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_killed_at_any_file_event_leaves_no_release_or_a_whole_one(tmp_path):
    code = f"""
import os, shutil, signal, sys
from pathlib import Path
from tests.unit.release.test_store import small
from starshade.release.folder.read import read_release
folder = Path({str(tmp_path)!r})
release = small().release()
release.save(folder / "warm", private=folder / "warm.json")
watched = ("open", "os.mkdir", "os.rename", "os.chmod", "os.remove", "os.scandir", "shutil.rmtree")
whole = none = 0
for instant in range(1000):
    child = os.fork()
    if child == 0:
        seen = 0
        def hook(event, arguments):
            global seen
            if event in watched:
                if seen == instant:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1
        sys.addaudithook(hook)
        release.save(folder / "out", private=folder / "receipt")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if (folder / "out").exists():
        read_release(folder / "out", private=folder / "receipt")  # both are whole
        shutil.rmtree(folder / "out")
        os.unlink(folder / "receipt")
        whole += 1
    else:
        none += 1  # a receipt alone is nothing that the next one stumbles over
    if status == 0:
        break
assert sorted(os.listdir(folder)) == ["warm", "warm.json"]
print(none, whole)
"""
    done = run(code)
    assert done.returncode == 0, done
    none, whole = map(int, done.stdout.split())
    assert none > 20
    assert whole >= 1


def run(code: str) -> subprocess.CompletedProcess:
    root = Path(__file__).parents[3]
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=120
    )


def test_a_claim_that_does_not_hold_is_our_bug(tmp_path):
    claim = Claim(model="k-anonymity", parameters={"k": 3})
    with pytest.raises(InternalError, match="k-anonymity"):
        small().release(claims=(claim,)).save(tmp_path / "out")
    with pytest.raises(InternalError, match="claim m"):
        small().release(claims=(Claim(model="m"),)).save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_layouts_without_their_cells_and_receipts_of_read_releases_are_refused(tmp_path):
    release = small().release()
    release.save(tmp_path / "out")
    with pytest.raises(ConfigError, match="read from disk"):
        read_release(tmp_path / "out").save(tmp_path / "again", private=tmp_path / "receipt")
    profile = replace(release, manifest=release.manifest.model_copy(update={"layout": "profile"}))
    with pytest.raises(InternalError, match="layout profile"):
        profile.save(tmp_path / "again")


SECRETS = ["zz-secret-user-17", "998877665544332211", "/home/owner/secret-input.csv"]


def test_nothing_private_enters_any_file(tmp_path):
    grouping = small(users=Vocabulary.of([*SECRETS[:2], "q-hidden-1", "q-hidden-2", "q-hidden-3"]))
    report = replace(grouping.original.report, source=SECRETS[2])
    grouping = replace(grouping, original=replace(grouping.original, report=report))
    release = grouping.release()
    release.save(tmp_path / "out", private=tmp_path / "receipt")
    from starshade.release.folder.digest import digest_of

    secrets = [*SECRETS, "q-hidden", "4077112233", digest_of(grouping.original), "secret"]
    receipt = (tmp_path / "receipt").read_text()
    assert all(secret in receipt for secret in secrets)  # the search can find them
    for name, raw in contents_of(tmp_path / "out").items():
        text = raw.decode("utf-8", "replace")
        if name.endswith(".parquet"):  # pages are compressed: look at what they hold
            file = pq.ParquetFile(tmp_path / "out" / name)
            text += repr(file.read().to_pydict()) + str(file.schema) + str(file.metadata.metadata)
        for secret in secrets:
            assert secret not in text, (name, secret)
            assert secret.encode("utf-16-le") not in raw
        for never in ("seed", "digest", "1970", "date"):
            assert never not in text.lower(), (name, never)


def test_reading_what_is_no_release(tmp_path):
    with pytest.raises(ReleaseError, match="not a release"):
        read_release(tmp_path)
