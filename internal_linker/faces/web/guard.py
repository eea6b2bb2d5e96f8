"""The guard in front of all routes: checks of Host, Origin and session, limits on bodies, and headers of safety."""

import os
import re
import socket
import sys
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from internal_linker.faces.web.access import Access

# The largest decision on a filter names no links, so that nothing needs more.
MOST_BYTES = 1_000_000
# Files are read as they come; the route that takes them has a limit of its own.
UPLOAD = re.compile(r"/api/projects/[0-9a-f]{10}/uploads/[\w.-]*")
_SAFE = frozenset({"GET", "HEAD"})
# What lets a browser in, and leaves the address.
_TOKEN, _CODE = "token", "start"
# Without a session: the way in, and what it looks like.
_OPEN = re.compile(r"/(?:login|api/login|static/[\w./-]+)")
_START = "Not signed in, or the app was restarted: open the start address that the command printed in its terminal."
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """ASGI middleware around the app."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._refusal(scope) or self._app
        await answer(scope, _limited(scope, receive), _with_headers(send, scope))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        path, method = scope["path"], scope["method"]
        if not self._access.takes_host(headers.get("host", "")):
            return _refused(400, "This address is not the app's: use the one that the command printed.")
        if problem := self._foreign(method, headers):
            return _refused(403, problem)
        if method in _SAFE and self._brings_key(scope):
            return self._let_in(scope)
        if _OPEN.fullmatch(path) or self._known(headers):
            return None
        if path.startswith("/api/") or method not in _SAFE:
            return _refused(401, _START if self._access.local else "Not signed in: sign in again.")
        return RedirectResponse("/login", 303)

    def _foreign(self, method: str, headers: Headers) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "The request comes from another site."
        if method in _SAFE or origin is not None or self._bearer(headers):
            return ""
        # All browsers send an origin with what changes something.
        return "The request has no Origin: send the header, or the token as Authorization: Bearer."

    def _known(self, headers: Headers) -> bool:
        return self._bearer(headers) or self._access.knows_session(session_of(headers, self._access))

    def _bearer(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self._access.knows_token(token.strip())

    def _brings_key(self, scope: Scope) -> bool:
        """Return whether the address has the token, or the browser's start code as this user's browser brings it."""
        query = dict(_query(scope))
        if (token := query.get(_TOKEN)) and self._access.knows_token(token):
            return True
        code = query.get(_CODE)
        # The code stays good if somebody else, who saw it, tries it first; so it does with HEAD, which shows nothing.
        return bool(
            code
            and scope["method"] == "GET"
            and from_this_user(scope["client"], scope["server"])
            and self._access.takes_code(code)
        )

    def _let_in(self, scope: Scope) -> Response:
        """Return the same address without token and code, which would stay in the history."""
        query = [pair for pair in _query(scope) if pair[0] not in (_TOKEN, _CODE)]
        # A path that begins with // would be another host's.
        path = "/" + scope["path"].lstrip("/\\")
        response = RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)
        set_session(response, self._access, secure=scope["scheme"] == "https")
        return response


def set_session(response: Response, access: Access, *, secure: bool) -> None:
    """Open a session and give it to the browser."""
    secret = access.open_session()
    response.set_cookie(access.cookie, secret, httponly=True, samesite="strict", secure=secure)


def session_of(headers: Headers, access: Access) -> str:
    """Return the secret of the session in a request's cookie; "" without one."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(access.cookie)
    except CookieError:
        return ""
    return str(found.value) if found else ""


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"))


def _refused(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)


def _limited(scope: Scope, receive: Receive) -> Receive:
    if UPLOAD.fullmatch(scope["path"]):
        return receive
    read = 0

    async def within() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BYTES:
            raise HTTPException(413, "The request is too large")
        return message

    return within


def _with_headers(send: Send, scope: Scope) -> Send:

    async def safer(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            # Browsers ask each time whether a file has changed: an update of the program changes no address.
            headers.setdefault(
                "Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store"
            )
        await send(message)

    return safer


# A socket of IPv6 may have an address of IPv4, as its last four bytes.
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0


def from_this_user(client: tuple[str, int], server: tuple[str, int]) -> bool:
    """Return whether a connection over IPv4 within this computer comes from this user or from root.

    Only Linux has this table, and only there can every user see the address among the arguments of the browser's
    process. Elsewhere the answer is True.
    """
    if sys.platform != "linux":
        return True
    ends = _written(*client), _written(*server)
    for table in _TABLES:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:  # no IPv6, or no access to the table: then nobody is let in
            continue
        for fields in map(str.split, lines):
            if all(written.endswith(end) for written, end in zip(fields[1:3], ends, strict=True)):
                return int(fields[7]) in (os.geteuid(), _ROOT)
    return False


def _written(address: str, port: int) -> str:
    """Return an address of IPv4 and a port as the kernel's table of connections writes them."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"
