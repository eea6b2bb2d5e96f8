"""Project folders with the first pages of the sample site, and the keys and URLs of stand-ins."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.standins import GoogleStandIn, OpenAIStandIn, SerpApiStandIn, SerperStandIn
from tests.support.small_project import REPOSITORY, write_csv, write_settings, write_text

SETTINGS = {"search_query_template": "site:www.slowkettle.example {main_query}", "embedding_provider": "auto"}


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, by column name."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def sample_pages(count: int) -> list[dict[str, str]]:
    """Return the first pages of the sample site."""
    return read_csv(REPOSITORY / "files/urls_rawdata.csv")[:count]


def sample_queries(pages: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """Return URL and main query of those pages that have one."""
    queries = {row["URL"]: row["Main Query"] for row in read_csv(REPOSITORY / "files/main_queries.csv")}
    return [[page["URL"], queries[page["URL"]]] for page in pages if page["URL"] in queries]


def make_project(folder: Path, pages: int = 12, settings: Mapping[str, object] | None = None) -> Path:
    """Create a project with the first pages of the sample site, their queries in CSV, and these settings."""
    rows = sample_pages(pages)
    columns = ("URL", "Title", "Main Content", "Lang")
    write_csv(
        folder / "files/urls_rawdata.csv", [columns, *([row[name] for name in columns] for row in rows)]
    )
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *sample_queries(rows)])
    write_settings(folder, SETTINGS | dict(settings or {}))
    return folder


def use_standins(
    folder: Path,
    *,
    google: GoogleStandIn | None = None,
    serper: SerperStandIn | None = None,
    serpapi: SerpApiStandIn | None = None,
    openai: OpenAIStandIn | None = None,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Give the project the keys and URLs of these servers, and additional settings."""
    values: dict[str, object] = dict(SETTINGS)
    if google:
        values |= {"google_sheet_id": google.spreadsheet_id, "google_api_url": google.url}
        (folder / "config/service_account.txt").write_text(
            json.dumps(google.service_account), encoding="utf-8"
        )
    if serper:
        values |= {"serper_url": serper.url, "serp_requests_per_second": 1000}
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
    if serpapi:
        values |= {"serpapi_url": serpapi.url, "serp_requests_per_second": 1000}
        write_text(folder / "config/serpapi_api_key.txt", serpapi.api_key)
    if openai:
        values |= dict.fromkeys(("base_url", "anchor_base_url"), f"{openai.url}/v1")
        write_text(folder / "config/openai_api_key.txt", openai.api_key)
    write_settings(folder, values | dict(settings or {}))
