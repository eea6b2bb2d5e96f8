"""A stand-in for serpapi.com: it answers queries with pages of organic results and counts searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.standins.base import Answer, RateLimit, Request, StandIn
from tests.standins.faults import Twist
from tests.standins.serper import PAGE, Answers, organic, split_site

NO_RESULTS = "Google hasn't returned any results for this query."
INVALID_KEY = "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"
RUN_OUT = "Your account has run out of searches."
TOO_MANY = "You have exceeded the number of searches per hour of your plan."


def status(word: str) -> Twist:
    """Return a fault that answers 200 with this search status and no results."""
    metadata = {"search_metadata": {"id": "0", "status": word}}
    return Twist(
        lambda body: metadata | ({"error": "We couldn't get valid results."} if word == "Error" else {})
    )


class SerpApiStandIn(StandIn):
    """GET /search.json and /account.json, with the key in the URL; repeated searches within an hour are free."""

    script_on = "GET /search"

    def __init__(
        self,
        answers: Answers,
        *,
        api_key: str = "test-serpapi-key",
        searches: int = 250,
        per_hour: int = 10_000,
        port: int = 0,
        latency: float = 0.0,
    ) -> None:
        super().__init__(port=port, latency=latency)
        self.answers = answers
        self.api_key = api_key
        self.searches = searches  # left in the plan's month
        self.rate_limit = RateLimit(per_hour, window=3600.0)
        self._kept: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}

    def reply(self, request: Request) -> Answer:
        """Check the key first, then answer a search or the account's state."""
        given = {name: values[0] for name, values in request.query.items()}
        if given.pop("api_key", "") != self.api_key:
            return _error(401, INVALID_KEY)
        if request.words == "GET /account.json":
            return Answer(body=self._account())
        if request.words != "GET /search.json":
            return _error(404, "Not Found")
        return self._search(given)

    def _account(self) -> dict[str, Any]:
        return {
            "account_id": "5ac54d6adefb2f1dba1663f5",
            "api_key": self.api_key,
            "account_email": "demo@example.com",
            "plan_name": "Free Plan",
            "plan_searches_left": self.searches,
            "extra_credits": 0,
            "total_searches_left": self.searches,
            "last_hour_searches": self.rate_limit.used,
            "account_rate_limit_per_hour": self.rate_limit.limit,
        }

    def _search(self, given: Mapping[str, str]) -> Answer:
        if not given.get("q", "").strip():
            return _error(400, "Missing query `q` parameter.")
        asked = {name: text for name, text in given.items() if name != "no_cache"}
        key = tuple(sorted(asked.items()))
        if key in self._kept and given.get("no_cache") != "true":
            return Answer(body=self._kept[key])
        if self.searches <= 0:
            return _error(429, RUN_OUT)
        if self.rate_limit.take():
            return _error(429, TOO_MANY)
        self.searches -= 1
        self._kept[key] = self._page(asked)
        return Answer(body=self._kept[key], units=1)

    def _page(self, asked: Mapping[str, str]) -> dict[str, Any]:
        start = int(asked.get("start", 0))
        words, site = split_site(asked["q"])
        results = list(self.answers(words, site))[start : start + PAGE]
        page: dict[str, Any] = {
            "search_metadata": {
                "id": f"{len(self._kept):024x}",
                "status": "Success",
                "google_url": f"https://www.google.com/search?q={words}",
            },
            "search_parameters": {**asked, "device": "desktop"},
            "search_information": {"query_displayed": asked["q"], "organic_results_state": "Fully empty"},
        }
        if not results:
            return {**page, "error": NO_RESULTS}
        page["search_information"]["organic_results_state"] = "Results for exact spelling"
        page["organic_results"] = [organic(result, place) for place, result in enumerate(results, start=1)]
        return page


def _error(code: int, message: str) -> Answer:
    return Answer(code, {"error": message})
