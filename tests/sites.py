"""Project folders for tests: the first pages of the sample site, with the keys and addresses of stand-ins."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from internal_linker.cli import main
from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn

ROOT = Path(__file__).resolve().parent.parent
HOST = "www.slowkettle.example"


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by column name."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a CSV file, as a user's spreadsheet program would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def sample_pages(count: int) -> list[dict[str, str]]:
    """The first pages of the sample site."""
    return read_csv(ROOT / "files/urls_rawdata.csv")[:count]


def sample_queries(pages: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """URL and main query of those pages that have one."""
    queries = {row["URL"]: row["Main Query"] for row in read_csv(ROOT / "files/main_queries.csv")}
    return [[page["URL"], queries[page["URL"]]] for page in pages if page["URL"] in queries]


def make_project(folder: Path, pages: int = 12, settings: Mapping[str, object] | None = None) -> Path:
    """A project with the first pages of the sample site, their queries in CSV, and these settings."""
    rows = sample_pages(pages)
    write_csv(
        folder / "files/urls_rawdata.csv",
        ("URL", "Title", "Main Content", "Lang"),
        [[row["URL"], row["Title"], row["Main Content"], row["Lang"]] for row in rows],
    )
    write_csv(folder / "files/main_queries.csv", ("URL", "Main Query"), sample_queries(rows))
    values = {"search_query_template": f"site:{HOST} {{main_query}}", **(settings or {})}
    write_settings(folder, values)
    return folder


def write_settings(folder: Path, values: Mapping[str, object]) -> None:
    """Write config/settings.toml with just these settings."""
    (folder / "config").mkdir(parents=True, exist_ok=True)
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in values.items())
    (folder / "config/settings.toml").write_text("".join(lines), encoding="utf-8")


def use_standins(
    folder: Path,
    *,
    google: GoogleStandIn | None = None,
    serper: SerperStandIn | None = None,
    openai: OpenAIStandIn | None = None,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Give the project the keys and addresses of these servers, and settings on top."""
    values: dict[str, object] = {"search_query_template": f"site:{HOST} {{main_query}}"}
    if google:
        values |= {"google_sheet_id": google.spreadsheet_id, "google_api_url": google.url}
        (folder / "config/service_account.txt").write_text(
            json.dumps(google.service_account), encoding="utf-8"
        )
    if serper:
        values |= {"serper_url": serper.url, "serp_requests_per_second": 1000}
        (folder / "config/serper_api_key.txt").write_text(serper.api_key, encoding="utf-8")
    if openai:
        values |= {"base_url": f"{openai.url}/v1"}
        (folder / "config/openai_api_key.txt").write_text(openai.api_key, encoding="utf-8")
    write_settings(folder, values | dict(settings or {}))


def command(*arguments: object) -> int:
    """Run the command line in this process; the answer is its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)
