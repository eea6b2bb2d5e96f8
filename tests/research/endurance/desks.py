"""A person who works on a Sheet between our requests: the parts common to all tabs."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tests.standins import GoogleStandIn, Request

# The most changes that an editor makes while a run writes.
MOST_ACTS = 6


class Acting(Protocol):
    """An editor; `done` lists the actions so far."""

    dice: random.Random
    done: list[str]

    def act(self) -> None:
        """Make one change."""


@contextmanager
def at_work(google: GoogleStandIn, editor: Acting) -> Iterator[None]:
    """Let the editor make one change before some of our requests, for the duration of the block."""
    busy = False

    def hook(request: Request) -> None:
        nonlocal busy
        # The editor's own requests run while ours waits.
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
