"""Decompression of untrusted data: gzip and deflate, up to a size."""

import zlib

# The Content-Encoding values that `decompressed` knows, with what a request asks for.
ACCEPTED = "gzip, deflate"
_GZIP, _ZLIB, _RAW = 31, 15, -15


class Damaged(ValueError):
    """The data is damaged, incomplete or compressed in another way; `str()` says which."""


class Oversized(ValueError):
    """The data decompresses to more than the limit."""


def decompressed(data: bytes, encoding: str, most: int) -> bytes:
    """Decompress data; never much more than `most` bytes are in memory.

    Args:
        data: the whole data.
        encoding: the value of the header Content-Encoding; "" and "identity": the data is not compressed.
        most: maximum bytes of the result.

    Raises:
        Damaged: the data can't be decompressed.
        Oversized: the result would be larger than `most`.
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
