"""The HTTP client: limits the size and time of answers, decompresses within limits, and follows no redirects."""

import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx


class TooLarge(httpx.ReadError):
    """The answer is larger than any genuine answer of the service."""


def bounded_client(
    most_bytes: int, longest_s: float, *, encodings: str = "identity", **options: Any
) -> httpx.Client:
    """Return a client that follows no redirects; reading an answer may raise `TooLarge` or `httpx.ReadTimeout`.

    Args:
        most_bytes: the largest body of an answer.
        longest_s: seconds from an answer's headers to its end.
        encodings: the compressions to ask for; if there are any, the caller must read the body with `iter_raw` and
            limit the size of what it decompresses.
        options: options of `httpx.Client`; `headers` add to our own.
    """

    def bound(response: httpx.Response) -> None:
        if encodings == "identity" and response.headers.get("content-encoding", encodings) != encodings:
            # The client asks for no compression, and a small body could decompress to any size.
            raise httpx.DecodingError("the answer is compressed", request=response.request)
        response.stream = _Bounded(response.stream, most_bytes, time.monotonic() + longest_s)

    headers = {**options.pop("headers", {}), "Accept-Encoding": encodings}
    return httpx.Client(headers=headers, event_hooks={"response": [bound]}, follow_redirects=False, **options)


def whole_body(response: httpx.Response, most: int) -> bytes:
    """Read the body of a streamed answer, of at most `most` bytes before and after its decompression.

    Raises:
        TooLarge: it is larger before its decompression.
        Oversized: it is larger after its decompression.
        Damaged: it can't be decompressed.
    """
    parts, size = list[bytes](), 0
    for part in response.iter_raw():
        size += len(part)
        if size > most:
            raise TooLarge("the answer is too large")
        parts.append(part)
    return decompressed(b"".join(parts), response.headers.get("content-encoding", ""), most)


class HiddenParameters(httpx.BaseTransport):
    """A transport that adds secret query parameters to addresses, below the layer that logs them.

    A client with a custom transport ignores proxies in the environment, so this class reads the one for `url`, the only
    service that requests go to.
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
        """Close the connections."""
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


# The Content-Encoding values that `decompressed` knows, with what a request asks for.
ACCEPTED = "gzip, deflate"
_GZIP, _ZLIB, _RAW = 31, 15, -15


class Damaged(ValueError):
    """The data is damaged, incomplete or compressed in another way; `str()` says which."""


class Oversized(ValueError):
    """The data decompresses to more than the limit."""


def decompressed(data: bytes, encoding: str, most: int) -> bytes:
    """Decompress data; never much more than `most` bytes are in memory.

    `encoding` is the value of the header Content-Encoding; "" and "identity": the data is not compressed.

    Raises:
        Damaged, Oversized: the data can't be decompressed, or the result would be larger.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return data
        case "gzip" | "x-gzip":
            return _inflated(data, _GZIP, most)
        case "deflate":
            # Some servers leave out the header of zlib.
            return _inflated(data, _ZLIB if data[:1] and data[0] & 15 == 8 else _RAW, most)
    raise Damaged(f"its compression ({encoding[:40]}) is unknown")


def _inflated(data: bytes, format_: int, most: int) -> bytes:
    if not data:
        return b""
    inflating = zlib.decompressobj(wbits=format_)
    try:
        result = inflating.decompress(data, most + 1)
    except zlib.error:
        raise Damaged("its compressed data is damaged") from None
    if len(result) > most:
        raise Oversized
    if not inflating.eof:
        raise Damaged("its compressed data is incomplete")
    return result
