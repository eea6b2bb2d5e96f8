"""Alerts of real runs, sent to real local servers: one message a run, none without a reason, and never a failed run."""

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from internal_linker import check
from internal_linker.model.applied_links import PageWrite
from internal_linker.model.edges import altered
from internal_linker.model.urls import normal_form
from internal_linker.project.alerts import STATE_FILE
from internal_linker.project.project import open_project
from tests.project.test_schedule import SCHEDULED_RUN
from tests.standins import SerperStandIn
from tests.support.message_servers import Inbox, silent_server, webhook
from tests.support.small_project import (
    HEADER,
    SITE,
    TOPICS,
    URLS,
    command,
    finish,
    make_project,
    start,
    write_csv,
    write_settings,
    write_text,
)

SECRET = "T0pSecretToken99"
OLD = f"{SITE}/old/"
LINKS = [("Source", "Destination"), *zip(URLS, [*URLS[1:], URLS[0]], strict=True)]


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with webhook() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path, inbox: Inbox) -> Path:
    """A project in which every page has a link, so that nothing is to be reported."""
    made = make_project(tmp_path)
    pages = [(url, slug, text, "200") for url, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    write_csv(made / "files/urls_rawdata.csv", [(*HEADER, "Status Code"), *pages, (OLD, "", "", "404")])
    write_csv(made / "files/existing_links.csv", LINKS)
    notify(made, f"json://127.0.0.1:{inbox.port}/{SECRET}")
    return made


def notify(folder: Path, *lines: str) -> None:
    write_text(folder / "config/notify.txt", "\n".join(["# the team", *lines]))
    (folder / "config/notify.txt").chmod(0o600)


def run(folder: Path, *options: str) -> int:
    return command("run", "--project", str(folder), *options)


def messages(inbox: Inbox) -> list[dict[str, Any]]:
    """Return the messages since the last call."""
    found = [body for _, body in inbox.hooks]
    inbox.hooks.clear()
    return found


def log(folder: Path) -> str:
    return (folder / "logfile.txt").read_text(encoding="utf-8")


def test_no_message_if_nothing_happened(folder: Path, inbox: Inbox) -> None:
    """A run with nothing to report sends nothing; with notify_always it sends one message that says so."""
    assert run(folder) == 0
    assert messages(inbox) == []
    write_settings(folder, {"notify_always": True})
    assert run(folder) == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: nothing to report" and "Pages: 7" in message["message"]


@pytest.mark.long
def test_a_scheduled_run_reports_orphans_and_links_to_errors_once(folder: Path, inbox: Inbox) -> None:
    """A run of `schedule` sends one message with both; the next run reports only what is new since."""
    write_csv(folder / "files/existing_links.csv", [*LINKS[:-2], (URLS[0], OLD), (URLS[0], URLS[5])])
    process = start("-c", SCHEDULED_RUN, cwd=folder)
    assert process.stdout
    lines = [process.stdout.readline()]
    while not lines[-1].startswith("Next run") or len(lines) == 1:
        lines.append(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: 1 orphan, 1 link to an error" and message["type"] == "info"
    assert f"\n- {URLS[0]}\nNext: Add links" in message["message"]
    assert f"\n- {URLS[0]} -> {OLD} (status 404)\n" in message["message"]
    assert run(folder) == 0
    assert messages(inbox) == []
    write_csv(folder / "files/existing_links.csv", [*LINKS[:-2], (URLS[0], OLD), (URLS[1], OLD)])
    assert run(folder) == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: 1 new orphan, 1 new link to an error"
    assert URLS[5] in message["message"] and f"{URLS[1]} -> {OLD}" in message["message"]
    assert SECRET not in log(folder) + "".join(lines)


def test_a_failed_run_reports_why(folder: Path, inbox: Inbox) -> None:
    """A run that fails sends one message with the error and ends with the same exit code; a wrong setting, too."""
    write_csv(folder / "files/urls_rawdata.csv", [("x", "y")])
    assert run(folder) == 3
    (message,) = messages(inbox)
    assert message["title"].endswith("run failed") and message["type"] == "failure"
    assert "no column 'URL'" in message["message"] and "(exit code 3)" in message["message"]
    write_settings(folder, {"links_per_page": "many"})
    assert run(folder) == 2
    (message,) = messages(inbox)
    assert message["title"] == f"{folder.name}: run failed" and "links_per_page" in message["message"]


def test_drift_is_reported(folder: Path, inbox: Inbox) -> None:
    """A run whose links wait because they changed too much says so."""
    assert run(folder) == 0
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), (URLS[0], "tea")])
    write_csv(
        folder / "files/urls_rawdata.csv", [HEADER, *((url, "Tea", TOPICS["water"]) for url in URLS[:2])]
    )
    assert run(folder) == 6
    (message,) = messages(inbox)
    assert message["title"].startswith("tiny.example: links changed too much")
    assert "2 pages instead of 7" in message["message"] and "--accept-drift" in message["message"]


def test_links_accepted_long_ago_are_reported_once(folder: Path, inbox: Inbox) -> None:
    """Accepted links that are not live after notify_not_live_days are reported; undone and recent ones are not."""
    assert run(folder) == 0
    now = datetime.now(UTC)
    with open_project(folder).applications(read_only=False) as (edges, applied):
        old, recent, undone, written = [*edges.each("proposed")][:4]
        long_ago, lately = now - timedelta(days=30), now - timedelta(days=3)
        for edge, at in ((old, long_ago), (recent, lately), (undone, long_ago), (written, long_ago)):
            edges.put([altered(edge, status="accepted", verdict="accepted", by="Ann", at=at.isoformat())])
        for edge, at in ((undone, long_ago), (written, lately)):
            write = PageWrite(
                application=edge.id, page=edge.source, page_url=edge.source_url, home="site", place="a.md",
                links=[edge.id], hash_before="a", hash_after="b", by="Ann", at=at,
            )  # fmt: skip
            applied.mark(applied.begin([(write, b"")]), "undone" if edge is undone else "applied")
    assert run(folder) == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: 1 accepted link not live"
    day = f"{long_ago:%Y-%m-%d}"
    assert f"- {old.source_url} -> {old.target_url} (accepted on {day})\n" in message["message"]
    assert run(folder) == 0
    assert messages(inbox) == []


def test_a_run_over_some_rows_sends_nothing(folder: Path, inbox: Inbox) -> None:
    write_settings(folder, {"notify_always": True})
    write_csv(folder / "files/existing_links.csv", LINKS[:-1])
    for options in (["--limit", "2"], ["--only", URLS[0]], ["--dry-run"]):
        assert run(folder, *options) in (0, 6)
        assert messages(inbox) == [] and not (folder / STATE_FILE).exists()


def write_long_urls(folder: Path, count: int, start: str) -> str:
    """Write so many pages, each with a link to an error, and one link between pages; return the first page."""
    slugs = [f"{start}{at}" for at in range(count)]
    pages = [(f"{SITE}/{slug}/", slug, f"tea number {slug}", "200") for slug in slugs]
    old = [(f"{SITE}/gone-{slug}/", "", "", "404") for slug in slugs]
    write_csv(folder / "files/urls_rawdata.csv", [(*HEADER, "Status Code"), *pages, *old])
    links = [(page[0], gone[0]) for page, gone in zip(pages, old, strict=True)]
    write_csv(folder / "files/existing_links.csv", [LINKS[0], *links, (pages[0][0], pages[1][0])])
    return pages[0][0]


def test_events_without_room_are_named(folder: Path, inbox: Inbox) -> None:
    """A message with more than fits names the events whose details are left out; none goes unsaid."""
    first = write_long_urls(folder, 9, "long-" * 150)
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), (first, "tea")])
    with SerperStandIn(lambda words, site: URLS) as serper:
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        write_settings(folder, {"serper_url": serper.url, "max_serp_credits": 0, "embedding_provider": "lsa"})
        assert run(folder) == 6
    (message,) = messages(inbox)
    text = message["message"]
    assert len(text) < 4000 and message["title"].endswith("used, finished with gaps, 8 orphans, 1 more")
    assert "8 ORPHANS" in text and "There was no room for the details of: 9 links to errors.\n" in text


def test_long_lists_are_shortened(folder: Path, inbox: Inbox) -> None:
    """An event shows five examples and how many more there are; the message stays below 4,000 characters."""
    write_long_urls(folder, 40, "long-" * 50)
    (folder / "files/main_queries.csv").unlink()
    assert run(folder) in (0, 6)
    (message,) = messages(inbox)
    assert len(message["message"]) < 4000 and "and 34 more" in message["message"]
    assert message["title"].endswith("39 orphans, 40 links to errors")
    assert message["message"].endswith("logfile.txt has every step.")


def test_what_nobody_was_told_of_stays_new(folder: Path, inbox: Inbox) -> None:
    write_csv(folder / "files/existing_links.csv", LINKS[:-1])
    works = (folder / "config/notify.txt").read_text(encoding="utf-8")
    with silent_server() as port:
        notify(folder, f"json://127.0.0.1:{port}/{SECRET}?rto=1", SECRET, f"json://127.0.0.1:1/{SECRET}")
        assert run(folder) == 0
    said = log(folder)
    assert SECRET not in said and "config/notify.txt, line 3: it is not an address" in said
    assert "config/notify.txt, line 2 (JSON): the message was not delivered" in said
    write_text(folder / "config/notify.txt", works)
    assert run(folder) == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: 1 orphan"


def test_check_sends_a_test(folder: Path, inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` names each line without contacting anybody; with --notify, each address gets a test message."""
    notify(folder, f"json://127.0.0.1:{inbox.port}/{SECRET}", f"nosuch://{SECRET}")
    facts = {fact.text: fact.ok for fact in check(folder).facts if fact.name == "Alerts"}
    assert [*facts.values()] == [True, False] and messages(inbox) == []
    assert command("check", "--project", str(folder), "--notify") == 2
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: test message"
    out = capsys.readouterr().out
    assert "config/notify.txt, line 2 (JSON) took the test message" in out and SECRET not in out
    assert "config/notify.txt, line 3: it begins with nosuch://" in out


def test_addresses_can_come_from_the_environment(
    folder: Path, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "NOTIFY_URLS", f"\njson://127.0.0.1:{inbox.port}/env\nwrong")
    facts = [fact.text for fact in check(folder, notify=True).facts if fact.name == "Alerts"]
    assert facts[0] == "environment variable NOTIFY_URLS, line 2 (JSON) took the test message"
    assert facts[1].startswith("environment variable NOTIFY_URLS, line 3:")
    assert [path for path, _ in inbox.hooks] == ["/env"]


def test_keys_of_links_are_those_of_the_crawl(folder: Path, inbox: Inbox) -> None:
    """A link to an error that two spellings name is reported once, and the state has no URL."""
    links = [*LINKS, (URLS[0], OLD), (URLS[0].upper().replace("GREEN-TEA", "green-tea"), OLD.rstrip("/"))]
    write_csv(folder / "files/existing_links.csv", links)
    assert run(folder) == 0
    (message,) = messages(inbox)
    assert message["title"] == "tiny.example: 1 link to an error"
    state = (folder / STATE_FILE).read_text(encoding="utf-8")
    assert normal_form(OLD) not in state and "tiny" not in state
