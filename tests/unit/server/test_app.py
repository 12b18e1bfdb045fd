"""The studio's addresses: from choosing data to a release in hand, and every way to go wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from starshade.errors import OutputError
from starshade.server.guard import COOKIE
from starshade.server.jobs.store import Store
from tests.unit.server.desk import ATTACK, COMPARE, FACTS, PORT, RELEASE, TOKEN, Desk

NOT_HERE = 404
WRONG = 422


def goes_to(answer: Any) -> str:
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_the_latest_work_says_on_which_data(desk: Desk) -> None:
    data = desk.read("this one.csv")
    desk.store.add_job("attack", data.id, {"attack": "label", "knowledge": {"known": 3}})
    assert "Attack: label, 3 known ratings (this one.csv)" in desk.get("/").text


def test_the_first_page_offers_three_ways(desk: Desk) -> None:
    text = desk.get("/").text
    for place in ("/data/path", "/data/synthetic", "/data/upload"):
        assert f'"{place}"' in text


def test_a_path_becomes_data_that_are_to_be_read(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "my <b>ratings.csv"
    file.write_text("user,item,rating\n")
    assert goes_to(desk.post("/data/path", {"path": str(file)})) == "/data/1"
    data, (job,) = desk.store.data(1), desk.store.jobs(1)
    assert (data.kind, data.source, data.name) == ("file", str(file), "my <b>ratings.csv")
    assert (job.kind, job.settings, desk.engine.woken) == ("read", {}, 1)
    page = desk.get("/data/1").text
    assert "my &lt;b&gt;ratings.csv" in page
    assert "<b>ratings" not in page
    assert "&lt;b&gt;" in desk.get("/").text


def test_a_wrong_path_comes_back_with_what_was_typed(desk: Desk) -> None:
    answer = desk.post("/data/path", {"path": "/no/such <i>file</i>.csv"})
    assert answer.status_code == WRONG
    assert "/no/such &lt;i&gt;file&lt;/i&gt;.csv does not exist" in answer.text
    assert 'value="/no/such &lt;i&gt;file&lt;/i&gt;.csv"' in answer.text
    assert desk.store.all_data() == ()


def test_made_up_ratings_are_asked_for(desk: Desk) -> None:
    asked = {"like": "movielens-100k", "n_users": "50", "seed": "7"}
    assert goes_to(desk.post("/data/synthetic", asked)) == "/data/1"
    (job,) = desk.store.jobs(1)
    assert job.settings == {"like": "movielens-100k", "n_users": 50, "seed": 7}
    assert desk.post("/data/synthetic", {"like": "nothing"}).status_code == WRONG


def test_data_that_are_being_read_say_so_and_offer_no_work(desk: Desk) -> None:
    data = desk.store.add_data("file", "a.csv", "/a.csv")
    job = desk.store.add_job("read", data.id)
    text = desk.get(f"/data/{data.id}").text
    assert f"/jobs/{job.id}/events" in text
    assert f"/data/{data.id}/attack" not in text
    assert desk.post(f"/data/{data.id}/attack", ATTACK).status_code == WRONG
    assert len(desk.store.jobs()) == 1


def test_data_that_could_not_be_read_say_why_and_ask_for_the_columns(desk: Desk) -> None:
    data = desk.store.add_data("file", "a.csv", "/a.csv")
    job = desk.store.add_job("read", data.id, {"rating_col": "points"})
    desk.end(job, "failed", error="line 3: no rating", advice="Name the column.")
    text = desk.get(f"/data/{data.id}").text
    form = f'action="/data/{data.id}/mapping"'
    for said in ("Line 3: no rating.", "Name the column.", form, 'value="points"'):
        assert said in text


def test_the_mapping_is_read_again_as_said(desk: Desk) -> None:
    data = desk.read()
    asked = {"user_col": "who", "scale": "1:5:1", "on_duplicate": "last"}
    assert goes_to(desk.post(f"/data/{data.id}/mapping", asked)) == f"/data/{data.id}"
    job = desk.store.jobs(data.id)[0]
    assert (job.kind, job.settings) == ("read", asked)
    desk.end(job, result=FACTS, facts=FACTS)
    text = desk.get(f"/data/{data.id}").text  # said before, and still said
    assert 'value="who"' in text
    assert 'value="1:5:1"' in text


@pytest.mark.parametrize(
    ("what", "form"), [("attack", ATTACK), ("compare", COMPARE), ("release", RELEASE)]
)
def test_work_is_asked_for_once(desk: Desk, what: Any, form: dict[str, Any]) -> None:
    data = desk.read()
    place = goes_to(desk.post(f"/data/{data.id}/{what}", form))
    assert goes_to(desk.post(f"/data/{data.id}/{what}", form)) == place  # a second click, or tab
    (job,) = desk.store.jobs(data.id, kinds=(what,))
    assert place == f"/jobs/{job.id}"
    other = {**form, "targets": "99"}
    assert goes_to(desk.post(f"/data/{data.id}/{what}", other)) != place
    assert desk.get(place).status_code == 200


@pytest.mark.parametrize(
    ("what", "form", "wrong"),
    [("attack", ATTACK, "known"), ("compare", COMPARE, "k"), ("release", RELEASE, "k")],
)
def test_what_is_wrong_is_said_at_its_field(
    desk: Desk, what: str, form: dict[str, Any], wrong: str
) -> None:
    data = desk.read()
    answer = desk.post(f"/data/{data.id}/{what}", {**form, wrong: '"><script>x</script>'})
    assert answer.status_code == WRONG
    assert f'id="{what}-{wrong}-error"' in answer.text
    assert "<script>x" not in answer.text
    assert "&lt;script&gt;x" in answer.text  # what was typed is still there
    assert "Check:" in answer.text
    assert desk.store.jobs(data.id, kinds=("attack", "compare", "release")) == ()


def test_an_address_fills_a_form_in(desk: Desk) -> None:
    data = desk.read()
    text = desk.get(f"/data/{data.id}?form=attack&known=3&wrong=1&evil=%3Cscript%3E").text
    assert 'name="known" value="3"' in text.replace("\n", " ").replace("  ", " ")
    assert "<script>" not in text.replace("<script src", "")


def test_a_job_s_page_follows_it(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.job(int(goes_to(desk.post(f"/data/{data.id}/attack", ATTACK))[6:]))
    assert "Waiting" in desk.get(f"/jobs/{job.id}").text
    desk.store.begin(job.id)
    for part in ("", "/panel"):
        text = desk.get(f"/jobs/{job.id}{part}").text
        assert "Running for" in text
    assert "<html" not in desk.get(f"/jobs/{job.id}/panel").text
    desk.store.finish(job.id, "failed", error="nobody has so many ratings", advice="Ask for 4.")
    text = desk.get(f"/jobs/{job.id}").text
    assert "Nobody has so many ratings." in text
    assert "Change the settings" in text
    assert f"/jobs/{job.id}/again" in text


def test_the_events_end_with_the_job(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.add_job("attack", data.id, {})
    desk.end(job, "interrupted")
    answer = desk.get(f"/jobs/{job.id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line for line in answer.text.splitlines() if line.startswith("event:")]
    assert events == ["event: panel", "event: done"]
    assert answer.text.endswith("event: done\ndata: interrupted\n\n")


def test_two_tabs_may_cancel_the_same_job(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.add_job("attack", data.id, {})
    for _ in range(2):
        assert goes_to(desk.post(f"/jobs/{job.id}/cancel")) == f"/jobs/{job.id}"
    assert desk.store.job(job.id).state == "cancelled"


def test_what_was_cut_short_can_be_done_again_and_what_runs_is_not_doubled(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.add_job("attack", data.id, {"attack": "label"})
    assert goes_to(desk.post(f"/jobs/{job.id}/again")) == f"/jobs/{job.id}"
    desk.end(job, "interrupted")
    again = goes_to(desk.post(f"/jobs/{job.id}/again"))
    assert again == goes_to(desk.post(f"/jobs/{job.id}/again"))  # another tab
    assert desk.store.job(int(again[6:])).settings == {"attack": "label"}
    assert "interrupted" in desk.get("/").text


def test_data_are_removed_but_not_while_they_are_worked_on(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.add_job("attack", data.id, {})
    answer = desk.post(f"/data/{data.id}/delete")
    assert answer.status_code == 409
    assert "unfinished jobs" in answer.text
    desk.end(job, "cancelled")
    assert goes_to(desk.post(f"/data/{data.id}/delete")) == "/"
    assert desk.get(f"/data/{data.id}").status_code == NOT_HERE
    assert desk.get(f"/jobs/{job.id}").status_code == NOT_HERE


@pytest.mark.parametrize("bad", ["0", "-1", "x", "1e3", "%2e%2e", "9" * 30, "1%00"])
@pytest.mark.parametrize(
    "path", ["/data/{}", "/jobs/{}", "/jobs/{}/events", "/releases/{}", "/releases/{}/report"]
)
def test_a_number_that_is_none_is_not_here(still: Desk, path: str, bad: str) -> None:
    answer = still.get(path.format(bad))
    assert answer.status_code == NOT_HERE
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2f..%2fetc/passwd",
     "/releases/1/report?audience=../../../receipt", "/releases/1/..%2f2%2freceipt.json",
     "/docs", "/openapi.json", "/redoc"],
)  # fmt: skip
def test_no_address_leads_out(still: Desk, path: str) -> None:
    assert still.get(path).status_code == NOT_HERE


def test_who_goes_away_while_sending_a_form_is_no_mistake_of_ours(desk: Desk) -> None:
    sent: list[dict[str, Any]] = []
    kind = b"application/x-www-form-urlencoded"
    headers = [(b"host", desk.entrance.host.encode()), (b"content-type", kind)]
    headers += [(b"cookie", f"{COOKIE}={TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/data/path", "headers": headers,
             "query_string": b"", "scheme": "http", "http_version": "1.1", "root_path": "",
             "server": ("127.0.0.1", PORT)}  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    desk.wait(desk.app(scope, receive, send))  # raises what is a mistake
    assert sent[0]["status"] == 400


def test_only_what_is_offered_is_done_to_data(desk: Desk) -> None:
    data = desk.read()
    assert desk.post(f"/data/{data.id}/publish").status_code == NOT_HERE
    assert desk.get(f"/data/{data.id}/delete").status_code == 405
    made_up = desk.store.add_data("synthetic", "made up", "survey")
    assert desk.post(f"/data/{made_up.id}/mapping").status_code == NOT_HERE


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"path": "/a"}', "application/json", 400),
        (b"path=" + b"x" * 300_000, "application/x-www-form-urlencoded", 413),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a%d=1" % i for i in range(1000)), "application/x-www-form-urlencoded", 400),
        (b"path=%ff", "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_is_no_form_is_refused(still: Desk, body: bytes, kind: str, status: int) -> None:
    answer = still.post("/data/path", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert "<h1>" in answer.text


def test_a_disk_that_refuses_is_said_in_words(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_more: Any) -> None:
        raise OutputError("the work folder: no space left", advice="Free some space.")

    data = desk.read()
    monkeypatch.setattr(Store, "add_job", full)
    answer = desk.post(f"/data/{data.id}/attack", ATTACK)
    assert answer.status_code == 507
    assert "No space left" in answer.text or "no space left" in answer.text
    assert "Free some space." in answer.text


def test_the_files_of_a_release(desk: Desk) -> None:
    data = desk.read()
    job = desk.store.add_job("release", data.id, {"method": "k-exchange", "config": {"k": 5}})
    here = f"/releases/{job.id}"
    assert goes_to(desk.get(here)) == f"/jobs/{job.id}"
    folder = desk.store.places.release(job.id)
    folder.mkdir()
    names = ("release.zip", "receipt.json", "at-risk.csv", "report.html", "report-public.html")
    for name in names:
        (folder / name).write_text(f"<p>{name}</p>")
    places = ("download", "key", "at-risk", "report", "report?audience=public")
    for place in places:  # nothing is shown before it is done
        assert desk.get(f"{here}/{place}").status_code == NOT_HERE
    desk.end(job, result={"passed": True, "verdict": {"headline": "May be published"}})
    for name, place in zip(names, places, strict=True):
        answer = desk.get(f"{here}/{place}")
        assert answer.text == f"<p>{name}</p>"
        attached = "attachment" in answer.headers.get("content-disposition", "")
        assert attached == (not place.startswith("report"))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert ("sandbox" in policy) == place.startswith("report")  # it runs nothing
    (folder / "release.zip").unlink()
    assert "are missing" in desk.get(here).text
    assert desk.get(f"{here}/download").status_code == NOT_HERE


def test_the_server_loads_no_kernels() -> None:
    code = (
        "import sys, starshade.server.app, starshade.server.jobs.engine, starshade.server.serve\n"
        "print(*[m for m in ('numba', 'numpy', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""


def test_a_studio_of_years_reads_few_of_its_results(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 200 data sets, 2,000 jobs with long results, one that runs
    data = desk.read()
    result = json.dumps({"text": "x" * 50_000, "expected_top1": 0.5, "records": 10})
    with desk.store._database.write() as db:
        for _ in range(200):
            db.execute(
                "INSERT INTO data (name, kind, source, options, created, facts) "
                "SELECT name, kind, source, options, created, facts FROM data WHERE id = 1"
            )
        for number in range(2000):
            db.execute(
                "INSERT INTO job (kind, data_id, settings, created, state, result) "
                "VALUES ('attack', ?, '{}', 0, 'done', ?)",
                (1 + number // 200 * 20, result),
            )
    running = desk.store.add_job("attack", data.id, {})
    desk.store.begin(running.id)
    places = ("/", "/data/1", "/data/21", "/jobs/2", f"/jobs/{running.id}/panel")
    read: list[int] = []  # lengths of what was decoded
    decoded = json.loads
    monkeypatch.setattr(json, "loads", lambda text: read.append(len(text)) or decoded(text))
    for path in places:
        read.clear()
        assert desk.get(path).status_code == 200
        assert sum(length >= len(result) for length in read) <= 50, path
