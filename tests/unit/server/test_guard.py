"""Who is let in: nobody but a browser on this machine that was given the address."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from starshade.server.entrance import HOST, Entrance
from starshade.server.guard import COOKIE
from tests.unit.server.desk import AT, NAME, PORT, TOKEN, Desk

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
    "/releases/{}/report?audience=public",
    "/releases/{}/download",
    "/releases/{}/key",
    "/releases/{}/at-risk",
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
    assert f"{COOKIE}={TOKEN};" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "domain" not in cookie.lower()  # for this host alone
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
    cookies = f'other="a;b"; odd=(;; {COOKIE}={TOKEN}; {COOKIE}-1=x'
    assert desk.get("/", headers={"Cookie": cookies}).status_code == 200


@pytest.mark.parametrize(
    "cookies",
    [
        f"{COOKIE}=planted; {COOKIE}={TOKEN}",
        f"{COOKIE}={TOKEN}; {COOKIE}=planted",
        f"{COOKIE}=; {COOKIE}=planted; {COOKIE}={TOKEN}; {COOKIE}=planted",
    ],
)
def test_a_planted_cookie_does_not_lock_the_owner_out(desk: Desk, cookies: str) -> None:
    desk.forget()
    assert desk.get("/", headers={"Cookie": cookies}).status_code == 200
    apart = [("Cookie", cookie) for cookie in cookies.split("; ")]
    assert desk.get("/", headers=apart).status_code == 200


def test_the_address_lets_in_beside_a_planted_cookie(desk: Desk) -> None:
    desk.forget()
    planted = {"Cookie": f"{COOKIE}=planted"}
    assert desk.get("/", headers=planted).status_code == REFUSED
    welcome = desk.get(f"/?token={TOKEN}", headers=planted)
    assert f"{COOKIE}={TOKEN};" in welcome.headers["set-cookie"]


def test_each_start_draws_a_name_and_a_token() -> None:
    one, other = Entrance.draw(PORT), Entrance.draw(PORT)
    assert re.fullmatch(rf"[0-9a-f]{{16}}\.localhost:{PORT}", one.host)
    assert one.host != other.host
    assert one.token != other.token
    assert one.address("/") == f"http://{one.host}/?token={one.token}"
    assert Entrance.draw(80).host.endswith(".localhost")  # as browsers say it


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


OTHER_HOSTS = (
    "evil.example",
    f"evil.example:{PORT}",
    f"127.0.0.1:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"{AT}.evil.example",
    f"127.0.0.1:{PORT}@evil.example",
    f"localhost:{PORT}",
    f"[::1]:{PORT}",
    f"0.0.0.0:{PORT}",
    f"fedcba9876543210.localhost:{PORT}",
    f"x.{NAME}:{PORT}",
    f"{NAME}.:{PORT}",
    f"{NAME}:1",
    NAME,
    "[",
    "",
)


@pytest.mark.parametrize("host", OTHER_HOSTS)
@pytest.mark.parametrize("path", ["/", f"/?token={TOKEN}"])
def test_another_host_is_refused_with_token_and_cookie(desk: Desk, host: str, path: str) -> None:
    cookies = f"{COOKIE}={TOKEN}; starshade-{PORT}={TOKEN}"
    answer = desk.get(path, headers={"Host": host, "Cookie": cookies})
    assert answer.status_code == REFUSED
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", "evil.example"])
def test_the_page_for_another_host_can_be_read_and_names_no_secret(desk: Desk, host: str) -> None:
    desk.read("secret-name.csv")
    answer = desk.get("/", headers={"Host": host})
    assert "Open the address that the studio printed in its terminal." in answer.text
    assert "--plain-host" in answer.text
    for secret in (NAME, NAME.split(".")[0], TOKEN, "secret-name"):
        assert secret not in answer.text + str(answer.headers)
    style = re.search(r'href="([^"]*studio.css)"', answer.text)
    assert style is not None
    shown = desk.get(style[1], headers={"Host": host})
    assert (shown.status_code, shown.headers["content-type"][:8]) == (200, "text/css")


def test_the_name_may_be_written_in_capitals(desk: Desk) -> None:
    assert desk.get("/", headers={"Host": f"{NAME.upper()}:{PORT}"}).status_code == 200


def test_two_hosts_are_one_too_many(desk: Desk) -> None:
    headers = [("Host", f"{NAME}:{PORT}"), ("Host", "evil.example")]
    assert desk.get("/", headers=headers).status_code == REFUSED


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{NAME}:{PORT}"},
        {"Origin": f"http://{NAME}:1"},
        {"Origin": f"http://{NAME}"},
        {"Origin": f"http://127.0.0.1:{PORT}"},
        {"Origin": f"http://localhost:{PORT}"},
        {"Origin": f"http://fedcba9876543210.localhost:{PORT}"},
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
    assert "address that the studio printed" in told["error"]["advice"]


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


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Serve 127.0.0.1, with the token in the path."""
    opened = Desk(tmp_path_factory.mktemp("plain") / "work", name=HOST)
    yield opened
    opened.close()


def test_a_plain_host_is_entered_by_the_path_and_sets_no_cookie(plain: Desk) -> None:
    data = plain.read("mine.csv")
    for path in ("/", f"/data/{data.id}", "/static/studio.css", "/pictures.css"):
        answer = plain.get(f"/{TOKEN}{path}")
        assert answer.status_code == 200, path
        assert "set-cookie" not in answer.headers
    welcome = plain.get(f"/{TOKEN}")
    assert welcome.status_code == 307
    assert welcome.headers["location"] == f"http://{HOST}:{PORT}/{TOKEN}/"
    assert plain.get(f"/{TOKEN}/?token={TOKEN}").headers.get("set-cookie") is None


@pytest.mark.parametrize(
    "begin", ["", "/wrong", f"/{TOKEN}x", f"/{TOKEN[:-1]}", f"/x/{TOKEN}", "/static"]
)
def test_a_plain_host_shows_nothing_to_other_paths(plain: Desk, begin: str) -> None:
    data = plain.read("secret-name.csv")
    before = len(plain.store.all_data())
    cookies = {"Cookie": f"{COOKIE}={TOKEN}"}
    for path in GET:
        answer = plain.get(begin + path.format(data.id), params={"token": TOKEN}, headers=cookies)
        assert answer.status_code in (REFUSED, 404), path
        assert "secret-name" not in answer.text
        assert TOKEN not in answer.text
        assert "set-cookie" not in answer.headers
    for path in POST:
        answer = plain.post(begin + path.format(data.id), headers=cookies)
        assert answer.status_code in (REFUSED, 404, 405), path
    assert plain.store.data(data.id) == data
    assert len(plain.store.all_data()) == before


@pytest.mark.parametrize(
    "host", [f"localhost:{PORT}", f"{NAME}:{PORT}", "evil.example", "127.0.0.1"]
)
def test_a_plain_host_has_one_name(plain: Desk, host: str) -> None:
    answer = plain.get(f"/{TOKEN}/", headers={"Host": host})
    assert answer.status_code == REFUSED
    assert TOKEN not in answer.text
    assert "--plain-host" not in answer.text


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1", f"http://localhost:{PORT}", "null", AT])
def test_a_plain_host_takes_forms_of_its_own_pages_alone(plain: Desk, origin: str) -> None:
    form, before = {"like": "survey"}, len(plain.store.all_data())
    at = f"/{TOKEN}/data/synthetic"
    assert plain.post(at, form, headers={"Origin": origin}).status_code == REFUSED
    assert len(plain.store.all_data()) == before
    own = plain.post(at, form, headers={"Origin": f"http://{HOST}:{PORT}"})
    assert own.status_code == 303
    assert re.fullmatch(rf"/{TOKEN}/data/\d+", own.headers["location"])
    assert plain.get(own.headers["location"]).status_code == 200


def test_a_plain_host_answers_scripts_with_addresses_that_hold_the_token(plain: Desk) -> None:
    headers = {"Accept": "application/json"}
    sent = plain.post(f"/{TOKEN}/data/upload?name=a.csv", content=b"u,i,r\n", headers=headers)
    place = sent.json()["location"]
    assert re.fullmatch(rf"/{TOKEN}/data/\d+", place)


@pytest.mark.parametrize("path", ["/nothing", "/static/nothing", "/data/999999"])
def test_a_plain_host_leads_back_from_what_is_not_there(plain: Desk, path: str) -> None:
    answer = plain.get(f"/{TOKEN}{path}")
    assert answer.status_code == 404
    assert f'class="button" href="/{TOKEN}/"' in answer.text


def test_a_plain_host_leads_back_from_a_mistake_of_ours(
    plain: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("user 196 rated")

    monkeypatch.setattr(plain.store, "all_data", broken)
    answer = plain.get(f"/{TOKEN}/")
    assert answer.status_code == 500
    assert f'class="button" href="/{TOKEN}/"' in answer.text
