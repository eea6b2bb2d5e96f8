"""Runs as jobs of the app: planned, started, watched, cancelled, killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from playwright.sync_api import Error

from internal_linker.core.errors import InputError, OutputError, RunActive
from internal_linker.usecases import jobs
from internal_linker.usecases.options.links import RunOptions
from internal_linker.web.server import listening
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import PATIENCE_S, RunningApp
from tests.support.small_project import finish, make_project, start, write_settings, write_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "site")


@pytest.fixture
def waiting(folder: Path) -> Iterator[Path]:
    """Return a project whose runs wait for vectors from a server that never answers."""
    with listening("127.0.0.1", range(1)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        write_settings(folder, {"embedding_provider": "openai", "base_url": url})
        write_text(folder / "config/openai_api_key.txt", "sk-test-0123456789")
        yield folder
        with suppress(InputError):
            jobs.cancel_job(folder)


def wait_for(reached: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Return what `reached` returns as soon as it is true."""
    until = time.monotonic() + seconds
    while not (found := reached()):
        assert time.monotonic() < until, "it was not reached in time"
        time.sleep(0.1)
    return found


def ended(folder: Path) -> jobs.Job:
    def job() -> jobs.Job | None:
        now = jobs.current_job(folder)
        return now if now and now.state != "running" else None

    found: jobs.Job = wait_for(job)
    return found


def pid_of(folder: Path) -> int:
    def told() -> int:
        text = "".join(file.read_text() for file in (folder / "files/job").glob("*.jsonl"))
        return int(json.loads(text.splitlines()[0])["pid"]) if "\n" in text else 0

    pid: int = wait_for(told)
    return pid


def silent_child(folder: Path) -> int:
    """Make a process that tells nothing the one of the last job, as if it were still loading; return its number."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    file = folder / "files/job/job.json"
    kept = json.loads(file.read_text())
    kept |= {"id": "loading", "pid": child.pid, "born": psutil.Process(child.pid).create_time()}
    file.write_text(json.dumps(kept))
    return child.pid


def embedding(folder: Path) -> int:
    """Wait until a run has begun to embed; return its process number."""

    def begun() -> bool:
        job = jobs.current_job(folder)
        return bool(job and job.steps and job.steps[-1].name == "Embedding")

    wait_for(begun)
    return pid_of(folder)


def test_a_plan_spends_nothing(app: RunningApp, folder: Path) -> None:
    """The plan tells time, cost and texts, and writes no links."""
    key = app.open(folder).key
    plan = app.client.post(f"/api/projects/{key}/plan", json={"limit": 3}).json()
    assert plan["seconds"] > 0 and plan["cost_usd"] == 0 and plan["texts"] > 0
    assert not (folder / "files/links.csv").exists() and not (folder / "files/job").exists()


def test_a_run_is_a_job(app: RunningApp, folder: Path) -> None:
    """A started run delivers its links and tells each step, its notes and its summary."""
    key = app.open(folder).key
    started = app.client.post(f"/api/projects/{key}/job", json={})
    assert started.status_code == 201 and started.json()["state"] == "running"
    job = ended(folder)
    assert job.state == "finished" and "successfully" in job.sentence and job.ended_at
    assert {"Input", "Matching", "Delivery"} <= {step.name for step in job.steps}
    assert all(step.outcome for step in job.steps) and jobs.Figure("Pages", "6") in job.summary
    assert (folder / "files/links.csv").exists()
    assert app.client.get(f"/api/projects/{key}/job").json()["job"]["id"] == job.id


def test_options_reach_the_run(folder: Path) -> None:
    """A job has the options that it was started with, and none of them is taken for another."""
    options = RunOptions(limit=2, only=("--dry-run",), search=False, sections=("/tea=off", "a b"))
    assert jobs.words(options) == [
        "--limit=2",
        "--only=--dry-run",
        "--section=/tea=off",
        "--section=a b",
        "--no-serp",
    ]
    jobs.start_run(folder, RunOptions(limit=2, search=False))
    job = ended(folder)
    assert (job.state, job.options) == ("finished", {"limit": 2, "search": False})
    assert (folder / "files/trial/links.csv").exists() and not (folder / "files/links.csv").exists()


def test_a_run_that_fails_says_why(folder: Path) -> None:
    """An error of the run is its last sentence, also one that comes before the run begins."""
    (folder / "files/urls_rawdata.csv").write_text("Nothing,Useful\n1,2\n")
    jobs.start_run(folder, RunOptions())
    job = ended(folder)
    assert job.state == "failed" and "urls_rawdata.csv" in job.sentence
    write_settings(folder, {"links_per_page": "many"})
    jobs.start_run(folder, RunOptions())
    job = ended(folder)
    assert job.state == "failed" and "links_per_page" in job.sentence


@pytest.mark.parametrize("field", ["only", "sections"])
def test_a_start_that_fails_leaves_nothing(app: RunningApp, folder: Path, field: str) -> None:
    """A line with a control character is refused in one sentence, and the next run starts at once."""
    key = app.open(folder).key
    answer = app.client.post(f"/api/projects/{key}/job", json={field: ["a\0b"]})
    assert answer.status_code == 422 and "control characters" in answer.json()["error"]
    assert app.client.get(f"/api/projects/{key}/job").json()["job"] is None
    assert app.client.post(f"/api/projects/{key}/job", json={"limit": 2}).status_code == 201
    assert ended(folder).state == "finished"


def test_a_program_that_cant_be_started_is_no_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system starts no process, nothing is shown as running, and the earlier run is not shown as lost."""
    jobs.start_run(folder, RunOptions(limit=2))
    ended(folder)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(folder / "no-python"))
        with pytest.raises(OutputError, match="could not be started"):
            jobs.start_run(folder, RunOptions())
    assert jobs.current_job(folder) is None
    jobs.start_run(folder, RunOptions(limit=2))
    assert ended(folder).state == "finished"


def test_only_what_is_new_is_read(folder: Path) -> None:
    """What a run told before is not read again, and a line counts as soon as it is whole."""
    jobs.start_run(folder, RunOptions(limit=2))
    first = ended(folder)
    assert jobs.current_job(folder) == first
    progress = folder / "files/job" / f"{first.id}.jsonl"
    size = progress.stat().st_size
    # Were it read again, nothing in it could be understood.
    progress.write_bytes(b"x" * (size - 1) + b"\n")
    assert jobs.current_job(folder) == first
    note = json.dumps({"event": "note", "at": first.started_at, "message": "late"}).encode()
    with progress.open("ab") as file:
        file.write(note[:10])
        file.flush()
        assert jobs.current_job(folder) == first
        file.write(note[10:] + b"\n")
    assert jobs.current_job(folder).notes == (*first.notes, "late")  # type: ignore[union-attr]


def test_the_stream_tells_until_the_end(app: RunningApp, folder: Path) -> None:
    """Server-sent events tell the job's changes; the last one is its end."""
    key = app.open(folder).key
    app.client.post(f"/api/projects/{key}/job", json={})
    with app.client.stream("GET", f"/api/projects/{key}/job/events") as stream:
        told = [json.loads(line[6:])["job"] for line in stream.iter_lines() if line.startswith("data: ")]
    assert told[0]["state"] == "running" and told[-1]["state"] == "finished" and len(told) > 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
class TestWaitingRun:
    def test_one_job_at_a_time(self, app: RunningApp, waiting: Path) -> None:
        """A second run is refused while one is active, and cancelling ends the first in order."""
        jobs.start_run(waiting, RunOptions())
        embedding(waiting)
        key = app.open(waiting).key
        answer = app.client.post(f"/api/projects/{key}/job", json={})
        assert answer.status_code == 409 and "active in this project" in answer.json()["error"]
        with pytest.raises(RunActive):
            jobs.start_run(waiting, RunOptions())
        assert app.client.post(f"/api/projects/{key}/job/cancel").json()["cancelling"]
        job = ended(waiting)
        assert job.state == "cancelled" and "in the cache" in job.sentence
        assert app.client.post(f"/api/projects/{key}/job/cancel").status_code == 422

    def test_a_loading_run_is_cancelled(self, folder: Path) -> None:
        """A run that has told nothing yet can be cancelled, and is then shown as cancelled, not as lost."""
        jobs.start_run(folder, RunOptions())
        assert jobs.cancel_job(folder).cancelling
        job = ended(folder)
        assert job.state == "cancelled" and "in the cache" in job.sentence
        jobs.start_run(folder, RunOptions(limit=2))
        assert ended(folder).state == "finished"

    def test_a_run_that_cant_be_reached_is_not_stopping(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If the system refuses the signal, the answer says so, and the run is shown as running."""
        jobs.start_run(folder, RunOptions(limit=2))
        ended(folder)
        pid = silent_child(folder)

        def refuse(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", refuse)
            with pytest.raises(OutputError, match=f"end process {pid}"):
                jobs.cancel_job(folder)
        job = jobs.current_job(folder)
        assert job and (job.state, job.cancelling) == ("running", False)
        jobs.cancel_job(folder)
        assert ended(folder).state == "cancelled"

    @pytest.mark.long
    def test_a_killed_job_is_lost(self, waiting: Path) -> None:
        """A job that is killed leaves a state that says so, and the next one can start."""
        jobs.start_run(waiting, RunOptions())
        os.kill(embedding(waiting), signal.SIGKILL)
        job = ended(waiting)
        assert job.state == "lost" and "Start it again" in job.sentence
        with pytest.raises(InputError, match="nothing to cancel"):
            jobs.cancel_job(waiting)
        write_settings(waiting, {})
        jobs.start_run(waiting, RunOptions())
        assert ended(waiting).state == "finished"

    @pytest.mark.long
    def test_a_job_outlives_its_server(self, waiting: Path, tmp_path: Path) -> None:
        """After kill -9 of the server the run goes on; another server sees and cancels it."""
        data = str(tmp_path / "data")

        def serve() -> tuple[Any, str, str]:
            words = ("-m", "internal_linker", "app", "--no-browser", "--project", str(waiting))
            process = start(*words, cwd=tmp_path, XDG_DATA_HOME=data, HOME=str(tmp_path))
            found = re.search(r"(http://\S+)/p/(\w+)/\?token=(\S+)", process.stdout.readline())  # type: ignore[union-attr]
            assert found
            return process, f"{found[1]}/api/projects/{found[2]}", found[3]

        server, url, token = serve()
        with httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=PATIENCE_S
        ) as client:
            assert client.post(f"{url}/job", json={}).status_code == 201
        pid = embedding(waiting)
        server.kill()
        server.communicate()
        assert psutil.pid_exists(pid)
        server, url, token = serve()
        with httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=PATIENCE_S
        ) as client:
            assert client.get(f"{url}/job").json()["job"]["state"] == "running"
            client.post(f"{url}/job/cancel")
        assert ended(waiting).state == "cancelled"
        server.send_signal(signal.SIGTERM)
        assert finish(server)[0] == 0

    def test_the_page_survives_a_reload(self, app: RunningApp, browser: AppBrowser, waiting: Path) -> None:
        """A running job is shown with its step after a reload, and can be cancelled."""
        jobs.start_run(waiting, RunOptions())
        embedding(waiting)
        page = browser.page(app, f"/p/{app.open(waiting).key}/run")
        page.get_by_text("running", exact=True).wait_for()
        require_sound(page, browser)
        page.reload()
        page.get_by_role("button", name="Cancel the run").click()
        page.get_by_text("cancelled", exact=True).wait_for()
        assert ended(waiting).state == "cancelled"


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_page_plans_and_runs(
    app: RunningApp, browser: AppBrowser, folder: Path, width: int, scheme: Any
) -> None:
    """A person sees the plan, starts the run, sees its steps and its end."""
    page = browser.page(app, f"/p/{app.open(folder).key}/run", width=width, scheme=scheme)
    page.get_by_text("about 1 s").or_(page.get_by_text("about 2 s")).first.wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Start the run").click()
    page.get_by_text("Pipeline completed successfully!").wait_for(timeout=60_000)
    page.get_by_role("heading", name="Last run").wait_for()
    require_sound(page, browser)


def test_a_late_plan_starts_nothing(app: RunningApp, browser: AppBrowser, folder: Path) -> None:
    """A plan that comes after the options were changed is not shown, and the run can't be started with it."""
    late: list[Any] = []
    page = browser.page(app)
    page.route("**/plan", lambda route: late.append(route) if not late else route.continue_())
    page.goto(f"{app.url}/p/{app.open(folder).key}/run")
    while not late:
        page.wait_for_timeout(50)
    page.get_by_label("A trial of the first rows").check()
    page.get_by_text("The options have changed").wait_for()
    with page.expect_response("**/plan"):
        late[0].continue_()
    page.wait_for_timeout(300)
    assert page.get_by_role("button", name="Start the run").is_disabled()
    assert page.get_by_text("Texts to embed").count() == 0
    require_sound(page, browser)
    page.get_by_role("button", name="Show what it would do").click()
    page.get_by_text("Texts to embed").first.wait_for()
    assert page.get_by_role("button", name="Start the run").is_enabled()


def test_a_run_that_was_started_is_not_taken_for_the_last_one(
    app: RunningApp, browser: AppBrowser, waiting: Path
) -> None:
    """What the page's first stream says late of the last run doesn't hide the run that was started since."""
    last = asdict(jobs.Job("a", "run", {}, "2026-01-01T00:00:00+00:00", state="finished"))
    told = f"data: {json.dumps({'job': last})}\n\n"
    streams: list[Any] = []
    page = browser.page(app)

    def hold(route: Any) -> None:
        streams.append(route)

    page.route("**/job/events", hold)
    page.goto(f"{app.url}/p/{app.open(waiting).key}/run")
    page.get_by_role("button", name="Start the run").click()
    page.get_by_role("button", name="Cancel the run").wait_for()
    while len(streams) < 2:
        page.wait_for_timeout(50)
    with suppress(Error):  # the page no longer waits for it
        streams[0].fulfill(body=told, content_type="text/event-stream")
    page.wait_for_timeout(300)
    assert page.get_by_role("heading", name="This run").is_visible()


def test_a_refused_stream_is_told(app: RunningApp, browser: AppBrowser, folder: Path) -> None:
    """A page that watches a run of an app that was restarted, and knows no session, says how to get in again."""
    job = asdict(jobs.Job("a", "run", {}, "2026-01-01T00:00:00+00:00"))
    told = f"retry: 100\ndata: {json.dumps({'job': job})}\n\n"
    page = browser.page(app)
    streams = iter([{"body": told, "content_type": "text/event-stream"}])

    def answer(route: Any) -> None:
        if first := next(streams, None):
            route.fulfill(**first)
        else:
            page.context.clear_cookies()
            route.fulfill(status=401)

    page.route("**/job/events", answer)
    page.goto(f"{app.url}/p/{app.open(folder).key}/run")
    page.get_by_role("alert").get_by_text("open the start address").wait_for()
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("heading", name="Open the start address").wait_for()
    browser.problems.clear()
