"""Google's search results through serpapi.com."""

from collections.abc import Mapping
from typing import Any

from internal_linker.model.errors import ConfigurationError, CredentialsRefused, OutOfCredits, ServiceError
from internal_linker.model.records import SerpPage
from internal_linker.sources.serp.service import SearchRefused, SearchService, Settle, encodable

# A search returns one page, and Google shows ten results per page, whatever the request says.
RESULTS_A_PAGE = 10
# Texts of the status 429 that does not pass: the one that SerpApi documents, and an earlier one.
NO_SEARCHES_LEFT = ("run out of searches", "searches for the month")
MORE_SEARCHES = "Wait until its plan is renewed, or choose a larger one at serpapi.com/pricing."


class SerpApi(SearchService):
    """Sends the key as part of the URL, as SerpApi supports no other way; messages hide it.

    Each search counts as one credit. SerpApi repeats an answer from the last hour for free without saying so:
    the count may be higher than what the account was charged, never lower.
    """

    name = "SerpApi"
    timeout, reason, results, account = 60.0, "error", "organic_results", "/account.json"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._empty: set[tuple[str, int]] = set()

    def search(self, query: str, page: int) -> SerpPage:
        """Return the organic links of a result page; see `SearchService.search`."""
        answer = super().search(query, page)
        if not answer.links:
            self._empty.add((encodable(query), page))
        return answer

    def _credentials(self, key: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return {}, {"api_key": key}

    def _request(self, query: str, page: int) -> tuple[str, str, Mapping[str, Any]]:
        asked: dict[str, Any] = {"engine": "google", "q": query, **self.market.where}
        if page > 1:
            asked["start"] = RESULTS_A_PAGE * (page - 1)
        if (query, page) in self._empty:
            # SerpApi caches answers for an hour, so a second try after an empty page must bypass its cache.
            asked["no_cache"] = "true"
        return "GET", "/search.json", {"params": asked}

    def _settled(self, answer: Mapping[str, Any], settle: Settle) -> int:
        """Raise the error of a failed search with HTTP status 200; an `error` that means no results is a success."""
        metadata = answer.get("search_metadata")
        status = metadata.get("status") if isinstance(metadata, dict) else None
        if status == "Success":
            return self.credits_a_search
        if status == "Error":  # SerpApi does not charge failed searches
            settle(0.0)
        refused = SearchRefused(200, self._shown(answer.get("error") or f"the search's status is {status}"))
        problem = f"the search failed ({refused.message}). Try again later."
        raise self._refusal(refused) or ServiceError(self.name, problem, retryable=True)

    def _left(self, answer: Mapping[str, Any]) -> str:
        left, rate = int(answer["total_searches_left"]), int(answer["account_rate_limit_per_hour"])
        if left <= 0:
            raise ConfigurationError(
                f"the key is right, but the account has no searches left. {MORE_SEARCHES}"
            )
        return f"{left} searches left, {rate} an hour allowed"

    def _refusal(self, refused: SearchRefused) -> ServiceError | None:
        """Return the error for an answer without results; only its message tells one 429 from the other."""
        said, low = refused.said, refused.message.lower()
        if refused.status in (401, 403) or "invalid api key" in low:
            return self._final(
                CredentialsRefused,
                f"the key was refused ({said}). Put the key of serpapi.com/manage-api-key into "
                f"{self.key_file}.",
            )
        if any(words in low for words in NO_SEARCHES_LEFT):
            return self._final(OutOfCredits, f"the account has no searches left ({said}). {MORE_SEARCHES}")
        if refused.status == 429:
            problem = (
                f"more searches at once or per hour than the plan allows ({said}). Run again in an hour: "
                "results that were found are not paid for again."
            )
            return ServiceError(self.name, problem, retryable=True, retry_after=refused.retry_after)
        return None
