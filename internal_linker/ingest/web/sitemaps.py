"""Sitemaps: the URLs of a site's pages, from a sitemap's address or from the site's own."""

import io
import re
from collections import deque
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError, iterparse

from internal_linker.adapters.http.compression import Damaged, Oversized, decompressed
from internal_linker.core.errors import InputError, ServiceError
from internal_linker.core.records import Asides, Reject
from internal_linker.ingest.web.client import (
    MOST_BYTES,
    NOT_ALLOWED,
    PROTECTED,
    NoAnswer,
    SiteClient,
    fetch_whole,
    site_of,
)
from internal_linker.ingest.web.robots import Robots

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


def sitemap_urls(client: SiteClient, robots: Robots, address: str, asides: Asides) -> Iterator[str]:
    """Yield the pages' URLs, each once; count URLs of other sites, and reject sitemaps that can't be read.

    The address is that of a sitemap, of an index of sitemaps, or of a host, whose robots.txt names them.

    Of a host, the sitemaps that its robots.txt names are read; if they list no page, the first of the usual names that
    does.

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
    """Reads sitemaps and those that they name, each once.

    Only URLs of the site of the address that the user gave are taken.
    """

    def __init__(self, client: SiteClient, address: str, asides: Asides) -> None:
        self._client, self._address, self._asides = client, address, asides
        self._seen = set[str]()
        self.known = set[str]()
        """The URLs that were yielded."""
        self.problems: list[str] = []
        """Sitemaps that can't be read, with the reasons; guessed ones left out."""
        self.not_allowed = False
        """Whether the host asked who we are."""

    def urls(self, starts: Sequence[str], *, guessed: bool = False) -> Iterator[str]:
        """Yield the URLs of pages in these sitemaps and below."""
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
    """Yield the name of the element around each `loc`, and the address in it."""
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
    """Decompress data if gzip compressed it."""
    try:
        return decompressed(data, "gzip", MOST_BYTES) if data.startswith(_GZIP) else data
    except Damaged as error:
        raise NoSitemap(str(error)) from None
    except Oversized:
        raise NoSitemap(f"it decompresses to more than {MOST_BYTES // 1_000_000} MB") from None
