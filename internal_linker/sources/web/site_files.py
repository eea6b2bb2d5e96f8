"""What a site tells crawlers: the rules of robots.txt, and sitemaps with the URLs of its pages."""

import io
import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError, iterparse

from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import InputError, ServiceError
from internal_linker.model.records import ReadReport, Reject
from internal_linker.sources.http.client import Damaged, Oversized, decompressed
from internal_linker.sources.web.client import (
    MOST_BYTES,
    NOT_ALLOWED,
    PROTECTED,
    ROBOT,
    NoAnswer,
    SiteClient,
    fetch_whole,
    site_of,
)

# Maximum bytes of a robots.txt, as for search engines.
_MOST_BYTES = 500_000
# Maximum seconds between two pages, even for hosts that ask for more.
LONGEST_DELAY_S = 60.0


class Robots:
    """The rules of all hosts, fetched when needed."""

    def __init__(self, client: SiteClient) -> None:
        self._client = client
        self._rules: dict[str, Any] = {}  # Protego's
        self.remarks: list[str] = []
        """Remarks on the rules, one sentence each."""

    def allow(self, url: str) -> bool:
        """Return whether the rules allow to fetch a page.

        Raises:
            ServiceError: the host's rules can't be read, so no page may be fetched.
            Refused: the host is in a private network.
        """
        return self._client.access(url).ignore_robots or self._of(url).can_fetch(url, ROBOT)

    def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps that the robots.txt of a URL's host names; raise the errors of `allow`."""
        return list(self._of(url).sitemaps)

    def _of(self, url: str) -> Any:
        parts = urlsplit(url)
        host = f"{parts.scheme}://{parts.netloc}".lower()
        if host not in self._rules:
            self._rules[host], asked = self._fetched(host)
            if asked:
                self._client.slow_down(url, min(asked, LONGEST_DELAY_S))
                self.remarks.append(
                    f"{host}/robots.txt asks for {asked:g} seconds between two pages; the import waits "
                    + (f"{LONGEST_DELAY_S:g}." if asked > LONGEST_DELAY_S else "that long.")
                )
        return self._rules[host]

    def _fetched(self, host: str) -> tuple[Any, float]:
        url = urljoin(host, "/robots.txt")
        again = "No page is fetched without it; try again later."
        try:
            answer = fetch_whole(self._client, url, _MOST_BYTES)
        except NoAnswer as error:
            raise ServiceError(error.service, f"{url} can't be read ({_reason(error)}). {again}") from None
        if answer.status >= 500 or answer.status == 429:
            raise ServiceError(urlsplit(url).netloc, f"{url} can't be read (HTTP {answer.status}). {again}")
        return rules_of(answer.body if answer.status == 200 else b"")


def rules_of(body: bytes) -> tuple[Any, float]:
    """Return the rules of a robots.txt, and its crawl delay for us in seconds, 0 if none."""
    with needs_extra("pages", "Reading pages from the web"):
        from protego import Protego
    rules = Protego.parse(body.decode("utf-8-sig", "replace"))
    delay = rules.crawl_delay(ROBOT) or 0.0
    return rules, delay if 0 < delay < math.inf else 0.0


def _reason(error: NoAnswer) -> str:
    return str(error).removeprefix(f"{error.service}: ")


# Maximum of sitemaps per site, with up to 50,000 pages each.
_MOST_SITEMAPS = 5_000
_ELSEWHERE = "URL of another site than the sitemap"
# Where sitemaps usually are: by convention, Yoast, Astro, WordPress itself, and as lists of URLs.
_USUAL = (
    *("/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz"),
    *("/sitemap/sitemap.xml", "/sitemap.txt"),
)
# Maximum nesting of elements: an image of a page in a sitemap is in two.
_DEEPEST = 50
_GZIP = b"\x1f\x8b"


class NoSitemap(ValueError):
    """The answer is not a sitemap; `str()` has the reason."""


def sitemap_urls(client: SiteClient, robots: Robots, address: str, asides: ReadReport) -> Iterator[str]:
    """Yield the pages' URLs, each once; count URLs of other sites, and reject sitemaps that can't be read.

    The address is that of a sitemap, of an index of sitemaps, or of a host. Of a host, the sitemaps that its robots.txt
    names are read; if they list no page, the first of the usual names that does.

    Raises:
        InputError: the site has no readable sitemap, or the sitemaps have no URL of it.
        ServiceError: the host doesn't answer.
    """
    walk = _Walk(client, address, asides)
    if urlsplit(address).path not in ("", "/") or urlsplit(address).query:
        yield from walk.urls([address])
        problem = walk.problems[0] if walk.problems else f"{address} lists no pages of this site"
    else:
        named = [urljoin(address, one) for one in robots.sitemaps(address)]
        yield from walk.urls(named)
        for path in _USUAL:
            if not walk.known:
                yield from walk.urls([urljoin(address, path)], guessed=True)
        tried = ", ".join(_USUAL)
        of_robots = (
            walk.problems[0] if walk.problems else "robots.txt names no sitemap with pages of this site"
        )
        problem = f"{address} has no sitemap: {of_robots}, and none of {tried} is one"
    if not walk.known:
        protected = f" {PROTECTED}" if walk.not_allowed else ""
        raise InputError(
            f"{problem}.{protected} Name the address of a sitemap with --sitemap, or a list of URLs with --urls."
        )


class _Walk:
    """Reads sitemaps of the site of the address that the user gave, and those that they name, each once."""

    def __init__(self, client: SiteClient, address: str, asides: ReadReport) -> None:
        self._client, self._address, self._asides = client, address, asides
        self._seen = set[str]()
        self.known = set[str]()
        """The URLs that were yielded."""
        self.problems: list[str] = []
        """Sitemaps that can't be read, with the reasons; guessed ones left out."""
        self.not_allowed = False
        """Whether the host asked who we are."""

    def urls(self, starts: Sequence[str], *, guessed: bool = False) -> Iterator[str]:
        queue = deque(one for one in dict.fromkeys(starts) if one not in self._seen)
        self._seen.update(queue)
        site = site_of(self._address)
        for number in range(1, _MOST_SITEMAPS + 1):
            if not queue:
                return
            at = queue.popleft()
            if site_of(at) != site:
                self._asides.left_out["sitemap of another site"] += 1
                continue
            sitemaps, pages = self._read(number, at, guessed=guessed and at in starts)
            new = [one for one in dict.fromkeys(sitemaps) if one not in self._seen]
            self._seen.update(new)
            queue.extend(new)
            for url in pages:
                # The fetcher rejects invalid URLs, with a reason.
                if site_of(url) not in ("", site):
                    self._asides.left_out[_ELSEWHERE] += 1
                elif url not in self.known:
                    self.known.add(url)
                    yield url
        if queue:
            self._asides.left_out[f"sitemap beyond the first {_MOST_SITEMAPS:,}"] += len(queue)

    def _read(self, number: int, at: str, *, guessed: bool) -> tuple[list[str], list[str]]:
        """Return the URLs of sitemaps and of pages in a sitemap; nothing, with a reject, if it can't be read."""
        try:
            answer = fetch_whole(self._client, at, MOST_BYTES)
            if answer.status != 200:
                self.not_allowed |= answer.status in NOT_ALLOWED
                raise NoSitemap(f"there is no sitemap (HTTP {answer.status})")
            return packed_sitemap(answer.body)
        except (NoAnswer, NoSitemap) as error:
            if isinstance(error, NoAnswer) and at == self._address:
                problem = f"{at} can't be fetched ({error}). Check that this computer is online, or try again later."
                raise ServiceError("The sitemap", problem) from None
            if not guessed:
                self.problems.append(f"{at}: {error}")
                self._asides.rejects.append(Reject(self._address, number, at, str(error)))
                if isinstance(error, NoAnswer):
                    self._asides.gaps.append(f"The pages of {at} are missing: it can't be fetched ({error}).")
            return [], []


def packed_sitemap(data: bytes) -> tuple[list[str], list[str]]:
    """Read a sitemap that gzip may have compressed; see `read_sitemap`.

    Raises:
        NoSitemap: the data is not a sitemap.
    """
    return read_sitemap(_unpacked(data))


def read_sitemap(data: bytes) -> tuple[list[str], list[str]]:
    """Return the URLs of sitemaps and of pages in a sitemap: XML, or a text with one URL per line.

    Raises:
        NoSitemap: the data is neither.
    """
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"<") and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines()]
        pages = [line for line in lines if re.match("https?://", line, re.IGNORECASE)]
        if not pages and any(lines):
            raise NoSitemap("it is not a sitemap")
        return [], pages
    found = dict[str, list[str]]()
    try:
        for parent, address in _locations(text if text.startswith(b"<") else data):
            found.setdefault(parent, []).append(address)
    except (ParseError, ValueError, LookupError) as error:
        raise NoSitemap(f"it is not a sitemap, or it is damaged ({error})") from None
    if not found.keys() & {"url", "sitemap"} and "urlset" not in text[:2000].decode("latin-1"):
        raise NoSitemap("it is not a sitemap")
    return found.get("sitemap", []), found.get("url", [])


def _locations(data: bytes) -> Iterator[tuple[str, str]]:
    if b"<!ENTITY" in data:
        raise ValueError("it defines entities")
    above = list[Element]()
    for event, element in iterparse(io.BytesIO(data), ("start", "end")):
        if event == "start":
            above.append(element)
            if len(above) > _DEEPEST:
                raise ValueError("its elements are nested too deeply")
            continue
        above.pop()
        if above and _name(element) == "loc" and (address := (element.text or "").strip()):
            yield _name(above[-1]), address
        if above:
            # Frees the memory of elements that were read.
            above[-1].clear()


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _unpacked(data: bytes) -> bytes:
    try:
        return decompressed(data, "gzip", MOST_BYTES) if data.startswith(_GZIP) else data
    except Damaged as error:
        raise NoSitemap(str(error)) from None
    except Oversized:
        raise NoSitemap(f"it decompresses to more than {MOST_BYTES // 1_000_000} MB") from None
