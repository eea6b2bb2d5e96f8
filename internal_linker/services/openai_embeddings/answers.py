"""What an embeddings server answered -> unit vectors, or our error with a remedy."""

import base64
import json
import re
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.arrays import Vectors
from internal_linker.errors import CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.limits import retry_after

KEY_FILE = "config/openai_api_key.txt"
NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
TOO_MUCH = frozenset({"max_tokens_per_request", "array_above_max_length"})
# Enough to recognise the server's words by; an error is one sentence, not a page.
LONGEST_QUOTE = 300


class TooMuch(ServiceError):
    """The request is above a limit of this server or account; half of it may pass."""


class TooFast(ServiceError):
    """A rate limit; fewer requests at a time may pass."""


class NotThere(ServiceError):
    """The server knows no such model, or no such address."""


class LacksRight(CredentialsRefused):
    """The key is good, but may not do this."""


class Answers:
    """Reads the answers of one server for one model; safe between threads.

    Args:
        service: the service's name for errors.
        host: the server's host for errors.
        model: the model's name for errors.
        key: the key, which is kept out of errors.
        dimensions: numbers that each vector must have; 0 for as many as the first.
    """

    def __init__(self, service: str, host: str, model: str, key: str, dimensions: int) -> None:
        self._service, self._host, self._model, self._key = service, host, model, key
        self._asked = self._length = dimensions
        self._lock = threading.Lock()

    def parse(self, content: bytes) -> dict[str, Any]:
        """The JSON object of a good answer.

        Raises:
            ServiceError: it is none; retryable.
        """
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self._unusable("it is no JSON") from None
        if not isinstance(answer, dict):
            raise self._unusable("it is no JSON object")
        return answer

    def vectors(self, answer: Mapping[str, Any], count: int) -> Vectors:
        """The vectors in the order of the texts, (count, d) float32, each of length 1.

        Raises:
            ServiceError: a text has none, or one that is no vector; retryable.
        """
        try:
            # The service promises no order, and nobody else checks that each text has its vector.
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(count)):
                raise self._unusable("not each text has one vector")
            matrix = np.stack([_numbers(item["embedding"]) for item in items])
        except (KeyError, TypeError, ValueError):
            raise self._unusable("its vectors can't be read") from None
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.square(matrix).sum(axis=-1))
        if matrix.ndim != 2 or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._unusable("a vector is zero or not finite")
        self._agree(matrix.shape[1])
        unit: Vectors = (matrix / lengths[:, np.newaxis]).astype(np.float32)
        return unit

    def refusal(self, status: int, body: object, headers: Mapping[str, str]) -> ServiceError:
        """The error for a status of 300 and above; `body` is the JSON's error object, where it is one."""
        fields: Mapping[str, Any] = body if isinstance(body, dict) else {}
        words, code = self._quote(fields.get("message")), fields.get("code") or fields.get("type")
        low, said = words.lower(), f"HTTP {status}: {words}" if words else f"HTTP {status}"
        wait_s = retry_after(headers)
        if status in (401, 403):
            return self._refused_key(status, low)
        if status == 402 or code in NO_MONEY:
            problem = "the account has no credit left. Add some at platform.openai.com (Billing)."
            return OutOfCredits(self._service, problem)
        if status == 404:
            problem = f"no model {self._model} at {self._host} ({said}). Check embedding_model and base_url."
            return NotThere(self._service, problem)
        if status == 413 or code in TOO_MUCH or "batch size" in low or (status == 429 and "too large" in low):
            return TooMuch(self._service, f"a text is too large for it ({said}). Lower max_input_tokens.")
        if status == 429:
            problem = f"too many requests or tokens a minute ({said}). Lower embedding_requests_in_flight."
            return TooFast(self._service, problem, retryable=True, retry_after=wait_s)
        if status >= 500 or status in (408, 409):
            problem = f"it has a fault of its own ({said}). Try again later."
            return ServiceError(self._service, problem, retryable=True, retry_after=wait_s)
        return ServiceError(self._service, f"it refused the request ({said}). {_remedy(low)}")

    def _refused_key(self, status: int, low: str) -> ServiceError:
        # The message is never shown: it can repeat a part of the key.
        kind = LacksRight if "scope" in low or "permission" in low else CredentialsRefused
        why = "it is wrong, expired, or without the right to make embeddings"
        return kind(
            self._service, f"the key was refused (HTTP {status}): {why}. Put a good one into {KEY_FILE}."
        )

    def _quote(self, message: object) -> str:
        words = str(message or "")
        if self._key:
            words = words.replace(self._key, "***")
        return " ".join(re.sub(r"\bsk-\S+", "***", words).split())[:LONGEST_QUOTE].rstrip(".")

    def _agree(self, length: int) -> None:
        with self._lock:
            self._length = self._length or length
        if length == self._length:
            return
        if self._asked:
            problem = f"its vectors have {length} numbers, not {self._asked}. Set embedding_dimensions = 0."
            raise ServiceError(self._service, problem)
        raise self._unusable(f"vectors of {length} numbers after some of {self._length}")

    def _unusable(self, why: str) -> ServiceError:
        problem = f"the answer of {self._host} can't be used: {why}. Try again later."
        return ServiceError(self._service, problem, retryable=True)


def _numbers(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4").astype(np.float64)
    return np.asarray(embedding, dtype=np.float64)


def _remedy(low: str) -> str:
    """What to do about a refused request, by the words of the refusal."""
    if "dimension" in low:
        return "Set embedding_dimensions = 0."
    if any(word in low for word in ("context", "too long", "length", "tokens")):
        return "Lower max_input_tokens."
    return "Check embedding_model, base_url and max_input_tokens."
