"""What a server of OpenAI's API answered -> a JSON object, or our error with a remedy."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from internal_linker.adapters.http.limits import retry_after
from internal_linker.core.errors import CredentialsRefused, OutOfCredits, ServiceError

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


@dataclass(frozen=True, slots=True)
class Remedies:
    """What errors of one kind of request say.

    Attributes:
        right: what a key must allow.
        model, address: the settings that name the model and the server.
        slower: what to do about a rate limit, a sentence.
        shorter: what to do about too long a text, a sentence.
        refused: what to do about another refusal, a sentence.
    """

    right: str
    model: str
    address: str
    slower: str
    shorter: str
    refused: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Reads the answers of one server for one model.

    Attributes:
        service: the service's name for errors.
        host: the server's host for errors.
        model: the model's name for errors.
        key: the key, which is kept out of errors.
        remedies: what errors tell to do.
    """

    service: str
    host: str
    model: str
    key: str = field(repr=False)
    remedies: Remedies

    def parse(self, content: bytes) -> dict[str, Any]:
        """The JSON object of a good answer.

        Raises:
            ServiceError: it is none; retryable.
        """
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self.unusable("it is no JSON") from None
        if not isinstance(answer, dict):
            raise self.unusable("it is no JSON object")
        return answer

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
            return OutOfCredits(self.service, problem)
        if status == 404:
            check = f"Check {self.remedies.model} and {self.remedies.address}."
            return NotThere(self.service, f"no model {self.model} at {self.host} ({said}). {check}")
        if status == 413 or code in TOO_MUCH or "batch size" in low or (status == 429 and "too large" in low):
            return TooMuch(self.service, f"a text is too large for it ({said}). {self.remedies.shorter}")
        if status == 429:
            problem = f"too many requests or tokens a minute ({said}). {self.remedies.slower}"
            return TooFast(self.service, problem, retryable=True, retry_after=wait_s)
        if status >= 500 or status in (408, 409):
            problem = f"it has a fault of its own ({said}). Try again later."
            return ServiceError(self.service, problem, retryable=True, retry_after=wait_s)
        return ServiceError(self.service, f"it refused the request ({said}). {self._remedy(low)}")

    def _refused_key(self, status: int, low: str) -> ServiceError:
        # The message is never shown: it can repeat a part of the key.
        kind = LacksRight if "scope" in low or "permission" in low else CredentialsRefused
        why = f"it is wrong, expired, or without the right to {self.remedies.right}"
        return kind(
            self.service, f"the key was refused (HTTP {status}): {why}. Put a good one into {KEY_FILE}."
        )

    def _quote(self, message: object) -> str:
        words = str(message or "")
        if self.key:
            words = words.replace(self.key, "***")
        return " ".join(re.sub(r"\bsk-\S+", "***", words).split())[:LONGEST_QUOTE].rstrip(".")

    def _remedy(self, low: str) -> str:
        """What to do about a refused request, by the words of the refusal."""
        if "dimension" in low:
            return "Set embedding_dimensions = 0."
        if any(word in low for word in ("context", "too long", "length", "tokens")):
            return self.remedies.shorter
        return self.remedies.refused

    def unusable(self, why: str) -> ServiceError:
        """The error for an answer that is not what was asked for; retryable."""
        problem = f"the answer of {self.host} can't be used: {why}. Try again later."
        return ServiceError(self.service, problem, retryable=True)
