"""The search services by the names that the setting serp_provider has for them."""

from collections.abc import Mapping
from typing import Protocol

from internal_linker.adapters.http.limits import Budget
from internal_linker.core.ports import SerpClient
from internal_linker.core.records import SerpMarket
from internal_linker.serp.serpapi import SerpApi
from internal_linker.serp.serper import Serper
from internal_linker.usecases.settings.settings import Settings


class SearchService(Protocol):
    """Makes the client of one search service; see `Serper` for the arguments."""

    name: str

    def __call__(
        self,
        api_key: str,
        url: str,
        market: SerpMarket,
        *,
        budget: Budget,
        per_second: float,
        in_flight: int,
    ) -> SerpClient:
        """The client; nothing is contacted yet."""


# A new service takes a file in serp/, a line here, and its name, key and address among the settings.
SEARCH_SERVICES: Mapping[str, SearchService] = {
    "serper": Serper,
    "serpapi": SerpApi,
}


def search_client(settings: Settings, market: SerpMarket) -> SerpClient:
    """The client of the market's provider, with its budget and pace."""
    service = SEARCH_SERVICES[market.provider]
    return service(
        settings.search_key(market.provider),
        settings.search_url(market.provider),
        market,
        budget=Budget(service.name, settings.max_serp_credits, "max_serp_credits", "credits"),
        per_second=settings.serp_requests_per_second,
        in_flight=settings.serp_requests_in_flight,
    )
