"""What all services of search results share: budget, rate limiter, circuit breaker and readable errors."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.records import SerpMarket, SerpPage
from internal_linker.model.redact import redactor
from internal_linker.sources.http.client import HiddenParameters, TooLarge, bounded_client
from internal_linker.sources.http.limits import (
    FEW_ATTEMPTS,
    NOT_SERVED,
    Budget,
    Circuit,
    Pacer,
    retry_after,
    with_retries,
)

Settle = Callable[[float], None]
SERVICES: "dict[str, type[SearchService]]" = {}
"""The search services by the names of their modules, as far as these were imported."""
# A page of results takes 20 to 200 kB: a larger answer than this doesn't come from the service.
MOST_BYTES = 5_000_000
CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class SearchRefused:
    """A refusal: its status, its message, and the seconds that it asks us to wait."""

    status: int
    message: str
    retry_after: float | None = None

    @property
    def said(self) -> str:
        """Status and message, for a sentence."""
        return f"HTTP {self.status}: {self.message}" if self.message else f"HTTP {self.status}"


def encodable(query: str) -> str:
    """Return a query without lone surrogates, which broken exports contain, and neither a URL nor JSON can encode."""
    return query.encode("utf-8", "replace").decode()


class SearchService(ABC):
    """A search service; safe between threads. A subclass registers itself by the name of its module.

    After the first answer that refuses the key or reports no credits, later searches of this client raise the same
    error without a request.

    Args:
        url: the service's address, to which requests add their paths.
        market: country, language and location of the search; an empty value is not sent.
        budget: credits; each attempt reserves one.
        per_second: maximum of searches per second.
        in_flight: count of threads that search concurrently; the client keeps as many connections.
        timeout: seconds of silence after which a request fails, and half of what a whole answer may take; None: as long
            as the service's own clients wait.

    Raises:
        ConfigurationError: the key or the address is malformed.
    """

    name: str
    # The file with the key, and the setting with the address; its module's name says them.
    key_file: str
    address: str
    # Seconds; the field of a refusal with the reason; the field of an answer with its results; the account's path.
    timeout: float
    reason: str
    results: str
    account: str
    credits_a_search: int = 1

    def __init_subclass__(cls) -> None:
        provider = cls.__module__.rpartition(".")[2]
        cls.key_file, cls.address = f"config/{provider}_api_key.txt", f"{provider}_url"
        SERVICES[provider] = cls

    def __init__(
        self,
        api_key: str,
        url: str,
        market: SerpMarket,
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
        timeout: float | None = None,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", api_key):
            raise ConfigurationError(
                f"{self.key_file} must contain a {self.name} key: letters and digits on one line."
            )
        self.market, self._key, seconds = market, api_key, timeout or self.timeout
        self._budget, self._pacer, self._circuit = budget, Pacer(per_second), Circuit(self.name)
        self._stop: Callable[[], ServiceError] | None = None
        limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        headers, hidden = self._credentials(api_key)
        try:
            self._client = bounded_client(
                MOST_BYTES,
                2 * seconds,
                base_url=url,
                headers=headers,
                timeout=httpx.Timeout(seconds, connect=CONNECT_S),
                limits=limits,
                transport=HiddenParameters(url, hidden, limits) if hidden else None,
            )
        except httpx.InvalidURL:
            raise ConfigurationError(
                f"{self.address} in config/settings.toml is not an address: {url}"
            ) from None

    @abstractmethod
    def _credentials(self, key: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return headers of each request, and query parameters that must not appear in logs or errors."""

    @abstractmethod
    def _request(self, query: str, page: int) -> tuple[str, str, Mapping[str, Any]]:
        """Return a search's method, path, and `json` or `params` as for `httpx.Client.request`."""

    @abstractmethod
    def _settled(self, answer: Mapping[str, Any], settle: Settle) -> int:
        """Return the credits that a search's answer cost; raise the error of an answer that has no results."""

    @abstractmethod
    def _refusal(self, refused: SearchRefused) -> ServiceError | None:
        """Return the error for an answer with a special meaning in this service; None for any other."""

    @abstractmethod
    def _left(self, answer: Mapping[str, Any]) -> str:
        """Return a sentence on what an account has left.

        Raises:
            ConfigurationError: nothing.
            LookupError, TypeError, ValueError, OverflowError: the answer doesn't say.
        """

    def search(self, query: str, page: int) -> SerpPage:
        """Return the organic links, unchanged, of result page `page` (from 1); an empty tuple without results.

        Raises:
            CredentialsRefused: the key is wrong, or its plan does not allow such a query; stop searching.
            OutOfCredits: the account has no credits left; stop searching.
            BudgetReached: one more credit would exceed the cap; nothing was sent.
            ServiceDown: the circuit breaker is open; nothing was sent, stop searching.
            ServiceError: no usable answer, after several attempts if the error was retryable.
        """
        return with_retries(lambda: self._search_once(*self._request(encodable(query), page)))

    def check(self) -> str:
        """Return a sentence with what the account has left and its rate; free.

        Raises:
            ConfigurationError: nothing is left.
            ServiceError: see `search`.
        """
        return with_retries(self._account, attempts=FEW_ATTEMPTS)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _account(self) -> str:
        answer = self._ask(lambda cost: None, "GET", self.account, {})
        try:
            return self._left(answer)
        except (LookupError, TypeError, ValueError, OverflowError):
            raise self._unreadable("its account page doesn't say what is left") from None

    def _search_once(self, method: str, path: str, content: Mapping[str, Any]) -> SerpPage:
        self._pacer.wait()
        if self._stop:
            raise self._stop()
        with self._budget.reserve(self.credits_a_search) as settle:
            answer = self._ask(settle, method, path, content)
            cost = self._settled(answer, settle)
        organic = answer.get(self.results) or []
        if not isinstance(organic, list):
            raise self._unreadable("its results are not a list")
        links = (entry.get("link") for entry in organic if isinstance(entry, dict))
        return SerpPage(tuple(link for link in links if isinstance(link, str) and link), cost)

    def _final(self, kind: type[ServiceError], problem: str) -> ServiceError:
        """Return an error that every later search raises without being sent."""
        self._stop = lambda: kind(self.name, problem)
        return self._stop()

    def _shown(self, words: object) -> str:
        return " ".join(redactor([self._key])(str(words)).split())[:200].rstrip(".")

    def _unreadable(self, why: str) -> ServiceError:
        problem = f"the answer can't be used: {why}. Try again later."
        return ServiceError(self.name, problem, retryable=True)

    def _ask(self, settle: Settle, method: str, path: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the JSON object of its answer; settle 0 if the service certainly did no work.

        Raises:
            ServiceError: no usable answer came, or the circuit breaker is open and nothing was sent.
        """
        with self._circuit.closed():
            try:
                response = self._client.request(method, path, **content)
            except TooLarge:
                raise self._unreadable(f"it is larger than {MOST_BYTES // 1_000_000} MB") from None
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
                settle(0.0)
                problem = f"no connection ({self._shown(error)}). Check that this computer is online."
                raise ServiceError(self.name, problem, retryable=True) from None
            except httpx.InvalidURL:
                settle(0.0)
                problem = "the query is too long to send. Shorten it, or remove it from the main queries."
                raise ServiceError(self.name, problem) from None
            except httpx.TimeoutException:
                raise ServiceError(
                    self.name, "the answer was not complete in time.", retryable=True
                ) from None
            except (httpx.HTTPError, httpx.StreamError) as error:
                problem = f"the connection failed ({type(error).__name__})."
                raise ServiceError(self.name, problem, retryable=True) from None
            if response.status_code == 200:
                return self._parsed(response.content)
            if response.status_code < 500 or response.status_code in NOT_SERVED:
                settle(0.0)
            asked = retry_after(response.headers)
            raise self._refused(SearchRefused(response.status_code, self._message(response.content), asked))

    def _refused(self, refused: SearchRefused) -> ServiceError:
        if error := self._refusal(refused):
            return error
        if refused.status >= 500 or refused.status == 408:
            problem = f"the service failed ({refused.said}). Try again later."
            return ServiceError(self.name, problem, retryable=True, retry_after=refused.retry_after)
        hint = f" Check {self.address} in config/settings.toml." if refused.status != 400 else ""
        return ServiceError(self.name, f"the request was refused ({refused.said}).{hint}")

    def _parsed(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self._unreadable("it is not JSON") from None
        if not isinstance(answer, dict):
            raise self._unreadable("it is not a JSON object")
        return answer

    def _message(self, body: bytes) -> str:
        try:
            return self._shown(self._parsed(body).get(self.reason) or "")
        except ServiceError:
            return "the answer is not JSON; it may come from a proxy or firewall"
