"""Faults for single requests: each replaces the response, or sends the true one badly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.standins.wire import Answer, Wire

Work = Callable[[], Answer]
Pause = Callable[[float], None]


@dataclass(frozen=True)
class Fault:
    """The base of all faults, itself harmless: in a script, it lets one request through."""

    def answer(self, work: Work, pause: Pause) -> Answer:
        """Return the response; `work` does what the request asks for, charge included."""
        return work()

    def send(self, wire: Wire, answer: Answer, pause: Pause) -> None:
        body = answer.payload()
        wire.write(answer.head(len(body)) + body)


@dataclass(frozen=True)
class Reply(Fault):
    """Answer this instead of doing the work: a status with a JSON or an HTML body, and headers."""

    status: int = 503
    json: Any = None
    html: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self, work: Work, pause: Pause) -> Answer:
        """Return the canned response; nothing is done and nothing charged."""
        body = self.html if self.html is not None else self.json
        return Answer(self.status, b"" if body is None else body, self.headers)


@dataclass(frozen=True)
class Reset(Fault):
    """Drop the connection without a response, before the work or (`after_work`) after it."""

    after_work: bool = False

    def answer(self, work: Work, pause: Pause) -> Answer:
        """Return status 0 for the ledger, because the client sees no response."""
        return replace(work() if self.after_work else Answer(), status=0)

    def send(self, wire: Wire, answer: Answer, pause: Pause) -> None:
        wire.reset()


@dataclass(frozen=True)
class CutOff(Fault):
    """Do the work, then send part of the body; with `honest` the length in the header fits, and the JSON breaks."""

    keep: float = 0.5  # share of the body, 0 to 1
    honest: bool = False

    def send(self, wire: Wire, answer: Answer, pause: Pause) -> None:
        """Send the first part; hang up if the header announced more."""
        body = answer.payload()
        part = body[: int(len(body) * self.keep)]
        wire.write(answer.head(len(part) if self.honest else len(body)) + part)
        if not self.honest:
            wire.hang_up()


@dataclass(frozen=True)
class Stall(Fault):
    """Wait some seconds, then answer; the work is done after the wait or (`after_work`) before."""

    seconds: float = 1.0
    after_work: bool = False

    def answer(self, work: Work, pause: Pause) -> Answer:
        """Wait, and do the work before or after the wait."""
        if self.after_work:
            answer = work()
            pause(self.seconds)
            return answer
        pause(self.seconds)
        return work()


@dataclass(frozen=True)
class Drip(Fault):
    """Send the true response in small pieces over some seconds, so that no single read times out."""

    seconds: float = 1.0
    pieces: int = 10

    def send(self, wire: Wire, answer: Answer, pause: Pause) -> None:
        """Send the head at once, then piece after piece."""
        body = answer.payload()
        wire.write(answer.head(len(body)))
        step = max(1, -(-len(body) // self.pieces))
        for start in range(0, len(body), step):
            pause(self.seconds / self.pieces)
            wire.write(body[start : start + step])


@dataclass(frozen=True)
class Twist(Fault):
    """Do the work, charge for it, and answer with the true JSON as `change` alters it."""

    change: Callable[[Any], Any]

    def answer(self, work: Work, pause: Pause) -> Answer:
        """Return the true response with its body changed; errors pass unchanged."""
        answer = work()
        return replace(answer, body=self.change(answer.body)) if answer.status == 200 else answer
