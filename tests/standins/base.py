"""The base of all stand-ins: start and stop, the ledger of calls, scripted faults, rate limits."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from tests.standins.faults import Fault
from tests.standins.wire import SECRET_HEADERS, SECRET_PARAMETERS, Answer, Request, Server, Wire

__all__ = ["Answer", "Call", "RateLimit", "Request", "StandIn"]


@dataclass(frozen=True)
class Call:
    """A line of the ledger. `at` is time.monotonic() on arrival; `status` 0 means dropped without a response.

    `fault` is the fault that spoilt the response; a plain `Fault` left it intact.
    """

    at: float
    method: str
    path: str
    query: Mapping[str, list[str]]
    body: Any
    status: int
    headers: Mapping[str, str]
    units: int  # units charged: credits, tokens or quota
    size: int  # bytes of the request's body
    fault: Fault


class RateLimit:
    """A limit of `limit` units in any `window` seconds (sliding); a limit of 0 refuses everything."""

    def __init__(self, limit: int, window: float) -> None:
        self.limit = limit
        self.window = window
        self._spent: deque[tuple[float, int]] = deque()
        self._lock = threading.Lock()

    def take(self, units: int = 1) -> float:
        """Spend units and return 0.0, or spend nothing and return the seconds until they would fit."""
        with self._lock:
            now = time.monotonic()
            while self._spent and self._spent[0][0] <= now - self.window:
                self._spent.popleft()
            if self.used + units <= self.limit:
                self._spent.append((now, units))
                return 0.0
            return self._spent[0][0] + self.window - now if self._spent else self.window

    @property
    def used(self) -> int:
        return sum(units for _, units in self._spent)


class StandIn:
    """A server on 127.0.0.1 that runs during a `with` block; subclasses implement `reply`."""

    script_on = ""  # which requests a script without `on` means; "" is all of them

    def __init__(self, *, port: int = 0, latency: float = 0.0) -> None:
        self.latency = latency  # seconds before each response
        self.closing = ExitStack()  # closes the clients made for the stand-in
        self._ledger: list[Call] = []
        self._script: list[tuple[re.Pattern[str], Fault]] = []
        self._random_faults: tuple[float, Sequence[Fault], random.Random] = (0.0, (), random.Random(0))
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._server = Server(port, self._serve)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def reply(self, request: Request) -> Answer:
        """Answer one request. Runs under the stand-in's lock, so every call is atomic."""
        raise NotImplementedError

    def before(self, request: Request) -> None:
        """Act before a request is answered, outside the lock."""

    # -- life ---------------------------------------------------------------------------------

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Refuse new connections, cut the open ones and wake every stall."""
        self.closing.close()
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_all()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port that the system assigned or the caller requested."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The origin, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    # -- what happened ------------------------------------------------------------------------

    @property
    def ledger(self) -> list[Call]:
        """All calls so far in the order of their responses (a copy)."""
        with self._lock:
            return list(self._ledger)

    def calls(self, on: str = "") -> list[Call]:
        """Return the calls whose "METHOD /path" matches the regular expression `on`."""
        return [call for call in self.ledger if re.search(on, f"{call.method} {call.path}")]

    @property
    def units(self) -> int:
        return sum(call.units for call in self.ledger)

    def forget(self) -> None:
        with self._lock:
            self._ledger.clear()

    # -- scripted and random faults -----------------------------------------------------------

    def script(self, *faults: Fault, on: str | None = None) -> None:
        """Queue faults for the next requests whose "METHOD /path" matches the regex `on`."""
        pattern = re.compile(self.script_on if on is None else on)
        with self._lock:
            self._script += [(pattern, fault) for fault in faults]

    @property
    def script_left(self) -> int:
        """The number of scripted faults not played yet."""
        with self._lock:
            return len(self._script)

    def fail_at_random(self, probability: float, kinds: Sequence[Fault], seed: int = 0) -> None:
        """From now on spoil each request by one of `kinds` with this probability (0 to 1), drawn from `seed`."""
        with self._lock:
            self._random_faults = (probability, tuple(kinds), random.Random(seed))

    def _next_fault(self, words: str) -> Fault:
        with self._lock:
            for place, (pattern, fault) in enumerate(self._script):
                if pattern.search(words):
                    del self._script[place]
                    return fault
            probability, kinds, dice = self._random_faults
            if kinds and re.search(self.script_on, words) and dice.random() < probability:
                return dice.choice(kinds)
        return Fault()

    # -- one request --------------------------------------------------------------------------

    def _serve(self, request: Request, wire: Wire) -> None:
        arrived = time.monotonic()
        self._pause(self.latency)
        self.before(request)
        fault = self._next_fault(request.words)

        def work() -> Answer:
            with self._lock:
                return self.reply(request)

        answer = fault.answer(work, self._pause)
        self._record(arrived, request, answer, fault)
        fault.send(wire, answer, self._pause)

    def _record(self, arrived: float, request: Request, answer: Answer, fault: Fault) -> None:
        headers = {name: "***" if name in SECRET_HEADERS else text for name, text in request.headers.items()}
        query = {
            name: ["***"] if name in SECRET_PARAMETERS else given for name, given in request.query.items()
        }
        call = Call(
            arrived,
            request.method,
            unquote(request.path),
            query,
            request.json(),
            answer.status,
            headers,
            answer.units,
            len(request.body),
            fault,
        )
        with self._lock:
            self._ledger.append(call)

    def _pause(self, seconds: float) -> None:
        if seconds > 0:
            self._stopped.wait(seconds)
