"""Main queries from search data: the query that each page earns most from, without queries for the site's name."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from internal_linker.core.results import Columns, Result, columns_of
from internal_linker.performance.name_queries import name_queries, sums_by_query

if TYPE_CHECKING:
    from pandas import DataFrame

# A query needs one click or so many impressions; with fewer, it may be one person's.
_LEAST_IMPRESSIONS = 10
# Fewer clicks of a query say little about the shares of its pages.
_LEAST_CLICKS = 10
# A query is cannibalised if two pages have at least this share of its clicks each.
_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class MainQuery:
    """The query that a page earns most from.

    Attributes:
        page: the page's key.
        query: the query.
        clicks: clicks on the page from this query.
        impressions: how often the page was shown for it.
        position: the mean position, from 1.
        others: how many other queries brought clicks to the page.
    """

    page: str
    query: str
    clicks: int
    impressions: int
    position: float
    others: int


@dataclass(frozen=True, slots=True)
class SharedQuery:
    """A page that earns from a query together with another page of the site.

    Attributes:
        query: the query.
        page: the page's key.
        clicks: its clicks from this query.
        share: its share of the query's clicks, 0 to 1.
        position: its mean position, from 1.
    """

    query: str
    page: str
    clicks: int
    share: float
    position: float


@dataclass(frozen=True, slots=True)
class BrandQuery:
    """A query for the site's name.

    Attributes:
        query: the query.
        clicks: its clicks on all pages.
        why: how it was recognised.
    """

    query: str
    clicks: int
    why: str


@dataclass(frozen=True, repr=False)
class MainQueries(Result):
    """The main queries of a site's pages.

    Attributes:
        found: one for each page that has one, the most clicked first.
        shared: cannibalised queries, one item for each of their pages.
        brands: queries for the site's name, the most clicked first.
        without: pages with search data but without a main query, and why.
        topics: names of the site that are what it is about, so that queries with them count.
    """

    found: Sequence[MainQuery]
    shared: Sequence[SharedQuery] = ()
    brands: Sequence[BrandQuery] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    topics: Sequence[str] = ()

    def tables(self) -> dict[str, Columns]:
        """Return the main `queries`, and the tables `cannibalised`, `brands` and `without`."""
        return {
            "queries": columns_of(self.found, "page", "query", "clicks", "impressions", "position", "others"),
            "cannibalised": columns_of(self.shared, "query", "page", "clicks", "share", "position"),
            "brands": columns_of(self.brands, "query", "clicks", "why"),
            "without": {"page": [*self.without], "why": [*self.without.values()]},
        }


def main_queries(
    rows: "DataFrame", *, names: Sequence[str], own: Sequence[str] = (), pages: Collection[str] | None = None
) -> MainQueries:
    """Choose for each page the query it earns most from: most clicks, then most impressions for their position.

    Args:
        rows: search data by page and query; days are added up.
        names: the site's names, by `site_names`.
        own: further words that are the site's names, as a person told them; they are never a topic.
        pages: the keys of the pages that count; None: all. Shares of queries count all pages.
    """
    sums = sums_by_query(rows)
    why, topics = name_queries(sums, names, own)
    branded = sums["query"].isin([*why])
    if pages is not None:
        kept = sums["page"].isin([*pages])
        branded_rows, others = sums[branded], sums[~branded]
        of_pages, branded_pages = others[kept[others.index]], branded_rows[kept[branded_rows.index]]
    else:
        others = of_pages = sums[~branded]
        branded_pages = sums[branded]
    found = _best(of_pages)
    chosen = {each.page for each in found}
    without = {
        page: "only queries for the site's name"
        for page in branded_pages["page"].drop_duplicates()
        if page not in chosen
    }
    without |= {
        page: f"no click, and fewer than {_LEAST_IMPRESSIONS} impressions of any query"
        for page in of_pages["page"].drop_duplicates()
        if page not in chosen
    }
    return MainQueries(found, _shared(others), _brands(sums[branded], why), without, topics)


def _best(sums: "DataFrame") -> list[MainQuery]:
    enough = sums[(sums["clicks"] > 0) | (sums["impressions"] >= _LEAST_IMPRESSIONS)]
    weight = enough["impressions"] / enough["position"]
    ordered = (
        enough.assign(weight=weight, text=enough["query"].astype(str))
        .sort_values(["clicks", "weight", "text"], ascending=[False, False, True])
        .drop(columns="text")
    )
    clicked = ordered[ordered["clicks"] > 0].groupby("page", observed=True).size()
    first = ordered.drop_duplicates("page")
    return [
        MainQuery(
            str(row.page),
            str(row.query),
            int(row.clicks),
            int(row.impressions),
            float(row.position),
            int(clicked.get(row.page, 0)) - (row.clicks > 0),
        )
        for row in first.itertuples()
    ]


def _shared(sums: "DataFrame") -> list[SharedQuery]:
    totals = sums.groupby("query", observed=True)["clicks"].transform("sum")
    parts = sums.assign(total=totals, share=sums["clicks"] / totals.clip(lower=1))
    parts = parts[(parts["total"] >= _LEAST_CLICKS) & (parts["share"] >= _SHARE)]
    parts = parts[parts.groupby("query", observed=True)["page"].transform("size") > 1]
    parts = parts.assign(text=parts["query"].astype(str)).sort_values(
        ["total", "text", "clicks"], ascending=[False, True, False]
    )
    return [
        SharedQuery(str(row.query), str(row.page), int(row.clicks), float(row.share), float(row.position))
        for row in parts.itertuples()
    ]


def _brands(sums: "DataFrame", why: Mapping[str, str]) -> list[BrandQuery]:
    clicks = sums.groupby("query", observed=True)["clicks"].sum().sort_values(ascending=False, kind="stable")
    return [BrandQuery(str(query), int(count), why[query]) for query, count in clicks.items()]
