"""Each page gets the query it earns most from; queries for the site's name don't count, shared ones are listed."""

from collections.abc import Sequence

import pandas as pd
import pytest

from internal_linker.insight.main_queries import MainQueries, is_home, main_queries, page_queries, site_names

SITE = "https://www.slowkettle.example"
HOME, TEA, POTS = f"{SITE}/", f"{SITE}/tea", f"{SITE}/pots"
Row = tuple[str, str, int, int, float]


def frame(*rows: Row) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["page", "query", "clicks", "impressions", "position"])
    return found.astype({"page": "category", "query": "category"})


def chosen(*rows: Row, names: Sequence[str] = ("slowkettle",), **more: object) -> dict[str, str]:
    return by_page(main_queries(frame(*rows), names=names, **more))  # type: ignore[arg-type]


def by_page(found: MainQueries) -> dict[str, str]:
    return dict(zip(found.queries["page"], found.queries["query"], strict=True))


def test_most_clicks_win() -> None:
    """The query with the most clicks over all days is the main one, however often others are shown."""
    rows = [
        (TEA, "green tea", 3, 40, 2.0),
        (TEA, "Green Tea", 3, 40, 2.0),
        (TEA, "tea", 5, 9000, 9.0),
        (POTS, "tea pots", 1, 10, 3.0),
    ]
    found = main_queries(frame(*rows), names=[])
    assert found.queries.drop(columns="position").to_numpy().tolist() == [
        [TEA, "green tea", 6, 80, 1],
        [POTS, "tea pots", 1, 10, 0],
    ]


def test_without_clicks_impressions_count_by_position() -> None:
    """A query at position 2 is worth more than one that is shown more often at position 40."""
    assert chosen((TEA, "green tea", 0, 30, 2.0), (TEA, "tea", 0, 300, 40.0)) == {TEA: "green tea"}


def test_a_page_that_hardly_anybody_saw_has_none() -> None:
    """Without a click and with few impressions, a page has no main query, and the reason is reported."""
    found = main_queries(frame((TEA, "odd words", 0, 9, 2.0)), names=[])
    assert found.queries.empty and "fewer than 10 impressions" in found.without[TEA]


@pytest.mark.parametrize(
    "query", ["slow kettle", "slowkettle tea", "tea slow kettle", "www.slowkettle.example"]
)
def test_queries_with_the_name_are_left_out(query: str) -> None:
    rows = [(TEA, query, 20, 90, 1.0), (TEA, "green tea", 3, 40, 2.0), (POTS, "pots", 30, 400, 2.0)]
    assert chosen(*rows)[TEA] == "green tea"


@pytest.mark.parametrize(
    ("home", "brand", "branded", "others"),
    [
        (
            "https://www.latelier-brume.fr/",
            "L'Atelier Brume",
            ["atelier brume", "l'atelier brume", "latelier-brume.fr", "l'atelier brume diffuseur"],
            ["atelier de brume", "diffuseur"],
        ),
        (
            "https://www.nord-faden.de/",
            "Nord-Faden",
            ["nord faden", "nordfaden", "nord-faden.de", "nord faden anmelden", "nordfaden sockengarn"],
            ["nord süd faden", "roter faden"],
        ),
        (
            f"https://{'чайград'.encode('idna').decode()}.xn--p1ai/",
            "Чайград",
            ["чайград", "чай град", "чайград.рф", "чайград пуэр"],
            ["чай в городе", "град камней"],
        ),
        (
            "https://www.hoshicha.jp/",
            "星茶堂",
            ["星茶堂", "hoshicha", "星茶堂公式サイト", "星茶堂の煎茶"],
            ["星のお茶 レシピ", "hojicha", "煎茶 温度"],
        ),
    ],
    ids=["apostrophe", "hyphen", "Cyrillic", "Japanese"],
)
def test_names_of_each_shape_are_recognised(
    home: str, brand: str, branded: Sequence[str], others: Sequence[str]
) -> None:
    rows = [(f"{home}{at}", query, 5, 90, 1.5) for at, query in enumerate([*branded, *others])]
    # Most clicks are of topics, or the name would be what the site is about.
    rows.append((f"{home}topic", "a long topic", 500, 9000, 3.0))
    found = main_queries(frame(*rows), names=site_names([home], [brand]))
    assert {*found.brands["query"]} == {*branded}


@pytest.mark.parametrize(
    ("query", "is_name"),
    [("slowkettel", True), ("slowketle", True), ("slow cooker", False), ("sloxkexxle", False)],
)
def test_misspelt_names_lead_home(query: str, is_name: bool) -> None:
    rows = [(HOME, query, 3, 5, 1.0), (TEA, "green tea", 30, 400, 2.0)]
    found = main_queries(frame(*rows), names=["slowkettle"])
    assert ([*found.brands["query"]] == [query]) is is_name


def test_a_name_that_is_an_ordinary_word_counts_where_the_site_is_first() -> None:
    """Queries for which the site comes far behind, and is seldom clicked, have the name as a word."""
    rows = [
        (HOME, "ladder", 90, 200, 1.0),
        (TEA, "career ladder", 1, 900, 12.0),
        (TEA, "step ladder", 0, 900, 15.0),
        (POTS, "ladder pricing", 9, 30, 1.0),
        (TEA, "green tea", 300, 4000, 2.0),
    ]
    found = main_queries(frame(*rows), names=["ladder"])
    assert {*found.brands["query"]} == {"ladder", "ladder pricing"}


@pytest.mark.parametrize(
    "query", ["slow tea", "kettle", "how slow kettle owners descale a copper kettle", "slowkettles"]
)
def test_other_queries_stay(query: str) -> None:
    assert (
        chosen((TEA, query, 20, 90, 1.0), (TEA, "x", 3, 40, 2.0), (POTS, "pots", 90, 400, 2.0))[TEA] == query
    )


def test_names_that_lead_to_the_home_page_are_learned() -> None:
    """A query whose clicks go to the home page, first and often, is a name; a topic of the home page is not."""
    rows = [
        (HOME, "the kettle people", 40, 60, 1.1),
        (HOME, "tea shop", 30, 500, 3.0),
        (TEA, "the kettle people", 2, 40, 2.0),
        (TEA, "green tea", 1, 40, 2.0),
    ]
    found = main_queries(frame(*rows), names=[])
    assert by_page(found) == {HOME: "tea shop", TEA: "green tea"}
    assert found.brands[["query", "clicks"]].to_numpy().tolist() == [["the kettle people", 42]]


def test_a_name_that_the_site_is_about_is_a_topic() -> None:
    rows = [
        (TEA, "vue computed", 20, 90, 2.0),
        (TEA, "computed", 2, 90, 2.0),
        (POTS, "vue", 9, 90, 2.0),
        (POTS, "vue props", 7, 90, 2.0),
    ]
    found = main_queries(frame(*rows), names=["vue"])
    assert by_page(found) == {TEA: "vue computed", POTS: "vue props"}
    assert found.topics == ["vue"]
    assert chosen(*rows, names=["vue"], own=["Vue"]) == {TEA: "computed"}
    both = main_queries(frame(*rows), names=["vue", "the vue"], own=["v ue"])
    assert both.topics == [], "a name is the same with an article or in several words"


def test_a_page_with_only_its_name_has_none() -> None:
    """A page that earns from the site's name alone has no main query, and the reason is reported."""
    rows = [(TEA, "slow kettle", 20, 90, 1.0), (POTS, "pots", 30, 90, 1.0)]
    found = main_queries(frame(*rows), names=["slowkettle"])
    assert found.without == {TEA: "only queries for the site's name"}


def test_queries_of_two_pages_are_listed() -> None:
    """A query is cannibalised if two pages have a fifth of its clicks each; few clicks say nothing."""
    rows = [
        (TEA, "tea pot", 60, 500, 2.0),
        (POTS, "tea pot", 40, 500, 4.0),
        (HOME, "tea pot", 5, 500, 9.0),
        (TEA, "tea", 95, 500, 2.0),
        (POTS, "tea", 5, 500, 9.0),
        (TEA, "leaf", 4, 50, 2.0),
        (POTS, "leaf", 4, 50, 2.0),
    ]
    found = main_queries(frame(*rows), names=[])
    assert found.shared[["query", "page", "share"]].round(2).to_numpy().tolist() == [
        ["tea pot", TEA, 0.57],
        ["tea pot", POTS, 0.38],
    ]


def test_only_wanted_pages_get_queries_but_all_count() -> None:
    rows = [
        (HOME, "the kettle people", 40, 60, 1.1),
        (TEA, "the kettle people", 9, 40, 2.0),
        (TEA, "tea pot", 6, 40, 2.0),
        (POTS, "tea pot", 6, 40, 2.0),
    ]
    found = main_queries(frame(*rows), names=[], pages=[TEA])
    assert by_page(found) == {TEA: "tea pot"}
    assert len(found.shared) == 2 and found.without == {}


def test_names_come_from_hosts_and_titles() -> None:
    """The domain and a subdomain of its own are names; www, blog, languages and country domains are not."""
    pages = [
        "https://www.acme.co.uk/a",
        "https://blog.acme.co.uk/b",
        "https://lab.acme.co.uk/",
        "https://de.acme.co.uk/",
    ]
    assert site_names(pages, ["Acme Corp"]) == ["acme", "lab", "acme corp"]
    assert site_names(["http://10.0.0.1/", "http://localhost/"], []) == []


@pytest.mark.parametrize(
    ("page", "home"),
    [(HOME, True), (f"{SITE}/de", True), (f"{SITE}/pt-br", True), (TEA, False), (f"{SITE}/?p=1", False)],
)
def test_home_pages_are_roots(page: str, home: bool) -> None:
    """The root and a language's root are home pages; other pages are not."""
    assert is_home(page) is home


def test_a_page_is_called_by_the_queries_that_bring_most_clicks() -> None:
    """Up to five queries a page, each of the page with most clicks from it; none for the site's name."""
    rows = [(TEA, f"tea {number}", 10 + number, 90, 2.0) for number in range(6)]
    rows += [
        (POTS, "Tea 5", 14, 900, 1.0),
        (POTS, "tea pots", 2, 90, 2.0),
        (POTS, "Tea Pots", 2, 90, 2.0),
        (POTS, "pots", 2, 900, 2.0),
        (POTS, "slow kettle pots", 50, 90, 1.0),
    ]
    assert page_queries(frame(*rows), ["slowkettle"]) == {
        TEA: ["tea 5", "tea 4", "tea 3", "tea 2", "tea 1"],
        POTS: ["tea pots"],
    }
