"""The whole tour in a browser on a real server: sample, run, review, and a next run that heeds the decisions."""

import re
import signal
from pathlib import Path

from internal_linker.usecases.project import open_project
from tests.support.app_browser import AppBrowser
from tests.support.small_project import finish, start


def test_from_the_sample_to_a_run_that_heeds_a_decision(browser: AppBrowser, tmp_path: Path) -> None:
    """A person creates the sample, runs it, accepts and rejects links; the next run keeps both decisions."""
    words = ("-m", "internal_linker", "app", "--no-browser")
    server = start(*words, cwd=tmp_path, XDG_DATA_HOME=str(tmp_path / "data"), HOME=str(tmp_path))
    assert server.stdout is not None
    found = re.search(r"http://\S+", server.stdout.readline())
    assert found
    folder = tmp_path / "tour"
    page = browser.browser.new_page()
    page.goto(found[0])
    page.get_by_label("Folder for the sample site").fill(str(folder))
    page.get_by_role("button", name="Create the sample").click()
    page.get_by_role("button", name="Start the run").click()
    page.get_by_text("Pipeline completed successfully!").wait_for(timeout=120_000)
    page.get_by_role("link", name="Review of this run").click()
    page.get_by_text(re.compile(r"Link 1 of \d+")).wait_for()
    page.keyboard.press("a")
    page.get_by_text(re.compile(r"Link 2 of \d+")).wait_for()
    page.keyboard.press("r")
    page.keyboard.press("1")
    page.get_by_text(re.compile(r"Link 3 of \d+")).wait_for()
    page.get_by_role("link", name="Run", exact=True).click()
    page.get_by_role("button", name="Start the run").click()
    page.get_by_text("running", exact=True).wait_for()
    page.get_by_text("Pipeline completed successfully!").wait_for(timeout=120_000)
    with open_project(folder).graph() as (edges, _):
        judged = {edge.status: edge for edge in edges.each(judged=True)}
    assert set(judged) == {"accepted", "rejected"} and judged["rejected"].notes == "Not relevant"
    lines = (folder / "files/links.csv").read_text(encoding="utf-8-sig")
    assert judged["accepted"].id in lines and judged["rejected"].id not in lines
    page.context.close()
    server.send_signal(signal.SIGINT)
    assert finish(server)[0] == 0
