"""Runs as jobs of the app: planned, started, watched, cancelled, killed."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from internal_linker.core.errors import InputError, RunActive
from internal_linker.usecases import jobs
from internal_linker.usecases.options import RunOptions
from internal_linker.web.server import listening
from tests.support.app_browser import AppBrowser, require_sound
from tests.support.app_server import RunningApp
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
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as client:
            assert client.post(f"{url}/job", json={}).status_code == 201
        pid = embedding(waiting)
        server.kill()
        server.communicate()
        assert psutil.pid_exists(pid)
        server, url, token = serve()
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as client:
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
