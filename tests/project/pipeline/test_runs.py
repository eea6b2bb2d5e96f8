"""Whole runs through the command line against real local servers, once for each combination of providers."""

import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.standins import GoogleStandIn, OpenAIStandIn, SerperStandIn
from tests.standins.openai import MAX_TOKENS
from tests.support.sites import make_project, read_csv, sample_pages, sample_queries, use_standins
from tests.support.small_project import command, write_csv

PAGES = 12
URLS = [page["URL"] for page in sample_pages(PAGES)]
# The least score of a link in the text, by `anchors`.
LEAST = {"balanced": 33, "broad": 20}
COMBINATIONS = list(product(("csv", "sheet"), ("none", "serper"), ("lsa", "local", "openai")))
# Each provider is in one of them, alone or with others.
QUICK = [("csv", "none", "lsa"), ("csv", "serper", "local"), ("sheet", "serper", "openai")]


def results(words: str, site: str) -> list[str]:
    """Return three pages for each query, with tracking parameters, other hosts and repeated pages as in a real SERP."""
    first = sum(map(ord, words)) % PAGES
    hits = [URLS[(first + step) % PAGES] for step in range(3)]
    return [f"{hits[0]}?srsltid=abc", "https://elsewhere.example/", hits[0], hits[1], f"{hits[2]}#top"]


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    rows = [["Owner", "URL", "Main Query"], *(["me", *row] for row in sample_queries(sample_pages(PAGES)))]
    with GoogleStandIn({"Main": rows}, rows=40, columns=5) as server:
        yield server


@pytest.fixture
def serper() -> Iterator[SerperStandIn]:
    with SerperStandIn(results) as server:
        yield server


@pytest.fixture
def openai() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=64) as server:
        yield server


@pytest.mark.parametrize(
    ("queries", "search", "encoder"),
    [*QUICK, *(pytest.param(*each, marks=pytest.mark.long) for each in COMBINATIONS if each not in QUICK)],
)
def test_every_combination_of_providers_links_every_page_and_a_rerun_costs_nothing(
    queries: str,
    search: str,
    encoder: str,
    tmp_path: Path,
    google: GoogleStandIn,
    serper: SerperStandIn,
    openai: OpenAIStandIn,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = make_project(tmp_path, PAGES)
    use_standins(
        project,
        google=google if queries == "sheet" else None,
        serper=serper if search == "serper" else None,
        openai=openai if encoder == "openai" else None,
        settings={"embedding_provider": encoder},
    )
    assert command("run", "--figures", "--project", str(project)) == 0
    assert "Pipeline completed successfully!" in capsys.readouterr().out
    output = read_csv(project / "files/Output.csv")
    links = read_csv(project / "files/links.csv")
    assert [row["URL"] for row in output] == URLS
    for row in output:
        chosen = [row[f"Link {rank}"] for rank in range(1, 6)]
        assert len(set(chosen)) == 5
        assert set(chosen) <= set(URLS) - {row["URL"]}
    assert len(links) == 5 * PAGES
    assert [link["Rank"] for link in links] == [*"12345"] * PAGES
    if search == "serper":
        ranks = {int(link["Serp Rank"]) for link in links if link["Serp Rank"]}
        assert min(ranks) == 1 and max(ranks) == 5
    assert {link["Origin"] for link in links} == (
        {"serp", "semantic"} if search == "serper" else {"semantic"}
    )
    if search == "serper":
        assert_serp_first(output)
    if queries == "sheet":
        assert google.grid("Main")[0] == ["Owner", "URL", "Main Query", *(f"Link {n}" for n in range(1, 6))]
        assert [row[:1] + row[3:] for row in google.grid("Main")[1:]] == [
            ["me", *(row[f"Link {rank}"] for rank in range(1, 6))] for row in output
        ]
    spent = (len(serper.calls("POST /search")), len(openai.calls("POST /v1/embeddings")))
    assert spent == (PAGES if search == "serper" else 0, 1 if encoder == "openai" else 0)
    written = len(google.calls("POST .*values:batchUpdate"))
    # Without the index, nobody knows that nothing changed.
    shutil.rmtree(project / "files/index")
    assert command("run", "--project", str(project)) == 0
    assert spent == (len(serper.calls("POST /search")), len(openai.calls("POST /v1/embeddings")))
    assert len(google.calls("POST .*values:batchUpdate")) == written, "equal cells are not written again"
    assert read_csv(project / "files/Output.csv") == output


def assert_serp_first(output: list[dict[str, str]]) -> None:
    """Assert that the eligible search results come first, in their order."""
    queries = dict(sample_queries(sample_pages(PAGES)))
    for row in output:
        hits = [url.partition("?")[0].partition("#")[0] for url in results(queries[row["URL"]], "")]
        expected = [url for url in dict.fromkeys(hits) if url in URLS and url != row["URL"]]
        assert [row[f"Link {rank}"] for rank in range(1, len(expected) + 1)] == expected


def test_a_site_in_a_language_that_the_packaged_model_does_not_know_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For an unsupported language the run notes that only words match; no link has an embedding similarity."""
    project = make_project(tmp_path, 2)
    use_standins(project, settings={"embedding_provider": "local"})
    texts = {
        "espresso": "قهوه اسپرسو را با آب داغ و فشار زیاد از پودر بسیار نرم دم می‌کنند.",
        "filter": "قهوه فیلتری را آرام دم می‌کنند و آب داغ را روی پودر درشت می‌ریزند.",
        "tea": "برگ‌های چای سبز را با آب ملایم دم کنید تا طعم آن تازه و سبک بماند.",
    }
    rows = [(f"https://a.example/{name}", name, 3 * f"{text} ") for name, text in texts.items()]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    (project / "files/main_queries.csv").unlink()
    assert command("run", "--figures", "--project", str(project)) == 0
    told = capsys.readouterr()
    note = (
        "Note: 3 pages are in a language that local/all-MiniLM-L6-v2-int8 does not support: "
        "they are matched by their words alone."
    )
    assert note in told.out + told.err
    links = read_csv(project / "files/links.csv")
    assert len(links) == 6
    assert {link["Embedding Similarity"] for link in links} == {""}
    assert all(float(link["Lexical Score"]) >= 0 for link in links)


@pytest.mark.long
def test_a_thousand_pages_of_500_tokens_take_the_least_possible_number_of_requests(
    tmp_path: Path, openai: OpenAIStandIn
) -> None:
    """Requests are packed to OpenAI's limits: at most 1.05 times the least possible number are sent."""
    project = make_project(tmp_path, 2)
    rows = [[f"https://a.example/{n}", f"Page {n}", "word " * 494 + str(n)] for n in range(1000)]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    (project / "files/main_queries.csv").unlink()
    use_standins(project, openai=openai)
    assert command("run", "--project", str(project)) == 0
    calls = openai.calls("POST /v1/embeddings")
    assert sum(len(call.body["input"]) for call in calls) == 1000
    least = -(-openai.units // MAX_TOKENS)
    assert len(calls) <= 1.05 * least


@pytest.mark.parametrize("anchors", ["balanced", "broad"])
def test_rank_score_and_tier_agree_in_all_files(anchors: str, tmp_path: Path) -> None:
    """A page's links are in the order of their scores: links in its text, then the related box, then weak ones."""
    project = make_project(tmp_path, 40, {"embedding_provider": "lsa", "anchors": anchors})
    assert command("run", "--no-serp", "--project", str(project)) == 0
    output = read_csv(project / "files/Output.csv")
    by_page = {row["URL"]: list[dict[str, str]]() for row in output}
    for link in read_csv(project / "files/links.csv"):
        by_page[link["Source"]].append(link)
    for row in output:
        links = by_page[row["URL"]]
        assert [row[f"Link {rank}"] for rank in range(1, 6)] == [link["Target"] for link in links]
        scores = [int(link["Score"]) for link in links]
        assert scores == sorted(scores, reverse=True)
        tiers = [("inline", "sidebar", "review").index(link["Tier"]) for link in links]
        assert tiers == sorted(tiers)
        inside = [score for score, tier in zip(scores, tiers, strict=True) if tier == 0]
        assert all(score >= LEAST[anchors] for score in inside)
        assert all(score < LEAST[anchors] for score in scores[len(inside) :])
    counts = Counter(link["Tier"] for links in by_page.values() for link in links)
    assert min(counts[tier] for tier in ("inline", "sidebar", "review")) > 5


def test_a_nearly_empty_page_gets_no_links_in_its_text(tmp_path: Path) -> None:
    """A stub of 11 words gets its links for a related box; one word more, and they stand in its text."""
    project = make_project(tmp_path, 25, {"embedding_provider": "lsa"})
    rows = read_csv(project / "files/urls_rawdata.csv")
    named = next(row for row in rows if "French Press" in row["Title"])
    text = "Until then we brew French press coffee without the mud"
    host = named["URL"].split("/")[2]
    stubs = [
        {
            **named,
            "URL": f"https://{host}/{words}/",
            "Title": f"Soon {words}",
            "H1": "",
            "Main Content": content,
        }
        for words, content in ((11, f"Soon. {text}."), (12, f"Coming soon. {text}."))
    ]
    assert [len(stub["Main Content"].split()) for stub in stubs] == [11, 12]
    write_csv(project / "files/urls_rawdata.csv", [[*named], *([*row.values()] for row in [*rows, *stubs])])
    assert command("run", "--no-serp", "--project", str(project)) == 0
    links = read_csv(project / "files/links.csv")
    inside = [
        {link["Source"] for link in links if link["Tier"] == "inline"} & {stub["URL"]} for stub in stubs
    ]
    assert inside == [set(), {stubs[1]["URL"]}]
    assert len([link for link in links if link["Source"] == stubs[0]["URL"]]) == 5
