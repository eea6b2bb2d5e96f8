"""An HTTP client whose answers neither grow nor drip without end, and which goes nowhere but where it was sent."""

import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx


class TooLarge(httpx.ReadError):
    """The answer is larger than what the service can have to say."""


def bounded_client(most_bytes: int, longest_s: float, **options: Any) -> httpx.Client:
    """A client that follows no redirect; reading an answer raises `TooLarge`, or `httpx.ReadTimeout`.

    Args:
        most_bytes: of an answer's body.
        longest_s: seconds from an answer's head to its end.
        options: as for `httpx.Client`; `headers` are sent beside our own.
    """

    def bound(response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            # A small body could unpack to any size, and nobody asked for one.
            raise httpx.DecodingError("the answer is compressed", request=response.request)
        response.stream = _Bounded(response.stream, most_bytes, time.monotonic() + longest_s)

    headers = {**options.pop("headers", {}), "Accept-Encoding": "identity"}
    return httpx.Client(headers=headers, event_hooks={"response": [bound]}, follow_redirects=False, **options)


class HiddenParameters(httpx.BaseTransport):
    """Adds secret query parameters to each address below the layer that logs addresses and names them in errors.

    A client with a transport of its own looks for no proxy in the environment, so this one does.

    Args:
        url: the only service that requests go to.
        parameters: what is added.
        limits: of the connections.
    """

    def __init__(self, url: str, parameters: Mapping[str, str], limits: httpx.Limits) -> None:
        self._parameters = dict(parameters)
        self._inner = httpx.HTTPTransport(proxy=_proxy_for(url), limits=limits)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request with the parameters."""
        return self._inner.handle_request(
            httpx.Request(
                request.method,
                request.url.copy_merge_params(self._parameters),
                headers=request.headers,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    def close(self) -> None:
        """Give the connections back."""
        self._inner.close()


def _proxy_for(url: str) -> str | None:
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: Any, most_bytes: int, deadline: float) -> None:
        self._stream, self._left, self._deadline = stream, most_bytes, deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLarge("the answer is too large")
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the answer takes too long")
            yield chunk

    def close(self) -> None:
        self._stream.close()
