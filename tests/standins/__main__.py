"""Start all three stand-ins on loopback, print the settings for them, and run until Ctrl-C."""

from __future__ import annotations

import argparse
import csv
import json
import signal
import threading
from pathlib import Path

from tests.standins.base import StandIn
from tests.standins.google import GoogleStandIn
from tests.standins.openai import OpenAIStandIn
from tests.standins.serper import SerperStandIn, answers_from_jsonl

CORPUS = Path("../shared/corpora/18f-blog")
SHEET_NAME = "Main"
HEADER = ["URL", "Main Query"]
OURS = ("standin", "test-serper-key")  # only a key file with one of these may be overwritten


def main() -> None:
    """Parse the options, serve, and print the counts at the end."""
    options = _options()
    answers = answers_from_jsonl(options.serp) if options.serp.exists() else (lambda words, site: [])
    queries = _rows(options.queries) if options.queries.exists() else [HEADER]
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with (
        SerperStandIn(answers) as serper,
        OpenAIStandIn() as openai,
        GoogleStandIn({SHEET_NAME: queries}) as google,
    ):
        source = options.serp if options.serp.exists() else "nowhere"
        print(f"{len(queries) - 1} queries; SERP answers from {source}")
        _announce(serper, openai, google, options.project)
        while not stop.wait(1.0):
            pass
        for name, unit, stand_in in (
            ("serper", "credits", serper),
            ("openai", "tokens", openai),
            ("google", "quota units", google),
        ):
            print(_total(name, unit, stand_in), flush=True)


def settings(serper: SerperStandIn, openai: OpenAIStandIn, google: GoogleStandIn) -> dict[str, str]:
    """Return the settings that direct the product to the stand-ins, by their names in settings.toml."""
    return {
        "google_sheet_id": google.spreadsheet_id,
        "google_sheet_name": SHEET_NAME,
        "google_api_url": google.url,
        "serper_url": serper.url,
        "base_url": f"{openai.url}/v1",
    }


def key_files(serper: SerperStandIn, openai: OpenAIStandIn, google: GoogleStandIn) -> dict[str, str]:
    """Return the content of each key file by its path in a project."""
    return {
        "config/serper_api_key.txt": serper.api_key,
        "config/openai_api_key.txt": openai.api_key,
        "config/service_account.txt": json.dumps(google.service_account, indent=2),
    }


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


def _announce(
    serper: SerperStandIn, openai: OpenAIStandIn, google: GoogleStandIn, project: Path | None
) -> None:
    files, values = key_files(serper, openai, google), settings(serper, openai, google)
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
