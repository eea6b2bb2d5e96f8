"""Review at a terminal: keys become verdicts, each stored at once, and texts in any script are readable."""

import io
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.cli.history import TerminalFace, isolated
from internal_linker.core.edges import ReviewRow, Verdict
from internal_linker.core.ports import ReviewQueue
from internal_linker.review.session import ReviewCounts, review
from internal_linker.usecases.console import open_console
from tests.support.reviews import row

A, B, C = (row(name) for name in "abc")
ROOT = Path(__file__).parents[2]


class Queue:
    """A ReviewQueue in memory."""

    def __init__(self, *rows: ReviewRow) -> None:
        self.rows, self.said, self.undone = rows, list[Verdict](), list[str]()

    def pending(self) -> Iterable[ReviewRow]:
        return self.rows

    def decide(self, verdict: Verdict) -> None:
        self.said.append(verdict)

    def undo(self, link: str) -> None:
        self.undone += [link for each in self.said if each.id == link][:1]
        self.said = [each for each in self.said if each.id != link]

    def warning(self, link: str, anchor: str) -> str:
        return "anchor not in the text" if anchor.startswith("absent") else ""


Typed = Callable[[ReviewQueue, str], tuple[ReviewCounts, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Return a function that runs a session with these input lines: its counts, and the printed output."""

    def session(queue: ReviewQueue, text: str) -> tuple[ReviewCounts, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return review(queue, TerminalFace(open_console()), "Ann"), capsys.readouterr().out

    return session


def said(link: ReviewRow, status: str, anchor: str = "", notes: str = "") -> Verdict:
    return Verdict(link.id, status, anchor or link.anchor, notes, "Ann")  # type: ignore[arg-type]


def test_each_key_is_a_word(typed: Typed) -> None:
    queue = Queue(A, B, C, row("d"))
    counts, out = typed(queue, "a\nReject\n\ne\nmy anchor\ns\n")
    assert queue.said == [said(A, "accepted"), said(B, "rejected"), said(C, "edited", "my anchor")]
    assert counts == ReviewCounts(accepted=1, rejected=1, edited=1, skipped=1, left=1)
    assert [line for line in out.splitlines() if line.endswith(" left")] == [
        "4 left",
        "3 left",
        "2 left",
        "1 left",
    ]


def test_a_link_is_shown_with_all_that_decides(typed: Typed) -> None:
    """A link is shown with its marked sentence, both pages, score, tier and reason, without control characters."""
    shown = replace(A, why="by \x1b[31msearch", score=0.826, notes="ask Ann", source_title="A page")
    _, out = typed(Queue(shown, replace(B, anchor="elsewhere", score=float("nan"))), "s\ns\n")
    assert "Sentence  Here stands the [a anchor]." in out
    assert (
        "Source    A page\n            https://shop.com/a\n" in out
        and "Target    https://shop.com/to-a\n" in out
    )
    for text in (A.source, A.target, "82, related box", "by  [31msearch", "ask Ann", "unknown, related box"):
        assert text in out
    assert "\x1b" not in out
    assert "Sentence  Here stands the b anchor." in out


def test_texts_from_right_to_left_keep_to_themselves() -> None:
    """Arabic and Hebrew texts are isolated so that they don't reorder their neighbours; other texts stay unchanged."""
    assert isolated("پیوند داخلی") == "\u2068پیوند داخلی\u2069"
    assert isolated("internal link, 2026") == "internal link, 2026"


def test_a_noted_link_still_waits_and_an_unchanged_anchor_is_accepted(typed: Typed) -> None:
    queue = Queue(A)
    typed(queue, "n\nask Ann\na\n")
    assert queue.said == [said(A, "proposed", notes="ask Ann"), said(A, "accepted", notes="ask Ann")]
    queue = Queue(A, B)
    typed(queue, f"e\n\nr\ne\n{B.anchor}\n")
    assert queue.said == [said(A, "rejected"), said(B, "accepted")]


def test_an_anchor_that_is_not_in_the_text_is_accepted_with_a_warning(typed: Typed) -> None:
    queue = Queue(A, B, replace(C, warning="anchor not in the text"))
    counts, out = typed(queue, "e\nabsent\ne\nmine\ne\nabsent 2\na\na\n")
    assert queue.said == [said(A, "edited", "mine"), said(B, "edited", "absent 2"), said(C, "accepted")]
    assert (counts.edited, counts.accepted) == (2, 1)
    assert out.count("Warning: anchor not in the text. Press e to enter another one") == 2
    assert "  Warning   anchor not in the text" in out
    assert out.count("Accepted with a warning: anchor not in the text.") == 2


def test_undo_goes_back_link_by_link(typed: Typed) -> None:
    queue = Queue(A, B, C)
    counts, out = typed(queue, "u\na\nn\nwrong\nr\ns\nu\nn\nlater\nu\nu\nr\nq\n")
    assert out.startswith("\n3 left") and "There is nothing to undo." in out
    assert queue.said == [said(A, "rejected")]
    assert counts == ReviewCounts(rejected=1, left=2) and "That was the last link. Press u to undo" in out


@pytest.mark.parametrize("end", ["q\n", ""])
def test_quitting_keeps_what_was_said(typed: Typed, end: str) -> None:
    queue = Queue(A, B, C)
    counts, out = typed(queue, f"x\na\n{end}")
    assert queue.said == [said(A, "accepted")]
    assert "Press a to accept" in out and counts == ReviewCounts(accepted=1, left=2)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="a terminal as POSIX has it")
def test_at_a_terminal_one_key_is_enough() -> None:
    import pty
    import select
    import subprocess
    import termios

    program = (
        "from tests.review.test_session import *\n"
        "queue = Queue(A, row('b', sentence='این پیوند است', anchor='پیوند'), C)\n"
        "review(queue, TerminalFace(open_console()), 'Ann')\n"
        "print([(each.status, each.anchor) for each in queue.said])\n"
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
    assert "[('accepted', 'a anchor'), ('edited', 'new'), ('rejected', 'c anchor')]" in out
    assert "\u2068این" in out
