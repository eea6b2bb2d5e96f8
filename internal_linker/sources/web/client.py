"""The HTTP client for sites: one request at a time, a delay per host, limits of size and time, public hosts only."""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from internal_linker.model.errors import InputError, ServiceError
from internal_linker.model.urls import encoded, normal_form
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
from internal_linker.sources.web.access import NO_ACCESS, SiteAccess, origin_of

ROBOT = "InternalLinker"
# Maximum bytes of a sitemap, the largest of all files to fetch.
MOST_BYTES = 50_000_000
# Seconds of silence, of connecting, and of a whole answer.
_SILENCE_S, _CONNECT_S, LONGEST_S = 20.0, 10.0, 60.0
_ATTEMPTS = 3
# Statuses of sites and proxies that want to know who asks, and what to do about them.
NOT_ALLOWED = frozenset({401, 407})
PROTECTED = (
    "For a site behind a password or a proxy, write them into config/site_access.toml (docs/import.md)."
)
# Statuses that ask to retry later.
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer."""

    status: int  # the HTTP status: 200, 301, 404,
    headers: Mapping[str, str]  # the headers, with names in lower case; repeated headers are joined by ", "
    body: bytes = b""  # the body; empty if it was not read


class NoAnswer(ServiceError):
    """No usable answer; `str()` has the reason."""


class FetchRefused(InputError):
    """The host is not public, and private hosts are not allowed."""


class SiteClient:
    """Fetches from the hosts of a site, with at least `delay` seconds between two requests to a host.

    Args:
        allow_private: whether a host may be in a private network.
        silence: seconds of silence after which a request fails.
        longest: maximum seconds of a whole answer.
        access: what each origin needs, by the result of `origin_of`; nothing of it is sent to another origin.
    """

    def __init__(
        self,
        delay: float,
        *,
        allow_private: bool,
        silence: float = _SILENCE_S,
        longest: float = LONGEST_S,
        access: Mapping[str, SiteAccess] | None = None,
    ) -> None:
        self.delay, self.allow_private = delay, allow_private
        self._access = dict(access or {})
        self._pacers: dict[str, Pacer] = {}
        self._delays: dict[str, float] = {}
        timeout = httpx.Timeout(silence, connect=min(silence, _CONNECT_S))

        def client(transport: httpx.BaseTransport) -> httpx.Client:
            agent = {"User-Agent": f"{ROBOT}/{__version__}"}
            return bounded_client(
                MOST_BYTES, longest, encodings=ACCEPTED, headers=agent, timeout=timeout, transport=transport
            )

        proxies = {access.proxy for access in self._access.values() if access.proxy}
        self._clients = {proxy: client(ThroughProxy(proxy, longest)) for proxy in proxies}
        self._clients[""] = client(PublicHosts(longest, allow_private=allow_private))

    def access(self, url: str) -> SiteAccess:
        """Return what a URL's origin needs."""
        return self._access.get(origin_of(url), NO_ACCESS)

    def slow_down(self, url: str, delay: float) -> None:
        """Raise the delay between requests to this URL's host to `delay` seconds, unless it is longer already."""
        self._delays[host_of(url)] = max(delay, self.delay)
        self._pacers.pop(host_of(url), None)

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        most: int = MOST_BYTES,
        wanted: Callable[[Answer], bool] = lambda _: True,
    ) -> Answer:
        """Fetch a URL; retry if the server is busy or unreachable, and do not follow redirects.

        The body has at most `most` bytes, and is read if the answer's status and headers are `wanted`.

        Raises:
            NoAnswer: the server is unreachable or too slow, or its answer is too large.
            Refused: the server is in a private network.
        """
        try:
            return with_retries(lambda: self._get_once(url, headers or {}, most, wanted), attempts=_ATTEMPTS)
        except _Busy as error:
            return error.answer

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()

    def _get_once(
        self, url: str, headers: Mapping[str, str], most: int, wanted: Callable[[Answer], bool]
    ) -> Answer:
        self._wait(url)
        host, access = host_of(url), self.access(url)
        client, sent = self._clients[access.proxy], {**headers, **access.sent}
        try:
            with client.stream("GET", url, headers=sent) as response:
                answer = Answer(response.status_code, dict(response.headers))
                if answer.status in _BUSY:
                    raise _Busy(host, answer)
                return Answer(
                    answer.status, answer.headers, whole_body(response, most) if wanted(answer) else b""
                )
        except TooLarge:
            raise NoAnswer(host, f"the answer is larger than {most / 1e6:g} MB") from None
        except Oversized:
            raise NoAnswer(host, f"the answer decompresses to more than {most / 1e6:g} MB") from None
        except Damaged as error:
            raise NoAnswer(host, f"the answer can't be decompressed: {error}") from None
        except httpx.TimeoutException:
            raise NoAnswer(host, "the answer was not complete in time", retryable=True) from None
        except httpx.ProxyError:
            raise NoAnswer(host, "the proxy in config/site_access.toml refuses the connection") from None
        except httpx.ConnectError as error:
            if access.proxy:
                reason = "the proxy in config/site_access.toml, or the host behind it, can't be reached"
                raise NoAnswer(host, reason, retryable=True) from None
            if isinstance(error.__cause__, PrivateAddress):
                raise FetchRefused(
                    f"{error}. To fetch from a private network, use --allow-private."
                ) from None
            raise NoAnswer(host, f"no connection ({error})", retryable=True) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise NoAnswer(host, f"the connection failed ({type(error).__name__})", retryable=True) from None

    def _wait(self, url: str) -> None:
        delay = self._delays.get(host_of(url), self.delay)
        if delay > 0:
            self._pacers.setdefault(host_of(url), Pacer(1 / delay)).wait()


class _Busy(ServiceError):
    def __init__(self, host: str, answer: Answer) -> None:
        super().__init__(host, "it is busy", retryable=True, retry_after=retry_after(answer.headers))
        self.answer = answer


def host_of(url: str) -> str:
    """Return a URL's host and port, in lower case."""
    return urlsplit(url).netloc.lower()


_MOST_HOPS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def fetch_whole(client: SiteClient, url: str, most: int) -> Answer:
    """Fetch a URL and follow redirects within its site.

    Raises:
        NoAnswer: the server is unreachable or too slow, its answer too large, or its redirects too many or to
            another site.
        Refused: the server is in a private network.
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
    """Return the absolute URL, without a fragment, to which an answer redirects; "" if it doesn't."""
    address = answer.headers.get("location", "") if answer.status in REDIRECTS else ""
    if not address:
        return ""
    try:
        return encoded(urljoin(url, address.strip()).partition("#")[0])
    except ValueError:
        return address


def site_of(url: str) -> str:
    """Return host and port without www., which all URLs of a site share; "" for an invalid URL."""
    try:
        key = normal_form(url)
    except ValueError:
        return ""
    return key.partition("://")[2].partition("/")[0].removeprefix("www.")


# Addresses that no page of a public site has: those of IANA's special-purpose registries (November 2026), whatever
# Python's own list says, multicast and reserved ones, and one where a cloud serves internal data of its machines.
_SPECIAL_IPV4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by the customers of a provider
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # Azure's own services
            "169.254.0.0/16",  # link-local, where clouds serve their metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # IETF protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
# The only IPv6 range with addresses of the internet, and what is special within it.
_GLOBAL_IPV6 = ip_network("2000::/3")
_SPECIAL_IPV6 = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # IETF protocol assignments, and Teredo
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
# IPv6 addresses whose last 32 bits are the IPv4 address that they reach: NAT64.
_TRANSLATED = ip_network("64:ff9b::/96")


class PrivateAddress(httpcore.ConnectError):
    """The host is not public."""


class PublicHosts(httpx.HTTPTransport):
    """Connects only to public addresses, and to the very addresses it checked, which prevents DNS rebinding.

    `longest` is in seconds, from a request to the end of its answer.
    """

    def __init__(self, longest: float, *, allow_private: bool) -> None:
        super().__init__()
        # httpx has no public way to set the pool's network backend; if the attribute vanishes, requests fail.
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=_Network(longest, allow_private)
        )


class ThroughProxy(httpx.HTTPTransport):
    """Connects through a proxy that the user named for a host; the proxy looks up the host's address."""

    def __init__(self, proxy: str, longest: float) -> None:
        super().__init__(proxy=proxy)
        # As above: without the attribute, an answer would have no time limit before its headers end.
        self._pool._network_backend = _Network(longest, allow_private=True)


class _Network(httpcore.SyncBackend):
    def __init__(self, longest: float, allow_private: bool) -> None:
        self._longest, self._allow_private = longest, allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"no such host ({error})") from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        for address in addresses:
            if not (self._allow_private or is_public(address)):
                raise PrivateAddress(f"{host} resolves to {address}, which is not a public address")
        failed = httpcore.ConnectError("no address")
        for address in addresses:
            try:
                stream = super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = httpcore.ConnectError(str(error))
            else:
                return _Timed(stream, self._longest)
        raise failed


class _Timed(httpcore.NetworkStream):
    """A connection that limits the seconds from a request to the end of its answer, headers included."""

    def __init__(self, stream: httpcore.NetworkStream, longest: float) -> None:
        self._stream, self._longest, self._asked = stream, longest, time.monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._asked + self._longest - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the answer takes too long")
        return self._stream.read(max_bytes, left if timeout is None else min(timeout, left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._asked = time.monotonic()
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, timeout), self._longest)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def is_public(address: str) -> bool:
    """Return whether an IP address is public: not of this computer, a private network or a cloud's internals."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None)
        if inner is None:
            return ip in _GLOBAL_IPV6 and not any(ip in each for each in _SPECIAL_IPV6)
        ip = inner
    return not any(ip in each for each in _SPECIAL_IPV4)
