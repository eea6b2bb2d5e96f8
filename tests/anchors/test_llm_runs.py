"""Runs with a language model for the anchors, through the command line and a stand-in for OpenAI."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from internal_linker.anchors.llm import PROMPT
from internal_linker.model.edges import is_link
from internal_linker.store.answers import StoredAnswers
from internal_linker.store.edges import EdgeStore
from internal_linker.store.engine import open_database
from tests.standins import OpenAIStandIn, Reply
from tests.standins.openai import CHAT
from tests.support.sites import SETTINGS, make_project, read_csv
from tests.support.small_project import (
    command,
    finish,
    start,
    summary,
    write_settings,
    write_text,
)

PAGES = 16
STORE = "sqlite:///files/cache.sqlite3"
PLAIN = {**SETTINGS, "embedding_provider": "lsa", "review": "none"}


@pytest.fixture
def openai() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=32) as server:
        server.says = last_words
        yield server


@pytest.fixture
def project(tmp_path: Path, openai: OpenAIStandIn) -> Path:
    """A site with the language model switched on."""
    made = make_project(tmp_path / "site", PAGES, PLAIN)
    write_text(made / "config/openai_api_key.txt", openai.api_key)
    switch_on(made, openai)
    return made


def switch_on(folder: Path, openai: OpenAIStandIn, **more: object) -> None:
    address = {"anchor_model": "gpt-4.1-mini", "anchor_base_url": f"{openai.url}/v1"}
    write_settings(folder, {**PLAIN, **address, **more})


def last_words(prompt: str) -> str:
    """Return the last two words of each link's sentence as an answer in JSON."""
    words = {link["link"]: re.findall(r"\w+ \w+", link["sentence"])[-1:] for link in json.loads(prompt)}
    return json.dumps({str(number): found[0] for number, found in words.items() if found})


def run(folder: Path) -> int:
    return command("run", "--project", str(folder))


def anchors(folder: Path) -> dict[str, str]:
    return {row["Link Id"]: row["Anchor"] for row in read_csv(folder / "files/links.csv")}


def test_its_words_are_the_anchors_and_are_paid_once(
    project: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    home = read_csv(project / "files/urls_rawdata.csv")[0]["URL"]
    assert command("run", "--dry-run", "--project", str(project)) == 0
    assert command("lookup", home, "--project", str(project)) == 0
    assert not openai.ledger, "only commands that write links ask"
    capsys.readouterr()
    assert run(project) == 0
    for call in openai.calls(CHAT):
        data = call.body["messages"][1]["content"]
        assert "https" not in data and openai.api_key not in data
        assert all(link.keys() == {"link", "title", "sentence", "words"} for link in json.loads(data))
    rows = read_csv(project / "files/links.csv")
    figures = summary(project)["Anchors by the model / tokens"]
    said = re.fullmatch(r"(\d+) of (\d+) requested / (\d+)", figures)
    assert said and f"{openai.units:,} tokens for anchors" in capsys.readouterr().out
    assert said and 0 < int(said[1]) <= int(said[2]) <= len(rows) and int(said[3]) == openai.units
    last = [row for row in rows if row["Sentence"].rstrip(".!?").endswith(row["Anchor"])]
    assert last and 0 < len(openai.calls(CHAT)) <= PAGES
    before, calls = anchors(project), len(openai.ledger)
    # Without the index, nobody knows that nothing changed.
    shutil.rmtree(project / "files/index")
    assert command("run", "--figures", "--project", str(project)) == 0
    assert anchors(project) == before and len(openai.ledger) == calls
    models = {row["Anchor Model"] for row in read_csv(project / "files/links.csv")}
    assert models == {"", f"openai/gpt-4.1-mini, prompt {PROMPT}"}
    assert summary(project)["Anchors by the model / tokens"] == "0 of 0 requested / 0"
    assert "tokens for anchors" not in capsys.readouterr().out


@pytest.mark.long
def test_switched_on_later_it_is_asked_about_the_links_that_are_there(
    project: Path, openai: OpenAIStandIn
) -> None:
    fresh = project.with_name("fresh")
    shutil.copytree(project, fresh)
    write_settings(project, {**PLAIN, "base_url": f"{openai.url}/v1"})
    assert run(project) == 0
    assert not openai.ledger, "a key alone doesn't enable the model"
    plain = anchors(project)
    switch_on(project, openai)
    assert run(project) == run(fresh) == 0
    assert plain != anchors(project) == anchors(fresh)


def test_links_that_editors_decided_on_are_not_asked_about(project: Path, openai: OpenAIStandIn) -> None:
    write_settings(project, PLAIN)
    assert run(project) == 0
    before = anchors(project)
    engine = open_database(STORE, project)
    store = EdgeStore(engine, "slowkettle.example")
    store.put(
        [replace(edge, verdict="accepted", status="accepted") for edge in store.each() if is_link(edge)]
    )
    engine.dispose()
    switch_on(project, openai)
    assert run(project) == 0
    assert anchors(project) == before and not openai.ledger


def test_when_the_cap_is_reached_the_next_run_goes_on(
    project: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    pages, cap = 30, 5_300  # a request reserves some 5,000 tokens and uses some 400
    make_project(project, pages, PLAIN)
    switch_on(project, openai, max_anchor_tokens=cap)
    assert run(project) == 6
    told = capsys.readouterr().out
    assert (
        f"max_anchor_tokens = {cap} tokens is reached" in told and "pages keep the anchors that were" in told
    )
    assert len(read_csv(project / "files/Output.csv")) == pages
    first, spent = len(openai.calls(CHAT)), openai.units
    assert 0 < first < pages and spent <= cap
    switch_on(project, openai)
    assert run(project) == 0
    bodies = [json.dumps(call.body) for call in openai.calls(CHAT)]
    assert len(bodies) > first and len(set(bodies)) == len(bodies), "no question is asked twice"


@pytest.mark.long
@pytest.mark.parametrize("status", [401, 500])
def test_a_failing_service_costs_no_link(
    project: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    plain = project.with_name("plain")
    shutil.copytree(project, plain)
    write_settings(plain, PLAIN)
    assert run(plain) == 0
    openai.fail_at_random(1.0, [Reply(status, {"error": {"message": "no"}}, headers={"retry-after-ms": "1"})])
    openai.script_on = CHAT
    assert run(project) == 6
    assert anchors(project) == anchors(plain)
    assert "the anchors that were found without openai/gpt-4.1-mini" in capsys.readouterr().out
    openai.fail_at_random(0.0, [])
    assert run(project) == 0
    assert anchors(project) != anchors(plain)


@pytest.mark.long
def test_a_killed_run_does_not_pay_twice(project: Path, openai: OpenAIStandIn) -> None:
    openai.latency = 0.3
    process = start("-m", "internal_linker", "run", "--project", str(project), cwd=project)
    until = time.monotonic() + 60
    while len(openai.calls(CHAT)) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    finish(process)
    time.sleep(0.5)
    openai.latency = 0.0
    first = [json.dumps(call.body) for call in openai.calls(CHAT)]
    assert len(first) >= 4
    assert run(project) == 0
    again = [json.dumps(call.body) for call in openai.calls(CHAT)][len(first) :]
    assert again and not set(again) & set(first[:-1])


def test_check_tells_of_the_model(
    project: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    command("check", "--project", str(project))
    assert "accepts the key and has gpt-4.1-mini" in capsys.readouterr().out
    switch_on(project, openai, anchor_model="gpt-9")
    command("check", "--project", str(project))
    assert "gpt-9 is not in its list of models" in capsys.readouterr().out
    assert openai.units == 0
    write_settings(project, PLAIN)
    command("check", "--project", str(project))
    assert "Anchor model" not in capsys.readouterr().out


@pytest.mark.long
def test_answers_move_with_the_cache(
    project: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project) == 0
    other = project.with_name("other")
    shutil.copytree(project, other, ignore=shutil.ignore_patterns("cache.sqlite3*"))
    target = f"sqlite:///{(other / 'files/cache.sqlite3').as_posix()}"
    assert command("store", "copy", "files/cache.sqlite3", target, "--project", str(project)) == 0
    engine = open_database(target, other)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM edges"))
    engine.dispose()
    calls = len(openai.ledger)
    assert run(other) == 0
    assert anchors(other) == anchors(project) and len(openai.ledger) == calls


def test_any_answer_is_kept(store_url: str, tmp_path: Path) -> None:
    """Both databases return an answer without the characters they can't store, and none for another model."""
    engine = open_database(store_url, tmp_path)
    cache = StoredAnswers(engine, "m" * 500, "v1")
    assert cache.get("p") is None
    for answer in ("old", "", "plain", "چای سبز", "a\0b", "half \ud800 pair", "x" * 100_000):
        cache.put("p", answer)
        assert cache.get("p") == answer.replace("\0", "").replace("\ud800", "?")
    assert cache.get("q") is None
    assert StoredAnswers(engine, "other", "v1").get("p") is None
