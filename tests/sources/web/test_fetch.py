"""`import --sitemap` and `--urls` fetch a real site on loopback politely, and no single page ends the import."""

import gzip
import json
from pathlib import Path

import pytest

from internal_linker.sources.import_sources import sitemap_address
from tests.support.crawls import imported, links, pages, table
from tests.support.small_project import write_text
from tests.support.web_server import HTML, Reply, Site, moved, sitemap
from tests.support.web_sites import TEXT, html_page, menu_links

QUICK = ("--allow-private", "--delay", "0")


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the list of seconds that each request would wait for its turn at most; none waits."""
    found = list[float]()

    class Recorded:
        def __init__(self, per_second: float) -> None:
            self._seconds = round(1 / per_second, 3)

        def wait(self) -> None:
            found.append(self._seconds)

    monkeypatch.setattr("internal_linker.sources.web.client.Pacer", Recorded)
    return found


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("internal_linker.sources.web.client._ATTEMPTS", 1)


def rows(project: Path) -> dict[str, dict[str, str]]:
    """Return the imported pages by URL."""
    header, *cells = pages(project)
    return {row[0]: dict(zip(header, row, strict=True)) for row in cells}


def fetched(project: Path, site: Site, *paths: str, options: tuple[str, ...] = QUICK) -> int:
    """Import these pages of the site with a list of URLs."""
    urls = project / "urls.txt"
    write_text(urls, "URL\n# pages\n\n" + "\n".join(site.url + path for path in paths))
    return imported(project, "--urls", str(urls), *options)


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, int]]:
    """Return the JSON that --json printed."""
    answer: dict[str, dict[str, int]] = json.loads(capsys.readouterr().out)
    return answer


def reasons(project: Path) -> dict[str, str]:
    """Return the reasons of the rejected rows by URL."""
    return {row[2]: row[3] for row in table(project, "rejected_rows.csv")[1:]}


def test_a_sitemap_is_imported(project: Path, site: Site) -> None:
    """Each page has its text, status and facts and its links their position; robots.txt comes first, each page once."""
    a, b = site.url + "/a/", site.url + "/b/?x=1&y=2"
    site.pages = {
        "/sitemap.xml": sitemap(a, b, a),
        "/a/": html_page("Tea", links=[("/b/?x=1&y=2", "pots")]),
        "/b/?x=1&y=2": Reply(html_page("Pots"), headers={**HTML, "X-Robots-Tag": "noindex"}),
    }
    assert imported(project, "--sitemap", site.url + "/sitemap.xml", *QUICK) == 0
    found = rows(project)
    assert list(found) == [a, b]
    assert (found[a]["Title"], found[a]["H1"], found[a]["Lang"], found[a]["Status Code"]) == (
        *("Tea | Tiny", "Tea", "en-GB"),
        "200",
    )
    assert TEXT in found[a]["Main Content"] and "Imprint" not in found[a]["Main Content"]
    assert [found[url]["Indexability"] for url in (a, b)] == ["Indexable", "Non-Indexable"]
    inside = (a, b, "pots", "Content", "Hyperlink")
    assert sorted(row[:5] for row in links(project)[1:]) == sorted(
        [*menu_links(a, site.url), *menu_links(b, site.url), inside]
    )
    assert site.paths == ["/sitemap.xml", "/robots.txt", "/a/", "/b/?x=1&y=2"]
    assert all(headers["user-agent"].startswith("InternalLinker/") for _, headers in site.asked)


def test_an_index_of_sitemaps_by_the_hosts_address(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """robots.txt names the index; compressed, plain and damaged sitemaps are handled, and foreign URLs counted."""
    names = ("one.xml.gz", "two.txt", "broken.xml", "gone.xml", "index.xml")
    parts = [f"{site.url}/{name}" for name in names]
    site.pages = {
        "/robots.txt": f"User-agent: *\nDisallow:\nSitemap: {site.url}/index.xml",
        "/index.xml": sitemap(*parts, "https://cdn.example/s.xml", index=True),
        "/one.xml.gz": Reply(
            gzip.compress(sitemap(site.url + "/a", "https://other.example/", "/c").encode())
        ),
        "/two.txt": f"{site.url}/b\n\n{site.url}/a\n",
        "/broken.xml": sitemap(site.url + "/c")[:-30],
        "/a": html_page("A"),
        "/b": html_page("B"),
        "/c": html_page("C"),
    }
    assert imported(project, "--sitemap", site.url, *QUICK, "--json") == 0
    assert sorted(rows(project)) == [site.url + "/a", site.url + "/b"]
    assert told(capsys)["left_out"] == {
        "URL of another site than the sitemap": 1,
        "sitemap of another site": 1,
    }
    why = reasons(project)
    assert "damaged" in why[parts[2]] and "HTTP 404" in why[parts[3]] and "not a full URL" in why["/c"]


@pytest.mark.parametrize(
    ("named", "path"),
    [("", "/sitemap.xml"), ("/gone.xml", "/wp-sitemap.xml"), ("/empty.xml", "/sitemap.txt")],
)
def test_a_host_is_searched_for_its_sitemap(named: str, path: str, project: Path, site: Site) -> None:
    """If robots.txt names no sitemap with pages, the usual names are tried; only a named one is rejected."""
    robots = f"User-agent: *\nDisallow:\nSitemap: {site.url}{named}" if named else Reply("", 404)
    listed = f"{site.url}/a\n" if path.endswith("txt") else sitemap(site.url + "/a")
    site.pages = {"/robots.txt": robots, "/empty.xml": sitemap(), path: listed, "/a": html_page("A")}
    assert imported(project, "--sitemap", site.url, *QUICK) == 0
    assert list(rows(project)) == [site.url + "/a"]
    assert list(reasons(project)) == ([site.url + named] if named == "/gone.xml" else [])
    assert site.paths[-1] == "/a" and site.paths[-2] == path


@pytest.mark.usefixtures("one_attempt")
def test_a_part_of_the_sitemap_that_does_not_answer_is_a_gap(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pages of the other parts become the table, and the exit code is 6."""
    parts = (f"{site.url}/gone.xml", f"{site.url}/one.xml")
    site.pages = {
        "/index.xml": sitemap(*parts, index=True),
        "/one.xml": sitemap(site.url + "/a"),
        "/gone.xml": Reply(gone=True),
        "/a": html_page("A"),
    }
    assert imported(project, "--sitemap", site.url + "/index.xml", *QUICK) == 6
    assert list(rows(project)) == [site.url + "/a"]
    assert f"The pages of {parts[0]} are missing" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("example.com", "https://example.com"),
        (" www.example.com/sitemap.xml ", "https://www.example.com/sitemap.xml"),
        ("example.com:8080/", "https://example.com:8080/"),
        ("http://example.com", "http://example.com"),
    ],
)
def test_a_host_needs_no_scheme(given: str, meant: str) -> None:
    assert sitemap_address(given) == meant


def test_robots_are_obeyed(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str], paces: list[float]
) -> None:
    """Disallowed URLs, also by wildcards, are counted and not requested; the crawl delay is observed and reported."""
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: InternalLinker\nDisallow: /*.php$\nAllow: /\nCrawl-delay: 1.5"
    site.pages = {"/robots.txt": rules, "/a": html_page("A"), "/b.php": html_page("B"), "/c": html_page("C")}
    assert fetched(project, site, "/a", "/b.php", "/c", options=(*QUICK, "--json")) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["left_out"] == {"disallowed by robots.txt": 1}
    assert "asks for 1.5 seconds between two pages; the import waits that long" in out.err
    assert site.paths == ["/robots.txt", "/a", "/c"] and paces == [1.5, 1.5]


def test_requests_are_spaced(project: Path, site: Site, paces: list[float]) -> None:
    """Requests are --delay apart if robots.txt sets no crawl delay."""
    site.pages = {path: html_page(path) for path in ("/a", "/b", "/c")}
    assert fetched(project, site, *site.pages, options=("--allow-private", "--delay", "0.5")) == 0
    assert paces == [0.5] * 4


@pytest.mark.parametrize("status", [500, 429])
def test_without_a_word_from_robots_nothing_is_fetched(
    status: int, project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """If robots.txt can't be read, the import ends with exit code 4 and fetches no page."""
    site.pages = {"/robots.txt": Reply("", status), "/a": html_page("A")}
    assert fetched(project, site, "/a") == 4
    assert f"robots.txt can't be read (HTTP {status})" in capsys.readouterr().err
    assert "/a" not in site.paths and not (project / "files/urls_rawdata.csv").exists()


def test_redirects_canonicals_and_errors_are_rows(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages have rows with status and target; loops end, other sites aren't fetched, non-HTML files are counted."""
    site.pages = {
        **{"/old": moved("/mid"), "/mid": moved("/new", 302), "/new": html_page("New")},
        **{"/loop": moved("/pool"), "/pool": moved("/loop"), "/self": moved("/self")},
        **{
            "/away": moved("https://other.example/x"),
            "/slash": moved("/slash/"),
            "/slash/": html_page("Slash"),
        },
        **{"/copy": html_page("Copy", head='<link rel=canonical href="/new">'), "/500": Reply("oh", 500)},
        **{"/pdf": Reply("%PDF", headers={"Content-Type": "application/pdf"}), "/410": Reply("", 410)},
        **{"/broken": "<p><<b>Tea</p", "/noindex": html_page("N", head="<meta name=robots content=noindex>")},
    }
    paths = "/old /new /loop /self /away /slash /copy /500 /pdf /410 /broken /noindex /none".split()
    assert fetched(project, site, *paths, options=(*QUICK, "--json")) == 0
    found = {
        url.removeprefix(site.url): (row["Status Code"], row["Redirect URL"].removeprefix(site.url))
        for url, row in rows(project).items()
    }
    assert found == {
        **{"/old": ("301", "/mid"), "/mid": ("302", "/new"), "/new": ("200", "")},
        **{"/loop": ("301", "/pool"), "/pool": ("301", "/loop"), "/away": ("301", "https://other.example/x")},
        **{"/slash/": ("200", ""), "/copy": ("200", ""), "/500": ("500", ""), "/410": ("410", "")},
        **{"/broken": ("200", ""), "/noindex": ("200", ""), "/none": ("404", "")},
    }
    assert rows(project)[site.url + "/copy"]["Canonical"] == site.url + "/new"
    assert rows(project)[site.url + "/noindex"]["Indexability"] == "Non-Indexable"
    assert len(site.paths) == len(set(site.paths))
    answer = told(capsys)
    assert answer["left_out"] == {"not an HTML page": 1, "redirects to another site": 1}
    assert answer["facts"] == {"Pages fetched": 5, "Pages that failed": 3}


def test_a_long_way_of_redirects_ends(project: Path, site: Site) -> None:
    site.pages = {**{f"/{n}": moved(f"/{n + 1}") for n in range(20)}, "/a": html_page("A")}
    assert fetched(project, site, "/0", "/a") == 0
    assert "/11" not in site.paths and "10 redirects" in reasons(project)[site.url + "/11"]


def test_unchanged_pages_are_not_sent_again(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages are revalidated by ETag or date: unchanged ones are reused, and changed ones are fetched again."""
    date = {"Last-Modified": "Wed, 01 Jul 2026 10:00:00 GMT"}
    site.pages = {
        "/a": Reply(html_page("A"), headers={**HTML, "ETag": '"1"'}),
        "/b": Reply(html_page("B"), headers={**HTML, **date}),
        "/c": html_page("C"),
    }
    assert fetched(project, site, "/a", "/b", "/c", options=(*QUICK, "--json")) == 0
    assert told(capsys)["facts"] == {"Pages fetched": 3}
    first = rows(project)
    assert fetched(project, site, "/a", "/b", "/c", options=(*QUICK, "--json")) == 0
    assert told(capsys)["facts"] == {"Pages fetched": 1, "Pages unchanged since they were fetched": 2}
    assert rows(project) == first
    site.pages["/a"] = Reply(html_page("A2"), headers={**HTML, "ETag": '"2"'})
    assert fetched(project, site, "/a") == 0
    assert rows(project)[site.url + "/a"]["H1"] == "A2"


def test_filters_spare_requests(project: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages excluded by their URL or beyond --limit are counted and never requested."""
    paths = ["/a", "/tag/x", "/a/page/2", "/a?x=1", "/b", "/c"]
    site.pages = {path: html_page(path) for path in paths}
    options = ("--exclude", "/tag", "--no-pagination", "--no-parameters", "--limit", "2", "--json")
    assert fetched(project, site, *paths, options=(*QUICK, *options)) == 0
    assert site.paths == ["/robots.txt", "/a", "/b"]
    counts = {"in --exclude": 1, "pagination": 1, "URL with parameters": 1, "beyond --limit": 1}
    assert told(capsys)["left_out"] == counts


def test_a_page_that_fails_is_told_of(project: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Endless answers, bombs and truncated answers are rejected with reasons; other pages are imported."""
    packed = {**HTML, "Content-Encoding": "gzip"}
    site.pages = {
        "/endless": Reply("tea " * 100_000, endless=True),
        "/packed": Reply(gzip.compress(bytes(20_000_000)), headers=packed),
        "/gone": Reply(gone=True),
        "/a": Reply(gzip.compress(html_page("A").encode()), headers=packed),
    }
    assert fetched(project, site, "/endless", "/packed", "/gone", "/a", options=(*QUICK, "--json")) == 0
    assert list(rows(project)) == [site.url + "/a"]
    why = {url.removeprefix(site.url): reason for url, reason in reasons(project).items()}
    assert "larger than 10 MB" in why["/endless"]
    assert "decompresses to more than 10 MB" in why["/packed"] and "the connection failed" in why["/gone"]
    assert told(capsys)["facts"] == {"Pages fetched": 1, "Pages that failed": 3}


def test_a_busy_server_is_given_time(project: Path, site: Site) -> None:
    answers = iter([Reply("", 429, {"Retry-After": "0"}), Reply(html_page("A"))])
    site.pages = {"/a": lambda: next(answers)}
    assert fetched(project, site, "/a") == 0
    assert rows(project)[site.url + "/a"]["Status Code"] == "200"


def test_a_site_that_never_answers_ends_the_import(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """After ten failures in a row no more requests are sent; without any page it is exit code 4, and tables stay."""
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    site.pages = {f"/{n}": Reply("", 503, {"Retry-After": "9999"}) for n in range(12)}
    assert fetched(project, site, *site.pages) == 4
    assert "10 requests in a row had no answer; the last: it asks to retry later" in capsys.readouterr().err
    assert site.paths[-1] == "/9"
    assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"


@pytest.mark.usefixtures("one_attempt")
def test_what_was_fetched_before_a_site_went_is_imported(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a site goes in the middle, its fetched pages become the table, the others have reasons; exit code 6."""
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    paths = [f"/{n}" for n in range(12)]
    site.pages = {path: Reply(gone=True) for path in paths}
    site.pages["/a"] = Reply(html_page("A"), headers={**HTML, "ETag": '"1"'})
    assert fetched(project, site, "/a", *paths, options=(*QUICK, "--json")) == 6
    out = capsys.readouterr()
    host = site.url.removeprefix("http://")
    assert f"{host} was given up: 10 requests in a row had no answer" in out.err
    assert len(json.loads(out.out)["gaps"]) == 1
    assert list(rows(project)) == [site.url + "/a"]
    why = reasons(project)
    assert "the connection failed" in why[site.url + "/9"]
    assert "it was not fetched because its host was given up" in why[site.url + "/11"]
    (copy,) = (project / "files").glob("urls_rawdata *.csv")
    assert copy.read_text(encoding="utf-8") == "my own pages"
    assert fetched(project, site, "/a", options=(*QUICK, "--json")) == 0
    assert told(capsys)["facts"] == {"Pages unchanged since they were fetched": 1}


@pytest.mark.usefixtures("one_attempt")
def test_one_dead_host_costs_its_own_pages_only(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages of other hosts in the list become the table; the dead host's are rejected, with one gap and exit code 6."""
    site.pages = {"/a": html_page("A"), "/b": html_page("B")}
    with Site({"/robots.txt": Reply("", 500)}) as other:
        dead, urls = other.url, project / "urls.txt"
        write_text(urls, "\n".join([f"{dead}/x", site.url + "/a", f"{dead}/y", site.url + "/b"]))
        assert imported(project, "--urls", str(urls), *QUICK) == 6
        assert other.paths.count("/robots.txt") == 1
    assert list(rows(project)) == [site.url + "/a", site.url + "/b"]
    why = reasons(project)
    assert "robots.txt can't be read" in why[f"{dead}/x"] and "host was given up" in why[f"{dead}/y"]
    assert capsys.readouterr().err.count("was given up") == 1


@pytest.mark.usefixtures("one_attempt")
def test_a_dead_sitemap_leaves_the_list_of_urls(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --urls beside it, a sitemap that can't be fetched is a gap."""
    site.pages = {"/a": html_page("A")}
    options = ("--sitemap", "http://127.0.0.1:9/s.xml", *QUICK)
    assert fetched(project, site, "/a", options=options) == 6
    assert "s.xml can't be fetched" in capsys.readouterr().err
    assert list(rows(project)) == [site.url + "/a"]


ERRORS = {
    "nothing": (
        (),
        2,
        "name a file, a folder, --sitemap, --urls, --ghost, --wordpress, --search-console or --analytics",
    ),
    "no address": (
        ("--sitemap", "/sitemap.xml"),
        3,
        "--sitemap /sitemap.xml: not a full URL",
    ),
    "no list": (("--urls", "none.txt"), 3, "none.txt not found"),
    "empty list": (("--urls", "{empty}"), 3, "empty.txt has no URL: write one URL per line"),
    "no sitemap": (("--sitemap", "{site}/none.xml", *QUICK), 3, "there is no sitemap (HTTP 404)"),
    "a host without one": (("--sitemap", "{site}", *QUICK), 3, "has no sitemap: robots.txt names no sitemap"),
    "no XML": (("--sitemap", "{site}/page", *QUICK), 3, "it is not a sitemap"),
    "empty": (("--sitemap", "{site}/empty.xml", *QUICK), 3, "lists no pages of this site"),
    "private": (
        ("--sitemap", "{site}/s.xml"),
        3,
        "127.0.0.1, which is not a public address. To fetch from a private network",
    ),
    "no server": (("--sitemap", "http://127.0.0.1:9/", *QUICK), 4, "robots.txt can't be read (no connection"),
    "no server, too": (("--sitemap", "http://127.0.0.1:9/s.xml", *QUICK), 4, "s.xml can't be fetched ("),
}


@pytest.mark.parametrize(("options", "code", "sentence"), ERRORS.values(), ids=ERRORS)
def test_what_cant_be_fetched_is_a_sentence(
    options: tuple[str, ...],
    code: int,
    sentence: str,
    project: Path,
    site: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:
    site.pages = {"/page": html_page("A"), "/empty.xml": sitemap("https://other.example/a")}
    write_text(project / "empty.txt", "URL\n\n# none yet\n")
    places = {"site": site.url, "empty": project / "empty.txt"}
    assert imported(project, *(option.format(**places) for option in options)) == code
    assert sentence in capsys.readouterr().err.replace("\n", " ")
    assert not (project / "files/urls_rawdata.csv").exists()
