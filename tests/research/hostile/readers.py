"""Every reader of outside data, as a function of bytes that fails if a promise is broken, for fuzzers."""

import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

import httpx

from internal_linker.match.encoders.openai import VectorReader
from internal_linker.model.briefs import Brief
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ConfigurationError, InputError, InternalLinkerError, ServiceError
from internal_linker.model.records import Collected, Reject, SerpMarket
from internal_linker.model.urls import normal_form, without_tracking
from internal_linker.project.settings.exclusions import read_exclusions
from internal_linker.project.settings.settings import load_settings
from internal_linker.review.workbook import ReviewWorkbook
from internal_linker.sources.collect import collect
from internal_linker.sources.drafts import read_brief
from internal_linker.sources.existing_links import add_links
from internal_linker.sources.google_sheets.client import SheetRefusals
from internal_linker.sources.google_sheets.spreadsheet import Spreadsheet, Tab, tabs_of
from internal_linker.sources.http.google import key_fields
from internal_linker.sources.http.limits import Budget, Circuit, retry_after
from internal_linker.sources.openai.chat import OpenAIChat
from internal_linker.sources.serp.serpapi import SerpApi
from internal_linker.sources.serp.serper import Serper
from internal_linker.sources.tables.columns import Kind, cells_of, columns_of
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.xlsx_reader import XlsxTable
from internal_linker.store.files.encodings import recognise
from internal_linker.store.files.plain_text import plain_text
from internal_linker.text.html import is_html, read_html
from tests.research.hostile.web_readers import embedding, robots, sitemap, web_page
from tests.standins.google_token import make_service_account
from tests.support.builders import whole
from tests.support.drafts import zipped
from tests.support.small_project import SITE

# The most seconds for a few thousand bytes.
LONGEST_S = 2.0
STATUSES = (200, 400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 503)
SECRET, _NOWHERE = "sk-secret-secret", "http://127.0.0.1:9/v1"
_TAB = Tab("Main", 0, 26, {})


def pages(raw: bytes) -> None:
    """Assert that every row is a page or has a reason, and every page's key is its URL's normal form."""
    with _file(raw, InputError) as file:
        table = whole(CsvTable(file))
        found = collect(None, table, queries_in_sheet=False)
        for number, cells in cells_of(table, columns_of(table, (Kind.URL, Kind.CONTENT))):
            _is_used(cells[Kind.URL], number, {page.key for page in found.pages}, found.rejects)
        assert all(page.key == normal_form(page.url) for page in found.pages)


def queries(raw: bytes) -> None:
    """Assert that every row is a source or has a reason, and every query is one line."""
    with _file(raw, InputError) as file:
        table = whole(CsvTable(file))
        found = collect(table, None, queries_in_sheet=False)
        for number, cells in cells_of(table, columns_of(table, (Kind.URL, Kind.MAIN_QUERY))):
            if cells[Kind.URL]:
                _is_used(cells[Kind.URL], number, {source.key for source in found.sources}, found.rejects)
        assert all(source.query == " ".join(source.query.split()) for source in found.sources)


def links(raw: bytes) -> None:
    """Assert that every row is a link, is skipped and counted, or has a reason."""
    with _file(raw, InputError) as file:
        table = whole(CsvTable(file))
        found = add_links(Collected((), (), (), 0), CsvTable(file).stream())
        columns = columns_of(table, (Kind.SOURCE, Kind.DESTINATION))
        rows = [number for number, cells in cells_of(table, columns) if any(cells.values())]
        told = {reject.row for reject in found.rejects}
        assert told <= set(rows)
        assert len(found.links) <= len(rows) - len(told) - found.skipped_links or not found.links
        assert bool(rows) == bool(found.links or told or found.skipped_links)


def encoding(raw: bytes) -> None:
    """Assert that the file opens in the recognised encoding, and a remark reports replaced characters."""
    with _file(raw, InputError) as file:
        known = recognise(file)
        text = file.read_text(known.encoding, "replace")
        assert "\ufffd" not in text or known.remarks or "\ufffd".encode() in raw or "16" in known.encoding


def html(raw: bytes) -> None:
    """Assert that lines are clean and without the reader's own marks, and headings and closed lines are lines."""
    text = raw.decode("utf-8", "surrogateescape")
    is_html(text)
    found = read_html(text)
    lines = found.text.split("\n")
    assert all(line == " ".join(line.split()) for line in lines)
    assert all(0 <= number < len(lines) for number in (*found.headings, *found.closed))
    assert not {"\x1c", "\x1d", "\x1e", "\x1f"} & set(found.text)


def urls(raw: bytes) -> None:
    """Assert that a normal form is stable, ASCII, safe in tables, and unchanged by without_tracking."""
    with suppress(ValueError):
        url = raw.decode("utf-8", "surrogateescape")
        key = normal_form(url)
        assert normal_form(key) == key
        assert normal_form(without_tracking(url)) == key
        assert key.isascii() and key.isprintable() and " " not in key


def patterns(raw: bytes) -> None:
    """Assert that the file gives patterns, or an error for an invalid line."""
    with _file(raw, ConfigurationError) as file:
        found = read_exclusions(file)
        matched = found.match(SITE, f"{SITE}/tea/")
        assert matched == matched.strip()
        assert not matched or (len(found) and not matched.startswith("#"))


def settings(raw: bytes) -> None:
    """Assert that the file gives settings, or an error."""
    with tempfile.TemporaryDirectory() as folder, _told(ConfigurationError):
        (Path(folder) / "config").mkdir()
        (Path(folder) / "config/settings.toml").write_bytes(raw)
        assert load_settings(Path(folder)).links_per_page > 0


def account(raw: bytes) -> None:
    """Assert that the file gives a key's fields, or an error without any of its content."""
    with _told(ConfigurationError), _file(raw, ConfigurationError) as file:
        assert isinstance(key_fields(plain_text(file, "service_account.txt"))["private_key"], str)


def workbook(raw: bytes) -> None:
    """Assert that the file gives decisions and a table of texts, or an error."""
    with _file(raw, InputError, "review.xlsx") as file:
        assert isinstance(ReviewWorkbook(file).read(), list)
    with _file(raw, InputError, "crawl.xlsx") as file:
        table = XlsxTable(file, "crawl.xlsx").stream()
        assert all(isinstance(cell, str) for _, row in table.rows for cell in row)


def draft(raw: bytes) -> None:
    """Assert that a draft has a title or text, with headings among its lines, or an error, for any Word XML."""
    for name in ("draft.md", "draft.txt", "draft.docx"):
        with _file(raw, InputError, name) as file:
            _is_brief(read_brief(str(file), io.BytesIO))
    with _file(zipped({"word/document.xml": raw}), InputError, "draft.docx") as file:
        _is_brief(read_brief(str(file), io.BytesIO))


def _is_brief(brief: Brief) -> None:
    assert brief.title or brief.text
    assert all(0 <= line <= brief.text.count("\n") for line in (*brief.headings, *brief.closed))


def serper(raw: bytes) -> None:
    """Assert that links are texts and the cost is 0 or more, or an error without the key."""
    _searches(_serper(), raw)


def serpapi(raw: bytes) -> None:
    """Assert the same of SerpApi."""
    _searches(_serpapi(), raw)


def _searches(client: Serper | SerpApi, raw: bytes) -> None:
    status, body = _status(raw)
    answer = httpx.Response(status, headers={b"retry-after": _header(body).encode()}, content=body)
    client._stop, client._circuit, client._budget = None, Circuit(client.name), _one_credit(client.name)
    with patch.object(client._client, "request", return_value=answer), _told(ServiceError):
        page = client._search_once("GET", "/search", {})
        assert all(link and isinstance(link, str) for link in page.links)
        assert page.credits >= 0


def openai(raw: bytes) -> None:
    """Assert that the answer gives unit vectors or words, or an error without the key."""
    status, body = _status(raw)
    chat = _chat()
    answers = chat._server.answers
    with _told(ServiceError):
        answer = answers.parse(body)
        if status >= 300:
            raise answers.refusal(status, answer.get("error"), {"retry-after": _header(body)})
        if "choices" in answer:
            assert isinstance(chat._words(answer), str)
        vectors = VectorReader(answers, 0).read(answer, 2)
        assert vectors.shape[0] == 2
        assert abs((vectors**2).sum(axis=1) - 1).max() < 1e-3


def google(raw: bytes) -> None:
    """Assert that Google's answer gives tabs and rows, or one of our errors."""
    status, body = _status(raw)
    sheet, answer = _spreadsheet(), _json(body)
    sheet._circuit = Circuit("Google Sheets")
    with patch.object(sheet._http, "fetch_sheet_metadata", return_value=answer), _told(ServiceError):
        tabs_of(sheet.metadata())
    with patch.object(sheet._http, "values_get", return_value=answer), _told(ServiceError):
        assert all(isinstance(row, list) for row in sheet.values(_TAB))
    words = SheetRefusals("a@b.example", "project", "id", "cells are", "Name the tab.")
    headers = {"retry-after": _header(body)}
    error = words.to_error(max(status, 400), body, headers, bool(len(body) % 2))
    assert isinstance(error, InternalLinkerError)
    assert str(error).endswith((".", '"'))


def headers(raw: bytes) -> None:
    """Assert that the waiting time is a finite number of seconds from 0, or None."""
    seconds = retry_after({"retry-after": _header(raw)})
    assert seconds is None or 0 <= seconds < float("inf")


READERS: dict[str, Callable[[bytes], None]] = {
    reader.__name__: reader
    for reader in (
        *(pages, queries, links, encoding, html, urls, patterns, settings, account, workbook),
        *(draft, serper, serpapi, openai, google, headers, web_page, sitemap, robots, embedding),
    )
}


@cache
def _serper() -> Serper:
    market, budget = SerpMarket("serper"), _one_credit("Serper")
    return Serper(SECRET, _NOWHERE, market, budget=budget, per_second=1e9, in_flight=1)


@cache
def _serpapi() -> SerpApi:
    market, budget = SerpMarket("serpapi"), _one_credit("SerpApi")
    return SerpApi(SECRET, _NOWHERE, market, budget=budget, per_second=1e9, in_flight=1)


def _one_credit(service: str) -> Budget:
    return Budget(service, 1, "max_serp_credits", "credits")


@cache
def _spreadsheet() -> Spreadsheet:
    return Spreadsheet(
        json.dumps(make_service_account(_NOWHERE)), "id", _NOWHERE, "cells are", "Name the tab."
    )


@cache
def _chat() -> OpenAIChat:
    return OpenAIChat(SECRET, "tea", _NOWHERE, Budget("Chat", 1, "max_anchor_tokens", "tokens"))


def read(name: str, raw: bytes) -> None:
    """Give these bytes to a reader.

    Raises:
        AssertionError: a promise is broken. Any other exception is undocumented, too.
    """
    began = time.process_time()
    READERS[name](raw)
    assert time.process_time() - began < LONGEST_S, "it takes too long"


@contextmanager
def _told(*kinds: type[InternalLinkerError]) -> Iterator[None]:
    """Accept errors of these kinds as answers: short sentences without a secret."""
    said = "."
    try:
        yield
    except kinds as error:
        said = str(error)
    assert 0 < len(said) < 2000, said
    assert SECRET not in said


@contextmanager
def _file(raw: bytes, kind: type[InternalLinkerError], name: str = "table.csv") -> Iterator[Path]:
    """Yield a file with these bytes; errors of this kind are accepted as answers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        with _told(kind):
            yield path


def _is_used(url: str, number: int, keys: set[str], rejects: tuple[Reject, ...]) -> None:
    """Assert that a row's URL has a known normal form, or the row has a reason."""
    if number not in {reject.row for reject in rejects}:
        form = CanonicalHosts().identity
        assert form(normal_form(url)) in map(form, keys)


def _status(raw: bytes) -> tuple[int, bytes]:
    """Return an answer's status, chosen by the first byte, and the rest as its body."""
    return STATUSES[raw[0] % len(STATUSES)] if raw else 200, raw[1:]


def _json(raw: bytes) -> object:
    """Return what the client's library makes of an answer."""
    with suppress(ValueError, RecursionError):
        return json.loads(raw)
    return None


def _header(raw: bytes) -> str:
    return raw.decode("latin-1")[:60]
