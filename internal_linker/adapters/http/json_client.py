"""The client for paid JSON services: budget, rate limiter, circuit breaker and readable errors around each request."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from internal_linker.adapters.http.client import HiddenParameters, TooLarge, bounded_client
from internal_linker.adapters.http.limits import Budget, Circuit, Pacer, retry_after
from internal_linker.core.errors import ConfigurationError, ServiceError
from internal_linker.core.shown import redactor

Settle = Callable[[float], None]
# A page of results takes 20 to 200 kB: a larger answer than this doesn't come from the service.
MOST_BYTES = 5_000_000
CONNECT_S = 5.0
# With these statuses the service did no work; with another 5xx it may have done and charged the work.
NOT_SERVED = frozenset({500, 503})


@dataclass(frozen=True, slots=True)
class PaidService:
    """A service and its settings, as errors name them.

    Attributes:
        name: the service's name.
        key_file: the file with its key.
        address: the setting with its address.
        message: the field of a refusal with the reason.
    """

    name: str
    key_file: str
    address: str
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal: its status, its message, and the seconds that it asks us to wait."""

    status: int
    message: str
    retry_after: float | None = None

    @property
    def said(self) -> str:
        """Status and message, for a sentence."""
        return f"HTTP {self.status}: {self.message}" if self.message else f"HTTP {self.status}"


class JsonClient:
    """Sends requests to one service; thread-safe.

    Args:
        service: the service, as errors name it.
        key: the account's key, for removing it from errors; `headers` or `hidden` send it.
        url: the service's address, to which requests add their paths.
        refusal: returns the error for an answer with a special meaning in this service; None for any other.
        budget: the cap on credits.
        per_second: paid requests per second.
        in_flight: the count of threads that send requests at the same time, and of connections.
        timeout: seconds without data after which a request fails; a whole answer may take twice as long.
        headers: headers of each request.
        hidden: query parameters of each request that must not appear in logs or errors.

    Raises:
        ConfigurationError: the key or the address is malformed.
    """

    def __init__(
        self,
        service: PaidService,
        key: str,
        url: str,
        refusal: Callable[[Refused], ServiceError | None],
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        hidden: Mapping[str, str] | None = None,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", key):
            raise ConfigurationError(
                f"{service.key_file} must contain a {service.name} key: letters and digits on one line."
            )
        self._service, self._key, self._refusal = service, key, refusal
        self._budget, self._pacer, self._circuit = budget, Pacer(per_second), Circuit(service.name)
        self._stop: Callable[[], ServiceError] | None = None
        limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        try:
            self._client = bounded_client(
                MOST_BYTES,
                2 * timeout,
                base_url=url,
                headers=dict(headers or {}),
                timeout=httpx.Timeout(timeout, connect=CONNECT_S),
                limits=limits,
                transport=HiddenParameters(url, hidden, limits) if hidden else None,
            )
        except httpx.InvalidURL:
            raise ConfigurationError(
                f"{service.address} in config/settings.toml is not an address: {url}"
            ) from None

    @contextmanager
    def paid(self, most: float) -> Iterator[Settle]:
        """Wait for a request's turn and reserve the credits that it may cost; see `Budget.reserve`.

        Raises:
            BudgetReached: the request would exceed the cap.
            ServiceError: the error from `final`: no request of this client can succeed any more.
        """
        self._pacer.wait()
        if self._stop:
            raise self._stop()
        with self._budget.reserve(most) as settle:
            yield settle

    def ask(self, settle: Settle, method: str, path: str, **content: Any) -> dict[str, Any]:
        """Send one request and return the JSON object of its answer.

        Args:
            settle: called with 0 if the service certainly did no work.
            method: the HTTP method.
            path: the path below the service's address.
            content: `json` or `params`, as for `httpx.Client.request`.

        Raises:
            ServiceError: no usable answer came.
            ServiceDown: the circuit breaker is open; nothing was sent.
        """
        with self._circuit.closed():
            return self._answer(settle, method, path, content)

    def final(self, kind: type[ServiceError], problem: str) -> ServiceError:
        """Return an error that every later paid request raises without being sent."""
        self._stop = lambda: kind(self._service.name, problem)
        return self._stop()

    def shown(self, words: object) -> str:
        """Return the service's text as one short line without the key, for a message."""
        return " ".join(redactor([self._key])(str(words)).split())[:200].rstrip(".")

    def unreadable(self, why: str) -> ServiceError:
        """Return the retryable error for an answer that can't be used."""
        problem = f"the answer can't be used: {why}. Try again later."
        return ServiceError(self._service.name, problem, retryable=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _answer(self, settle: Settle, method: str, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        name = self._service.name
        try:
            status, headers, body = self._exchange(method, path, content)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            settle(0.0)
            raise ServiceError(
                name,
                f"no connection ({self.shown(error)}). Check that this computer is online.",
                retryable=True,
            ) from None
        except httpx.InvalidURL:
            settle(0.0)
            raise ServiceError(
                name, "the query is too long to send. Shorten it, or remove it from the main queries."
            ) from None
        except httpx.TimeoutException:
            raise ServiceError(name, "the answer was not complete in time.", retryable=True) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ServiceError(
                name, f"the connection failed ({type(error).__name__}).", retryable=True
            ) from None
        if status == 200:
            return self._parsed(body)
        if status < 500 or status in NOT_SERVED:
            settle(0.0)
        raise self._refused(Refused(status, self._message(body), retry_after(headers)))

    def _exchange(
        self, method: str, path: str, content: Mapping[str, Any]
    ) -> tuple[int, httpx.Headers, bytes]:
        try:
            response = self._client.request(method, path, **content)
        except TooLarge:
            raise self.unreadable(f"it is larger than {MOST_BYTES // 1_000_000} MB") from None
        return response.status_code, response.headers, response.content

    def _refused(self, refused: Refused) -> ServiceError:
        if error := self._refusal(refused):
            return error
        name, status = self._service.name, refused.status
        if status >= 500 or status == 408:
            problem = f"the service failed ({refused.said}). Try again later."
            return ServiceError(name, problem, retryable=True, retry_after=refused.retry_after)
        hint = f" Check {self._service.address} in config/settings.toml." if status != 400 else ""
        return ServiceError(name, f"the request was refused ({refused.said}).{hint}")

    def _parsed(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self.unreadable("it is not JSON") from None
        if not isinstance(answer, dict):
            raise self.unreadable("it is not a JSON object")
        return answer

    def _message(self, body: bytes) -> str:
        try:
            message = self._parsed(body).get(self._service.message)
        except ServiceError:
            return "the answer is not JSON; it may come from a proxy or firewall"
        return self.shown(message or "")


def not_charged(cost: float) -> None:
    """Settle a free request: ignore its cost."""
