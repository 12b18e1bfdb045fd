"""Who is let in: nobody but a browser on this machine that was given the address."""

from __future__ import annotations

import re

import pytest

from tests.unit.server.desk import AT, PORT, TOKEN, Desk

REFUSED = 403


@pytest.fixture
def desk(still: Desk) -> Desk:
    """Let the browser in anew."""
    still.forget()
    still.remember()
    return still


GET = (
    "/",
    "/data/{}",
    "/jobs/{}",
    "/jobs/{}/panel",
    "/jobs/{}/events",
    "/releases/{}",
    "/releases/{}/report",
    "/releases/{}/report?edition=public",
    "/releases/{}/download",
    "/releases/{}/receipt",
)
POST = (
    "/data/path",
    "/data/synthetic",
    "/data/upload?name=a.csv",
    "/data/{}/mapping",
    "/data/{}/attack",
    "/data/{}/compare",
    "/data/{}/release",
    "/data/{}/delete",
    "/jobs/{}/cancel",
    "/jobs/{}/again",
)


def test_the_address_with_the_token_lets_in_and_is_left(desk: Desk) -> None:
    desk.forget()
    welcome = desk.get("/data/1", params={"token": TOKEN, "form": "attack"})
    assert welcome.status_code == 200
    assert 'url=/data/1?form=attack"' in welcome.text  # without the token
    assert TOKEN not in welcome.text
    cookie = welcome.headers["set-cookie"]
    assert f"starshade-{PORT}={TOKEN};" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert desk.get("/").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/%2Fevil.example", "/\\evil.example"])
def test_the_welcome_leads_to_no_other_host(desk: Desk, path: str) -> None:
    answer = desk.get(f"{AT}{path}?token={TOKEN}")
    found = re.findall(r'(?:url=|href=")([^"]*)"', answer.text)
    assert answer.status_code == 200
    assert found
    assert all(re.match(r"/(?![/\\])", place) for place in found)


@pytest.mark.parametrize("value", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ümläut"])
def test_another_token_does_not(desk: Desk, value: str) -> None:
    desk.forget()
    answer = desk.get("/", params={"token": value})
    assert answer.status_code == REFUSED
    assert "set-cookie" not in answer.headers
    assert desk.get("/").status_code == REFUSED


@pytest.mark.parametrize("value", ["", "wrong", TOKEN + "x"])
def test_another_cookie_does_not(desk: Desk, value: str) -> None:
    desk.forget()
    desk.remember(value)
    assert desk.get("/").status_code == REFUSED


def test_our_cookie_is_found_among_others(desk: Desk) -> None:
    desk.forget()
    cookies = f'other="a;b"; odd=(;; starshade-{PORT}={TOKEN}; starshade-1=x'
    assert desk.get("/", headers={"Cookie": cookies}).status_code == 200


def test_without_the_token_nothing_is_shown_and_nothing_done(desk: Desk) -> None:
    data = desk.read("secret-name.csv")
    before = len(desk.store.all_data())
    desk.forget()
    for path in GET:
        answer = desk.get(path.format(data.id))
        assert answer.status_code == REFUSED, path
        assert "secret-name" not in answer.text
    for path in POST:
        assert desk.post(path.format(data.id)).status_code == REFUSED, path
    assert desk.store.data(data.id) == data
    assert len(desk.store.jobs(data.id)) == 1
    assert len(desk.store.all_data()) == before


def test_these_are_addresses(desk: Desk) -> None:
    # the test above means something only if they are answered to those who may ask
    data = desk.read()
    for path in GET:
        assert "nothing at this address" not in desk.get(path.format(data.id)).text, path


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"127.0.0.1:{PORT}.evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{PORT}@evil.example",
        f"0.0.0.0:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/static/studio.css", f"/?token={TOKEN}"])
def test_a_foreign_host_is_refused_though_it_has_the_token(
    desk: Desk, host: str, path: str
) -> None:
    answer = desk.get(path, headers={"Host": host})
    assert answer.status_code == REFUSED
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_s_names_are_not(desk: Desk, host: str) -> None:
    headers = {"Host": f"{host}:{PORT}", "Cookie": f"starshade-{PORT}={TOKEN}"}
    assert desk.get("/", headers=headers).status_code == 200


def test_two_hosts_are_one_too_many(desk: Desk) -> None:
    headers = [("Host", f"127.0.0.1:{PORT}"), ("Host", "evil.example")]
    assert desk.get("/", headers=headers).status_code == REFUSED


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://127.0.0.1:{PORT}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": f"{AT}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_page_may_ask_for_nothing(desk: Desk, headers: dict[str, str]) -> None:
    answer = desk.post("/data/synthetic", {"like": "survey"}, headers=headers)
    assert answer.status_code == REFUSED
    assert not any(data.kind == "synthetic" for data in desk.store.all_data())


def test_our_own_page_may(desk: Desk) -> None:
    headers = {"Origin": AT, "Sec-Fetch-Site": "same-origin"}
    before = len(desk.store.all_data())
    assert desk.post("/data/synthetic", {"like": "survey"}, headers=headers).status_code == 303
    assert len(desk.store.all_data()) == before + 1


def test_a_refusal_is_a_page_or_json_and_says_what_to_do(desk: Desk) -> None:
    desk.forget()
    shown = desk.get("/", headers={"Accept": "text/html"})
    assert "token" in shown.text
    assert "<h1>" in shown.text
    told = desk.get("/", headers={"Accept": "application/json"}).json()
    assert told["error"]["status"] == REFUSED
    assert "address that was printed" in told["error"]["advice"]


@pytest.mark.parametrize("path", ["/", "/static/studio.css", "/nothing", "/jobs/1", "/data/x"])
def test_every_answer_protects_itself(desk: Desk, path: str) -> None:
    headers = desk.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "same-origin"


def test_a_mistake_of_ours_protects_itself_and_shows_no_insides(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("user 196 rated")

    monkeypatch.setattr(desk.store, "all_data", broken)
    answer = desk.get("/")
    assert answer.status_code == 500
    assert "196" not in answer.text
    assert "bug in starshade" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_web_socket_is_closed(desk: Desk) -> None:
    sent = []

    async def call() -> None:
        async def receive() -> dict[str, str]:
            return {"type": "websocket.connect"}

        async def send(message: dict[str, object]) -> None:
            sent.append(message["type"])

        scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b""}
        await desk.app(scope, receive, send)

    desk.wait(call())
    assert sent == ["websocket.close"]


@pytest.mark.parametrize("path", ["/", "/data/99", "/static/icon.svg", "/jobs/1/events"])
def test_head_is_answered_as_get_without_a_body(desk: Desk, path: str) -> None:
    if path == "/jobs/1/events":  # which goes on for as long as the job does
        path = f"/jobs/{desk.store.add_job('attack', desk.read().id).id}/events"
        got = None
    else:
        got = desk.get(path)
    head = desk.wait(desk._client.head(path))
    assert head.content == b""
    assert head.headers["content-security-policy"]
    if got is not None:
        assert (head.status_code, head.headers) == (got.status_code, got.headers)


def test_head_is_refused_to_strangers_too(desk: Desk) -> None:
    desk.forget()
    assert desk.wait(desk._client.head("/")).status_code == REFUSED
