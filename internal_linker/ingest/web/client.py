"""A URL in, its server's answer out: one request at a time, politely spaced, within bounds of size and time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from internal_linker.adapters.http.client import TooLarge, bounded_client
from internal_linker.adapters.http.limits import Pacer, retry_after, with_retries
from internal_linker.core.errors import InputError, ServiceError
from internal_linker.core.urls import normal_form
from internal_linker.core.version import __version__
from internal_linker.ingest.web.public_hosts import PrivateAddress, PublicHosts

ROBOT = "InternalLinker"
# Bytes of a sitemap, which may be the largest of all that is fetched.
MOST_BYTES = 50_000_000
# Seconds of silence, and of a whole answer.
_SILENCE_S, _CONNECT_S, LONGEST_S = 20.0, 10.0, 60.0
_ATTEMPTS = 3
# Statuses by which a server asks for patience.
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said.

    Attributes:
        status: 200, 301, 404, ...
        headers: their names in lower case; lines of one name joined by ", ".
        body: empty where nobody wanted it.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


class NoAnswer(ServiceError):
    """Nothing usable came; `str()` has the reason."""


class Refused(InputError):
    """The host is no public one, and nobody said that it may be."""


class SiteClient:
    """Fetches from the hosts of a site; a host is asked no more often than each `delay` seconds.

    Args:
        delay: seconds between two requests to a host.
        allow_private: whether a host may be in a private network.
        silence: seconds without a word after which an answer is given up.
        longest: seconds that an answer may take.
    """

    def __init__(
        self, delay: float, *, allow_private: bool, silence: float = _SILENCE_S, longest: float = LONGEST_S
    ) -> None:
        self._delay = delay
        self._pacers: dict[str, Pacer] = {}
        self._delays: dict[str, float] = {}
        self._client = bounded_client(
            MOST_BYTES,
            longest,
            headers={"User-Agent": f"{ROBOT}/{__version__}"},
            timeout=httpx.Timeout(silence, connect=min(silence, _CONNECT_S)),
            transport=PublicHosts(longest, allow_private=allow_private),
        )

    def slow_down(self, url: str, delay: float) -> None:
        """Ask this URL's host no more often than that, if that is longer than asked for anyway; seconds."""
        self._delays[_host(url)] = max(delay, self._delay)
        self._pacers.pop(_host(url), None)

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = MOST_BYTES,
        wanted: Callable[[Answer], bool] = lambda _: True,
    ) -> Answer:
        """Ask; again after a pause where the server is busy or not there. No redirect is followed.

        Args:
            url: what to ask for.
            headers: to send with it.
            most: bytes of the body.
            wanted: whether to read the body, by the answer's head.

        Raises:
            NoAnswer: there is no server, it takes too long or says too much.
            Refused: it is in a private network.
        """
        try:
            return with_retries(lambda: self._get_once(url, headers or {}, most, wanted), attempts=_ATTEMPTS)
        except _Busy as error:
            return error.answer

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def _get_once(
        self, url: str, headers: Mapping[str, str], most: int, wanted: Callable[[Answer], bool]
    ) -> Answer:
        self._wait(url)
        host = _host(url)
        try:
            with self._client.stream("GET", url, headers=dict(headers)) as response:
                answer = Answer(response.status_code, dict(response.headers))
                if answer.status in _BUSY:
                    raise _Busy(host, answer)
                return Answer(answer.status, answer.headers, _body(response, most) if wanted(answer) else b"")
        except TooLarge:
            raise NoAnswer(host, f"the answer is larger than {most / 1e6:g} MB") from None
        except httpx.DecodingError:
            raise NoAnswer(host, "the answer is compressed, which nobody asked for") from None
        except httpx.TimeoutException:
            raise NoAnswer(host, "no whole answer in time", retryable=True) from None
        except httpx.ConnectError as error:
            if isinstance(error.__cause__, PrivateAddress):
                raise Refused(f"{error}. Fetch from your own network with --allow-private.") from None
            raise NoAnswer(host, f"no connection ({error})", retryable=True) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise NoAnswer(host, f"the connection broke ({type(error).__name__})", retryable=True) from None

    def _wait(self, url: str) -> None:
        delay = self._delays.get(_host(url), self._delay)
        if delay > 0:
            self._pacers.setdefault(_host(url), Pacer(1 / delay)).wait()


class _Busy(ServiceError):
    def __init__(self, host: str, answer: Answer) -> None:
        super().__init__(host, "it is busy", retryable=True, retry_after=retry_after(answer.headers))
        self.answer = answer


def _body(response: httpx.Response, most: int) -> bytes:
    parts, size = list[bytes](), 0
    for part in response.iter_bytes():
        size += len(part)
        if size > most:
            raise TooLarge("the answer is too large")
        parts.append(part)
    return b"".join(parts)


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower()


_MOST_HOPS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def fetch_whole(client: SiteClient, url: str, most: int) -> Answer:
    """The answer at the end of the redirects.

    Raises:
        NoAnswer: there is no server, it takes too long or says too much, or redirects without end or elsewhere.
        Refused: it is in a private network.
    """
    at = url
    for _ in range(_MOST_HOPS + 1):
        answer = client.get(at, most=most)
        target = target_of(answer, at)
        if not target:
            return answer
        if site_of(target) != site_of(url):
            raise NoAnswer(site_of(url), f"it redirects to another site, {site_of(target) or target}")
        at = target
    raise NoAnswer(site_of(url), f"more than {_MOST_HOPS} redirects")


def target_of(answer: Answer, url: str) -> str:
    """Where an answer to this URL redirects, absolute and without a fragment; "" if it doesn't."""
    address = answer.headers.get("location", "") if answer.status in REDIRECTS else ""
    if not address:
        return ""
    try:
        return urljoin(url, address.strip()).partition("#")[0]
    except ValueError:
        return address


def site_of(url: str) -> str:
    """Host and port without www., which two URLs of one site share; "" for what is no URL."""
    try:
        key = normal_form(url)
    except ValueError:
        return ""
    return key.partition("://")[2].partition("/")[0].removeprefix("www.")
