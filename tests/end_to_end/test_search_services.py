"""A run with each search service: the same links, each result page paid for once."""

from pathlib import Path

import pytest

from tests.standins import SerpApiStandIn, SerperStandIn
from tests.support.sites import make_project, read_csv, sample_pages, use_standins
from tests.support.small_project import command

PAGES = 12


def found(words: str, site: str) -> list[str]:
    """Return some of the site's pages for any words, different for each, and one URL that the site doesn't have."""
    urls = [page["URL"] for page in sample_pages(PAGES)]
    first = len(words) % PAGES
    return [*urls[first:], f"https://{site}/gone", *urls[:first]] if site else []


def results(project: Path) -> tuple[bytes, list[dict[str, str]]]:
    """Return Output.csv as it is, and links.csv without the run id."""
    links = [row | {"Run": ""} for row in read_csv(project / "files/links.csv")]
    return (project / "files/Output.csv").read_bytes(), links


def test_a_run_with_serpapi_is_a_run_with_serper(tmp_path: Path) -> None:
    """If both services find the same, the results are byte-identical; a second run of either costs nothing."""
    of = {"embedding_provider": "lsa"}
    with SerperStandIn(found) as serper, SerpApiStandIn(found) as serpapi:
        one, other = make_project(tmp_path / "serper", PAGES), make_project(tmp_path / "serpapi", PAGES)
        use_standins(one, serper=serper, settings={**of, "serp_provider": "serper"})
        use_standins(other, serpapi=serpapi, settings={**of, "serp_provider": "serpapi"})
        for project in (one, other):
            assert command("run", "--project", str(project)) == 0
        assert serper.units == serpapi.units > PAGES // 2
        assert results(one) == results(other)
        assert {row["Origin"] for row in results(other)[1]} == {"serp"}
        paid = len(serper.ledger), len(serpapi.ledger)
        for project in (one, other):
            assert command("run", "--project", str(project)) == 0
        assert (len(serper.ledger), len(serpapi.ledger)) == paid


def test_a_cap_and_an_empty_account_leave_the_links_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """max_serp_credits limits SerpApi's searches like Serper's credits; both limits end the run with gaps."""
    of = {"embedding_provider": "lsa", "serp_provider": "serpapi"}
    with SerpApiStandIn(found) as serpapi:
        project = make_project(tmp_path, PAGES)
        use_standins(project, serpapi=serpapi, settings={**of, "max_serp_credits": 3})
        assert command("run", "--project", str(project)) == 6
        said = capsys.readouterr().out
        assert serpapi.units == 3 and "SerpApi: the limit max_serp_credits = 3 credits is reached" in said
        serpapi.searches = 2
        use_standins(project, serpapi=serpapi, settings=of)
        assert command("run", "--project", str(project)) == 6
        assert serpapi.units == 5 and "SerpApi: the account has no searches left" in capsys.readouterr().out
    assert len({row["URL"] for row in read_csv(project / "files/Output.csv")}) == PAGES
