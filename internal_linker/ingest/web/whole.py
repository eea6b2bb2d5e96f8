"""The URL of a robots.txt or a sitemap -> what is there, behind redirects within its site."""

from urllib.parse import urljoin

from internal_linker.core.urls import normal_form
from internal_linker.ingest.web.client import Answer, NoAnswer, SiteClient

_MOST_HOPS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def fetch_whole(client: SiteClient, url: str, most: int) -> Answer:
    """The answer at the end of the redirects.

    Raises:
        NoAnswer: there is no server, it takes too long or says too much, or redirects without end or elsewhere.
        Refused: it is in a private network.
    """
    at = url
    for _ in range(_MOST_HOPS + 1):
        answer = client.get(at, most=most)
        target = target_of(answer, at)
        if not target:
            return answer
        if site_of(target) != site_of(url):
            raise NoAnswer(site_of(url), f"it redirects to another site, {site_of(target) or target}")
        at = target
    raise NoAnswer(site_of(url), f"more than {_MOST_HOPS} redirects")


def target_of(answer: Answer, url: str) -> str:
    """Where an answer to this URL redirects, absolute and without a fragment; "" if it doesn't."""
    address = answer.headers.get("location", "") if answer.status in REDIRECTS else ""
    if not address:
        return ""
    try:
        return urljoin(url, address.strip()).partition("#")[0]
    except ValueError:
        return address


def site_of(url: str) -> str:
    """Host and port without www., which two URLs of one site share; "" for what is no URL."""
    try:
        key = normal_form(url)
    except ValueError:
        return ""
    return key.partition("://")[2].partition("/")[0].removeprefix("www.")
