"""Requests to a WordPress site's REST API: paced, bounded, on one host, with errors that name a remedy."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from internal_linker.model.errors import CredentialsRefused, ServiceError
from internal_linker.model.redact import escape_control_chars, redactor
from internal_linker.model.version import __version__
from internal_linker.sources.http.client import (
    ACCEPTED,
    Damaged,
    Oversized,
    TooLarge,
    bounded_client,
    whole_body,
)
from internal_linker.sources.http.limits import Pacer, retry_after, with_retries
from internal_linker.sources.sites.wordpress import KEY_FILE, Account
from internal_linker.sources.web.access import SiteAccess
from internal_linker.sources.web.client import PublicHosts, ThroughProxy

NAME = "WordPress"
# A hundred posts take about 1 MB; a site with longer ones is asked for fewer at a time.
MOST_BYTES = 30_000_000
# Seconds of a whole answer, of silence, and of connecting. Shared hosts need seconds for a page of a hundred posts.
LONGEST_S, _SILENCE_S, _CONNECT_S = 120.0, 60.0, 10.0
# Requests per second: a small host serves its readers at the same time; and without any pause between them.
PER_SECOND, _FASTEST = 4.0, 1000.0
_ATTEMPTS = 5
_MOST_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_QUOTED = 200
# What is wrong with a site for a while, by the status.
_FAILED = "the site failed"
_PASSING = {
    408: _FAILED,
    429: "the site's rate limit was reached",
    503: "the site is in maintenance or overloaded",
}


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """An answer."""

    body: Any
    total: int = 0  # how many items the whole collection has; 0: unknown
    pages: int = 0  # over how many pages they are spread; 0: unknown


class RestError(ServiceError):
    """A request without a usable answer.

    Args:
        problem: what happened and what to do, one sentence.
        status: the HTTP status; 0: there was no answer, or not a whole one, so nobody knows what the site did.
        code: WordPress's own code; "" without one.
        retryable: whether the same request may succeed later.
        retry_after: seconds that the site asked us to wait, if it did.
    """

    def __init__(
        self,
        problem: str,
        status: int = 0,
        code: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(NAME, problem, retryable=retryable, retry_after=retry_after)
        self.status, self.code = status, code


class AnswerTooLarge(RestError):
    """The answer is larger than `MOST_BYTES`."""


class RestClient:
    """Sends requests to one site, one after the other.

    Args:
        site: the site's address; its REST API is found by `discover`.
        account: who signs in; None: nobody.
        transport: opens the connections.
        headers: other headers that the site wants.
        per_second: the most requests per second.
    """

    def __init__(
        self,
        site: str,
        account: Account | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
        per_second: float = PER_SECOND,
    ) -> None:
        self.site = site.rstrip("/")
        self.account = account
        self._root, self._takes_passwords = "", True
        self._pacer = Pacer(per_second)
        self._auth = httpx.BasicAuth(account.user, account.password) if account else None
        self._redacted = redactor(account.secrets() if account else ())
        self._client = bounded_client(
            MOST_BYTES,
            LONGEST_S,
            encodings=ACCEPTED,
            headers={
                "User-Agent": f"InternalLinker/{__version__}",
                "Accept": "application/json",
                **(headers or {}),
            },
            timeout=httpx.Timeout(_SILENCE_S, connect=_CONNECT_S),
            transport=transport,
        )

    @property
    def signs_in(self) -> bool:
        """Whether requests carry the password."""
        return self._auth is not None

    def discover(self) -> Mapping[str, Any]:
        """Find the site's REST API and return its index.

        The first request to each address is sent without the password, so that a redirect to https comes before it.

        Raises:
            ServiceError: the site has no REST API, or doesn't answer.
        """
        refused: RestError | None = None
        for root in (f"{self.site}/wp-json/", f"{self.site}/?rest_route=/"):
            for signed_in in (False, True)[: 1 + self.signs_in]:
                try:
                    index = self._index(root, signed_in=signed_in)
                except RestError as error:
                    if error.status not in (200, 400, 401, 403, 404, 410):
                        raise
                    # What the API itself says helps more than what is said of a missing page.
                    refused = error if refused is None or error.code else refused
                else:
                    if index:
                        return index
        if refused and refused.status in (401, 403):
            raise refused
        raise RestError(
            f"no REST API was found at {self.site}/wp-json/ or {self.site}/?rest_route=/. Check the address; if it is "
            "a WordPress site, a security plugin may have switched the REST API off.",
            404,
        )

    def get(self, route: str, **parameters: str | int) -> RestAnswer:
        """Return what a route, such as wp/v2/posts, answers; try again while the site is busy.

        Raises:
            ServiceError: no usable answer came.
        """
        return with_retries(lambda: self._followed(self.address(route, **parameters))[1], attempts=_ATTEMPTS)

    def post(self, route: str, content: Mapping[str, str], **parameters: str | int) -> RestAnswer:
        """Send JSON to a route, once: after an error with the status 0 or 5xx, the site may have done it.

        Raises:
            ServiceError: no usable answer came.
        """
        address = self.address(route, **parameters)
        answer, target = self._exchange("POST", address, json=dict(content))
        if target:
            raise RestError(
                f"{_origin(address)} redirects a write to {_origin(target)}: use that address.", 301
            )
        return answer

    def address(self, route: str, **parameters: str | int) -> str:
        """Return the full address of a route."""
        root = httpx.URL(self._root)
        given = {name: str(value) for name, value in parameters.items()}
        if at := root.params.get("rest_route"):
            return str(root.copy_merge_params({"rest_route": at + route, **given}))
        return str(root.join(route).copy_merge_params(given)) if given else str(root.join(route))

    def shows(self, url: str, route: str) -> bool:
        """Return whether readers get a post at its URL; of posts without pages, many sites show the home page there.

        A page names the post's own route in its header Link, unless the site has no such headers.
        """
        if urlsplit(url).hostname != urlsplit(self._root).hostname:
            return False
        self._pacer.wait()
        try:
            with self._client.stream("GET", url) as response:
                links = response.headers.get("link", "")
                return response.status_code == 200 and ("api.w.org" not in links or f"{route}>" in links)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL):
            return False

    def sign_in(self) -> Mapping[str, Any]:
        """Return the user who is signed in, with roles and rights.

        Raises:
            CredentialsRefused: the user or the password is wrong.
            ServiceError: the site does not take the password, or does not answer.
        """
        user = self.get("wp/v2/users/me", context="edit", _fields="name,roles,capabilities").body
        return user if isinstance(user, dict) else {}

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _index(self, root: str, *, signed_in: bool) -> Mapping[str, Any] | None:
        """Return the index at an address, which is the API's from here on; None if it is something else."""
        address, answer = with_retries(lambda: self._followed(root, signed_in=signed_in), attempts=_ATTEMPTS)
        if isinstance(answer.body, dict) and "wp/v2" in (answer.body.get("namespaces") or ()):
            self._root = address if "?" in address or address.endswith("/") else f"{address}/"
            self._takes_passwords = "application-passwords" in (answer.body.get("authentication") or ())
            return answer.body
        return None

    def _followed(self, address: str, *, signed_in: bool = True) -> tuple[str, RestAnswer]:
        """Get an address and follow redirects on its host; return the last address, too."""
        for _ in range(_MOST_HOPS + 1):
            answer, target = self._exchange("GET", address, signed_in=signed_in)
            if not target:
                return address, answer
            if not _stays(address, target):
                raise RestError(
                    f"{_origin(address)} redirects to {_origin(target)}. If both are your site, use that address.",
                    301,
                )
            address = target
        raise RestError(f"{_origin(address)} answers with more than {_MOST_HOPS} redirects.", 310)

    def _exchange(
        self, method: str, address: str, *, signed_in: bool = True, **content: Any
    ) -> tuple[RestAnswer, str]:
        """Send a request; return its answer, or the address that it redirects to."""
        self._pacer.wait()
        try:
            auth = self._auth if signed_in else None
            with self._client.stream(method, address, auth=auth, **content) as response:
                body = whole_body(response, MOST_BYTES)
        except (TooLarge, Oversized):
            raise AnswerTooLarge(f"an answer is larger than {MOST_BYTES // 1_000_000} MB.") from None
        except Damaged as error:
            raise RestError(f"an answer can't be decompressed: {error}.", retryable=True) from None
        except httpx.TimeoutException:
            raise RestError("the answer was not complete in time.", retryable=True) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise self._no_answer(address, error) from error
        if response.status_code in _REDIRECTS and (target := response.headers.get("location")):
            try:
                return RestAnswer(None), str(httpx.URL(address).join(target))
            except httpx.InvalidURL:
                raise RestError(f"{_origin(address)} redirects to an invalid address.", 301) from None
        return self._parsed(response, body, signed_in=signed_in), ""

    def _no_answer(self, address: str, error: Exception) -> ServiceError:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            problem = f"no connection to {_origin(address)} ({self._quoted(str(error))})."
        else:
            problem = f"the connection to {_origin(address)} failed ({type(error).__name__})."
        return RestError(problem, retryable=True)

    def _parsed(self, response: httpx.Response, body: bytes, *, signed_in: bool) -> RestAnswer:
        status, value = response.status_code, _json(body)
        if status in (200, 201) and value is not None:
            counts = (response.headers.get(name, "") for name in ("x-wp-total", "x-wp-totalpages"))
            return RestAnswer(value, *(int(count) if count.isdecimal() else 0 for count in counts))
        if status in (200, 201):
            # A page that a firewall or a broken plugin sends instead of the answer.
            raise RestError(
                f"the answer of {response.url.host} is not JSON. If a browser shows JSON at {self.site}/wp-json/, a "
                "firewall blocks this program.",
                status,
            )
        given = value if isinstance(value, dict) else {}
        code, message = (self._quoted(given.get(name)) for name in ("code", "message"))
        said = f"HTTP {status}: {message.rstrip('.')}" if message else f"HTTP {status}"
        if self.signs_in and signed_in and status == 401 and code:
            raise self._not_signed_in(said)
        if problem := _PASSING.get(status) or (_FAILED if status >= 500 else ""):
            later = f"{problem} ({said}). Try again later."
            raise RestError(later, status, code, retryable=True, retry_after=retry_after(response.headers))
        raise RestError(self._refusal(status, code, said), status, code)

    def _refusal(self, status: int, code: str, said: str) -> str:
        if status == 403 and code and self.signs_in:
            return f"the user in {KEY_FILE} lacks the right to do this ({said})."
        if status in (401, 403) and code:
            return f"this takes a user: write one with an application password into {KEY_FILE} ({said})."
        if status == 401:
            return (
                f"the web server wants a password of its own ({said}). Write it into config/site_access.toml "
                "(docs/import.md)."
            )
        if status == 403:
            return f"a firewall refuses the request ({said}). Allow the user agent InternalLinker there."
        return f"the request was refused ({said})."

    def _not_signed_in(self, said: str) -> CredentialsRefused:
        """Return the error for an answer as to a stranger, although the request had the password."""
        if not self._takes_passwords and urlsplit(self._root or self.site).scheme == "http":
            problem = (
                f"the site ignores the application password, because WordPress takes it only over https ({said}). Use "
                "the https:// address."
            )
        elif not self._takes_passwords:
            problem = (
                f"application passwords are switched off at the site ({said}). Switch them on; a security plugin may "
                "have the switch."
            )
        else:
            problem = (
                f"the user or the application password in {KEY_FILE} is wrong ({said}). An application password is not "
                "the password of the login page: create one in the user's profile (docs/wordpress.md). If both are "
                "right, the web server does not pass the header Authorization on to PHP."
            )
        return CredentialsRefused(NAME, problem)

    def _quoted(self, words: object) -> str:
        """Return the site's words as one short line without the password and without markup."""
        if not isinstance(words, str):
            return ""
        plain = re.sub(r"<[^>]*>", "", self._redacted(words))
        return escape_control_chars(" ".join(plain.split()))[:_MOST_QUOTED]


@contextmanager
def open_site(
    site: str, account: Account | None, access: SiteAccess, *, allow_private: bool = False, delay: float
) -> Iterator[RestClient]:
    """Yield a client of a site whose REST API was found, signed in if there is an account.

    A site without an account may be in a private network only with `allow_private`; `delay` is in seconds, from a
    request to the next.

    Raises:
        ServiceError: the site does not answer, has no REST API, or refuses the account.
    """
    transport = (
        ThroughProxy(access.proxy, LONGEST_S)
        if access.proxy
        else PublicHosts(LONGEST_S, allow_private=allow_private or account is not None)
    )
    pace = min(_FASTEST, 1 / delay) if delay else _FASTEST
    with closing(
        RestClient(site, account, transport=transport, headers=access.sent, per_second=pace)
    ) as client:
        client.discover()
        if account:
            client.sign_in()
        yield client


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _stays(address: str, target: str) -> bool:
    """Return whether a redirect stays at the same origin, or leads from its http to its https."""
    here, there = httpx.URL(address), httpx.URL(target)
    if (here.scheme, here.port, there.scheme, there.port) == ("http", None, "https", None):
        return here.host == there.host
    return (here.scheme, here.host, here.port) == (there.scheme, there.host, there.port)


def _json(body: bytes) -> Any:
    try:
        # Some plugins print a byte order mark before every answer.
        return json.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
