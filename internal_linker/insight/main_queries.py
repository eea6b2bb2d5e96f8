"""The queries that pages earn most from, by search data, without queries for the site's name."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from internal_linker.model.canonical_hosts import bare_host, origin_of
from internal_linker.model.records import fold_query
from internal_linker.model.results import Column

if TYPE_CHECKING:
    from pandas import DataFrame

# People who look for a site by name click its home page, which is first: topics have a third of this rate. Fewer
# clicks of a query say little.
_HOME_SHARE, _NAMED_RATE, _FIRST, _LEAST_CLICKS = 0.8, 0.3, 1.5, 10
# A name in more than this share of the clicks on other pages than the home page is what the site is about.
_TOPIC = 0.5
# A query that is shown behind this position and clicked less often than this is not for the site.
_BEHIND, _SELDOM = 3.0, 0.1
# A name is an ordinary word, as "ladder", if it is in other queries, and this share of their impressions is of such.
_ORDINARY = 0.3
# Words of a query beside a name: with more, a query is about its topic, as "how boston uses acme's calculator". One
# that begins with the name is about the name's things: "acme milk frother cleaning".
_MOST_BESIDE, _MOST_BEHIND = 2, 4
# Scripts without spaces: Thai, Lao, Khmer, Japanese and Chinese. A word has about so many characters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_UNSPACED_WORD = 3
# Names that are shorter have other words nearby; names from the second length on, two letters may be wrong.
_MISSPELT, _TWICE_MISSPELT = 5, 8
_WORD = re.compile(r"\w+")
# Words beside a name by which people look for the site itself.
_NAVIGATION = frozenset(
    "www com org net de es fr it co uk io gov http https site website web page homepage home login blog official "
    "online seite webseite startseite sitio página inicio accueil pagina sito".split()
)
# A name is also typed without these.
_ARTICLE = re.compile(r"(?:the|der|die|das|le|la|les|el|los|las|il|lo)\s+(?=\w+\W+\w)|l['’]\s*(?=\w)")
# Parts of hosts that are nobody's name.
_PARTS = frozenset(
    "www blog blogs docs doc help support shop store app dev developer developers api news learn academy community "
    "forum wiki portal mail staging test get mobile".split()
)
_LANGUAGE_HOME = re.compile(r"/[a-z]{2}(-[a-zA-Z]{2,4})?")


def is_home(page: str) -> bool:
    """Return whether a key is that of a home page: the root, or that of a language such as /de or /pt-br."""
    parts = urlsplit(page)
    return not parts.query and (parts.path in ("", "/") or bool(_LANGUAGE_HOME.fullmatch(parts.path)))


def site_names(pages: Iterable[str], brands: Iterable[str]) -> list[str]:
    """Return the names of a site: the name in each of its hosts, and the brands at the end of its titles."""
    hosts = {bare_host(origin_of(page)).partition(":")[0] for page in pages}
    of_hosts = [name for host in sorted(hosts) for name in _names_in(host)]
    return list(dict.fromkeys(filter(None, (fold_query(name) for name in (*of_hosts, *brands)))))


def _names_in(host: str) -> list[str]:
    """Return the names in a host: "acme" and "lab" in lab.acme.co.uk; none in an address of numbers."""
    labels = [_readable(label) for label in host.split(".")]
    if len(labels) < 2 or labels[-1].isdigit():
        return []
    # "co.uk" and "com.au" are below a country, and nobody's names.
    below = len(labels) > 2 and labels[-2] in ("co", "com", "org", "net", "gov", "gob", "gouv", "ac", "edu")
    domain, parts = (labels[-3], labels[:-3]) if below else (labels[-2], labels[:-2])
    # Two letters are a language.
    return [domain, *(part for part in parts if part not in _PARTS and len(part) > 2)]


def _readable(label: str) -> str:
    """Return a part of a host as people read and type it: "xn--" stands for letters beyond ASCII."""
    try:
        return label.encode("ascii").decode("idna")
    except UnicodeError:
        return label


def without_names(rows: "DataFrame", names: Sequence[str]) -> "DataFrame":
    """Return the rows without those of queries for the site's name.

    Args:
        names: the site's names, by `site_names`.
    """
    why, _ = name_queries(sums_by_query(rows), names)
    queries = rows["query"].cat.categories
    branded = np.fromiter((fold_query(query) in why for query in queries), bool, len(queries))
    return rows[~branded[rows["query"].cat.codes.to_numpy()]] if why else rows


def sums_by_query(rows: "DataFrame") -> "DataFrame":
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


def name_queries(
    sums: "DataFrame", names: Sequence[str], own: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Return the queries for the site's name with why they are, and the names that are what the site is about.

    Args:
        sums: clicks, impressions and position by page and query, by `sums_by_query`.
        names: the site's names, by `site_names`.
        own: further words that are the site's names, as a person told them; they are never a topic.
    """
    home = sums["page"].map({page: is_home(page) for page in sums["page"].cat.categories}).astype(bool)
    given = [fold_query(name) for name in own]
    # "slow kettle" and "slowkettle" are one name.
    told, known = {_compact(name) for name in given}, dict[str, str]()
    for name in (*given, *names):
        known.setdefault(_compact(name), name)
    queries = _by_query(sums, home)
    elsewhere = sums[~home].groupby("query", observed=True)["clicks"].sum()
    found, topics = dict[str, str](), list[str]()
    for compact, name in known.items():
        beside = _beside(compact, sums["query"].cat.categories)
        is_topic = compact not in told and _is_topic(beside, elsewhere)
        if is_topic:
            topics.append(name)
        ordinary = frozenset[str]() if compact in told else _of_ordinary_word(beside, queries)
        for query, (words, begins) in beside.items():
            most = 0 if is_topic else _MOST_BEHIND if begins else _MOST_BESIDE
            if words <= most and query not in ordinary:
                found.setdefault(query, f"has the name {name}")
    return found | _sought_home(queries, [_letters(name) for name in (*given, *names)]), topics


def _by_query(sums: "DataFrame", home: "DataFrame") -> "DataFrame":
    """Return clicks, impressions and mean position by query, and the same of the home page: `home_clicks` and so on."""
    counts = ["clicks", "impressions", "weighted"]
    weighted = sums.assign(weighted=sums["position"] * sums["impressions"])
    every = weighted.groupby("query", observed=True)[counts].sum()
    of_home = weighted[home].groupby("query", observed=True)[counts].sum().add_prefix("home_")
    found = every.join(of_home).fillna(0)
    for prefix in ("", "home_"):
        found[f"{prefix}position"] = found[f"{prefix}weighted"] / found[f"{prefix}impressions"].clip(lower=1)
    return found


def _letters(name: str) -> str:
    return "".join(_WORD.findall(name))


def _compact(name: str) -> str:
    """Return a name without article and spaces."""
    return _letters(_ARTICLE.sub("", name))


def _beside(compact: str, queries: Iterable[str]) -> dict[str, tuple[int, bool]]:
    """Return the queries with a name, how many words stand beside it, and whether the query begins with it.

    A name, by `_compact`, may be divided into words in any way: "slow kettle" for slowkettle.com.
    """
    if not compact:
        return {}
    letters = r"[\W_]*".join(map(re.escape, compact))
    unspaced = len(compact) >= _UNSPACED_WORD and bool(_UNSPACED.search(compact))
    pattern = re.compile(letters if unspaced else rf"(?<!\w){letters}(?!\w)")
    found = {}
    for query in queries:
        if place := pattern.search(query):
            rest = [word for word in _WORD.findall(pattern.sub(" ", query)) if word not in _NAVIGATION]
            begins = not any(word not in _NAVIGATION for word in _WORD.findall(query[: place.start()]))
            found[query] = sum(map(_words, rest)), begins
    return found


def _words(text: str) -> int:
    """Return about how many words a text without spaces has."""
    return -(-len(text) // _UNSPACED_WORD) if _UNSPACED.search(text) else 1


def _is_topic(beside: Iterable[str], clicks: "DataFrame") -> bool:
    """Return whether most clicks on pages other than the home page come from queries with a name.

    Such a name is what the site is about, as "vue" on the documentation of Vue.
    """
    total = float(clicks.sum())
    return total >= _LEAST_CLICKS and float(clicks[clicks.index.isin([*beside])].sum()) > _TOPIC * total


def _of_ordinary_word(beside: Mapping[str, tuple[int, bool]], queries: "DataFrame") -> frozenset[str]:
    """Return the queries that have a name only as an ordinary word, as "career ladder" on a site called Ladder."""
    having = queries[queries.index.isin([*beside])]
    behind = (having["position"] > _BEHIND) & (having["clicks"] < _SELDOM * having["impressions"])
    # The name alone has most impressions, and says little about the others.
    more = having.index.isin([query for query, (words, _) in beside.items() if words])
    seen = having["impressions"]
    if not seen[behind & more].sum() > _ORDINARY * seen[more].sum():
        return frozenset()
    return frozenset(map(str, having.index[behind]))


def _sought_home(queries: "DataFrame", compact: Sequence[str]) -> dict[str, str]:
    """Return queries that lead to the home page, first and often, as only a name does, also if it is misspelt."""
    sought = queries[
        (queries["home_clicks"] >= _HOME_SHARE * queries["clicks"])
        & (queries["home_clicks"] >= _NAMED_RATE * queries["home_impressions"])
        & (queries["home_clicks"] > 0)
        & (queries["home_position"] <= _FIRST)
    ]
    found = dict[str, str]()
    for query, clicks in sought["clicks"].items():
        text = str(query)
        if clicks >= _LEAST_CLICKS:
            found[text] = "leads to the home page, first and often"
        elif any(_is_misspelt(text, name) for name in compact):
            found[text] = "leads to the home page, and is nearly a name"
    return found


def _is_misspelt(query: str, name: str) -> bool:
    """Return whether a query is nearly a name: one letter is wrong, missing or doubled, or two of a long one."""
    typed = "".join(word for word in _WORD.findall(query) if word not in _NAVIGATION)
    most = 0 if len(name) < _MISSPELT else 1 if len(name) < _TWICE_MISSPELT else 2
    return abs(len(typed) - len(name)) <= most and 0 < _distance(typed, name) <= most


def _distance(one: str, other: str) -> int:
    """Return how many letters are to be added, removed, replaced or swapped with the next (Damerau, Levenshtein)."""
    before, row = [0] * (len(other) + 1), [*range(len(other) + 1)]
    for at, letter in enumerate(one, 1):
        new = [at]
        for to, its in enumerate(other, 1):
            best = min(row[to] + 1, new[to - 1] + 1, row[to - 1] + (letter != its))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == its:
                best = min(best, before[to - 2] + 1)
            new.append(best)
        before, row = row, new
    return int(row[-1])


# A query needs one click or so many impressions; with fewer, it may be one person's.
_LEAST_IMPRESSIONS = 10
# A query is cannibalised if two pages have at least this share of its clicks each.
_SHARE = 0.2


# Queries by which a page is called: fewer clicks may be one person's.
_CALLED_BY, _CALLING_CLICKS = 5, 3


# The queries that pages earn most from, the most clicked first: figures of the page for this query, and how many other
# queries brought clicks to the page.
_CHOSEN = (
    Column("page", "Page"),
    Column("query", "Query"),
    Column("clicks", "Clicks", kind="integer"),
    Column("impressions", "Impressions", kind="integer"),
    Column("position", "Mean position", kind="number"),
)
MAIN_QUERIES = (*_CHOSEN, Column("others", "Other queries", kind="integer"))
# Which of them fill an empty main query.
PROPOSED_QUERIES = (*_CHOSEN, Column("fate", "Fate"), Column("note", "Note"))
# Pages that earn from a query together with other pages: their share of the query's clicks, 0 to 1.
SHARED_QUERIES = (
    Column("query", "Query"),
    Column("page", "Page"),
    Column("clicks", "Clicks", kind="integer"),
    Column("share", "Share", kind="number"),
    Column("position", "Mean position", kind="number"),
)
# Queries for the site's name, the most clicked first: their clicks on all pages, and how they were recognised.
BRAND_QUERIES = (
    Column("query", "Query"),
    Column("clicks", "Clicks", kind="integer"),
    Column("why", "Recognised by"),
)


@dataclass(frozen=True)
class MainQueries:
    """The main queries of a site's pages; pages are keys."""

    queries: "DataFrame"  # `MAIN_QUERIES`: one row for each page that has one
    shared: "DataFrame"  # `SHARED_QUERIES`: cannibalised queries, one row for each of their pages
    brands: "DataFrame"  # `BRAND_QUERIES`
    without: Mapping[str, str]  # pages with search data but without a main query, and why
    topics: Sequence[str] = ()  # names of the site that are what it is about, so that queries with them count


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
    chosen = {*found["page"]}
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


def page_queries(rows: "DataFrame", names: Sequence[str]) -> dict[str, list[str]]:
    """Return the queries by which people find each page, up to five, the most clicked first.

    A query is that of the page with most clicks from it. Queries for the site's name are those of no page.

    Args:
        rows: search data by page and query; days are added up.
        names: the site's names, by `site_names`.
    """
    sums = sums_by_query(rows)
    why, _ = name_queries(sums, names)
    enough = sums[(sums["clicks"] >= _CALLING_CLICKS) & ~sums["query"].isin([*why])].astype(
        {"page": str, "query": str}
    )
    ordered = enough.sort_values(
        ["clicks", "impressions", "query", "page"], ascending=[False, False, True, True]
    )
    found = ordered.drop_duplicates("query").groupby("page", sort=False)["query"]
    return {str(page): [*queries.head(_CALLED_BY)] for page, queries in found}


def _best(sums: "DataFrame") -> "DataFrame":
    enough = sums[(sums["clicks"] > 0) | (sums["impressions"] >= _LEAST_IMPRESSIONS)]
    weight = enough["impressions"] / enough["position"]
    ordered = enough.assign(weight=weight).astype({"page": str, "query": str})
    ordered = ordered.sort_values(["clicks", "weight", "query"], ascending=[False, False, True])
    clicked = (ordered["clicks"] > 0).astype(np.int64)
    others = clicked.groupby(ordered["page"]).transform("sum") - clicked
    return _columns(ordered.assign(others=others).drop_duplicates("page"), MAIN_QUERIES)


def _shared(sums: "DataFrame") -> "DataFrame":
    totals = sums.groupby("query", observed=True)["clicks"].transform("sum")
    parts = sums.assign(total=totals, share=sums["clicks"] / totals.clip(lower=1))
    parts = parts[(parts["total"] >= _LEAST_CLICKS) & (parts["share"] >= _SHARE)]
    parts = parts[parts.groupby("query", observed=True)["page"].transform("size") > 1]
    parts = parts.astype({"page": str, "query": str})
    return _columns(
        parts.sort_values(["total", "query", "clicks"], ascending=[False, True, False]), SHARED_QUERIES
    )


def _brands(sums: "DataFrame", why: Mapping[str, str]) -> "DataFrame":
    clicks = sums.astype({"query": str}).groupby("query")["clicks"].sum()
    clicks = clicks.sort_values(ascending=False, kind="stable").reset_index()
    return _columns(clicks.assign(why=clicks["query"].map(why)), BRAND_QUERIES)


def _columns(frame: "DataFrame", columns: Sequence[Column]) -> "DataFrame":
    return frame[[column.key for column in columns]].reset_index(drop=True)
