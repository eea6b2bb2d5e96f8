"""`python -m tests.research.pictures [PAGE ...]`: take the pictures of the app, or of some pages, for docs/pictures.

They are of the sample site; that of the impact is of a simulated one, because the sample has too few pages.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from playwright.sync_api import Page

from internal_linker.model.progress import Tracker
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sections import section_of
from internal_linker.project import jobs
from internal_linker.project.apply_steps import apply_shown, show_changes
from internal_linker.project.audit_states import audit_in_states
from internal_linker.project.clusters import group_pages
from internal_linker.project.impact import measure_impact
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.options.evaluation import ImpactOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.options.similarity import ClustersOptions, CompareOptions
from internal_linker.project.pairs import find_similar
from internal_linker.project.project import Project, open_project
from internal_linker.project.source_folder import choose_source_folder
from internal_linker.project.uploads import received
from tests.support.app_browser import Scheme, open_browser
from tests.support.app_server import running_app
from tests.support.impact_project import make_impact_project
from tests.support.impact_sites import Kind, simulated
from tests.support.sites import read_csv
from tests.support.small_project import REPOSITORY, write_csv
from tests.support.source_site import write

PLACE = REPOSITORY / "docs/pictures/app"
# What shows that a page is complete.
COMPLETE = {
    "import": "Drop",
    "run": "Pipeline completed",
    "links": "250 links",
    "links-page": "Links from this page",
    "review": "Links in the text",
    "apply": "Changes, page by page",
    "similar": "Off-topic pages",
    "clusters": "pages",
    "audit": "Show where and how",
    "queries": "Cannibalised queries",
    "impact": "Week by week",
    "history": "Runs",
    "settings": "Settings",
}
ADDRESSES = {
    "links-page": "links?page=https://www.slowkettle.example/milk/how-to-steam-milk/",
    # A link in the text, which shows what a sentence looks like.
    "review": "review?tier=inline",
}
SCREENS: tuple[tuple[str, int, Scheme], ...] = (
    ("light", 1280, "light"),
    ("dark", 1280, "dark"),
    ("phone", 390, "light"),
)
# What is pressed first.
PRESSED = {"apply": "Show what would change", "queries": "Choose main queries"}
# What the picture begins with, where that is not the top of the page.
BEGINS = {
    "import": "#tables-title",
    "apply": "#changes-title",
    "similar": "#histogram-title",
    "clusters": "#result-title",
    "audit": "#actions-title",
    "queries": "#result-title",
    "settings": "#row-links_per_page",
}
# Links that are accepted, so that there is something to apply; as many wait for the review.
_ACCEPTED = 12
MEASURED = Kind(pages=300, targets=60, clicks=6.0, weeks=30, campaigns=2, sections=3)
# Shows other folders in place of this computer's.
_AT_HOME = """folders => {
    const shown = text => folders.reduce((now, folder) => now.replaceAll(folder, "/home/anna"), text);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = shown(texts.currentNode.data);
    for (const field of document.querySelectorAll("input")) field.value = shown(field.value);
}"""


def main(wanted: Sequence[str] = ()) -> None:
    """Run the sample as a job, and take the pictures of each page, or of those that are named, on each screen."""
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as app, open_browser() as browser:
        key = app.known.create(Path(folder) / "slow-kettle", sample=True).key
        root = app.known.folder(key)
        jobs.start_run(root, RunOptions())
        while (job := jobs.current_job(root)) and job.state == "running":
            time.sleep(0.2)
        _prepare(open_project(root))
        _add_search_data(open_project(root))
        _apply_some(open_project(root), Path(folder) / "website")
        measured = make_impact_project(Path(folder) / "tea-garden", simulated(4, MEASURED, 0.25))
        measure_impact(open_project(measured), ImpactOptions(), Tracker())
        keys = {"impact": app.open(measured).key}
        for screen, width, scheme in SCREENS:
            page = browser.page(app, width=width, scheme=scheme)
            page.evaluate("localStorage.setItem('reviewer', 'Anna')")
            page.wait_for_timeout(500)
            here = [folder, str(REPOSITORY), sys.prefix, str(Path.home())]
            if not wanted:
                _take(page, f"projects-{screen}", here)
            for name, complete in COMPLETE.items():
                if wanted and name not in wanted:
                    continue
                page.goto(f"{app.url}/p/{keys.get(name, key)}/{ADDRESSES.get(name, name)}")
                if name in PRESSED:
                    page.get_by_role("button", name=PRESSED[name]).click()
                if name == "review":
                    page.locator("#page-text .spot").first.wait_for()
                    page.locator("#which").evaluate("each => { each.open = false; }")
                else:
                    page.get_by_text(complete).locator("visible=true").first.wait_for(timeout=60_000)
                if name in BEGINS:
                    page.locator(BEGINS[name]).evaluate("each => each.scrollIntoView()")
                page.wait_for_timeout(1_500)
                _take(page, f"{name}-{screen}", here)
            page.context.close()


def _take(page: Page, name: str, here: Sequence[str]) -> None:
    page.evaluate(_AT_HOME, here)
    page.screenshot(path=PLACE / f"{name}.png")
    print(f"taken: docs/pictures/app/{name}.png")


def _prepare(project: Project) -> None:
    """Compare, group and audit the pages, and upload a crawl."""
    find_similar(project, CompareOptions(), Tracker())
    group_pages(project, ClustersOptions(), Tracker())
    audit_in_states(project, Tracker())
    with received(project, "crawl.csv") as receiver:
        receiver.write(project.file("urls_rawdata.csv").read_bytes())


def _add_search_data(project: Project) -> None:
    """Store what the sample's pages could earn in four weeks, and leave some of their main queries empty."""
    dice = np.random.default_rng(8)
    chosen = {row["URL"]: row["Main Query"] for row in read_csv(project.file("main_queries.csv"))}
    kept = [*chosen.items()][::3]
    write_csv(project.file("main_queries.csv"), [("URL", "Main Query"), *kept])
    home, shared = "https://www.slowkettle.example/", [*chosen][:2]
    wanted = [*chosen.items()]
    wanted += [(url, f"{query} at home") for url, query in wanted[::2]]
    wanted += [(url, "coffee without a machine") for url in shared]
    wanted += [(home, "slow kettle"), (home, "slowkettle"), (shared[0], "slow kettle shop")]
    with project.search_data("sc-domain:slowkettle.example", read_only=False) as store:
        for at in range(28):
            seen = dice.poisson(dice.permutation(len(wanted)) + 9)
            rows = pd.DataFrame(wanted, columns=["page", "query"])
            rows["impressions"], rows["position"] = seen, [1.1 if url == home else 3.4 for url, _ in wanted]
            rows["clicks"] = dice.binomial(seen, [0.5 if url == home else 0.11 for url, _ in wanted])
            day = date.today() - timedelta(days=30 - at)
            rows = rows[rows["impressions"] > 0].assign(date=pd.Timestamp(day))
            store.put(SearchTable.QUERIES, day, rows)


def _apply_some(project: Project, website: Path) -> None:
    """Write the pages as Markdown files, accept some links in the texts, and apply those of one section."""
    for row in read_csv(project.file("urls_rawdata.csv")):
        path = website / "content" / urlsplit(row["URL"]).path.strip("/") / "index.md"
        text = row["Main Content"].replace("\n", "\n\n")
        write(path, f"---\ntitle: {row['Title']!r}\n---\n\n{text}\n".encode())
    with project.graph(read_only=False) as (edges, _):
        best = sorted(edges.each("proposed"), key=lambda edge: -(edge.strength or 0))
        some = [edge for edge in best if edge.tier == "inline"][1::2][:_ACCEPTED]
        edges.put([replace(edge, status="accepted", verdict="accepted", by="Anna") for edge in some])
    choose_source_folder(project, str(website))
    chosen = open_project(project.root)
    first = ApplyOptions(sections=[section_of(some[0].source)])
    apply_shown(chosen, show_changes(chosen, "files", first, Tracker()), Tracker(), by="Anna")


if __name__ == "__main__":
    main(sys.argv[1:])
