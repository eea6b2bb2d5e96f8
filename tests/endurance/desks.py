"""Somebody who works on a Sheet between our requests: what is common to all tabs."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import gspread

from tests.standins import GoogleStandIn, Request

# An editor does so much while a run writes.
MOST_ACTS = 6


class Acting(Protocol):
    """An editor: `done` names what was done so far."""

    dice: random.Random
    done: list[str]

    def act(self) -> None:
        """Do one thing."""


@contextmanager
def at_work(google: GoogleStandIn, editor: Acting) -> Iterator[None]:
    """Before each of our requests the editor may do one thing, for as long as the block lasts."""
    busy = False

    def hook(request: Request) -> None:
        nonlocal busy
        # The editor's own requests come while ours waits.
        if busy or not re.search("/values|batchUpdate", request.path) or len(editor.done) >= MOST_ACTS:
            return
        busy = True
        try:
            if editor.dice.random() < 0.5:
                editor.act()
        finally:
            busy = False

    google.on_request = hook
    try:
        yield
    finally:
        google.on_request = None


def insert(tab: gspread.Worksheet, dimension: str, at: int) -> None:
    """An empty row or column ("ROWS", "COLUMNS") before the one that stands at `at`, from 0."""
    span = {"sheetId": tab.id, "dimension": dimension, "startIndex": at, "endIndex": at + 1}
    request = {"insertDimension": {"range": span, "inheritFromBefore": at > 0}}
    tab.spreadsheet.batch_update({"requests": [request]})
