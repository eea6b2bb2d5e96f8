"""The guard: who may enter the app, and what other sites can't do."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from internal_linker.faces.web import server
from internal_linker.faces.web.access import SESSION_S, Access, hash_password
from internal_linker.faces.web.guard import MOST_BYTES
from internal_linker.faces.web.server import listening, serve
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.known_projects import KnownProjects, project_key
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import PASSWORD, PATIENCE_S, RunningApp, running_app, wait_for
from tests.support.small_project import finish, make_project, start


@pytest.fixture
def shared_app(tmp_path: Path) -> Iterator[RunningApp]:
    with running_app(tmp_path, PASSWORD) as running:
        yield running


def test_the_start_address_opens_a_session(app: RunningApp) -> None:
    client = app.stranger()
    answer = client.get(f"/?token={app.access.token}&a=b")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?a=b")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and app.access.token not in cookie
    assert client.get("/").status_code == 200


@pytest.mark.long
def test_no_process_has_the_token(tmp_path: Path) -> None:
    """The browser is started with an address that works once, without the token, which only the terminal shows."""
    told, browser = tmp_path / "told.txt", tmp_path / "browser.py"
    browser.write_text("import sys; open(sys.argv[1], 'w').write(sys.argv[2])")
    opens = shlex.join([sys.executable, str(browser), str(told)]) + " %s"
    words = ("-m", "internal_linker", "app", "--project", str(make_project(tmp_path / "shop")))
    process = start(*words, cwd=tmp_path, XDG_DATA_HOME=str(tmp_path), BROWSER=opens)
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    opened = wait_for(lambda: told.is_file() and told.read_text())
    page, _, token = address.partition("?token=")
    assert token and opened.startswith(f"{page}?start=") and token not in opened
    for tries, url, status in ((1, opened, 200), (2, opened, 401), (3, address, 200), (4, address, 200)):
        with httpx.Client(trust_env=False, follow_redirects=True, timeout=PATIENCE_S) as client:
            answer = client.get(url)
        assert answer.status_code == status, f"try {tries}"
        assert status == 200 or "works only once" in answer.text
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, err) == (0, "") and out.endswith("Stopped.\n")


def test_the_browser_gets_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal shows an address with the token; the browser is opened at one with a code that works once."""
    told, opened = list[str](), list[str]()
    monkeypatch.setattr("threading.Timer", lambda _, function, words: Mock(start=lambda: function(*words)))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    monkeypatch.setattr(server, "KnownProjects", lambda: KnownProjects(tmp_path / "projects.json"))
    folder = make_project(tmp_path / "shop")
    serve(told.append, project=folder)
    page, _, token = told[0].split()[-1].partition("?token=")
    assert page.endswith(f"/p/{project_key(folder)}/") and token
    assert opened[0].startswith(f"{page}?start=") and token not in opened[0]
    serve(told.append, password=PASSWORD)
    assert "token" not in told[-2] and "start" not in opened[1]


def test_the_start_code_opens_one_session(app: RunningApp) -> None:
    code = app.access.start_code()
    assert app.stranger().head(f"/?start={code}").headers["location"] == "/login"
    wrong = {"Authorization": f"Bearer {code}"}
    assert app.stranger().get("/api/projects", headers=wrong).status_code == 401
    there = app.stranger().get(f"//evil.example/?token={app.access.token}").headers.get("location", "/")
    assert there.startswith("/") and "//evil" not in there
    client = app.stranger()
    assert client.get(f"/?start={code}&a=b").headers["location"] == "/?a=b"
    assert client.get("/").status_code == 200
    assert app.stranger().get(f"/?start={code}").headers["location"] == "/login"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_another_user_can_not_use_the_start_code(app: RunningApp) -> None:
    code = app.access.start_code()
    taken = (
        "import encodings.idna, http.client, os, sys; "
        "door = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1])); "
        "os.setuid(65534); door.request('GET', sys.argv[2], headers={'X-Forwarded-For': sys.argv[3]}); "
        "print(door.getresponse().getheader('location'))"
    )
    with app.stranger() as own:
        # A header may not name a connection of this user.
        own.get("/login")
        stream = own.get("/login").extensions["network_stream"]
        forged = "{}:{}".format(*stream.get_extra_info("client_addr"))
        for header in ("127.0.0.1", forged):
            words = [sys.executable, "-c", taken, str(app.access.port), f"/?start={code}", header]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert done.stdout == "/login\n"
        assert own.get(f"/?start={code}").headers["location"] == "/"


@pytest.mark.parametrize("path", ["/", "/docs", "/api/projects"])
def test_strangers_see_nothing(app: RunningApp, path: str) -> None:
    """Without token or session, pages lead to the entry and the API refuses."""
    for token in ("", "?token=wrong"):
        answer = app.stranger().get(path + token)
        assert answer.status_code == (401 if path.startswith("/api") else 303)
        assert answer.headers.get("location", "/login") == "/login"
    assert "start address" in app.stranger().get("/login").text


@pytest.mark.parametrize(
    "host",
    ["evil.example:{port}", "127.0.0.1:1", "localhost.evil.example:{port}", ""],
)
def test_other_host_names_are_refused(app: RunningApp, host: str) -> None:
    """A site whose name leads to this computer can't talk to the app, even with the token (DNS rebinding)."""
    answer = app.client.get("/api/projects", headers={"Host": host.format(port=app.access.port)})
    assert answer.status_code == 400 and "projects" not in answer.json()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", None])
def test_other_sites_change_nothing(app: RunningApp, origin: str | None, tmp_path: Path) -> None:
    client = app.stranger()
    assert client.get(f"/?token={app.access.token}").status_code == 303
    headers = {"Origin": origin} if origin else {}
    body = {"folder": str(tmp_path / "new")}
    assert client.post("/api/projects", json=body, headers=headers).status_code == 403
    assert not (tmp_path / "new").exists()
    assert client.post("/api/projects", json=body, headers={"Origin": app.url}).status_code == 201


@pytest.mark.parametrize("path", ["/", "/static/shared.js", "/nowhere", "/api/nowhere"])
def test_every_answer_is_fenced_in(app: RunningApp, path: str) -> None:
    headers = app.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("declared", [True, False])
def test_bodies_are_bounded(app: RunningApp, declared: bool) -> None:
    text = b'{"folder": "' + b"x" * MOST_BYTES + b'"}'
    content = text if declared else iter([text[:100], text[100:]])
    headers = {"Content-Type": "application/json"}
    assert app.client.post("/api/projects", content=content, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/vendor/echarts/..%2f..%2fdocument.py"]
)
def test_static_files_stay_in_their_folder(app: RunningApp, path: str) -> None:
    assert app.client.get(path).status_code == 404


def test_a_shared_app_needs_its_password(shared_app: RunningApp, tmp_path: Path) -> None:
    with shared_app.stranger(headers={"Origin": shared_app.url}) as client:
        for key in (f"token={shared_app.access.token}", f"start={shared_app.access.start_code()}"):
            assert client.get(f"/?{key}").headers["location"] == "/login"
        assert "Password" in client.get("/login").text
        assert client.post("/api/login", json={"password": "wrong"}).status_code == 401
        assert client.get("/api/projects").status_code == 401
        assert client.post("/api/login", json={"password": PASSWORD}).status_code == 200
        assert client.get("/api/projects").json()["opens"] is False
        for path in ("/api/projects", "/api/projects/open"):
            answer = client.post(path, json={"folder": str(tmp_path / "new")})
            assert answer.status_code == 403 and "on its own computer" in answer.json()["error"]
        assert client.post("/api/logout").status_code == 200
        assert client.get("/api/projects").status_code == 401


@pytest.mark.long
def test_a_person_signs_in_and_out(shared_app: RunningApp, browser: AppBrowser) -> None:
    page = browser.page(shared_app)
    require_sound(page, browser)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("The password is wrong.").wait_for()
    browser.problems.clear()  # the browser's own line about the status 401
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()
    assert not page.get_by_label("Project folder").is_visible()
    require_sound(page, browser)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Password").wait_for()
    assert shared_app.client.get("/api/projects").json()["error"] == "Not signed in: sign in again."
    page.goto(shared_app.url)
    page.get_by_label("Password").wait_for()
    browser.problems.clear()


def test_a_proxy_may_have_any_name(shared_app: RunningApp) -> None:
    """With a password, a proxy on this computer passes its own name and scheme on; other sites stay out."""
    host = "links.example:8443"
    proxied = {"Host": host, "X-Forwarded-Proto": "https", "Origin": f"https://{host}"}
    with shared_app.stranger(headers=proxied) as client:
        answer = client.post("/api/login", json={"password": PASSWORD})
        assert answer.status_code == 200 and "Secure" in answer.headers["set-cookie"]
        session = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
        assert client.get("/api/projects", headers=session).status_code == 200
        assert (
            client.post("/api/logout", headers=session | {"Origin": "https://evil.example"}).status_code
            == 403
        )
        assert client.get("/api/projects", headers={"Cookie": ""}).status_code == 401


def test_sessions_of_this_computer_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a password a second browser ends no session, however old; with one, it ends after a working day."""
    local, shared = Access(1), Access(1, hash_password(PASSWORD))
    assert shared.password.startswith("$argon2id$") and PASSWORD not in repr(shared)
    first, old = local.open_session(), shared.open_session()
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + SESSION_S + 1)
    local.open_session()
    assert local.knows_session(first) and not shared.knows_session(old)


def test_guesses_are_limited(shared_app: RunningApp) -> None:
    with shared_app.stranger(headers={"Origin": shared_app.url}) as client:
        answers = [client.post("/api/login", json={"password": f"wrong {n}"}).status_code for n in range(5)]
        assert answers == [401] * 5
        answer = client.post("/api/login", json={"password": PASSWORD})
        assert answer.status_code == 429 and "wait a minute" in answer.json()["error"]


def test_others_never_get_in_without_a_password() -> None:
    with pytest.raises(ConfigurationError, match="needs a password"):
        serve(print, host="0.0.0.0", browser=False)
    with pytest.raises(ConfigurationError, match="12 characters or more"):
        serve(print, host="0.0.0.0", password="short", browser=False)


def test_a_taken_port_is_named() -> None:
    with listening("127.0.0.1", range(1)) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} of 127.0.0.1 can't be used"):
            serve(print, port=port, browser=False)


@pytest.mark.long
def test_a_proxy_finds_its_idle_connection_open(app: RunningApp) -> None:
    """The server leaves it to clients to close an idle connection, or a request could arrive at a closed one."""
    with closing(HTTPConnection(httpx.URL(app.url).netloc.decode())) as connection:
        for wait in (6.0, 0.0):
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.auto_open = 0  # a closed connection is an error from now on
            time.sleep(wait)
