"""Staging sites: recognises a crawl whose canonicals or main queries name another host than its pages."""

from collections import Counter

from internal_linker.model.canonical_hosts import origin_of
from internal_linker.model.reasons import NoTarget
from internal_linker.model.records import Collected

# A hint is for sites most of whose pages are concerned; single pages may be copies of another site's.
_MOST = 0.5
_SET = 'set map_hosts = ["{0}={1}"] in config/settings.toml'


def host_hint(collected: Collected) -> str:
    """Return a sentence if most pages, or most main queries, seem to be those of a host under another name."""
    pages = Counter(host_of(page.key) for page in collected.pages)
    if not pages:
        return ""
    pairs = Counter(
        (host_of(page.key), host_of(end))
        for page in collected.pages
        if page.issue and page.issue.kind is NoTarget.CANONICALISED
        if (end := collected.aliases.get(page.key, ""))
    )
    if hint := canonicals_hint(pages, pairs, _SET):
        return hint
    rows = Counter(host_of(source.key) for source in collected.sources if source.row_url)
    for other, count in rows.most_common(1):
        if other not in pages and count > _MOST * rows.total():
            host, _ = pages.most_common(1)[0]
            return (
                f"{count} of {rows.total()} main queries are for pages of {other}, where no page was crawled; the "
                f"pages are of {host}. {_remedy(host, other, _SET)}"
            )
    return ""


def canonicals_hint(pages: Counter[str], named: Counter[tuple[str, str]], remedy: str) -> str:
    """Return a sentence if most pages of a host name their canonical on a host without pages, else "".

    Args:
        pages: the count of pages by host.
        named: the count of canonicals on another page, by the host of the page and the host of the canonical.
        remedy: what to do if both are the same site, with {0} and {1} for the two hosts.
    """
    for (host, other), count in named.most_common():
        if host != other and other not in pages and count > _MOST * pages[host]:
            return (
                f"{count} of {pages[host]} pages of {host} name a canonical on {other}, where no page was crawled. "
                f"{_remedy(host, other, remedy)}"
            )
    return ""


def host_of(key: str) -> str:
    """Return the host of a key; "" for a query."""
    return origin_of(key).partition("://")[2]


def _remedy(host: str, other: str, remedy: str) -> str:
    return f"If {host} is a copy of {other}, {remedy.format(host, other)}."
