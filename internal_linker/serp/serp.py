"""Search results -> eligible targets in the order of their rank, and whether one more page is worth its credit."""

import re
from collections.abc import Callable, Iterable

from internal_linker.core.records import SerpHit, SerpTarget, Source, Targets
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
