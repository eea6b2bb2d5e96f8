"""Review at a terminal: keys become verdicts, each stored at once, and texts in any script are readable."""

import io
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.faces.cli.history import TerminalFace, isolated
from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.records import Page
from internal_linker.project.console import open_console
from internal_linker.review.session import EdgeQueue, ReviewCounts, review
from internal_linker.store.edges import EdgeStore
from internal_linker.store.engine import open_database
from tests.support.builders import collected

ROOT = Path(__file__).parents[2]


def link(name: str, anchor: str = "", sentence: str = "", **more: Any) -> Edge:
    """Return a proposed link with ends and anchor derived from this name."""
    anchor = anchor or f"{name} anchor"
    source, target = f"https://shop.com/{name}", f"https://shop.com/to-{name}"
    found = Anchor(anchor, sentence or f"Here stands the {anchor}.")
    made = Edge(source, target, source, target, rank=1, strength=0.75, tier="sidebar", anchors=(found,))
    return replace(made, **more)


A, B, C = (link(name) for name in "abc")


PAGES = [
    Page(A.source, A.source, "A page", content="Here stands the a anchor, and what is mine."),
    Page(B.source, B.source, content="Here stands the b anchor, which is new."),
    Page(C.source, C.source),
]
Typed = Callable[[EdgeQueue, str], tuple[ReviewCounts, str]]


def opened(folder: Path, *links: Edge) -> EdgeQueue:
    """Store links in a file, and return their queue."""
    store = EdgeStore(open_database("sqlite:///cache.sqlite3", folder), "shop.com")
    store.put(links)
    return EdgeQueue(store, Anchoring(CountedSite(collected(PAGES))))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Return a function that runs a session with these input lines: its counts, and the printed output."""

    def session(queue: EdgeQueue, text: str) -> tuple[ReviewCounts, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return review(queue, TerminalFace(open_console()), "Ann"), capsys.readouterr().out

    return session


def said(queue: EdgeQueue) -> list[str]:
    """Return the status and anchor of each link that Ann decided, as the store has them."""
    judged = sorted(queue.store.each(judged=True), key=lambda edge: edge.source)
    return [f"{edge.status} {edge.chosen.text}" for edge in judged if edge.by == "Ann"]


def test_each_key_is_a_word(tmp_path: Path, typed: Typed) -> None:
    queue = opened(tmp_path, A, B, C, link("d"))
    counts, out = typed(queue, "a\nReject\n\ne\nmy anchor\ns\n")
    assert said(queue) == ["accepted a anchor", "rejected b anchor", "edited my anchor"]
    assert counts == ReviewCounts(accepted=1, rejected=1, edited=1, skipped=1, left=1)
    assert re.findall(r"^\d left$", out, re.MULTILINE) == ["4 left", "3 left", "2 left", "1 left"]


def test_a_wording_is_shown_and_accepted_as_it_was_shown(tmp_path: Path, typed: Typed) -> None:
    wording = "Here stands the a anchor (see To a)."
    worded = Anchor("a anchor", "Here stands the a anchor.", verbatim=False, wording=wording)
    queue = opened(tmp_path, replace(A, anchors=(worded,)), replace(B, anchors=(worded,)))
    _, out = typed(queue, "a\nr\n")
    assert out.count("  Wording   Here stands the a anchor[ (see To a)].\n") == 2
    assert {edge.source: edge.wording for edge in queue.store.each()} == {A.source: wording, B.source: ""}


def test_a_link_is_shown_with_all_that_decides(tmp_path: Path, typed: Typed) -> None:
    """A link is shown with its marked sentence, both pages, score, tier and reason, without control characters."""
    shown = replace(A, origin="rule", strength=0.826, notes="ask \x1b[31mAnn")
    elsewhere = replace(B, anchor="elsewhere", strength=float("nan"))
    _, out = typed(opened(tmp_path, shown, elsewhere), "s\ns\n")
    assert "Sentence  Here stands the [a anchor]." in out
    assert (
        "Source    A page\n            https://shop.com/a\n" in out
        and "Target    https://shop.com/to-a\n" in out
    )
    assert all(
        text in out for text in ("82, related box", "By a rule", "ask  [31mAnn", "unknown, related box")
    )
    assert "\x1b" not in out
    assert "Sentence  Here stands the b anchor." in out


def test_texts_from_right_to_left_keep_to_themselves() -> None:
    """Arabic and Hebrew texts are isolated so that they don't reorder their neighbours; other texts stay unchanged."""
    assert isolated("پیوند داخلی") == "\u2068پیوند داخلی\u2069"
    assert isolated("internal link, 2026") == "internal link, 2026"


def test_a_noted_link_still_waits_and_an_unchanged_anchor_is_accepted(tmp_path: Path, typed: Typed) -> None:
    queue = opened(tmp_path, A, B, C)
    typed(queue, "n\nask Ann\nq\n")
    assert next((link.edge.status, link.edge.notes) for link in queue.pending()) == ("proposed", "ask Ann")
    typed(queue, "a\ne\n\nr\ne\nc anchor\n")
    assert said(queue) == ["accepted a anchor", "rejected b anchor", "accepted c anchor"]
    assert sorted(edge.notes for edge in queue.store.each()) == ["", "", "ask Ann"]


def test_an_anchor_that_is_not_in_the_text_is_accepted_with_a_warning(tmp_path: Path, typed: Typed) -> None:
    absent = Anchor("c anchor", "Here stands another.", verbatim=False, quality=0.5)
    queue = opened(tmp_path, A, B, replace(C, anchors=(absent,)))
    counts, out = typed(queue, "e\nabsent\ne\nmine\ne\nabsent 2\na\na\n")
    assert said(queue) == ["edited mine", "edited absent 2", "accepted c anchor"]
    assert (counts.edited, counts.accepted) == (2, 1)
    assert out.count("Warning: anchor not in the text. Press e to enter another one") == 2
    assert "  Warning   anchor not in the text" in out
    assert out.count("Accepted with a warning: anchor not in the text.") == 2


def test_undo_goes_back_link_by_link(tmp_path: Path, typed: Typed) -> None:
    queue = opened(tmp_path, A, B, C)
    counts, out = typed(queue, "u\na\nn\nwrong\nr\ns\nu\nn\nlater\nu\nu\nr\nq\n")
    assert out.startswith("\n3 left") and "There is nothing to undo." in out
    assert said(queue) == ["rejected a anchor"]
    assert {edge.notes for edge in queue.store.each()} == {""}
    assert counts == ReviewCounts(rejected=1, left=2) and "That was the last link. Press u to undo" in out


@pytest.mark.parametrize("end", ["q\n", ""])
def test_quitting_keeps_what_was_said(tmp_path: Path, typed: Typed, end: str) -> None:
    queue = opened(tmp_path, A, B, C)
    counts, out = typed(queue, f"x\na\n{end}")
    assert said(queue) == ["accepted a anchor"]
    assert "Press a to accept" in out and counts == ReviewCounts(accepted=1, left=2)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="a terminal as POSIX has it")
def test_at_a_terminal_one_key_is_enough(tmp_path: Path) -> None:
    import pty
    import select
    import subprocess
    import termios

    program = (
        "from tests.review.test_session import *\n"
        f"queue = opened(Path({str(tmp_path)!r}), A, link('b', 'پیوند', 'این پیوند است'), C)\n"
        "review(queue, TerminalFace(open_console()), 'Ann')\n"
        "print(said(queue))\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=theirs, stdout=theirs, cwd=ROOT, env=environment
    )
    os.close(theirs)
    out = ""
    # A key counts only after the terminal has left line mode, and a line only after it has returned to it.
    for wait, by_line, key in [
        ("quit", 0, "a"),
        ("quit", 0, "e"),
        ("one)", 1, "new\n"),
        ("quit", 0, "r"),
        ("finish", 0, "q"),
        ("]", 1, ""),
    ]:
        at, patience = len(out), time.monotonic() + 30
        while wait not in out[at:] or bool(termios.tcgetattr(ours)[3] & termios.ICANON) != bool(by_line):
            assert time.monotonic() < patience, out
            if select.select([ours], [], [], 0.05)[0]:
                out += os.read(ours, 4096).decode("utf-8", "replace")
        os.write(ours, key.encode())
    assert process.wait(timeout=30) == 0
    os.close(ours)
    assert "['accepted a anchor', 'edited new', 'rejected c anchor']" in out
    assert "\u2068این" in out
