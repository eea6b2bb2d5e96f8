"""`python -m tests.web.pictures`: take the pictures of the app for docs/pictures, on the sample site."""

import tempfile
import time
from pathlib import Path
from typing import Any

from internal_linker.usecases import jobs
from internal_linker.usecases.audit_states import audit_in_states
from internal_linker.usecases.group_pages import group_pages
from internal_linker.usecases.options import ClustersOptions, CompareOptions, RunOptions
from internal_linker.usecases.project import Project, open_project
from internal_linker.usecases.similar import find_similar
from internal_linker.usecases.uploads import received
from internal_linker.web.quiet import Notes
from tests.support.app_browser import open_browser
from tests.support.app_server import running_app
from tests.support.small_project import REPOSITORY

PLACE = REPOSITORY / "docs/pictures"
_PAGE = "links?page=https://www.slowkettle.example/milk/how-to-steam-milk/"
# Name, page, what shows that it is complete, width, colours.
PICTURES: tuple[tuple[str, str, str, int, Any], ...] = (
    ("app-run", "run", "Pipeline completed", 1280, "light"),
    ("app-links", "links", "250 links", 1280, "light"),
    ("app-links-page", _PAGE, "Links from this page", 1280, "dark"),
    ("app-review", "review", "Around this link", 1280, "light"),
    ("app-review-phone", "review", "Link 1 of", 390, "dark"),
    ("app-import", "import", "would be imported", 1280, "light"),
    ("app-similar", "similar", "How similar the pages are", 1280, "light"),
    ("app-clusters", "clusters", "7 clusters", 1280, "dark"),
    ("app-audit", "audit", "The most useful actions", 1280, "light"),
    ("app-settings-phone", "settings", "links_per_page", 390, "light"),
)
# What the picture begins with, where that is not the top of the page.
BEGINS = {
    "import": "#tables-title",
    "similar": "#histogram-title",
    "clusters": "#result-title",
    "audit": "#actions-title",
    "settings": "#row-links_per_page",
}


def main() -> None:
    """Run the sample as a job, and take a picture of each page."""
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as app, open_browser() as browser:
        key = app.known.create(Path(folder) / "slow-kettle", sample=True).key
        root = app.known.folder(key)
        jobs.start_run(root, RunOptions())
        while (job := jobs.current_job(root)) and job.state == "running":
            time.sleep(0.2)
        _prepare(open_project(root))
        for name, path, complete, width, scheme in PICTURES:
            page = browser.page(app, width=width, scheme=scheme)
            page.evaluate("localStorage.setItem('reviewer', 'Anna')")
            page.goto(f"{app.url}/p/{key}/{path}")
            page.get_by_text(complete).first.wait_for()
            if path == "review":
                # A link in the text, which shows what a sentence looks like.
                page.goto(f"{app.url}/p/{key}/review?tier=inline")
                page.locator("#passage mark").wait_for()
                page.locator("#which").evaluate("each => { each.open = false; }")
            if path in BEGINS:
                page.locator(BEGINS[path]).evaluate("each => each.scrollIntoView()")
            page.wait_for_timeout(500)
            page.screenshot(path=PLACE / f"{name}.png")
            page.context.close()
            print(f"taken: docs/pictures/{name}.png")


def _prepare(project: Project) -> None:
    """Compare, group and audit the pages, and upload a crawl."""
    find_similar(project, CompareOptions(), Notes())
    group_pages(project, ClustersOptions(), Notes())
    audit_in_states(project, Notes())
    with received(project, "crawl.csv") as receiver:
        receiver.write(project.file("urls_rawdata.csv").read_bytes())


if __name__ == "__main__":
    main()
