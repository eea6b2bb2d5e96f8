"""The import of a Ghost site, from its Content API or an export: posts become pages with text, language and links."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from internal_linker.project.settings.settings import load_settings
from tests.standins import Answer, Reply, Request
from tests.standins.ghost import KEY, GhostStandIn, ghost_post
from tests.support.crawls import empty_project, imported, table
from tests.support.small_project import write_text

QUICK = ("--delay", "0", "--allow-private")
LINKED = '<p>A text about tea with a <a href="/p2/?a=1" rel="nofollow">link</a>.</p><script>x</script>'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "project")


@pytest.fixture
def site(project: Path) -> Iterator[GhostStandIn]:
    about = ghost_post(900, title="About", canonical_url="https://a.example/about/")
    with GhostStandIn([ghost_post(1, LINKED), ghost_post(2)], [about], "fa") as running:
        write_key(project, running.url)
        yield running


def write_key(project: Path, url: str, key: str = KEY) -> None:
    path = project / "config/site_access.toml"
    write_text(path, f'["{url}"]\nkey = "{key}"\n')
    path.chmod(0o600)


def rows(project: Path, name: str = "urls_rawdata.csv") -> list[dict[str, str]]:
    header, *cells = table(project, name)
    return [dict(zip(header, row, strict=True)) for row in cells]


def told(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def test_posts_and_pages_become_pages_with_their_links(project: Path, site: GhostStandIn) -> None:
    assert imported(project, "--ghost", site.url, *QUICK) == 0
    first, _, about = rows(project)
    assert (first["URL"], first["Title"], first["H1"]) == (f"{site.url}/p1/", "Tea & 1", "Tea & 1")
    assert f'href="{site.url}/p2/?a=1"' in first["Main Content"] and "script" not in first["Main Content"]
    assert (first["Categories"], first["Lang"], first["Status Code"]) == ("Green", "fa", "200")
    assert (about["Title"], about["Canonical"]) == ("About", "https://a.example/about/")
    (link,) = rows(project, "existing_links.csv")
    assert (link["Source"], link["Destination"]) == (f"{site.url}/p1/", f"{site.url}/p2/?a=1")
    assert (link["Anchor"], link["Link Position"], link["Rel"]) == ("link", "Content", "nofollow")


def test_every_page_of_a_list_is_read(project: Path, site: GhostStandIn) -> None:
    site.lists["posts"] = [ghost_post(number) for number in range(1, 202)]
    assert imported(project, "--ghost", site.url, "--limit", "150", *QUICK) == 0
    assert [row["Title"] for row in rows(project)] == [f"Tea & {number}" for number in range(1, 151)]
    asked = [call.query for call in site.calls("posts") if call.query["limit"] == ["100"]]
    assert [query["page"] for query in asked] == [["1"], ["2"], ["3"]]
    assert {(*query["order"], *query["include"]) for query in asked} == {("id asc", "tags")}


def test_a_post_that_is_deleted_meanwhile_is_a_gap(
    project: Path, site: GhostStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    site.lists["posts"] = [ghost_post(number) for number in range(1, 151)]
    answer = site.reply

    def reply(request: Request) -> Answer:
        if request.query.get("page") == ["2"]:
            site.lists["posts"] = site.lists["posts"][-149:]
        return answer(request)

    site.reply = reply  # type: ignore[method-assign]
    assert imported(project, "--ghost", site.url, *QUICK) == 6
    assert "list of posts changed while it was read" in told(capsys) and len(rows(project)) == 150


def test_posts_without_a_whole_text_or_an_address_are_counted(
    project: Path, site: GhostStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    site.lists["posts"] += [ghost_post(3, access=False), ghost_post(4, url="SITE/404/")]
    assert imported(project, "--ghost", site.url, *QUICK) == 0
    said = told(capsys)
    assert "Posts for members, of which only the public part was read: 1" in said
    assert "without an address of their own: 1" in said
    assert [row["URL"] for row in rows(project)] == [
        f"{site.url}/{name}/" for name in ("p1", "p2", "p3", "p900")
    ]


def test_a_rate_limit_is_waited_for(project: Path, site: GhostStandIn) -> None:
    site.script(Reply(429, {"errors": []}, headers={"Retry-After": "0"}), on="posts")
    assert imported(project, "--ghost", site.url, *QUICK) == 0
    assert [call.status for call in site.calls("posts")] == [429, 200, 200]


ERROR = {"errors": [{"message": "Some words"}]}


@pytest.mark.parametrize(
    ("reply", "code", "sentence"),
    [
        (Reply(401, ERROR), 4, "the key in config/site_access.toml was refused (HTTP 401: Some words)"),
        (Reply(400, ERROR), 4, "no Content API was found"),
        (Reply(404, html="<h1>Not found</h1>"), 4, "no Content API was found"),
        (Reply(200, html="<h1>Welcome</h1>"), 4, "no Content API was found"),
        (Reply(200, {"posts": 1}), 4, "not what Ghost sends"),
        (Reply(500, ERROR), 4, "the site is busy or failed (HTTP 500: Some words)"),
        (
            Reply(301, headers={"Location": "https://b.example/ghost/api/"}),
            4,
            "redirects to https://b.example:",
        ),
    ],
)
def test_a_failed_import_changes_nothing(
    project: Path,
    site: GhostStandIn,
    capsys: pytest.CaptureFixture[str],
    reply: Reply,
    code: int,
    sentence: str,
) -> None:
    site.script(reply, on="posts")
    assert imported(project, "--ghost", site.url, *QUICK) == code
    assert sentence in told(capsys)
    assert not (project / "files/urls_rawdata.csv").exists()


def test_the_key_is_needed_and_shown_nowhere(
    project: Path, site: GhostStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a key nothing is sent; a wrong one is in no output and no file but its own."""
    secret = "a-wrong-key-of-ghost"
    write_key(project, site.url, secret)
    assert imported(project, "--ghost", site.url, *QUICK) == 4
    said = told(capsys)
    assert "HTTP 401: Unknown Content API Key" in said and secret in load_settings(project).secrets
    files = [path for path in project.rglob("*") if path.is_file() and path.parent.name != "config"]
    assert secret not in said + "".join(path.read_bytes().decode("utf-8", "replace") for path in files)
    site.forget()
    write_key(project, "https://other.example")
    assert imported(project, "--ghost", site.url, *QUICK) == 2
    assert "has no key for" in told(capsys) and not site.ledger


def test_a_site_without_posts_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with GhostStandIn() as site:
        write_key(project, site.url)
        assert imported(project, "--ghost", site.url, *QUICK) == 3
    assert "no published posts" in told(capsys)


def export(path: Path, *posts: dict[str, Any]) -> str:
    """Write an export of these posts as Ghost does, and return its path."""
    data = {
        "posts": posts,
        "tags": [{"id": "t1", "name": "Green"}, {"id": "t2", "name": "#hidden"}],
        "posts_tags": [{"post_id": 1, "tag_id": "t1"}, {"post_id": 1, "tag_id": "t2"}],
        "settings": [{"key": "title", "value": "Tea"}, {"key": "locale", "value": "de"}],
    }
    write_text(path, json.dumps({"db": [{"meta": {"version": "6.0.0"}, "data": data}]}))
    return str(path)


def row(number: int, html: str | None, **more: Any) -> dict[str, Any]:
    post = {"id": number, "slug": f"p{number}", "title": f"Tea {number}", "html": html, "lexical": "{}"}
    return {**post, "type": "post", "status": "published", "visibility": "members", **more}


def test_an_export_gives_the_same_tables(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Published posts and pages, also those for members, become pages at the address of the site."""
    linked = '<p>See <a href="__GHOST_URL__/p2/">the second</a>.</p>'
    posts = [
        row(1, linked, canonical_url="__GHOST_URL__/p2/"),
        row(2, "<p>Tea</p>", type="page"),
        row(3, "<p>Tea</p>", status="draft"),
        row(4, None),
    ]
    file = export(tmp_path / "tea.ghost.json", *posts)
    assert imported(project, file, "--base-url", "https://tea.example/blog/", "--yes") == 0
    first, second = rows(project)
    assert (first["URL"], second["URL"]) == ("https://tea.example/blog/p1/", "https://tea.example/blog/p2/")
    assert (first["Lang"], first["Categories"], first["Canonical"]) == ("de", "Green", second["URL"])
    (link,) = rows(project, "existing_links.csv")
    assert (link["Destination"], link["Anchor"]) == (second["URL"], "the second")
    said = told(capsys)
    assert "drafts, scheduled, or only sent by mail: 1" in said and "without HTML" in said


@pytest.mark.parametrize(
    ("text", "arguments", "code", "sentence"),
    [
        ('{"db": []}', (), 3, "is not what Ghost exports"),
        ("[1]", (), 3, "is not what Ghost exports"),
        ("{", (), 3, "is not what Ghost exports"),
        ('{"data": {"posts": []}}', (), 2, "name it with --base-url"),
        ('{"data": {"posts": []}}', ("--base-url", "ftp://a"), 2, "name the site's address"),
        ('{"data": {"posts": []}}', ("--base-url", "a.example"), 3, "no rows left"),
    ],
)
def test_a_file_that_is_no_export_is_told(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    write_text(tmp_path / "tea.json", text)
    assert imported(project, str(tmp_path / "tea.json"), *arguments) == code
    assert sentence in told(capsys)
