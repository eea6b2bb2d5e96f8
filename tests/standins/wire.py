"""Request records from bytes on a loopback socket, and bytes from Answer records."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "cookie"})
SECRET_PARAMETERS = frozenset({"api_key"})


@dataclass(frozen=True)
class Request:
    """A request as it arrived; `path` is as sent (still percent-encoded), `body` is the raw bytes."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def words(self) -> str:
        """Method and decoded path, which scripts and ledger searches match."""
        return f"{self.method} {unquote(self.path)}"

    def json(self) -> Any:
        """Return the body as JSON, None if it is empty or invalid."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None


@dataclass(frozen=True)
class Answer:
    """A response: JSON unless `body` is str (HTML) or bytes (sent as they are, labelled JSON)."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    units: int = 0  # what the call cost: credits, tokens or quota

    def payload(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        text = self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)
        return text.encode()

    def head(self, length: int) -> bytes:
        """Return the status line and headers that announce `length` bytes of body."""
        kind = "text/html" if isinstance(self.body, str) else "application/json"
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}", f"Content-Type: {kind}; charset=UTF-8"]
        lines += [f"Content-Length: {length}", *(f"{name}: {value}" for name, value in self.headers.items())]
        return "\r\n".join([*lines, "", ""]).encode()


class Wire:
    """The sending side of a connection, which can also end abruptly."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def write(self, data: bytes) -> None:
        self._handler.wfile.write(data)

    def hang_up(self) -> None:
        """Close the connection after the bytes sent so far."""
        self._handler.close_connection = True

    def reset(self) -> None:
        """Drop the connection with a TCP reset."""
        linger_for_nothing = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_for_nothing)
        self._handler.server.rude.add(self._handler.connection)
        self.hang_up()


class Handler(BaseHTTPRequestHandler):
    """A handler of a kept-alive connection that passes each request to the server's `serve`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise each response waits 40 ms for a delayed ACK
    server: Server

    def handle_any(self) -> None:
        """Read the body, split the URL, and let the stand-in answer."""
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = parse_qs(address.query, keep_blank_values=True)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, address.path, query, headers, body)
        with suppress(ConnectionError):  # the client stopped waiting
            self.server.serve(request, Wire(self))

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the ledger is the log."""


class Server(ThreadingHTTPServer):
    """A threading server that can also cut the connections its clients keep alive."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, serve: Callable[[Request, Wire], None]) -> None:
        self.serve = serve
        self.rude: set[Any] = set()
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection so that it can be cut when the server stops."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End one connection: in order, or at once if it was marked for a reset."""
        with self._lock:
            self._open.discard(request)
        if request in self.rude:
            self.rude.discard(request)
            request.close()
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show a defect of the stand-in itself, but not a client that disconnected."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def cut_all(self) -> None:
        """Shut every connection that is still open."""
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
