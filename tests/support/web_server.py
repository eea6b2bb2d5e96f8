"""A site on loopback: pages with their headers, faults, and a ledger of the requests."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Reply:
    """A response: `endless` repeats its body without end, `slow` waits some seconds before it, `gone` hangs up."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: HTML)
    endless: bool = False
    slow: float = 0.0
    gone: bool = False


class Site:
    """Serves `pages` by their paths, as a context manager; an unknown path is a 404.

    An ETag or Last-Modified in a page's headers is honoured. A page may be a function that returns each response.
    """

    def __init__(self, pages: Mapping[str, Reply | str | Callable[[], Reply]] | None = None) -> None:
        self.pages = dict(pages or {})
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        """Path and headers (names in lower case) of each request, in order."""
        self.times: list[float] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def secure(self, context: ssl.SSLContext) -> None:
        """Serve over TLS from here on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = self.url.replace("http:", "https:")

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.asked.append((handler.path, headers))
        self.times.append(time.monotonic())
        page = self.pages.get(handler.path, Reply("gone", 404))
        reply = page() if callable(page) else page if isinstance(page, Reply) else Reply(page)
        time.sleep(reply.slow)
        if reply.gone:
            handler.close_connection = True
            return
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        status = 304 if reply.status == 200 and _unchanged(reply.headers, headers) else reply.status
        handler.send_response(status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        if status == 304:
            body = b""
        if reply.endless:
            handler.send_header("Connection", "close")
        else:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            handler.wfile.write(body)
            while reply.endless:
                handler.wfile.write(body)
        except OSError:
            handler.close_connection = True


def _unchanged(ours: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    pairs = (("ETag", "if-none-match"), ("Last-Modified", "if-modified-since"))
    return any(name in ours and theirs.get(asked) == ours[name] for name, asked in pairs)


def sitemap(*urls: str, index: bool = False) -> str:
    """Return a sitemap of these pages, or an index of these sitemaps."""
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    picture = '<image:image xmlns:image="x"><image:loc>https://cdn.example/a.png</image:loc></image:image>'
    entries = "".join(
        f"<{inner}><loc>\n {url.replace('&', '&amp;')} </loc>{'' if index else picture}</{inner}>"
        for url in urls
    )
    return f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'


def moved(to: str, status: int = 301) -> Reply:
    return Reply("", status, {"Location": to})
