"""Rules of robots.txt: whether we may fetch a page of a host, how often, and where its sitemaps are."""

import math
from urllib.parse import urljoin, urlsplit

from protego import Protego

from internal_linker.core.errors import ServiceError
from internal_linker.ingest.web.client import ROBOT, NoAnswer, SiteClient, fetch_whole

# Maximum bytes of a robots.txt, as for search engines.
_MOST_BYTES = 500_000
# Maximum seconds between two pages, even for hosts that ask for more.
LONGEST_DELAY_S = 60.0


class Robots:
    """The rules of all hosts, fetched when needed."""

    def __init__(self, client: SiteClient) -> None:
        self._client = client
        self._rules: dict[str, Protego] = {}
        self.remarks: list[str] = []
        """Remarks on the rules, one sentence each."""

    def allow(self, url: str) -> bool:
        """Return whether the rules allow to fetch a page.

        Raises:
            ServiceError: the host's rules can't be read, so no page may be fetched.
            Refused: the host is in a private network.
        """
        return self._client.ignores_robots(url) or self._of(url).can_fetch(url, ROBOT)

    def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps that the robots.txt of a URL's host names.

        Raises:
            ServiceError: see `allow`.
            Refused: see `allow`.
        """
        return list(self._of(url).sitemaps)

    def _of(self, url: str) -> Protego:
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

    def _fetched(self, host: str) -> tuple[Protego, float]:
        url = urljoin(host, "/robots.txt")
        again = "No page is fetched without it; try again later."
        try:
            answer = fetch_whole(self._client, url, _MOST_BYTES)
        except NoAnswer as error:
            raise ServiceError(error.service, f"{url} can't be read ({_reason(error)}). {again}") from None
        if answer.status >= 500 or answer.status == 429:
            raise ServiceError(urlsplit(url).netloc, f"{url} can't be read (HTTP {answer.status}). {again}")
        return rules_of(answer.body if answer.status == 200 else b"")


def rules_of(body: bytes) -> tuple[Protego, float]:
    """Return the rules of a robots.txt, and its crawl delay for us in seconds, 0 if none."""
    rules = Protego.parse(body.decode("utf-8-sig", "replace"))
    delay = rules.crawl_delay(ROBOT) or 0.0
    return rules, delay if 0 < delay < math.inf else 0.0


def _reason(error: NoAnswer) -> str:
    return str(error).removeprefix(f"{error.service}: ")
