"""The links on one page of Google's results for a query, through serpapi.com."""

from typing import Any

from internal_linker.adapters.http.json_client import JsonClient, PaidService, Refused, Settle, not_charged
from internal_linker.adapters.http.limits import FEW_ATTEMPTS, Budget, with_retries
from internal_linker.core.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.core.records import SerpMarket, SerpPage

SERPAPI = PaidService("SerpApi", "config/serpapi_api_key.txt", "serpapi_url", "error")
# One search is one page. Google shows ten results a page, whatever number is asked for.
CREDITS_A_SEARCH, RESULTS_A_PAGE = 1, 10
# In the one refusal, of status 429, that does not pass: what SerpApi documents, and what it said before.
NO_SEARCHES_LEFT = ("run out of searches", "searches for the month")
MORE_SEARCHES = "Wait until its plan is renewed, or choose a larger one at serpapi.com/pricing."


class SerpApi:
    """Implements `ports.SerpClient`; safe between threads.

    The key travels in the address, as SerpApi knows no other way: `JsonClient` hides it there.

    Each search counts as one credit. SerpApi answers a search that it answered within the hour for free, and
    does not say so: the count may be above what the account was charged for, never below.

    Args:
        api_key: the account's key.
        url: the service's address; `/search.json` and `/account.json` are put behind it.
        market: country, language and place of the search; an empty one is not sent.
        budget: credits; each attempt reserves one.
        per_second: the most searches a second.
        in_flight: how many threads will search at the same time; the number of connections kept.
        timeout: seconds of silence after which an answer is given up; SerpApi's own clients wait as long.

    Raises:
        ConfigurationError: the key or the address can't be one.
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
        """Organic links of result page `page` (from 1), as SerpApi gives them; no results are an empty tuple.

        Raises:
            CredentialsRefused: the key is wrong; stop asking.
            OutOfCredits: the account has no searches left; stop asking.
            BudgetReached: one more credit would pass the cap; nothing was sent.
            ServiceDown: nothing but failures for a while; nothing was sent, stop asking.
            ServiceError: no usable answer, after several tries where trying again could help.
        """
        # Half a surrogate pair, as broken exports hold it, can't be written in an address.
        clean = query.encode("utf-8", "replace").decode()
        asked: dict[str, Any] = {"engine": "google", "q": clean, **self.market.where}
        if page > 1:
            asked["start"] = RESULTS_A_PAGE * (page - 1)
        if (clean, page) in self._empty:
            # Asked again after an empty page: the answer that SerpApi keeps for an hour would be the same one.
            asked["no_cache"] = "true"
        answer = with_retries(lambda: self._search_once(asked))
        if not answer.links:
            self._empty.add((clean, page))
        return answer

    def check(self) -> str:
        """Ask how many searches are left, and how many the plan allows in an hour; free.

        Raises:
            ConfigurationError: no searches are left.
            ServiceError: as `search`.
        """
        left, rate = with_retries(self._account, attempts=FEW_ATTEMPTS)
        if left <= 0:
            raise ConfigurationError(
                f"the key is right, but the account has no searches left. {MORE_SEARCHES}"
            )
        return f"{left} searches left, {rate} an hour allowed"

    def close(self) -> None:
        """Give the connections back."""
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
            raise self._http.unreadable("its results are no list")
        links = (entry.get("link") for entry in organic if isinstance(entry, dict))
        return SerpPage(tuple(link for link in links if isinstance(link, str) and link), CREDITS_A_SEARCH)

    def _require_success(self, answer: dict[str, Any], settle: Settle) -> None:
        """Raise the error behind a status 200 that holds none; no results are a success, with an `error` beside it."""
        metadata = answer.get("search_metadata")
        status = metadata.get("status") if isinstance(metadata, dict) else None
        if status == "Success":
            return
        if status == "Error":  # SerpApi counts no search that failed
            settle(0.0)
        refused = Refused(200, self._http.shown(answer.get("error") or f"the search's status is {status}"))
        problem = f"the search failed ({refused.message}). Try again later."
        raise self._refusal(refused) or ServiceError(self.name, problem, retryable=True)

    def _refusal(self, refused: Refused) -> ServiceError | None:
        """The error behind an answer without results: a 429 can be said only by its message."""
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
                f"more searches at once or in an hour than the plan allows ({said}). Run again in an hour: "
                "what was found is not paid for again."
            )
            return ServiceError(self.name, problem, retryable=True, retry_after=refused.retry_after)
        return None
