"""The clients of search services against their stand-ins, and what differs between them."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from internal_linker.model.records import SerpMarket
from internal_linker.sources.http.limits import Budget
from internal_linker.sources.serp.serpapi import SerpApi
from internal_linker.sources.serp.serper import Serper
from internal_linker.sources.serp.service import SearchService
from tests.standins import Fault, Reply, SerpApiStandIn, SerperStandIn
from tests.standins.serpapi import TOO_MANY, status

Searched = SerperStandIn | SerpApiStandIn
URLS = [f"https://shop.com/mag/page-{number}" for number in range(1, 24)]
QUERY = "site:shop.com/mag red shoes"


@dataclass(frozen=True)
class Kind:
    """What the tests must know of a service.

    Attributes:
        make: the client.
        stand_in: its stand-in.
        reason, results: the fields of a refusal and of an answer.
        rate_limit: a refusal that passes.
        own_faults: further failures that pass, with the credits that they cost.
        account: what `check` says.
    """

    make: type[SearchService]
    stand_in: Callable[..., Searched]
    reason: str
    results: str
    rate_limit: Mapping[str, str]
    account: str
    own_faults: Mapping[str, tuple[Fault, int]] = field(default_factory=dict)


KINDS = {
    "serper": Kind(
        Serper,
        SerperStandIn,
        "message",
        "organic",
        {"message": "Too many requests"},
        "2500 credits left, 5000 searches a second allowed",
    ),
    "serpapi": Kind(
        SerpApi,
        SerpApiStandIn,
        "error",
        "organic_results",
        {"error": TOO_MANY},
        "250 searches left, 10000 an hour allowed",
        {
            "failed search": (status("Error"), 0),
            "search under way": (status("Processing"), 1),
            "no status": (Reply(200, {"hello": 1}), 1),
        },
    ),
}


def kind_of(stand_in: Searched) -> Kind:
    return KINDS["serpapi" if isinstance(stand_in, SerpApiStandIn) else "serper"]


def credits(cap: float = 10) -> Budget:
    return Budget("Search", cap, "max_serp_credits", "credits")


def client(stand_in: Searched, budget: Budget | None = None, **changes: Any) -> Any:
    """Return a client of the stand-in, which closes it at its end."""
    kind = kind_of(stand_in)
    fixed: dict[str, Any] = {
        "api_key": stand_in.api_key,
        "url": stand_in.url,
        "market": SerpMarket(kind.make.name.lower()),
        "per_second": 1000,
        "in_flight": 16,
        "timeout": 0.4,
    }
    made = kind.make(**{**fixed, **changes}, budget=budget or credits(1000))
    stand_in.closing.enter_context(closing(made))
    return made
