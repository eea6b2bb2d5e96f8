"""Requests to OpenAI or a server with its API: JSON answers, or errors that name a remedy."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from internal_linker.model.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.model.redact import redactor
from internal_linker.sources.http.client import bounded_client
from internal_linker.sources.http.limits import FEW_ATTEMPTS, NOT_SERVED, Circuit, retry_after, with_retries

if TYPE_CHECKING:
    import openai  # its import takes most of a second

KEY_FILE = "config/openai_api_key.txt"
NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
TOO_MUCH = frozenset({"max_tokens_per_request", "array_above_max_length"})
# Domains that the internet's name servers do not know.
_OWN_DOMAINS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
# Characters: enough to recognise the server's message; an error is one sentence, not a page.
LONGEST_QUOTE = 300


class TooMuch(ServiceError):
    """The request exceeds a limit of this server or account; a smaller one may succeed."""


class TooFast(ServiceError):
    """A rate limit was hit; fewer requests at a time may succeed."""


class NotThere(ServiceError):
    """The server doesn't have this model or address."""


class LacksRight(CredentialsRefused):
    """The key is valid but lacks the permission."""


@dataclass(frozen=True, slots=True)
class Remedies:
    """Texts for the errors of one kind of request."""

    right: str  # the permission that a key needs, an infinitive without "to"
    model: str  # the setting that names the model
    address: str  # the setting that names the server
    # Sentences on what to do about a rate limit, a text that is too long, and any other refusal.
    slower: str
    shorter: str
    refused: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Reads the answers of one server for one model; errors name them, without the key."""

    service: str
    host: str
    model: str
    key: str = field(repr=False)
    remedies: Remedies

    def parse(self, content: bytes) -> dict[str, Any]:
        """Parse an answer's JSON object.

        Raises:
            ServiceError: the answer is not a JSON object; retryable.
        """
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self.unusable("it is not JSON") from None
        if not isinstance(answer, dict):
            raise self.unusable("it is not a JSON object")
        return answer

    def refusal(self, status: int, body: object, headers: Mapping[str, str]) -> ServiceError:
        """Return the error for a status of 300 or above; `body` is the JSON's error object, if it has one."""
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
            return TooMuch(self.service, f"a text is too large ({said}). {self.remedies.shorter}")
        if status == 429:
            problem = f"too many requests or tokens per minute ({said}). {self.remedies.slower}"
            return TooFast(self.service, problem, retryable=True, retry_after=wait_s)
        if status >= 500 or status in (408, 409):
            problem = f"the service failed ({said}). Try again later."
            return ServiceError(self.service, problem, retryable=True, retry_after=wait_s)
        return ServiceError(self.service, f"the request was refused ({said}). {self._remedy(low)}")

    def _refused_key(self, status: int, low: str) -> ServiceError:
        # Errors never quote this message, because it may contain part of the key.
        kind = LacksRight if "scope" in low or "permission" in low else CredentialsRefused
        why = f"it is wrong, expired, or not allowed to {self.remedies.right}"
        return kind(
            self.service, f"the key was refused (HTTP {status}): {why}. Put a valid key into {KEY_FILE}."
        )

    def _quote(self, message: object) -> str:
        words = redactor([self.key])(str(message or ""))
        return " ".join(re.sub(r"\bsk-\S+", "***", words).split())[:LONGEST_QUOTE].rstrip(".")

    def _remedy(self, low: str) -> str:
        if "dimension" in low:
            return "Set embedding_dimensions = 0."
        if any(word in low for word in ("context", "too long", "length", "tokens")):
            return self.remedies.shorter
        return self.remedies.refused

    def unusable(self, why: str) -> ServiceError:
        """Return the retryable error for an answer that can't be used."""
        problem = f"the answer of {self.host} can't be used: {why}. Try again later."
        return ServiceError(self.service, problem, retryable=True)


# Errors of requests that never left this computer, so they can't have cost anything.
NOT_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"})

# 2,048 vectors with 3,072 dimensions as text take half of this; a server without a GPU is slow.
MOST_BYTES, LONGEST_S = 300_000_000, 600.0


class Server:
    """One model at one address; ignores the organisation and project in the environment.

    Args:
        api_key: the key; may be empty only if `base_url` is not OpenAI's.
        base_url: the API's address with its `/v1`; it may change until the first request.
        elsewhere: the name in errors for a server that is not OpenAI's.
        remedies: what errors recommend.
        timeout: seconds without data after which a request fails.

    Raises:
        ConfigurationError: the key is malformed.
    """

    def __init__(
        self, api_key: str, model: str, base_url: str, *, elsewhere: str, remedies: Remedies, timeout: float
    ) -> None:
        host = urlsplit(base_url).hostname or base_url
        self.at_home = host == "api.openai.com" or host.endswith(".openai.com")
        if not re.fullmatch(r"[!-~]+" if self.at_home else r"[!-~]*", api_key):
            raise ConfigurationError(
                f"{KEY_FILE} must contain an OpenAI key: letters and digits on one line."
            )
        self.base_url, self._timeout = base_url, timeout
        self.answers = Answers("OpenAI" if self.at_home else elsewhere, host, model, api_key, remedies)
        self._circuit = Circuit(self.answers.service)

    @property
    def in_own_network(self) -> bool:
        """Whether the address, by itself, is of this computer or of the user's own network."""
        host = self.answers.host
        try:
            return not ip_address(host).is_global
        except ValueError:
            return "." not in host or host.endswith(_OWN_DOMAINS)

    @property
    def model_key(self) -> str:
        """The model's name in cache keys, with the server, because two servers may give different models one name."""
        return self.answers.model if self.at_home else f"{self.answers.model}@{self.answers.host}"

    def check(self) -> str:
        """Check the key with a free call; return a sentence on what the call confirmed and what it did not.

        Raises:
            CredentialsRefused: the key is wrong.
            ServiceError: the server can't be reached, or OpenAI has no such model.
        """
        service, model = self.answers.service, self.answers.model
        try:
            answer = with_retries(
                lambda: self.ask(
                    lambda: self.client.models.with_raw_response.list().content, lambda cost: None
                ),
                attempts=FEW_ATTEMPTS,
            )
        except LacksRight:
            return f"{service} accepts the key, but the key may not list models: {model} was not checked."
        except NotThere:
            return f"{service} answers but has no list of models: the key and the model were not checked."
        # Ollama lists a model without a tag as "name:latest".
        listed = answer.get("data")
        models = listed if isinstance(listed, list) else []
        names = {str(item.get("id")) for item in models if isinstance(item, dict)}
        if names & {model, f"{model}:latest"}:
            return f"{service} accepts the key and has {model}."
        if self.at_home:
            setting = self.answers.remedies.model
            raise ServiceError(service, f"there is no model {model}: check {setting}.")
        return f"{service} answers, but {model} is not in its list of models."

    def close(self) -> None:
        """Close the connections."""
        if "client" in vars(self):
            self.client.close()

    @cached_property
    def client(self) -> "openai.OpenAI":
        """OpenAI's own client, without its retries."""
        import openai

        client = openai.OpenAI(
            api_key=self.answers.key or "none",
            base_url=self.base_url,
            max_retries=0,
            timeout=openai.Timeout(self._timeout, connect=5.0),
            # Overrides OPENAI_CUSTOM_HEADERS in the environment, which could contain another key.
            default_headers={"Authorization": f"Bearer {self.answers.key or 'none'}"},
            # The parameter's type is httpx2's client, but the classic client works.
            http_client=cast(Any, bounded_client(MOST_BYTES, LONGEST_S)),
        )
        client.organization = client.project = None
        return client

    def ask(self, send: Callable[[], bytes], settle: Callable[[float], None]) -> dict[str, Any]:
        """Send one request and return its JSON object; call `settle` with 0 if the service certainly did no work."""
        with self._circuit.closed():
            return self._answer(send, settle)

    def _answer(self, send: Callable[[], bytes], settle: Callable[[float], None]) -> dict[str, Any]:
        import openai

        try:
            content = send()
        except openai.APIStatusError as error:
            if error.status_code < 500 or error.status_code in NOT_SERVED:
                settle(0.0)
            raise self.answers.refusal(error.status_code, error.body, error.response.headers) from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            if cause in NOT_SENT:
                settle(0.0)
            setting = self.answers.remedies.address
            hint = (
                "Check that this computer is online."
                if self.at_home
                else f"Check that it is running, and {setting}."
            )
            problem = f"no answer from {self.answers.host} ({cause}). {hint}"
            raise ServiceError(self.answers.service, problem, retryable=True) from None
        return self.answers.parse(content)
