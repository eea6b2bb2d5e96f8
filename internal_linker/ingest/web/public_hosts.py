"""Connections to public hosts only, with a time limit for each answer."""

import socket
import ssl
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx

# Addresses in public ranges where clouds serve internal data of their machines.
_OF_CLOUDS = frozenset({ip_address("168.63.129.16")})
# IPv6 addresses whose last 32 bits are an IPv4 address.
_TRANSLATED = ip_network("64:ff9b::/96")


class PrivateAddress(httpcore.ConnectError):
    """The host is not public."""


class PublicHosts(httpx.HTTPTransport):
    """Connects only to public addresses, and to the very addresses it checked, which prevents DNS rebinding.

    Args:
        longest: maximum seconds from a request to the end of its answer.
        allow_private: whether to allow private addresses, too.
    """

    def __init__(self, longest: float, *, allow_private: bool) -> None:
        super().__init__()
        # httpx has no public way to set the pool's network backend; if the attribute vanishes, requests fail.
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), network_backend=_Network(longest, allow_private)
        )


class ThroughProxy(httpx.HTTPTransport):
    """Connects through a proxy that the user named for a host; the proxy looks up the host's address.

    Args:
        proxy: the proxy's address.
        longest: maximum seconds from a request to the end of its answer.
    """

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
    embedded = _embedded(ip)
    if embedded:
        return is_public(str(embedded))
    site_local = isinstance(ip, IPv6Address) and ip.is_site_local
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or site_local or ip in _OF_CLOUDS)


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address contains, if any."""
    if isinstance(ip, IPv4Address):
        return None
    if ip in _TRANSLATED:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
