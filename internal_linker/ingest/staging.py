"""Staging sites: recognises a crawl whose canonicals or main queries name another host than its pages."""

from collections import Counter

from internal_linker.core.canonical_hosts import origin_of
from internal_linker.core.reasons import NoTarget
from internal_linker.core.records import Collected

# A hint is for sites most of whose pages are concerned; single pages may be copies of another site's.
_MOST = 0.5


def host_hint(collected: Collected) -> str:
    """Return a sentence if most pages, or most main queries, seem to be those of a host under another name."""
    pages = Counter(_host(page.key) for page in collected.pages)
    if not pages:
        return ""
    pairs = Counter(
        (_host(page.key), _host(end))
        for page in collected.pages
        if page.issue and page.issue.kind is NoTarget.CANONICALISED
        if (end := collected.aliases.get(page.key, ""))
    )
    for (host, other), count in pairs.most_common():
        if host != other and other not in pages and count > _MOST * pages[host]:
            return (
                f"{count} of {pages[host]} pages of {host} name a canonical on {other}, where no page was crawled. "
                f"{_remedy(host, other)}"
            )
    rows = Counter(_host(source.key) for source in collected.sources if source.row_url)
    for other, count in rows.most_common(1):
        if other not in pages and count > _MOST * rows.total():
            host, _ = pages.most_common(1)[0]
            return (
                f"{count} of {rows.total()} main queries are for pages of {other}, where no page was crawled; the "
                f"pages are of {host}. {_remedy(host, other)}"
            )
    return ""


def _host(key: str) -> str:
    return origin_of(key).partition("://")[2]


def _remedy(host: str, other: str) -> str:
    return f'If {host} is a copy of {other}, set map_hosts = ["{host}={other}"] in config/settings.toml.'
