"""Start stand-ins for Google Sheets, Search Console, Google Analytics, Serper and OpenAI, and run until Ctrl-C.

They listen on loopback. The command prints the settings that direct a project to them, and the names of the properties
of Search Console and Google Analytics, which have made-up data of the last four weeks.
"""

from __future__ import annotations

import argparse
import csv
import json
import signal
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlsplit

from tests.standins.base import StandIn
from tests.standins.google import GoogleStandIn
from tests.standins.google_analytics import GoogleAnalyticsStandIn, Row
from tests.standins.openai import OpenAIStandIn
from tests.standins.search_console import SearchConsoleStandIn, search_rows
from tests.standins.serper import SerperStandIn, answers_from_jsonl

CORPUS = Path("../shared/corpora/18f-blog")
SHEET_NAME = "Main"
HEADER = ["URL", "Main Query"]
OURS = ("standin", "test-serper-key")  # only a key file with one of these may be overwritten
SITE = "https://www.example.com/"  # has search data if there are no main queries
ANALYTICS_PROPERTY = "123456789"
DAYS, PAGES = 28, 100  # of search data
PACIFIC = timezone(timedelta(hours=-8))  # without summer time, as the program reckons Search Console's days


@dataclass(frozen=True)
class StandIns:
    """The servers; those of Google accept one key, as Google does.

    Attributes:
        property: the property that Search Console has data of.
    """

    serper: SerperStandIn
    openai: OpenAIStandIn
    google: GoogleStandIn
    console: SearchConsoleStandIn
    analytics: GoogleAnalyticsStandIn
    property: str

    def settings(self) -> dict[str, str]:
        """Return the settings that direct the product to the servers, by their names in settings.toml."""
        return {
            "google_sheet_id": self.google.spreadsheet_id,
            "google_sheet_name": SHEET_NAME,
            "google_api_url": self.google.url,
            "search_console_url": self.console.url,
            "analytics_url": self.analytics.url,
            "serper_url": self.serper.url,
            "base_url": f"{self.openai.url}/v1",
        }

    def key_files(self) -> dict[str, str]:
        """Return the content of each key file by its path in a project."""
        return {
            "config/serper_api_key.txt": self.serper.api_key,
            "config/openai_api_key.txt": self.openai.api_key,
            "config/service_account.txt": json.dumps(self.google.service_account, indent=2),
        }


def main() -> None:
    """Parse the options, serve, and print the counts at the end."""
    options = _options()
    answers = answers_from_jsonl(options.serp) if options.serp.exists() else (lambda words, site: [])
    queries = _rows(options.queries) if options.queries.exists() else [HEADER]
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    pages = [row[0] for row in queries[1:] if row][:PAGES] or [SITE]
    with ExitStack() as running:
        google = running.enter_context(GoogleStandIn({SHEET_NAME: queries}))
        console, property_ = _search_console(pages, google)
        at = StandIns(
            running.enter_context(SerperStandIn(answers)),
            running.enter_context(OpenAIStandIn()),
            google,
            running.enter_context(console),
            running.enter_context(_analytics(pages, google)),
            property_,
        )
        source = options.serp if options.serp.exists() else "nowhere"
        print(f"{len(queries) - 1} queries; SERP answers from {source}")
        _announce(at, options.project)
        while not stop.wait(1.0):
            pass
        for name, unit, stand_in in (
            ("serper", "credits", at.serper),
            ("openai", "tokens", at.openai),
            ("google", "quota units", at.google),
            ("search console", "quota units", at.console),
            ("google analytics", "quota units", at.analytics),
        ):
            print(_total(name, unit, stand_in), flush=True)


def _search_console(pages: Sequence[str], google: GoogleStandIn) -> tuple[SearchConsoleStandIn, str]:
    """Return a Search Console with data of the pages, and the name of their property."""
    today, site = datetime.now(PACIFIC).date(), "{0.scheme}://{0.netloc}/".format(urlsplit(pages[0]))
    data = {site: search_rows(_days(today), list(pages))}
    return SearchConsoleStandIn(data, today=today, tokens=google.tokens), site


def _analytics(pages: Sequence[str], google: GoogleStandIn) -> GoogleAnalyticsStandIn:
    parts = [urlsplit(page) for page in pages]
    rows: list[Row] = [
        (day.isoformat(), at.netloc, at.path or "/", 20, 12, 1.0)
        for day in _days(datetime.now(UTC).date())
        for at in parts
    ]
    return GoogleAnalyticsStandIn({ANALYTICS_PROPERTY: rows}, tokens=google.tokens)


def _days(today: date) -> list[date]:
    return [today - timedelta(days=ago) for ago in range(DAYS, 0, -1)]


def write_key_files(project: Path, files: dict[str, str]) -> None:
    """Write the key files, but never overwrite a real key."""
    for name in files:
        path = project / name
        held = path.read_text(encoding="utf-8").strip() if path.exists() else ""
        if held and not any(mark in held for mark in OURS):
            raise SystemExit(f"{path} holds a key that is not a stand-in's: move it away first")
    for name, content in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n", encoding="utf-8")


def _announce(at: StandIns, project: Path | None) -> None:
    files, values = at.key_files(), at.settings()
    if project:
        write_key_files(project, files)
        print(f"\nKey files are written in {project / 'config'}. Environment:\n")
        for name, value in values.items():
            print(f"export INTERNAL_LINKER_{name.upper()}={value}")
    else:
        print("\nIn settings.toml:\n")
        for name, value in values.items():
            print(f'{name} = "{value}"')
        for name, content in files.items():
            print(f"\nIn {name}:\n{content}")
    print(f"\nSearch data: import --search-console {at.property} --analytics {ANALYTICS_PROPERTY}")
    print("\nCtrl-C stops.", flush=True)


def _total(name: str, unit: str, stand_in: StandIn) -> str:
    failed = sum(call.status != 200 for call in stand_in.ledger)
    return f"{name}: {len(stand_in.ledger)} calls ({failed} not answered with 200), {stand_in.units} {unit}"


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.standins", description=__doc__)
    parser.add_argument("--serp", type=Path, default=CORPUS / "serp.jsonl", help="lines of query and urls")
    parser.add_argument("--queries", type=Path, default=CORPUS / "main_queries.csv", help="becomes the Sheet")
    parser.add_argument("--project", type=Path, help="write key files there and print environment variables")
    return parser.parse_args()


if __name__ == "__main__":
    main()
