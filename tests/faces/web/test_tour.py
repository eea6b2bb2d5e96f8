"""The whole tour in a browser on a real server: pages, run, review, and a next run that heeds the decisions."""

import csv
import io
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.standins import OpenAIStandIn, SerperStandIn
from tests.support.app_browser import AppBrowser
from tests.support.sites import sample_pages, sample_queries, use_standins
from tests.support.small_project import finish, start, write_csv


@contextmanager
def started_app(folder: Path) -> Iterator[str]:
    """Start the app as a person does, return its start address, and end it by Ctrl-C."""
    words = ("-m", "internal_linker", "app", "--no-browser")
    server = start(*words, cwd=folder, XDG_DATA_HOME=str(folder / "data"), HOME=str(folder))
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found
        yield found[0]
    except BaseException:
        server.kill()
        server.communicate()
        raise
    server.send_signal(signal.SIGINT)
    assert finish(server)[0] == 0


def run_to_the_end(page: Page) -> None:
    """Start the planned run on the page Run, and wait until it has ended well."""
    start = page.get_by_role("button", name="Start the run")
    expect(start).to_be_enabled()
    # The page may show the last run's end until it knows that this one has ended, and then plans the next.
    with page.expect_response("**/plan", timeout=120_000):
        start.click()
    page.get_by_role("heading", name="Last run").wait_for()
    page.get_by_text("Pipeline completed successfully!").wait_for()


def decide_two(page: Page) -> list[tuple[str, str]]:
    """Accept the first link of the review by key and reject the second as not relevant; return their pages' titles."""
    titles = []
    for at, keys in enumerate(("a", "r1"), start=1):
        page.get_by_text(re.compile(rf"Link {at} of \d+")).wait_for()
        titles.append((page.locator("#from").inner_text(), page.locator("#to").inner_text()))
        for key in keys:
            page.keyboard.press(key)
    page.get_by_text(re.compile(r"Link 3 of \d+")).wait_for()
    return titles


def link_own_words(page: Page, pages: list[tuple[str, str]]) -> tuple[str, str, str]:
    """Let words of the third link's page lead to a page that no run proposed; return the three pages' titles.

    Args:
        pages: URL and title of all pages.
    """
    source, former = page.locator("#from").inner_text(), page.locator("#to").inner_text()
    words = page.evaluate(
        "() => { const paragraphs = [...document.querySelectorAll('#page-text p:not([role])')]; "
        "const nodes = paragraphs.flatMap((each) => [...each.childNodes]); "
        "const node = nodes.filter((each) => each.nodeType === 3 && each.data.trim().split(' ').length > 6).at(-1); "
        "const words = node.data.trim().split(' ').slice(2, 4).join(' '), at = node.data.indexOf(words); "
        "getSelection().setBaseAndExtent(node, at, node, at + words.length); return words; }"
    )
    page.get_by_role("button", name=f"Link “{words}”").click()
    page.locator("#page-text .spot[aria-current]", has_text=words).wait_for()
    address = page.locator("#from-url a").get_attribute("href")
    app, _, key = page.url.partition("/review")[0].rpartition("/p/")
    query = f"links?source={quote(str(address).rstrip('/'), safe='')}"
    rows = page.request.get(f"{app}/api/projects/{key}/{query}").json()["rows"]
    linked = [row["target_title"] for row in rows]
    assert linked
    url, target = next(each for each in pages if each[1] not in {source, *linked})
    page.keyboard.press("t")
    page.get_by_label("URL of another page").fill(url)
    page.get_by_role("button", name="Link to it").click()
    page.get_by_text(re.compile(r"Link 4 of \d+")).wait_for()
    return source, former, target


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the page Import."""
    files = page.evaluate_handle(
        "([name, text]) => { const all = new DataTransfer(); all.items.add(new File([text], name)); return all; }",
        [name, text],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": files})


def linked(page: Page, status: str) -> list[tuple[str, ...]]:
    """Return the titles of both pages of the links that the page Links shows with this status."""
    page.get_by_role("link", name="Links", exact=True).click()
    # The list is there, so the filters are followed.
    expect(page.locator("#count")).to_have_text(re.compile(r"^\d+ link"))
    with page.expect_response(re.compile(rf"/links\?.*status={status}")) as answer:
        page.get_by_label("Status").select_option(status)
    rows = page.locator(".tabulator-row")
    expect(rows).to_have_count(answer.value.json()["total"])
    return [tuple(row.locator(".title").all_inner_texts()) for row in rows.all()]


@pytest.mark.long
def test_from_a_crawl_to_a_run_that_heeds_decisions(browser: AppBrowser, tmp_path: Path) -> None:
    """A person drops a crawl, sees the price, runs, accepts, rejects and sets an own link: the next run heeds all."""
    crawled = sample_pages(10)
    text = io.StringIO()
    rows = [[each[name] for name in ("URL", "Title", "Main Content")] for each in crawled]
    gone = [f"{rows[0][0]}gone/", "Not found", ""]
    csv.writer(text).writerows(
        [("Address", "Title 1", "Body", "Status Code"), *([*row, "200"] for row in rows), [*gone, "404"]]
    )
    folder = tmp_path / "site"
    with (
        SerperStandIn(lambda words, site: [each["URL"] for each in crawled[:4]]) as serper,
        OpenAIStandIn() as openai,
        started_app(tmp_path) as address,
    ):
        page = browser.browser.new_page()
        page.goto(address)
        page.get_by_label("Folder for the site").fill(str(folder))
        page.get_by_role("button", name="Create project").click()
        page.wait_for_url("**/import")
        # What a person does outside the browser: keys and main queries are put into the folder.
        use_standins(folder, serper=serper, openai=openai, settings={"embedding_provider": "openai"})
        write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *sample_queries(crawled)])

        drop(page, "crawl.csv", text.getvalue())
        expect(page.get_by_label("Import Body as")).to_have_value("Main Content")
        page.get_by_text("11 of 11 pages would be imported").wait_for()
        page.get_by_label("have another status than 200").check()
        page.get_by_text("10 of 11 pages would be imported").wait_for()
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_role("heading", name="Imported", exact=True).wait_for()

        page.get_by_role("link", name="Run", exact=True).click()
        page.get_by_text("at most $").first.wait_for()
        assert openai.calls() == [] and serper.calls("POST /search") == []
        run_to_the_end(page)
        assert openai.calls("POST /v1/embeddings") and serper.calls("POST /search")

        page.get_by_role("link", name="Review of this run").click()
        accepted, rejected = decide_two(page)
        source, former, target = link_own_words(page, [(row[0], row[1]) for row in rows])
        page.get_by_role("link", name="Run", exact=True).click()
        run_to_the_end(page)
        assert linked(page, "accepted") == [accepted]
        assert linked(page, "edited") == [(source, target)]
        assert sorted(linked(page, "rejected")) == sorted([rejected, (source, former)])
        waiting = linked(page, "waiting")
        assert waiting and not {accepted, rejected, (source, former), (source, target)} & set(waiting)
        page.context.close()
