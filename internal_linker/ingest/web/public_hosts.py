"""Connections to public hosts only, with a time limit for each answer."""

import socket
import ssl
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx

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
