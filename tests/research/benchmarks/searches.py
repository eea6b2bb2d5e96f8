"""The duration of the search step, compared with what the service's rate limit allows."""

import tempfile
import time
from pathlib import Path

from internal_linker.model.records import SerpMarket, Source, Targets
from internal_linker.project.settings.settings import Settings
from internal_linker.sources.http.limits import Budget
from internal_linker.sources.serp.search import SearchRules, search_all
from internal_linker.sources.serp.serper import Serper
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.engine import open_database
from tests.research.benchmarks.results import Row, middle
from tests.standins import SerperStandIn
from tests.support.builders import Told

LATENCY = 0.2
PER_SECOND = 50
SITE = "www.synthetic.example"


def searched(queries: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure this many queries of one result page each, with the default number of requests in flight."""
    seconds = [_once(queries) for _ in range(times)]
    limit = queries / PER_SECOND
    return [
        Row(
            f"{queries:,} queries, {LATENCY * 1000:.0f} ms each, {PER_SECOND} a second allowed",
            f"{middle(seconds):.1f}",
            f"{middle(seconds) / limit:.3f} of the limit's own {limit:.0f} s",
            "at most 1.1",
        )
    ], []


def _once(queries: int) -> float:
    urls = [f"https://{SITE}/{number}/" for number in range(20)]
    sources = [
        Source(f"{SITE}/{number}", f"https://{SITE}/{number}/", f"query {number}", None, in_sheet=False)
        for number in range(queries)
    ]
    in_flight = Settings.model_fields["serp_requests_in_flight"].default
    rules = SearchRules(f"site:{SITE} {{main_query}}", SITE, 2, 5, in_flight, lambda *_: "")
    with (
        tempfile.TemporaryDirectory() as folder,
        SerperStandIn(
            lambda words, site: urls, balance=10**9, rate_limit=PER_SECOND, latency=LATENCY
        ) as server,
    ):
        engine = open_database("sqlite:///cache.sqlite3", Path(folder))
        client = Serper(
            server.api_key,
            server.url,
            SerpMarket("serper"),
            budget=Budget("Serper", 10**9, "max_serp_credits", "credits"),
            per_second=PER_SECOND,
            in_flight=in_flight,
        )
        began = time.monotonic()
        found = search_all(
            sources,
            client,
            SerpResultCache(engine, 6),
            Targets({}, {}, any_on_site=True),
            rules,
            progress=Told(),
        )
        seconds = time.monotonic() - began
        client.close()
        engine.dispose()
    if found.problem or found.credits != queries:
        raise SystemExit(f"{found.credits} of {queries} searches were answered: {found.problem}")
    return seconds
