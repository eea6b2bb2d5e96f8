"""Runs as jobs of the app: planned, started, watched, cancelled, killed."""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import psutil
import pytest
from playwright.sync_api import Error

from internal_linker.faces.web.server import listening
from internal_linker.model.errors import InputError, OutputError, RunActive
from internal_linker.project import jobs
from internal_linker.project.options.links import RunOptions
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import PATIENCE_S, RunningApp, wait_for
from tests.support.small_project import finish, make_project, start, write_settings, write_text

# What a page does with an answer that is there is done two frames later.
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


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


def kept_job(folder: Path, pid: int) -> None:
    """Leave what a start leaves of a job with this process that has told nothing yet."""
    made = folder / "files/job"
    made.mkdir(exist_ok=True)
    kept = {"id": "loading", "kind": "run", "options": {}, "started_at": "2026-01-01T00:00:00+00:00"}
    born = psutil.Process(pid).create_time() if psutil.pid_exists(pid) else 0.0
    (made / "job.json").write_text(json.dumps({**kept, "pid": pid, "born": born}))


def embedding(folder: Path) -> int:
    """Wait until a run has begun to embed; return its process number."""

    def begun() -> bool:
        job = jobs.current_job(folder)
        return bool(job and job.steps and job.steps[-1].name == "Embedding")

    wait_for(begun)
    return pid_of(folder)


def test_a_plan_spends_nothing(app: RunningApp, folder: Path) -> None:
    api = f"/api/projects/{app.open(folder).key}"
    plan = app.client.post(f"{api}/plan", json={"limit": 3, "target_exclude": ["/water"]}).json()
    assert plan["seconds"] > 0 and plan["cost_usd"] == 0 and plan["texts"] > 0
    assert not (folder / "files/links.csv").exists() and not (folder / "files/job").exists()


def test_a_run_is_a_job(app: RunningApp, folder: Path) -> None:
    api = f"/api/projects/{app.open(folder).key}"
    started = app.client.post(f"{api}/job", json={"search": False})
    assert started.status_code == 201 and started.json()["state"] == "running"
    with app.client.stream("GET", f"{api}/job/events") as stream:
        told = [json.loads(line[6:])["job"] for line in stream.iter_lines() if line.startswith("data: ")]
    assert told[0]["state"] == "running" and told[-1]["state"] == "finished" and len(told) > 1
    job = ended(folder)
    assert job.state == "finished" and "successfully" in job.sentence and job.ended_at
    assert job.options == {"search": False} and jobs.SummaryFigure("Pages", "6") in job.summary
    assert {"Input", "Matching", "Delivery"} <= {step.name for step in job.steps}
    assert all(step.outcome for step in job.steps)
    assert (folder / "files/links.csv").exists()
    assert app.client.get(f"{api}/job").json()["job"]["id"] == job.id


def test_options_reach_the_run() -> None:
    options = RunOptions(limit=2, only=("--dry-run",), search=False, sections=("/tea=off", "a b"))
    assert jobs.to_argv(options) == [
        "--limit=2",
        "--only=--dry-run",
        "--section=/tea=off",
        "--section=a b",
        "--no-serp",
    ]


@pytest.mark.parametrize(("code", "state"), [(2, "failed"), (6, "gaps"), (-9, "lost")])
def test_a_process_that_told_no_end_is_heard(folder: Path, code: int, state: str) -> None:
    """What it printed last is the sentence of its end; one that was killed left none."""
    kept_job(folder, 0)
    job, made = jobs.current_job(folder), folder / "files/job"
    (made / "loading.jsonl").touch()
    (made / "output.txt").write_text("Reading\nError: there is no setting\n")
    assert job
    jobs._wait(Mock(wait=lambda: code), made, job)
    found = jobs.current_job(folder)
    assert found and found.state == state
    assert found.sentence == "there is no setting" if code > 0 else "Start it again" in found.sentence


def test_a_start_that_fails_leaves_nothing(
    app: RunningApp, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control character is refused; if the system starts no process, no run is shown, nor the last one."""
    api = f"/api/projects/{app.open(folder).key}"
    answer = app.client.post(f"{api}/job", json={"only": ["a\0b"]})
    assert answer.status_code == 422 and "control characters" in answer.json()["error"]
    assert app.client.get(f"{api}/job").json()["job"] is None
    kept_job(folder, 0)
    assert jobs.current_job(folder).state == "lost"  # type: ignore[union-attr]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(folder / "no-python"))
        with pytest.raises(OutputError, match="could not be started"):
            jobs.start_run(folder, RunOptions())
    assert jobs.current_job(folder) is None


def test_only_what_is_new_is_read(folder: Path) -> None:
    kept_job(folder, os.getpid())
    progress, at = folder / "files/job/loading.jsonl", "2026-01-01T00:00:00+00:00"
    lines = [{"event": "start", "at": at, "step": "Input", "total": 4, "unit": "pages"}]
    lines += [{"event": "advance", "at": at, "done": 2}]
    progress.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (step,) = jobs.current_job(folder).steps  # type: ignore[union-attr]
    assert (step.name, step.done) == ("Input", 2) and step.left == pytest.approx(step.seconds, rel=1e-3)
    # Were it read again, nothing in it could be understood.
    progress.write_bytes(b"x" * (progress.stat().st_size - 1) + b"\n")
    note = json.dumps({"event": "note", "at": at, "message": "late"}).encode()
    with progress.open("ab") as file:
        file.write(note[:10])
        file.flush()
        assert not jobs.current_job(folder).notes  # type: ignore[union-attr]
        file.write(note[10:] + b"\n")
    job = jobs.current_job(folder)
    assert job and job.notes == ("late",) and [step.done for step in job.steps] == [2]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
class TestWaitingRun:
    @pytest.mark.long
    def test_one_job_at_a_time(self, app: RunningApp, waiting: Path) -> None:
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
        jobs.start_run(folder, RunOptions())
        assert jobs.cancel_job(folder).cancelling
        job = ended(folder)
        assert job.state == "cancelled" and "in the cache" in job.sentence

    def test_a_run_that_cant_be_reached_is_not_stopping(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept_job(folder, os.getpid())

        def refuse(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "kill", refuse)
        with pytest.raises(OutputError, match=f"end process {os.getpid()}"):
            jobs.cancel_job(folder)
        job = jobs.current_job(folder)
        assert job and (job.state, job.cancelling) == ("running", False)
        with pytest.raises(RunActive):
            jobs.start_run(folder, RunOptions())

    @pytest.mark.long
    def test_a_killed_job_is_lost(self, waiting: Path) -> None:
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


def test_the_page_plans_and_runs(app: RunningApp, browser: AppBrowser, folder: Path) -> None:
    page = browser.page(app, f"/p/{app.open(folder).key}/run", width=390, scheme="dark")
    page.get_by_text("about 1 s").or_(page.get_by_text("about 2 s")).first.wait_for()
    require_sound(page, browser)
    page.get_by_role("button", name="Start the run").click()
    page.get_by_text("Pipeline completed successfully!").wait_for(timeout=60_000)
    page.get_by_role("heading", name="Last run").wait_for()
    require_sound(page, browser)


@pytest.mark.long
def test_a_late_plan_starts_nothing(app: RunningApp, browser: AppBrowser, folder: Path) -> None:
    late: list[Any] = []
    page = browser.page(app)
    page.route("**/plan", lambda route: late.append(route) if not late else route.continue_())
    page.goto(f"{app.url}/p/{app.open(folder).key}/run")
    while not late:
        page.evaluate("0")  # a round trip lets the route be called
    page.get_by_label("A trial of the first rows").check()
    page.get_by_text("The options have changed").wait_for()
    with page.expect_response("**/plan"):
        late[0].continue_()
    page.evaluate(SETTLED)
    assert page.get_by_role("button", name="Start the run").is_disabled()
    assert page.get_by_text("Texts to embed").count() == 0
    require_sound(page, browser)
    page.get_by_role("button", name="Show what it would do").click()
    page.get_by_text("Texts to embed").first.wait_for()
    assert page.get_by_role("button", name="Start the run").is_enabled()


@pytest.mark.long
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
        page.evaluate("0")  # a round trip lets the route be called
    with suppress(Error):  # the page no longer waits for it
        streams[0].fulfill(body=told, content_type="text/event-stream")
    page.evaluate(SETTLED)
    assert page.get_by_role("heading", name="This run").is_visible()


@pytest.mark.long
def test_a_refused_stream_is_told(app: RunningApp, browser: AppBrowser, folder: Path) -> None:
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
