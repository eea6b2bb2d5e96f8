"""Main queries from search data: the query that each page earns most from, without queries for the site's name."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from internal_linker.core.canonical_hosts import bare_host, origin_of
from internal_linker.core.records import fold_query
from internal_linker.core.results import Columns, Result, columns_of

if TYPE_CHECKING:
    from pandas import DataFrame

# A query needs one click or so many impressions; with fewer, it may be one person's.
_LEAST_IMPRESSIONS = 10
# Fewer clicks of a query say little about the shares of its pages.
_LEAST_CLICKS = 10
# A query is cannibalised if two pages have at least this share of its clicks each.
_SHARE = 0.2
# People who look for a site by name click its home page, which is first: topics have a third of this rate.
_HOME_SHARE, _NAMED_CTR, _FIRST = 0.8, 0.3, 1.5
# A name in more than this share of the clicks on other pages than the home page is what the site is about.
_TOPIC = 0.5
# Words of a query that a name may be written in: "slow kettle" for slowkettle.com.
_MOST_WORDS = 4
_WORD = re.compile(r"\w+")
# Words beside a name by which people look for the site itself.
_NAVIGATION = frozenset(
    "www com org net de es fr it co uk io gov http https site website web page homepage home login blog official "
    "online seite webseite startseite sitio página inicio accueil pagina sito".split()
)
# With more words beside a name than these, a query is about its topic: "how boston uses acme's calculator".
_MOST_BESIDE = 2
# Parts of hosts that are nobody's name.
_PARTS = frozenset(
    "www blog blogs docs doc help support shop store app dev developer developers api news learn academy community "
    "forum wiki portal mail staging test get mobile".split()
)
_LANGUAGE_HOME = re.compile(r"/[a-z]{2}(-[a-zA-Z]{2,4})?")


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


def is_home(page: str) -> bool:
    """Return whether a key is that of a home page: the root, or that of a language such as /de or /pt-br."""
    parts = urlsplit(page)
    return not parts.query and (parts.path in ("", "/") or bool(_LANGUAGE_HOME.fullmatch(parts.path)))


def site_names(pages: Iterable[str], brands: Iterable[str]) -> list[str]:
    """Return the names of a site: the name in each of its hosts, and the brands at the end of its titles.

    Args:
        pages: keys of its pages.
        brands: brands of its titles.
    """
    hosts = {bare_host(origin_of(page)).partition(":")[0] for page in pages}
    of_hosts = [name for host in sorted(hosts) for name in _names_in(host)]
    return list(dict.fromkeys(filter(None, (fold_query(name) for name in (*of_hosts, *brands)))))


def _names_in(host: str) -> list[str]:
    """Return the names in a host: "acme" and "lab" in lab.acme.co.uk; none in an address of numbers."""
    labels = host.split(".")
    if len(labels) < 2 or labels[-1].isdigit():
        return []
    # "co.uk" and "com.au" are below a country, and nobody's names.
    below = len(labels) > 2 and labels[-2] in ("co", "com", "org", "net", "gov", "gob", "gouv", "ac", "edu")
    domain, parts = (labels[-3], labels[:-3]) if below else (labels[-2], labels[:-2])
    # Two letters are a language.
    return [domain, *(part for part in parts if part not in _PARTS and len(part) > 2)]


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
    sums = _sums(rows)
    home = sums["page"].map({page: is_home(page) for page in sums["page"].cat.categories}).astype(bool)
    words = {query: _WORD.findall(query) for query in sums["query"].cat.categories}
    topics = [
        name for name in names if name not in map(fold_query, own) and _is_topic(name, sums[~home], words)
    ]
    why = _named(names, own, topics, words) | _sought_home(sums, home)
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


def _sums(rows: "DataFrame") -> "DataFrame":
    """Return clicks, impressions and mean position of each page and query; queries without differences of case."""
    folded = {query: fold_query(query) for query in rows["query"].cat.categories}
    weighted = rows["position"] * rows["impressions"]
    sums = (
        rows[["page", "clicks", "impressions"]]
        .assign(query=rows["query"].map(folded), weighted=weighted)
        .groupby(["page", "query"], observed=True, sort=False)
        .sum()
        .reset_index()
    )
    sums["position"] = sums["weighted"] / sums["impressions"].clip(lower=1)
    return sums.astype({"page": "category", "query": "category"}).drop(columns="weighted")


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


def _has_name(name: str, words: Sequence[str]) -> bool:
    """Return whether some consecutive words are a name, however it is divided into words."""
    compact = "".join(_WORD.findall(name))
    return any(
        "".join(words[at : at + length]) == compact
        for length in range(1, _MOST_WORDS + 1)
        for at in range(len(words) - length + 1)
    )


def _is_topic(name: str, sums: "DataFrame", words: Mapping[str, Sequence[str]]) -> bool:
    """Return whether most clicks on pages other than the home page come from queries with this name.

    Such a name is what the site is about, as "vue" on the documentation of Vue.
    """
    having = sums["query"].isin([query for query, its in words.items() if _has_name(name, its)])
    total = int(sums["clicks"].sum())
    return total >= _LEAST_CLICKS and float(sums["clicks"][having].sum()) > _TOPIC * total


def _named(
    names: Sequence[str], own: Sequence[str], topics: Sequence[str], words: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the queries with a name of the site and why; of a topic, only those that have nothing else."""
    found: dict[str, str] = {}
    for name in dict.fromkeys((*map(fold_query, own), *names)):
        parts = set(_WORD.findall(name))
        for query, its in words.items():
            if query in found or not parts or not _has_name(name, its):
                continue
            compact = "".join(_WORD.findall(name))
            rest = [word for word in its if word not in parts | _NAVIGATION and word not in compact]
            if len(rest) <= (0 if name in topics else _MOST_BESIDE):
                found[query] = f"has the name {name}"
    return found


def _sought_home(sums: "DataFrame", home: "DataFrame") -> dict[str, str]:
    """Return queries that lead to the home page, first and often, as only a name does."""
    of_home = sums[home].groupby("query", observed=True)[["clicks", "impressions"]].sum()
    weighted = sums[home].assign(weighted=sums["position"] * sums["impressions"])
    position = weighted.groupby("query", observed=True)["weighted"].sum() / of_home["impressions"].clip(
        lower=1
    )
    clicks = sums.groupby("query", observed=True)["clicks"].sum().reindex(of_home.index)
    sought = of_home[
        (clicks >= _LEAST_CLICKS)
        & (of_home["clicks"] >= _HOME_SHARE * clicks)
        & (of_home["clicks"] >= _NAMED_CTR * of_home["impressions"])
        & (position <= _FIRST)
    ]
    return dict.fromkeys(map(str, sought.index), "leads to the home page, first and often")
