"""The search step: eligible results for each source's main query, from the cache or from paid, concurrent searches."""

import math
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from internal_linker.model.errors import FINAL, SPENT, ConfigurationError, ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.records import (
    Searched,
    SerpHit,
    SerpMarket,
    SerpPage,
    SerpTarget,
    Source,
    Targets,
    fold_query,
)
from internal_linker.model.sequences import counted
from internal_linker.model.urls import within_site, without_tracking
from internal_linker.store.answers import SerpResultCache

if TYPE_CHECKING:
    # A lookup without searches starts without its HTTP client.
    from internal_linker.sources.serp.service import SearchService

# What Google would read as an operator in a main query; its words stay.
# A name with a space after its colon is a word, not an operator ("cache: how it works").
_OPERATOR = re.compile(
    r'["“”„|]|(?<!\S)[-+]+(?=\S)'
    r"|\b(site|(all)?in(url|title|text|anchor)|filetype|ext|related|cache|before|after):(?=\S)",
    re.IGNORECASE,
)


def search_text(template: str, query: str) -> str:
    """Return the search for a main query: the template with the query's words, without quotes and operators."""
    return " ".join(template.replace("{main_query}", _OPERATOR.sub(" ", query)).split())


def require_site(keys: Collection[str], site: str) -> int:
    """Return how many of the user's pages (normal forms) are in the searched site, a host and path.

    Raises:
        ConfigurationError: none of the pages is, so no search could find a target.
    """
    inside = sum(within_site(key, site) for key in keys)
    if keys and not inside:
        raise ConfigurationError(
            f"none of your {len(keys)} URLs is in site:{site}, so nothing was searched. "
            "Correct search_query_template in config/settings.toml, or use --no-serp."
        )
    return inside


def eligible_targets(
    source: Source,
    hits: Iterable[SerpHit],
    *,
    site: str,
    targets: Targets,
    excluded: Callable[..., str],
) -> tuple[SerpTarget, ...]:
    """Return the results that a new link of `source` may lead to, best first, each page once.

    A result that redirects to another page, or is a copy of one, is replaced by that page.

    Args:
        site: host and path that the search was limited to.
        excluded: returns the pattern that excludes a URL, "" if none does.
    """
    found: dict[str, SerpTarget] = {}
    for hit in hits:
        try:
            key = targets.hosts.key(hit.url)
        except ValueError:  # a result that is not a web page, such as a cached file, is not a target
            continue
        if (final := targets.aliases.get(key, "")) in targets.known:
            key = final
        url = targets.known.get(key) or (
            targets.url_of(key) and targets.hosts.written(without_tracking(hit.url))
        )
        fresh = url and key not in found and targets.new_to(source.end, key)
        if fresh and within_site(key, site) and not excluded(hit.url, url):
            found[key] = SerpTarget(key, url, hit.rank)
    return tuple(found.values())


def wants_another_page(
    found: int, wanted: int, pages_read: int, max_pages: int, last_page_hits: float, short_page: int
) -> bool:
    """Return whether to pay for another page.

    Links must be missing, the cap must allow it, and the last page must have had results, at least `short_page`.
    """
    return found < wanted and pages_read < max_pages and last_page_hits >= max(short_page, 1)


# After this many failed queries in a row, each tried several times, the service is down: stop searching.
FAILURES_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How to search.

    Attributes:
        template: the search, with {main_query} for the query.
        site: host and path that results must be in.
        max_pages: maximum of result pages to pay for, per query.
        wanted: count of eligible results that ends a search.
        excluded: returns the pattern that excludes a URL, "" if none does.
        short_page: a page with fewer results than this is the last one; 0: only an empty page is.
        in_flight, per_second, max_credits: maximum of concurrent searches, of searches per second, of credits.
    """

    template: str
    site: str
    max_pages: int
    wanted: int
    in_flight: int
    excluded: Callable[..., str]
    short_page: int = 0
    per_second: float = math.inf
    max_credits: float = math.inf


def group_by_search(sources: Sequence[Source], template: str) -> dict[str, dict[int, Source]]:
    """Group sources, with their positions, by their search; equal queries share the first one's spelling."""
    groups: dict[str, dict[int, Source]] = {}
    spelling: dict[str, str] = {}
    for position, source in enumerate(sources):
        if source.query:
            text = search_text(template, source.query)
            groups.setdefault(spelling.setdefault(fold_query(text), text), {})[position] = source
    return groups


def search_all(
    sources: Sequence[Source],
    client: "SearchService",
    cache: SerpResultCache,
    targets: Targets,
    rules: SearchRules,
    *,
    progress: Progress,
) -> Searched:
    """Search for every source with a main query.

    No credits, a refused key, a reached budget or a service that is down stop all further calls;
    the cache still answers, and `notes` has the reason for every source without results.
    """
    groups = group_by_search(sources, rules.template)
    search = _Search(client, cache, cache.get(list(groups), client.market), targets, rules)
    progress.start("Search results", len(groups), "queries")
    # Answers from the cache need no threads: matching patterns in many threads is slower than in one.
    asked = []
    for text, members in groups.items():
        if search.group(text, members, may_pay=False):
            progress.advance()
        else:
            asked.append((text, members))
    with ThreadPoolExecutor(rules.in_flight, thread_name_prefix="serp") as pool:
        futures = [pool.submit(search.group, text, members) for text, members in asked]
        try:
            for future in as_completed(futures):
                future.result()
                progress.advance()
        except BaseException:
            search.stop("the run was interrupted")
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    result = search.result
    progress.finish(
        f"{counted(len(groups), 'query', 'queries')}, {counted(result.calls, 'call')}, "
        f"{counted(result.credits, 'credit')}, "
        f"{counted(result.cached_pages, 'page')} from the cache, {counted(result.saved_pages, 'page')} saved"
    )
    return result


def search_cached(
    sources: Sequence[Source],
    market: SerpMarket,
    cache: SerpResultCache,
    targets: Targets,
    rules: SearchRules,
) -> Searched:
    """Return results from the cache, without calls; sources whose results are not all cached have none."""
    groups = group_by_search(sources, rules.template)
    search = _Search(None, cache, cache.get(list(groups), market), targets, rules)
    for text, members in groups.items():
        search.group(text, members, may_pay=False)
    return search.result


_SECONDS_A_SEARCH = 1.0
# Pages per new query where no earlier search of the site shows it: between the one that always is and the usual cap.
_PAGES_A_QUERY = 1.5


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What a search step would cost.

    Attributes:
        searches: count of different searches.
        least, most: bounds of the credits to spend, if no attempt fails.
        expected: credits as earlier results of the same searches suggest.
        seconds: how long the expected searches take.
    """

    searches: int = 0
    least: int = 0
    expected: int = 0
    most: int = 0
    seconds: float = 0.0


def search_cost(
    sources: Sequence[Source],
    market: SerpMarket,
    cache: SerpResultCache,
    targets: Targets,
    rules: SearchRules,
) -> SearchCost:
    """Return what `search_all` would cost, without a call: cached results show which pages it would need."""
    groups = group_by_search(sources, rules.template)
    kept = cache.get(list(groups), market)
    older = {**cache.get(list(groups), market, any_age=True), **kept}
    now, then = (_Search(None, cache, known, targets, rules) for known in (kept, older))
    least, most, replayed, unknown, pages = 0, 0, 0.0, 0, list[int]()
    for text, members in groups.items():
        read, complete = now.replay(text, members)
        if complete:
            continue
        least += 1
        rest = range(read + 1, rules.max_pages + 1)
        # The search step requests an empty first page a second time.
        most += sum((text, page) not in kept for page in rest) + (read == 0)
        known, whole = then.replay(text, members)
        if whole:
            pages.append(known)
            replayed += sum((text, page) not in kept for page in range(1, known + 1))
        else:
            unknown += 1
    usual = sum(pages) / len(pages) if pages else min(_PAGES_A_QUERY, rules.max_pages)
    usually = min(most, max(least, math.ceil(replayed + unknown * usual)))
    least, expected, most = (int(min(each, rules.max_credits)) for each in (least, usually, most))
    pace = min(rules.per_second, rules.in_flight / _SECONDS_A_SEARCH)
    return SearchCost(len(groups), least, expected, most, expected / pace)


@dataclass(slots=True)
class _Reading:
    """One search in progress: each source's targets, all hits, and the counts of pages and of the last page's hits."""

    found: dict[int, tuple[SerpTarget, ...]]
    hits: list[SerpHit] = field(default_factory=list)
    pages: int = 0
    last: float = math.inf


class _Search:
    def __init__(
        self,
        client: "SearchService | None",
        cache: SerpResultCache,
        kept: Mapping[tuple[str, int], SerpPage],
        targets: Targets,
        rules: SearchRules,
    ) -> None:
        self._client, self._cache, self._kept = client, cache, kept
        self._targets, self._rules = targets, rules
        self._lock = threading.Lock()
        self._failures = 0
        self.result = Searched()

    def stop(self, reason: str, *, spent: bool = False) -> None:
        with self._lock:
            if not self.result.problem:
                self.result.problem, self.result.spent = reason, spent

    def group(self, text: str, sources: Mapping[int, Source], *, may_pay: bool = True) -> bool:
        """Read result pages until every source of the group has enough; return False if that requires paying."""
        reading, note, paid = _Reading(dict.fromkeys(sources, ())), "", False
        while self._goes_on(reading):
            key = (text, reading.pages + 1)
            if not may_pay and key not in self._kept:
                return False
            try:
                answer = self._page(*key)
            except ServiceError as error:
                self._failed(error)
                note = str(error)
                break
            if answer is None:
                note = self.result.problem
                break
            paid |= key not in self._kept
            self._add(answer, reading, sources)
        if note:
            note = f"search cut short: {note}" if reading.pages else f"no search: {note}"
        with self._lock:
            self.result.targets |= reading.found
            self.result.cached_pages += sum(
                (text, page) in self._kept for page in range(1, reading.pages + 1)
            )
            self.result.saved_pages += paid and not note and self._goes_on(reading, 0)
            if note:
                self.result.notes |= dict.fromkeys(reading.found, note)
        return True

    def replay(self, text: str, sources: Mapping[int, Source]) -> tuple[int, bool]:
        """Return how many known pages a search would read now, and whether it would need no other page."""
        reading = _Reading(dict.fromkeys(sources, ()))
        while self._goes_on(reading):
            if (answer := self._kept.get((text, reading.pages + 1))) is None:
                return reading.pages, False
            self._add(answer, reading, sources)
        return reading.pages, True

    def _goes_on(self, reading: "_Reading", short_page: int | None = None) -> bool:
        rules, fewest = self._rules, min(map(len, reading.found.values()))
        short = rules.short_page if short_page is None else short_page
        return wants_another_page(fewest, rules.wanted, reading.pages, rules.max_pages, reading.last, short)

    def _add(self, answer: SerpPage, reading: "_Reading", sources: Mapping[int, Source]) -> None:
        hits = reading.hits
        hits += [SerpHit(link, len(hits) + at) for at, link in enumerate(answer.links, 1)]
        reading.pages, reading.last = reading.pages + 1, len(answer.links)
        reading.found = {position: self._eligible(source, hits) for position, source in sources.items()}

    def _page(self, text: str, page: int) -> SerpPage | None:
        if (kept := self._kept.get((text, page))) is not None:
            return kept
        if self.result.problem or self._client is None:
            return None
        answer = self._paid(self._client, text, page)
        if not answer.links and page == 1 and not self.result.problem:
            # An empty first page can be a transient error of the service, so try once more.
            answer = self._paid(self._client, text, page)
        self._cache.put(text, page, self._client.market, answer)
        return answer

    def _paid(self, client: "SearchService", text: str, page: int) -> SerpPage:
        answer = client.search(text, page)
        with self._lock:
            self._failures = 0
            self.result.calls += 1
            self.result.credits += answer.credits
        return answer

    def _failed(self, error: ServiceError) -> None:
        final = isinstance(error, FINAL)
        with self._lock:
            self._failures += 1
            down = self._failures >= FAILURES_IN_A_ROW
        if final or down:
            told = str(error) if final else f"{error} {FAILURES_IN_A_ROW} searches in a row failed."
            self.stop(told, spent=isinstance(error, SPENT))

    def _eligible(self, source: Source, hits: list[SerpHit]) -> tuple[SerpTarget, ...]:
        return eligible_targets(
            source, hits, site=self._rules.site, targets=self._targets, excluded=self._rules.excluded
        )
