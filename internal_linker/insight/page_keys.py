"""Which site search data are about, and which of its pages each URL is."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.search_data import SearchTable
from internal_linker.model.urls import NormalForms, normal_form, within_site

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class MatchedPages:
    """Search data of the pages of a site."""

    # the rows of known pages, whose `page` is the page's key; one row for each page (and query) and day
    rows: "DataFrame"
    pages: int  # how many pages have rows
    spellings: int = 0  # how many URLs were another spelling of a page that had one already
    unknown_urls: int = 0  # how many URLs are no page of the site, or no URL
    unknown_count: int = 0  # the sum of their clicks, or of their sessions
    unknown_examples: tuple[str, ...] = ()  # up to ten of them, those with the largest counts first


def match_pages(
    table: SearchTable, rows: "DataFrame", keys: Collection[str], hosts: CanonicalHosts
) -> MatchedPages:
    """Replace URLs by the keys of the site's pages, and merge rows of one page.

    http and https, www., fragments, tracking parameters, index pages and trailing slashes make no difference, as
    everywhere; other parameters do. Merged rows have the sum of the counts, and the mean position weighted by
    impressions.
    """
    import pandas as pd

    known, forms = frozenset(keys), NormalForms(of=hosts.canonicalise)
    rows = rows.assign(page=rows["page"].astype("category").cat.remove_unused_categories())
    urls = rows["page"].cat.categories
    key_of = pd.Series([key if (key := forms[str(url)]) in known else None for url in urls], dtype=object)
    is_known = key_of.notna().to_numpy()
    known_rows = is_known[rows["page"].cat.codes.to_numpy()]
    counted = "clicks" if "clicks" in table.numbers else "sessions"
    unknown = rows[~known_rows]
    worst = unknown.groupby("page", observed=True)[counted].sum().sort_values(ascending=False, kind="stable")
    found = [key for key in key_of if key is not None]
    pages = [*dict.fromkeys(found)]
    code_of = pd.Index(pages, dtype=object).get_indexer(key_of)
    matched = rows[known_rows]
    codes = code_of[matched["page"].cat.codes.to_numpy()]
    matched = matched.assign(page=pd.Categorical.from_codes(codes, categories=pages))
    if len(found) > len(pages):
        twice = key_of.value_counts()
        matched = _merged(table, matched, twice.index[twice > 1])
    return MatchedPages(
        matched.reset_index(drop=True),
        len(pages),
        len(found) - len(pages),
        len(worst),
        int(worst.sum()),
        tuple(map(str, worst.index[:_SHOWN])),
    )


def _merged(table: SearchTable, rows: "DataFrame", pages: Collection[str]) -> "DataFrame":
    """Merge the rows of pages with several URLs; the others, mostly nearly all, need no work."""
    import pandas as pd

    several = rows["page"].isin(pages)
    some = rows[several]
    if "position" in table.numbers:
        some = some.assign(position=some["position"] * some["impressions"])
    merged = some.groupby(["date", *table.texts], observed=True, as_index=False)[[*table.numbers]].sum()
    if "position" in table.numbers:
        merged["position"] /= merged["impressions"]
    every = pd.concat([rows[~several], merged[[*rows.columns]]], ignore_index=True)
    return every.sort_values("date", kind="stable")


_DOMAIN = "sc-domain:"


def property_of(text: str) -> str:
    """Return a property as Search Console spells it: "sc-domain:example.com" or "https://www.example.com/".

    Raises:
        ValueError: it is neither; the message says what to write.
    """
    given = text.strip()
    kind, host = given[: len(_DOMAIN)].lower(), given[len(_DOMAIN) :].strip("/").lower()
    if kind == _DOMAIN and host and "/" not in host:
        return f"{_DOMAIN}{host}"
    parts = urlsplit(given)
    if parts.scheme.lower() in ("http", "https") and parts.hostname and not parts.query:
        return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path or '/'}"
    host = given.partition("//")[2] or given
    host = host.partition("/")[0] or "example.com"
    raise ValueError(
        f"name the property as Search Console does: {_DOMAIN}{host.removeprefix('www.')} for a domain property, or "
        f"https://{host}/ for a URL prefix"
    )


def host_of(property_: str) -> str:
    """Return the host of a property without www.; "" for anything else."""
    if property_.startswith(_DOMAIN):
        return property_.removeprefix(_DOMAIN)
    return (urlsplit(property_).hostname or "").removeprefix("www.")


def holds(property_: str, url: str) -> bool:
    """Return whether a URL is part of a property; http and https, and www., make no difference."""
    try:
        key = normal_form(url)
    except ValueError:
        return False
    if property_.startswith(_DOMAIN):
        return within_site(key, property_.removeprefix(_DOMAIN))
    prefix = normal_form(property_)
    inside, of = (one.partition("://")[2].removeprefix("www.").rstrip("/") for one in (key, prefix))
    return inside == of or inside.startswith((f"{of}/", f"{of}?"))
