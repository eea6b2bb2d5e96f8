"""From search data to live links and their impact: each command uses what the one before it left."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import time_machine
from markdown_it import MarkdownIt

from internal_linker import decide, impact
from internal_linker.project.project import open_project
from tests.end_to_end.test_alerts import messages
from tests.standins.search_console import SearchConsoleStandIn
from tests.support.impact_project import add_search_data, days_from, make_impact_project
from tests.support.impact_sites import Kind, simulated
from tests.support.message_servers import Inbox, webhook
from tests.support.simulated_search import search_rows
from tests.support.sites import read_csv, sample_pages
from tests.support.small_project import command, write_csv, write_settings, write_text

PROPERTY = "sc-domain:slowkettle.example"
NOW = datetime(2026, 11, 25, 20, tzinfo=UTC)
COLUMNS = ("URL", "Title", "H1", "Main Content")
PAGES = 30


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with webhook() as server:
        yield server


def secret(path: Path, text: str) -> None:
    write_text(path, text)
    path.chmod(0o600)


def write_pages(folder: Path, texts: dict[str, str]) -> None:
    """Write the table of pages, as a crawl of the site has them."""
    rows = [[page[name] for name in COLUMNS[:3]] + [texts[page["URL"]]] for page in sample_pages(PAGES)]
    write_csv(folder / "files/urls_rawdata.csv", [COLUMNS, *rows])


def source_of(folder: Path, url: str) -> Path:
    return folder / f"{url.split('/', 3)[3].strip('/')}.md"


def test_from_search_data_to_impact(tmp_path: Path, inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    """Search data give main queries and priorities; accepted links go into the files, are seen live, and count."""
    folder, sources, pages = tmp_path / "site", tmp_path / "sources", sample_pages(PAGES)
    rows = search_rows([(page["URL"], page["Title"]) for page in pages], date(2026, 11, 22), days=14)
    rows["date"] = rows["date"].dt.strftime("%Y-%m-%d")

    def done(*arguments: str) -> str:
        capsys.readouterr()
        assert command(*arguments, "--project", str(folder)) == 0
        return capsys.readouterr().out

    write_pages(folder, {page["URL"]: page["Main Content"] for page in pages})
    for page in pages:
        write_text(
            source_of(sources, page["URL"]), f"---\ntitle: {page['Title']}\n---\n\n{page['Main Content']}\n"
        )
    with SearchConsoleStandIn({PROPERTY: rows}, today=NOW.date()) as google:
        secret(folder / "config/service_account.txt", json.dumps(google.service_account))
        secret(folder / "config/notify.txt", f"json://127.0.0.1:{inbox.port}/team")
        site = {"search_query_template": "site:www.slowkettle.example {main_query}", "priority": "search"}
        write_settings(folder, {**site, "search_console_url": google.url})
        done("import", "--search-console", PROPERTY, "--days", "14")
        assert "chooses them from the search data" in done("check")
    done("queries", "--write")
    queries = read_csv(folder / "files/main_queries.csv")
    assert len(queries) > PAGES / 2 and all(row["Main Query"] for row in queries)
    assert "Search data:" in done("run")
    links = [row for row in read_csv(folder / "files/links.csv") if row["Type"] == "contextual"]
    accepted = [row["Link Id"] for row in links if row["Tier"] == "inline"][:3]
    decide(pd.DataFrame({"link_id": accepted, "status": "accepted"}), folder)
    assert "undo" in done("apply", "--files", str(sources), "--write")
    changed = {
        page["URL"]: source_of(sources, page["URL"]).read_text("utf-8").split("---\n\n", 1)[1]
        for page in pages
    }
    write_pages(folder, {url: MarkdownIt().render(text) for url, text in changed.items()})
    done("run")
    with open_project(folder).graph() as (edges, _):
        assert {edge.id for edge in edges.each("live")} == {*accepted}
    told = done("impact")
    assert "20 more targets would be enough" in told and "from 12 weeks before the links" in told


@pytest.mark.long
def test_a_changed_verdict_is_reported_once(tmp_path: Path, inbox: Inbox) -> None:
    """Nothing while data are too thin; then one message with the sentence of `impact`, and none until it changes."""
    kind = Kind(pages=150, targets=32, clicks=6.0, weeks=24, campaigns=2, sections=2, noise=0.15, drift=0.1)
    site = simulated(3, kind, 0.5)
    first, length = date.fromordinal(site.panel.first), site.panel.clicks.shape[1]
    folder = make_impact_project(tmp_path, site, days=days_from(first, 40))
    dice = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in dice.integers(0, 900, 40)) for _ in site.panel.pages]
    rows = [(page, f"Page {at}", texts[at], "en") for at, page in enumerate(site.panel.pages)]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *rows])
    with open_project(folder).graph() as (edges, _):
        live = [(edge.source_url, edge.target_url) for edge in edges.each("live")]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *live])
    secret(folder / "config/notify.txt", f"json://127.0.0.1:{inbox.port}/team")

    def told() -> str:
        assert command("run", "--project", str(folder)) == 0
        return "".join(message["message"] for message in messages(inbox))

    # Runs forget search data that are older than 16 months.
    with time_machine.travel(datetime(2022, 1, 20, 9, tzinfo=UTC), tick=True):
        assert "IMPACT" not in told()
        add_search_data(folder, site, days_from(first, length))
        message = told()
        assert f"IMPACT OF LINKS: GAIN\n{impact(folder).sentence}" in message
        assert told() == ""
