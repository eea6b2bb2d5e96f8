"""A query and the number of a result page in, that page's links out: Google's results through serper.dev."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from internal_linker.adapters.http.client import TooLarge, bounded_client
from internal_linker.adapters.http.limits import (
    FEW_ATTEMPTS,
    Budget,
    Circuit,
    Pacer,
    retry_after,
    with_retries,
)
from internal_linker.core.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.core.records import SerpPage

NAME = "Serper"
KEY_FILE = "config/serper_api_key.txt"
CREDITS_A_SEARCH = 1
# A page of ten results takes some 20 kB: an answer above this comes from something else than Serper.
MOST_BYTES = 5_000_000
CONNECT_S = 5.0
# The service's own word that it did no work; behind another 5xx it may have been done and charged.
NOT_SERVED = frozenset({500, 503})


def market_of(gl: str, hl: str, location: str) -> str:
    """What results are kept under, beside the query: where they were asked for."""
    return f"{gl}|{hl}|{location}"


class Serper:
    """Implements `ports.SerpClient`; safe between threads.

    The first answer that says "bad key" or "no credits" holds for the rest of this client's life: later
    searches raise the same error without a request.

    Args:
        api_key: the account's key.
        url: the service's address; `/search` and `/account` are put behind it.
        gl, hl, location: country, language and place of the search; an empty one is not sent.
        budget: credits; each attempt reserves one, and is settled with what the answer says it cost.
        per_second: searches a second at the most.
        in_flight: how many threads will search at the same time; the number of connections kept.
        timeout: seconds of silence after which an answer is given up; the whole answer may take twice that.

    Raises:
        ConfigurationError: the key or the address can't be one.
    """

    name = NAME

    def __init__(
        self,
        api_key: str,
        url: str = "https://google.serper.dev",
        gl: str = "",
        hl: str = "",
        location: str = "",
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
        timeout: float = 30.0,
    ) -> None:
        if not re.fullmatch(r"[!-~]+", api_key):
            raise ConfigurationError(f"{KEY_FILE} must hold a Serper key: letters and digits on one line.")
        self.market = market_of(gl, hl, location)
        self._where = {
            name: value for name, value in (("gl", gl), ("hl", hl), ("location", location)) if value
        }
        self._key, self._budget, self._pacer, self._timeout = api_key, budget, Pacer(per_second), timeout
        self._circuit = Circuit(NAME)
        self._stop: Callable[[], ServiceError] | None = None
        try:
            self._client = bounded_client(
                MOST_BYTES,
                2 * timeout,
                base_url=url,
                headers={"X-API-KEY": api_key},
                timeout=httpx.Timeout(timeout, connect=CONNECT_S),
                limits=httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight),
            )
        except httpx.InvalidURL:
            raise ConfigurationError(f"serper_url in config/settings.toml is not an address: {url}") from None

    def search(self, query: str, page: int) -> SerpPage:
        """Organic links of result page `page` (from 1), as Serper gives them; no results are an empty tuple.

        Raises:
            CredentialsRefused: the key is wrong, or its plan does not allow such a query; stop asking.
            OutOfCredits: the account is empty; stop asking.
            BudgetReached: one more credit would pass the cap; nothing was sent.
            ServiceDown: nothing but failures for a while; nothing was sent, stop asking.
            ServiceError: no usable answer, after several tries where trying again could help.
        """
        # Half a surrogate pair, as broken exports hold it, can't be written as JSON in UTF-8.
        clean = query.encode("utf-8", "replace").decode()
        return with_retries(lambda: self._search_once({"q": clean, "page": page, **self._where}))

    def account(self) -> tuple[int, float]:
        """Credits left and searches a second that the plan allows; free of charge, and some minutes behind.

        Raises:
            ServiceError: as `search`.
        """

        def ask() -> tuple[int, float]:
            answer = self._ask("GET", "/account", None, _not_charged)
            try:
                return int(answer["balance"]), float(answer["rateLimit"])
            except (KeyError, TypeError, ValueError, OverflowError):
                raise _unreadable("its account page has no balance") from None

        return with_retries(ask, attempts=FEW_ATTEMPTS)

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def _search_once(self, payload: Mapping[str, Any]) -> SerpPage:
        self._pacer.wait()
        if self._stop:
            raise self._stop()
        with self._budget.reserve(CREDITS_A_SEARCH) as settle:
            answer = self._ask("POST", "/search", payload, settle)
            cost = _cost(answer.get("credits"))
            settle(cost)
        organic = answer.get("organic") or []
        if not isinstance(organic, list):
            raise _unreadable("its results are no list")
        links = (entry.get("link") for entry in organic if isinstance(entry, dict))
        return SerpPage(tuple(link for link in links if isinstance(link, str) and link), cost)

    def _ask(
        self, method: str, path: str, payload: Mapping[str, Any] | None, settle: Callable[[float], None]
    ) -> dict[str, Any]:
        """One request; `settle` is told 0 where the service surely did no work."""
        with self._circuit.closed():
            return self._answer(method, path, payload, settle)

    def _answer(
        self, method: str, path: str, payload: Mapping[str, Any] | None, settle: Callable[[float], None]
    ) -> dict[str, Any]:
        try:
            status, headers, body = self._exchange(method, path, payload)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            settle(0.0)
            raise ServiceError(
                NAME, f"no connection ({self._shown(error)}). Is this computer online?", retryable=True
            ) from None
        except httpx.TimeoutException:
            raise ServiceError(NAME, "no whole answer in time.", retryable=True) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ServiceError(
                NAME, f"the connection broke ({type(error).__name__}).", retryable=True
            ) from None
        if status == 200:
            return _parsed(body)
        if status < 500 or status in NOT_SERVED:
            settle(0.0)
        raise self._refusal(status, headers, body)

    def _exchange(
        self, method: str, path: str, payload: Mapping[str, Any] | None
    ) -> tuple[int, httpx.Headers, bytes]:
        try:
            response = self._client.request(method, path, json=payload)
        except TooLarge:
            raise _unreadable(f"it is larger than {MOST_BYTES // 1_000_000} MB") from None
        return response.status_code, response.headers, response.content

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> ServiceError:
        """The error behind a status that is not 200: a 400 can be said only by its message."""
        message = self._message(body)
        said = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        low = message.lower()
        if status in (401, 403):
            return self._final(
                CredentialsRefused,
                f"the key was refused ({said}). Put the key of serper.dev/api-key into {KEY_FILE}.",
            )
        if status == 402 or (status == 400 and "credit" in low):
            return self._final(
                OutOfCredits, f"the account has no credits left ({said}). Buy more at serper.dev/billing."
            )
        if status == 400 and "not allowed" in low:
            return self._final(
                CredentialsRefused,
                f"the plan of this key does not allow such a search ({said}). Buy credits at serper.dev, "
                'or set serp_provider = "none" in config/settings.toml to link without search results.',
            )
        if status == 429:
            problem = (
                f"too many searches at once ({said}). Lower serp_requests_per_second in config/settings.toml."
            )
            return ServiceError(NAME, problem, retryable=True, retry_after=retry_after(headers))
        if status >= 500 or status == 408:
            problem = f"it has a fault of its own ({said}). Try again later."
            return ServiceError(NAME, problem, retryable=True, retry_after=retry_after(headers))
        hint = " Check serper_url in config/settings.toml." if status != 400 else ""
        return ServiceError(NAME, f"the request was refused ({said}).{hint}")

    def _final(self, kind: type[ServiceError], problem: str) -> ServiceError:
        """The error, kept so that no thread sends another search."""
        self._stop = lambda: kind(NAME, problem)
        return self._stop()

    def _message(self, body: bytes) -> str:
        try:
            message = _parsed(body).get("message")
        except ServiceError:
            return "the answer is no JSON; a proxy or firewall may have written it"
        return self._shown(message or "")

    def _shown(self, words: object) -> str:
        """Foreign words for a message: one short line without the key."""
        return " ".join(str(words).replace(self._key, "***").split())[:200].rstrip(".")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise _unreadable("it is no JSON") from None
    if not isinstance(answer, dict):
        raise _unreadable("it is no JSON object")
    return answer


def _unreadable(why: str) -> ServiceError:
    return ServiceError(NAME, f"the answer can't be used: {why}. Try again later.", retryable=True)


def _cost(said: object) -> int:
    """What the answer says it cost; one credit where it says nothing sensible."""
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else CREDITS_A_SEARCH


def _not_charged(cost: float) -> None:
    """Settle a free call."""
