"""Main queries -> eligible search results for each source, from the cache or paid for, several at a time."""

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from internal_linker.core.errors import FINAL, ServiceError
from internal_linker.core.ports import Progress, SerpCache, SerpClient
from internal_linker.core.records import (
    Searched,
    SerpHit,
    SerpMarket,
    SerpPage,
    SerpTarget,
    Source,
    Targets,
    fold_query,
)
from internal_linker.core.urls import normal_form, within_site, without_tracking

# What Google would read as an operator inside a main query; the words themselves stay.
# A name with a space after its colon is no operator but a word ("cache: how it works").
_OPERATOR = re.compile(
    r'["“”„|]|(?<!\S)[-+]+(?=\S)'
    r"|\b(site|(all)?in(url|title|text|anchor)|filetype|ext|related|cache|before|after):(?=\S)",
    re.IGNORECASE,
)


def search_text(template: str, query: str) -> str:
    """The search for one main query: the template with the query's bare words, unquoted."""
    return " ".join(template.replace("{main_query}", _OPERATOR.sub(" ", query)).split())


def eligible_targets(
    source: Source,
    hits: Iterable[SerpHit],
    *,
    site: str,
    targets: Targets,
    excluded: Callable[..., str],
) -> tuple[SerpTarget, ...]:
    """The results that a new link of `source` may lead to, best first, each page once.

    A result that redirects, or is a copy of another page, stands for that page.

    Args:
        source: the page or query that links are wanted for.
        hits: results in the order of their rank.
        site: host and path that the search was narrowed to.
        targets: where links may lead.
        excluded: tells which pattern, if any, forbids a URL.
    """
    found: dict[str, SerpTarget] = {}
    for hit in hits:
        try:
            key = normal_form(hit.url)
        except ValueError:  # a result that is no web page, such as a file in a cache, is no target
            continue
        if (final := targets.aliases.get(key, "")) in targets.known:
            key = final
        url = targets.known.get(key) or (targets.url_of(key) and without_tracking(hit.url))
        fresh = url and key not in found and targets.new_to(source.end, key)
        if fresh and within_site(key, site) and not excluded(hit.url, url):
            found[key] = SerpTarget(key, url, hit.rank)
    return tuple(found.values())


def wants_another_page(found: int, wanted: int, pages_read: int, max_pages: int, last_page_hits: int) -> bool:
    """Whether to pay for the next page: links are still missing, the cap allows it, the last page was not the end."""
    return found < wanted and pages_read < max_pages and last_page_hits > 0


# A service that failed this many queries in a row, each tried several times, is down: stop asking.
FAILURES_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How to search.

    Attributes:
        template: the search with {main_query} in it.
        site: host and path that results must lie in.
        max_pages: result pages paid for at the most, for each query.
        wanted: eligible results that are enough.
        in_flight: searches under way at the same time.
        excluded: tells which pattern, if any, forbids a URL.
    """

    template: str
    site: str
    max_pages: int
    wanted: int
    in_flight: int
    excluded: Callable[..., str]


def group_by_search(sources: Sequence[Source], template: str) -> dict[str, dict[int, Source]]:
    """Group sources, with their places, by what is searched for: two with one query share its first spelling."""
    groups: dict[str, dict[int, Source]] = {}
    spelling: dict[str, str] = {}
    for place, source in enumerate(sources):
        if source.query:
            text = search_text(template, source.query)
            groups.setdefault(spelling.setdefault(fold_query(text), text), {})[place] = source
    return groups


def search_all(
    sources: Sequence[Source],
    client: SerpClient,
    cache: SerpCache,
    targets: Targets,
    rules: SearchRules,
    progress: Progress,
) -> Searched:
    """Search for every source with a main query.

    Out of credits, a refused key, a closed budget or a service that is down stop all further calls;
    the cache still answers, and every source that went without is told why in `notes`.
    """
    groups = group_by_search(sources, rules.template)
    search = _Search(client, cache, cache.get(list(groups), client.market), targets, rules)
    progress.start("Search results", len(groups), "queries")
    # What the cache answers takes no thread: matching patterns in many threads is slower than in one.
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
        f"{len(groups)} queries, {result.calls} calls, {result.credits} credits, "
        f"{result.cached_pages} pages from the cache"
    )
    return result


def search_cached(
    sources: Sequence[Source], market: SerpMarket, cache: SerpCache, targets: Targets, rules: SearchRules
) -> Searched:
    """What was paid for before, and no call: sources whose results aren't all there go without."""
    groups = group_by_search(sources, rules.template)
    search = _Search(None, cache, cache.get(list(groups), market), targets, rules)
    for text, members in groups.items():
        search.group(text, members, may_pay=False)
    return search.result


class _Search:
    """One step's shared state: the answers, the counts, and the reason to stop, if there is one."""

    def __init__(
        self,
        client: SerpClient | None,
        cache: SerpCache,
        kept: Mapping[tuple[str, int], SerpPage],
        targets: Targets,
        rules: SearchRules,
    ) -> None:
        self._client, self._cache, self._kept = client, cache, kept
        self._targets, self._rules = targets, rules
        self._lock = threading.Lock()
        self._failures = 0
        self.result = Searched()

    def stop(self, reason: str) -> None:
        with self._lock:
            self.result.problem = self.result.problem or reason

    def group(self, text: str, sources: Mapping[int, Source], *, may_pay: bool = True) -> bool:
        """Read result pages until every source of the group has enough; False if that takes a call it may not make."""
        hits: list[SerpHit] = []
        found: dict[int, tuple[SerpTarget, ...]] = dict.fromkeys(sources, ())
        note = ""
        pages, last = 0, 1
        while self._wants_another_page(found, pages, last):
            if not may_pay and (text, pages + 1) not in self._kept:
                return False
            try:
                answer = self._page(text, pages + 1)
            except ServiceError as error:
                self._failed(error)
                note = str(error)
                break
            if answer is None:
                note = self.result.problem
                break
            pages, last = pages + 1, len(answer.links)
            hits += [SerpHit(link, len(hits) + at) for at, link in enumerate(answer.links, 1)]
            found = {place: self._eligible(source, hits) for place, source in sources.items()}
        if note:
            note = f"search cut short: {note}" if pages else f"no search: {note}"
        with self._lock:
            self.result.targets |= found
            self.result.cached_pages += sum((text, page) in self._kept for page in range(1, pages + 1))
            if note:
                self.result.notes |= dict.fromkeys(found, note)
        return True

    def _wants_another_page(self, found: Mapping[int, tuple[SerpTarget, ...]], pages: int, last: int) -> bool:
        fewest = min(map(len, found.values()))
        return wants_another_page(fewest, self._rules.wanted, pages, self._rules.max_pages, last)

    def _page(self, text: str, page: int) -> SerpPage | None:
        if (kept := self._kept.get((text, page))) is not None:
            return kept
        if self.result.problem or self._client is None:
            return None
        answer = self._paid(self._client, text, page)
        if not answer.links and page == 1 and not self.result.problem:
            # An empty first page can be a passing fault of the service: one more try before it is believed.
            answer = self._paid(self._client, text, page)
        self._cache.put(text, page, self._client.market, answer)
        return answer

    def _paid(self, client: SerpClient, text: str, page: int) -> SerpPage:
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
            self.stop(str(error) if final else f"{error} {FAILURES_IN_A_ROW} searches in a row failed.")

    def _eligible(self, source: Source, hits: list[SerpHit]) -> tuple[SerpTarget, ...]:
        return eligible_targets(
            source, hits, site=self._rules.site, targets=self._targets, excluded=self._rules.excluded
        )
