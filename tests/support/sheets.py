"""A small Sheet on the stand-in, links for it, and editors who change it at chosen moments."""

import json
import re
import traceback
from collections.abc import Callable
from contextlib import closing
from typing import Any

import gspread

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.records import Candidate, Link, Recommendation, Source
from internal_linker.model.urls import normal_form
from internal_linker.sources.google_sheets.queries_tab import GoogleSheet
from tests.standins import GoogleStandIn

SITE = "https://shop.com/"
HEADER = ["URL", "Main Query", "Link 1", "Link 2", "Link 3"]
READ, WRITE = "^GET .*/values/", "^POST .*/values:batchUpdate"


def sheet(
    google: GoogleStandIn,
    tab: str = "Main",
    links: int = 3,
    key: str = "",
    hosts: CanonicalHosts | None = None,
) -> GoogleSheet:
    account = json.dumps(google.service_account)
    key = key or google.spreadsheet_id
    ours = GoogleSheet(account, key, tab, api_url=google.url, links_per_page=links, hosts=hosts)
    google.closing.enter_context(closing(ours))
    return ours


def links_for(url: str, *targets: str, query: str = "", in_sheet: bool = True) -> Recommendation:
    source = Source(normal_form(url) if url else "", url, query, None, in_sheet)
    found = [Candidate(target, target) for target in targets]
    return Recommendation(source, tuple(Link(one, rank, "semantic") for rank, one in enumerate(found, 1)))


def a_to_c() -> list[Recommendation]:
    return [
        links_for(SITE + name, f"{SITE}{name}-1", f"{SITE}{name}-2", query=f"{name} query") for name in "abc"
    ]


def row_of(name: str) -> list[str]:
    return [SITE + name, f"{name} query", f"{SITE}{name}-1", f"{SITE}{name}-2"]


def before(google: GoogleStandIn, words: str, act: Callable[[], None], *, times: int = 1) -> None:
    """Let an editor act right before the next `times` requests that match."""
    left = [act] * times

    def hook(request: Any) -> None:
        if left and re.search(words, request.words):
            left.pop()()

    google.on_request = hook


def edit(google: GoogleStandIn, change: Callable[[list[list[str]]], list[list[str]]]) -> Callable[[], None]:
    return lambda: google.set_grid("Main", change(google.grid("Main")))


def shown(error: BaseException) -> str:
    """Return all texts of an error that could reach a log or a screen."""
    return "".join([str(error), repr(error), *traceback.format_exception(error)])


def insert(tab: gspread.Worksheet, dimension: str, at: int) -> None:
    """Insert an empty row or column ("ROWS", "COLUMNS") before position `at`, from 0."""
    span = {"sheetId": tab.id, "dimension": dimension, "startIndex": at, "endIndex": at + 1}
    request = {"insertDimension": {"range": span, "inheritFromBefore": at > 0}}
    tab.spreadsheet.batch_update({"requests": [request]})
