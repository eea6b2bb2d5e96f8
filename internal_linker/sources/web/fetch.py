"""Fetching: gets each page of a list of URLs once, and records why others have none."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from internal_linker.model.errors import ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.records import FetchedPage, ReadReport, Reject
from internal_linker.model.urls import NormalForms, encoded, normal_form
from internal_linker.sources.web.client import (
    Answer,
    FetchRefused,
    NoAnswer,
    SiteClient,
    host_of,
    site_of,
    target_of,
)
from internal_linker.sources.web.html_page import decode_page, read_page
from internal_linker.sources.web.page_table import LinkSpool, Row, cells_of_answer, cells_of_page
from internal_linker.sources.web.saved_pages import MOST_BYTES
from internal_linker.sources.web.site_files import Robots
from internal_linker.store.answers import StoredPages

_MOST_HOPS = 10
# After this many requests in a row without an answer, or with a request to retry later, a host is given up.
_GIVE_UP = 10
_KINDS = ("text/html", "application/xhtml+xml")
# Headers that an import reads later.
_HEADERS = ("content-type", "content-language", "x-robots-tag", "link", "etag", "last-modified")
_AGAIN = "Import again later, perhaps with a longer --delay: fetched pages with an ETag or a date are cached."
FETCHED, UNCHANGED, FAILED = "Pages fetched", "Pages unchanged since they were fetched", "Pages that failed"
DISALLOWED, ELSEWHERE = "disallowed by robots.txt", "redirects to another site"
NOT_HTML = "not an HTML page"


@dataclass(frozen=True, slots=True)
class Visit:
    """The result of a URL; with status 200 its page is in the cache."""

    url: str
    status: int  # the HTTP status of its answer
    redirect: str = ""  # the URL that it redirects to, "" if it doesn't


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch."""

    name: str  # the name of the list of URLs in rejects
    urls: Sequence[tuple[int, str]]  # the URLs, each with its row in the list
    # Returns why not to fetch a page, by its normal form; "": fetch it
    reason: Callable[[str], str] = lambda _: ""
    limit: int = 0  # maximum of rows, including those of redirects and errors; 0: all


class Fetcher:
    """Visits pages one after another, and caches each at once, so that an interrupted import loses nothing."""

    def __init__(self, client: SiteClient, robots: Robots, cache: StoredPages) -> None:
        self._client, self._robots, self._cache = client, robots, cache
        self._failures = Counter[str]()
        self._given_up: dict[str, str] = {}
        self._refused: FetchRefused | None = None

    def visit(self, order: Order, asides: ReadReport, progress: Progress) -> list[Visit]:
        """Fetch all allowed pages, each once, and follow redirects within the site.

        The URLs of a host that can't be read, or that keeps failing, are rejected; the others are fetched.

        Raises:
            Refused: a host is in a private network, and no page was fetched from any other.
            ServiceError: a host was given up, and no page was fetched from any other.
        """
        visits, seen = list[Visit](), set[str]()
        for number, start in order.urls:
            waiting = deque([encoded(start.partition("#")[0])])
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
                # A redirect to another spelling of the same page has no row of its own.
                if not visit.redirect or _other_page(visit):
                    visits.append(visit)
                if visit.redirect and site_of(visit.redirect) == site_of(url):
                    waiting.append(visit.redirect)
                elif visit.redirect:
                    asides.left_out[ELSEWHERE] += 1
            progress.advance()
        gaps = [f"{host} was given up: {reason}." for host, reason in self._given_up.items()]
        if gaps and not (asides.facts[FETCHED] or asides.facts[UNCHANGED]):
            if self._refused:
                raise self._refused
            raise ServiceError(
                "The site", f"{gaps[0]} No page was fetched, and no table was changed. {_AGAIN}"
            )
        asides.gaps.extend(f"{gap} {_AGAIN}" for gap in gaps)
        return visits

    def rows(self, name: str, visits: Iterable[Visit], links: LinkSpool, asides: ReadReport) -> Iterator[Row]:
        """Yield the row of each visit, and put its page's links into the spool."""
        for number, visit in enumerate(visits, 1):
            if visit.status != 200:
                yield number, cells_of_answer(visit.url, visit.status, visit.redirect)
                continue
            kept = self._cache.get(visit.url)
            if kept is None:
                asides.rejects.append(
                    Reject(name, number, visit.url, "its page in the cache is damaged: import again")
                )
                continue
            html = decode_page(kept.body, kept.headers.get("content-type", ""))
            page = read_page(html, visit.url, kept.headers)
            links.put(visit.url, page.links)
            yield number, cells_of_page(page, asides, str(visit.status))

    def _visit(self, url: str, hops: int, reject: Reject, order: Order, asides: ReadReport) -> Visit | None:
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
        host = host_of(url)
        if host in self._given_up:
            rejected(f"it was not fetched because its host was given up: {self._given_up[host]}")
            return None
        try:
            allowed = self._robots.allow(url)
        except (ServiceError, FetchRefused) as error:
            self._given_up[host] = _reason(error, host)
            self._refused = error if isinstance(error, FetchRefused) else self._refused
            rejected(f"it can't be fetched: {self._given_up[host]}")
            return None
        if not allowed:
            asides.left_out[DISALLOWED] += 1
            return None
        try:
            return self._fetched(url, asides)
        except (NoAnswer, FetchRefused) as error:
            asides.facts[FAILED] += 1
            rejected(f"it can't be fetched: {error}")
            self._count_failure(host, _reason(error, host))
            return None

    def _fetched(self, url: str, asides: ReadReport) -> Visit | None:
        kept = self._cache.get(url)
        answer = self._client.get(url, _conditions(kept), most=MOST_BYTES, wanted=_is_page)
        if answer.status in (429, 503):
            self._count_failure(host_of(url), "it asks to retry later")
        else:
            self._failures[host_of(url)] = 0
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

    def _count_failure(self, host: str, reason: str) -> None:
        self._failures[host] += 1
        if self._failures[host] >= _GIVE_UP:
            self._given_up[host] = f"{_GIVE_UP} requests in a row had no answer; the last: {reason}"


def _reason(error: Exception, host: str) -> str:
    return str(error).removeprefix(f"{host}: ").rstrip(".")


def _other_page(visit: Visit) -> bool:
    forms = NormalForms()
    return forms[visit.redirect] != forms[visit.url]


def _is_page(answer: Answer) -> bool:
    """Return whether an answer is a page, by its status and content type; without a type, it is one."""
    kind = answer.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return answer.status == 200 and kind in _KINDS


def _looked_at(answer: Answer) -> dict[str, str]:
    return {name: answer.headers[name][:10_000] for name in _HEADERS if name in answer.headers}


def _conditions(kept: FetchedPage | None) -> dict[str, str]:
    """Return the headers of a conditional request, so that the server does not send an unchanged page again."""
    if kept is None:
        return {}
    names = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
    return {name: kept.headers[header] for name, header in names if kept.headers.get(header)}
