"""URLs -> their pages, each fetched once, and what became of those that gave none."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from internal_linker.core.errors import ServiceError
from internal_linker.core.ports import Progress
from internal_linker.core.records import Asides, FetchedPage, PageCache, Reject
from internal_linker.core.urls import NormalForms, normal_form
from internal_linker.ingest.web.client import Answer, NoAnswer, Refused, SiteClient, site_of, target_of
from internal_linker.ingest.web.html_page import decoded, read_page
from internal_linker.ingest.web.page_table import LinkSpool, Row, cells_of_answer, cells_of_page
from internal_linker.ingest.web.robots import Robots
from internal_linker.ingest.web.saved_pages import MOST_BYTES

_MOST_HOPS = 10
# Requests in a row without an answer, or with a plea for patience: the site is gone.
_GONE = 10
_KINDS = ("text/html", "application/xhtml+xml")
# What is looked at later of an answer's head.
_HEADERS = ("content-type", "content-language", "x-robots-tag", "link", "etag", "last-modified")
FETCHED, UNCHANGED, FAILED = "Pages fetched", "Pages unchanged since they were fetched", "Pages that failed"
DISALLOWED, ELSEWHERE = "disallowed by robots.txt", "redirects to another site"
NOT_HTML = "no HTML page"


@dataclass(frozen=True, slots=True)
class Visit:
    """What a URL gave: with 200 its page is in the cache.

    Attributes:
        redirect: where it leads instead, "" if nowhere else.
    """

    url: str
    status: int
    redirect: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch.

    Attributes:
        name: what rejects call the list of URLs.
        urls: each with its row in the list.
        reason: why a page is not fetched, by its normal form; "" if it is.
        limit: rows at the most, those of redirects and errors among them; 0: all.
    """

    name: str
    urls: Sequence[tuple[int, str]]
    reason: Callable[[str], str] = lambda _: ""
    limit: int = 0


class Fetcher:
    """Visits pages one after the other; what it fetched is in the cache at once, so that nothing is lost.

    Args:
        client: asks the hosts.
        robots: their rules.
        cache: keeps the pages.
    """

    def __init__(self, client: SiteClient, robots: Robots, cache: PageCache) -> None:
        self._client, self._robots, self._cache = client, robots, cache
        self._failures = 0

    def visit(self, order: Order, asides: Asides, progress: Progress) -> list[Visit]:
        """Fetch all that may be fetched; redirects are followed within the site, each page once.

        Args:
            order: what to fetch.
            asides: what gave no page.
            progress: advances by each URL.

        Raises:
            ServiceError: the site is gone, or a host doesn't give its robots.txt.
        """
        visits, seen = list[Visit](), set[str]()
        for number, start in order.urls:
            waiting = deque([start.partition("#")[0]])
            for hops in range(_MOST_HOPS + 2):
                if not waiting or waiting[0] in seen:
                    break
                url = waiting.popleft()
                seen.add(url)
                if order.limit and len(visits) >= order.limit:
                    asides.left_out["beyond --limit"] += 1
                    break
                visit = self._visit(url, hops, Reject(order.name, number, url, ""), order, asides)
                if visit is None:
                    continue
                # Of a page that only changes its own spelling there is one row.
                if not visit.redirect or _other_page(visit):
                    visits.append(visit)
                if visit.redirect and site_of(visit.redirect) == site_of(url):
                    waiting.append(visit.redirect)
                elif visit.redirect:
                    asides.left_out[ELSEWHERE] += 1
            progress.advance()
        return visits

    def rows(self, name: str, visits: Iterable[Visit], links: LinkSpool, asides: Asides) -> Iterator[Row]:
        """The row of each visit, with its page's links in the spool."""
        for number, visit in enumerate(visits, 1):
            if visit.status != 200:
                yield number, cells_of_answer(visit.url, visit.status, visit.redirect)
                continue
            kept = self._cache.get(visit.url)
            if kept is None:
                asides.rejects.append(
                    Reject(name, number, visit.url, "what was fetched is damaged: import again")
                )
                continue
            html = decoded(kept.body, kept.headers.get("content-type", ""))
            page = read_page(html, visit.url, kept.headers)
            links.put(visit.url, page.links)
            yield number, cells_of_page(page, asides, str(visit.status))

    def _visit(self, url: str, hops: int, reject: Reject, order: Order, asides: Asides) -> Visit | None:
        """One URL; None where it gave nothing for a row."""

        def rejected(reason: str) -> None:
            asides.rejects.append(Reject(reject.table, reject.row, url, reason))

        try:
            key = normal_form(url)
        except ValueError as error:
            rejected(str(error))
            return None
        if reason := order.reason(key):
            asides.left_out[reason] += 1
            return None
        if hops > _MOST_HOPS:
            rejected(f"more than {_MOST_HOPS} redirects lead here")
            return None
        if not self._robots.allow(url):
            asides.left_out[DISALLOWED] += 1
            return None
        try:
            return self._fetched(url, asides)
        except (NoAnswer, Refused) as error:
            asides.facts[FAILED] += 1
            rejected(f"it can't be fetched: {error}")
            self._count_failure(error)
            return None

    def _fetched(self, url: str, asides: Asides) -> Visit | None:
        kept = self._cache.get(url)
        answer = self._client.get(url, _conditions(kept), most=MOST_BYTES, wanted=_is_page)
        if answer.status in (429, 503):
            self._count_failure(None)
        else:
            self._failures = 0
        if answer.status == 304 and kept:
            head = {**kept.headers, **_looked_at(answer)}
            self._cache.put(FetchedPage(url, head, kept.body))
            asides.facts[UNCHANGED] += 1
            return Visit(url, 200)
        if answer.status == 200 and not _is_page(answer):
            asides.left_out[NOT_HTML] += 1
            return None
        if answer.status == 200:
            self._cache.put(FetchedPage(url, _looked_at(answer), answer.body))
            asides.facts[FETCHED] += 1
            return Visit(url, 200)
        asides.facts[FAILED] += answer.status >= 400
        return Visit(url, answer.status, target_of(answer, url))

    def _count_failure(self, error: ServiceError | Refused | None) -> None:
        """One more in a row.

        Raises:
            ServiceError: they are too many.
        """
        self._failures += 1
        if self._failures >= _GONE:
            last = str(error) if error else "it asks for patience"
            raise ServiceError(
                "The site",
                f"{_GONE} requests in a row had no answer; the last: {last}. No table was changed. Import again later, "
                "perhaps with a longer --delay: pages that were fetched and say how to tell a change are kept.",
            )


def _other_page(visit: Visit) -> bool:
    forms = NormalForms()
    return forms[visit.redirect] != forms[visit.url]


def _is_page(answer: Answer) -> bool:
    """Whether an answer's head is that of a page; a server that says nothing of its kind means one."""
    kind = answer.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return answer.status == 200 and kind in _KINDS


def _looked_at(answer: Answer) -> dict[str, str]:
    return {name: answer.headers[name][:10_000] for name in _HEADERS if name in answer.headers}


def _conditions(kept: FetchedPage | None) -> dict[str, str]:
    """What to ask with, so that an unchanged page is not sent again."""
    if kept is None:
        return {}
    names = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
    return {name: kept.headers[header] for name, header in names if kept.headers.get(header)}
