"""Google's search results through serpapi.com."""

from typing import Any

from internal_linker.adapters.http.json_client import JsonClient, PaidService, Refused, Settle, not_charged
from internal_linker.adapters.http.limits import FEW_ATTEMPTS, Budget, with_retries
from internal_linker.core.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.core.records import SerpMarket, SerpPage

SERPAPI = PaidService("SerpApi", "config/serpapi_api_key.txt", "serpapi_url", "error")
# A search returns one page, and Google shows ten results per page, whatever the request says.
CREDITS_A_SEARCH, RESULTS_A_PAGE = 1, 10
# Texts of the status 429 that does not pass: the one that SerpApi documents, and an earlier one.
NO_SEARCHES_LEFT = ("run out of searches", "searches for the month")
MORE_SEARCHES = "Wait until its plan is renewed, or choose a larger one at serpapi.com/pricing."


class SerpApi:
    """Implements `ports.SerpClient`; safe between threads.

    The key is part of the URL, as SerpApi supports no other way; `JsonClient` hides it in messages.

    Each search counts as one credit. SerpApi repeats an answer from the last hour for free without saying so:
    the count may be higher than what the account was charged, never lower.

    Args:
        api_key: the account's key.
        url: the service's address, without `/search.json` and `/account.json`.
        market: country, language and location of the search; an empty value is not sent.
        budget: credits; each attempt reserves one.
        per_second: maximum of searches per second.
        in_flight: count of threads that search concurrently; the client keeps as many connections.
        timeout: seconds of silence after which a request fails; SerpApi's own clients wait as long.

    Raises:
        ConfigurationError: the key or the address is invalid.
    """

    name = SERPAPI.name

    def __init__(
        self,
        api_key: str,
        url: str,
        market: SerpMarket,
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
        timeout: float = 60.0,
    ) -> None:
        self.market = market
        self._empty: set[tuple[str, int]] = set()
        self._http = JsonClient(
            SERPAPI,
            api_key,
            url,
            self._refusal,
            budget=budget,
            per_second=per_second,
            in_flight=in_flight,
            timeout=timeout,
            hidden={"api_key": api_key},
        )

    def search(self, query: str, page: int) -> SerpPage:
        """Return the organic links, unchanged, of result page `page` (from 1); an empty tuple without results.

        Raises:
            CredentialsRefused: the key is wrong; stop searching.
            OutOfCredits: the account has no searches left; stop searching.
            BudgetReached: one more credit would exceed the cap; nothing was sent.
            ServiceDown: the circuit breaker is open; nothing was sent, stop searching.
            ServiceError: no usable answer, after several attempts if the error was retryable.
        """
        # A URL can't encode lone surrogates, which broken exports contain.
        clean = query.encode("utf-8", "replace").decode()
        asked: dict[str, Any] = {"engine": "google", "q": clean, **self.market.where}
        if page > 1:
            asked["start"] = RESULTS_A_PAGE * (page - 1)
        if (clean, page) in self._empty:
            # SerpApi caches answers for an hour, so a second try after an empty page must bypass its cache.
            asked["no_cache"] = "true"
        answer = with_retries(lambda: self._search_once(asked))
        if not answer.links:
            self._empty.add((clean, page))
        return answer

    def check(self) -> str:
        """Return a sentence with the searches left and the plan's searches per hour; free.

        Raises:
            ConfigurationError: no searches are left.
            ServiceError: see `search`.
        """
        left, rate = with_retries(self._account, attempts=FEW_ATTEMPTS)
        if left <= 0:
            raise ConfigurationError(
                f"the key is right, but the account has no searches left. {MORE_SEARCHES}"
            )
        return f"{left} searches left, {rate} an hour allowed"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _account(self) -> tuple[int, int]:
        answer = self._http.ask(not_charged, "GET", "/account.json")
        try:
            return int(answer["total_searches_left"]), int(answer["account_rate_limit_per_hour"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._http.unreadable("its account page has no number of searches") from None

    def _search_once(self, asked: dict[str, Any]) -> SerpPage:
        with self._http.paid(CREDITS_A_SEARCH) as settle:
            answer = self._http.ask(settle, "GET", "/search.json", params=asked)
            self._require_success(answer, settle)
        organic = answer.get("organic_results") or []
        if not isinstance(organic, list):
            raise self._http.unreadable("its results are not a list")
        links = (entry.get("link") for entry in organic if isinstance(entry, dict))
        return SerpPage(tuple(link for link in links if isinstance(link, str) and link), CREDITS_A_SEARCH)

    def _require_success(self, answer: dict[str, Any], settle: Settle) -> None:
        """Raise the error of a failed search with HTTP status 200; an `error` that means no results is a success."""
        metadata = answer.get("search_metadata")
        status = metadata.get("status") if isinstance(metadata, dict) else None
        if status == "Success":
            return
        if status == "Error":  # SerpApi does not charge failed searches
            settle(0.0)
        refused = Refused(200, self._http.shown(answer.get("error") or f"the search's status is {status}"))
        problem = f"the search failed ({refused.message}). Try again later."
        raise self._refusal(refused) or ServiceError(self.name, problem, retryable=True)

    def _refusal(self, refused: Refused) -> ServiceError | None:
        """Return the error for an answer without results; only its message tells one 429 from the other."""
        said, low = refused.said, refused.message.lower()
        if refused.status in (401, 403) or "invalid api key" in low:
            return self._http.final(
                CredentialsRefused,
                f"the key was refused ({said}). Put the key of serpapi.com/manage-api-key into "
                f"{SERPAPI.key_file}.",
            )
        if any(words in low for words in NO_SEARCHES_LEFT):
            return self._http.final(
                OutOfCredits, f"the account has no searches left ({said}). {MORE_SEARCHES}"
            )
        if refused.status == 429:
            problem = (
                f"more searches at once or per hour than the plan allows ({said}). Run again in an hour: "
                "results that were found are not paid for again."
            )
            return ServiceError(self.name, problem, retryable=True, retry_after=refused.retry_after)
        return None
