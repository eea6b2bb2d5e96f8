"""Spend up to a cap while services fail, with many requests at a time, and check the servers' ledgers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass

from internal_linker.match.encoders.openai import OpenAIEmbeddings
from internal_linker.model.errors import ServiceError
from internal_linker.model.records import SerpMarket, Text
from internal_linker.sources.http.limits import Budget
from internal_linker.sources.serp.serper import Serper
from tests.end_to_end.faulty_services import FAULTS, VECTORS
from tests.standins import OpenAIStandIn, SerperStandIn

IN_FLIGHT = (1, 2, 4, 8, 16, 32)
# More than the caps below allow.
QUERIES, TEXTS = 80, 40 * 256
PRICE = 1.0


@dataclass(frozen=True)
class Spent:
    """The cost of one trial by the server's ledger, in the cap's unit, and by the client's count."""

    when: str
    cap: float
    charged: float
    counted: float

    def check(self) -> None:
        """Raise AssertionError if the server charged more than the cap allows or than the client counted."""
        assert self.charged <= self.cap + 1e-9, self
        assert self.charged <= self.counted + 1e-9, self


def spend(seed: int) -> Iterator[Spent]:
    """Yield trials of searches and vectors with each number of requests in flight; the seed draws the failures."""
    probability = (0.0, 0.3, 0.6)[seed % 3]
    for in_flight in IN_FLIGHT:
        yield _searches(seed, in_flight, probability)
        yield _vectors(seed, in_flight, probability)


def _searches(seed: int, in_flight: int, probability: float) -> Spent:
    budget = Budget("Serper", 20 + seed % 30, "max_serp_credits", "credits")
    with SerperStandIn(lambda words, site: ["https://a.example/"], balance=10**6, latency=0.002) as server:
        server.fail_at_random(probability, FAULTS[2:-1], seed)
        client = Serper(
            server.api_key,
            server.url,
            SerpMarket("serper"),
            budget=budget,
            per_second=10_000,
            in_flight=in_flight,
            timeout=10.0,
        )

        def search(number: int) -> None:
            with suppress(ServiceError):
                client.search(f"tea {number}", 1)

        with closing(client), ThreadPoolExecutor(in_flight) as pool:
            list(pool.map(search, range(QUERIES)))
        when = f"searches, seed {seed}, {in_flight} in flight, {probability:.0%}"
        return Spent(when, budget.cap, server.units, budget.spent)


def _vectors(seed: int, in_flight: int, probability: float) -> Spent:
    texts = [Text("", f"tea {number}") for number in range(TEXTS)]
    with OpenAIStandIn(dimensions=8, latency=0.002, rate_limit_tokens=10**9) as server:
        server.models["own"] = 8
        server.fail_at_random(probability, (*FAULTS[2:-1], *VECTORS), seed)
        budget = Budget("Embedding server", (20 + seed % 30) * 1e-3, "max_cost_usd", "US dollars")
        encoder = OpenAIEmbeddings(
            server.api_key,
            model="own",
            dimensions=0,
            base_url=f"{server.url}/v1",
            price_per_million=PRICE,
            max_input_tokens=100,
            budget=budget,
            in_flight=in_flight,
            timeout=10.0,
        )
        with closing(encoder), suppress(ServiceError):
            for _ in encoder.encode(texts):
                pass
        when = f"vectors, seed {seed}, {in_flight} in flight, {probability:.0%}"
        return Spent(when, budget.cap, server.units * PRICE / 1e6, budget.spent)
