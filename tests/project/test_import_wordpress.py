"""The import of a WordPress site: posts become pages with text, language and links; only changes are fetched."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.check import check
from internal_linker.project.settings.accounts import wordpress_account
from internal_linker.project.settings.settings import load_settings
from tests.standins import Reply, WordPressStandIn
from tests.standins.wordpress import PASSWORD, USER, StoredPost
from tests.support.crawls import empty_project, imported, table
from tests.support.small_project import write_text
from tests.support.wordpress import WordPress

QUICK = ("--delay", "0", "--allow-private")
TEXT = '<p>A text about {0} with a <a href="/{1}/?a=1" rel="nofollow">link to {1}</a>.</p><script>x</script>'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "project")


@pytest.fixture
def site() -> Iterator[WordPressStandIn]:
    posts = [
        StoredPost(
            number, f"p{number}", TEXT.format(number, f"p{number % 3 + 1}"), title=f"Tea &#038; {number}"
        )
        for number in (1, 2, 3)
    ]
    with WordPressStandIn(posts) as running:
        yield running


def sign_in(project: Path, url: str, password: str = PASSWORD) -> None:
    path = project / "config/wordpress.txt"
    write_text(path, f"{url}\n{USER}\n{password}\n")
    path.chmod(0o600)


def pages(project: Path) -> list[dict[str, str]]:
    header, *rows = table(project, "urls_rawdata.csv")
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_posts_become_pages_with_their_links(project: Path, site: WordPressStandIn) -> None:
    site.posts[2].lang = "fa"
    assert imported(project, "--wordpress", site.url, *QUICK) == 0
    first, second, _ = pages(project)
    assert (first["URL"], first["Title"], first["H1"]) == (f"{site.url}/p1/", "Tea & 1", "Tea & 1")
    assert f'href="{site.url}/p2/?a=1"' in first["Main Content"] and "script" not in first["Main Content"]
    assert first["Categories"] == "Tea & more"
    assert (first["Lang"], second["Lang"], first["Status Code"]) == ("", "fa", "200")
    header, *links = table(project, "existing_links.csv")
    found = dict(zip(header, links[0], strict=True))
    assert (found["Source"], found["Destination"]) == (f"{site.url}/p1/", f"{site.url}/p2/?a=1")
    assert (found["Anchor"], found["Link Position"], found["Rel"]) == ("link to p2", "Content", "nofollow")


def test_only_changed_posts_are_fetched_again(
    project: Path, site: WordPressStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(project, "--wordpress", site.url, *QUICK) == 0
    site.forget()
    site.posts[1].content, site.posts[1].modified = "<p>New text</p>", "2024-05-05T00:00:00"
    site.posts[2].slug = "moved"
    del site.posts[3]
    capsys.readouterr()
    assert imported(project, "--wordpress", site.url, *QUICK) == 0
    assert [page["URL"] for page in pages(project)] == [f"{site.url}/p1/", f"{site.url}/moved/"]
    assert pages(project)[0]["Main Content"] == "<p>New text</p>"
    assert [call.query["include"] for call in site.calls("posts") if "include" in call.query] == [["1,2"]]
    assert "deleted or unpublished since the last import" in capsys.readouterr().out
    site.forget()
    assert imported(project, "--wordpress", site.url, *QUICK) == 0
    assert not [call for call in site.calls("posts") if "include" in call.query]


def test_filters_and_limit_save_requests(project: Path, site: WordPressStandIn) -> None:
    assert imported(project, "--wordpress", site.url, "--exclude", "/p1", "--limit", "1", *QUICK) == 0
    assert [call.query["include"] for call in site.calls("posts") if "include" in call.query] == [["2"]]
    assert [page["URL"] for page in pages(project)] == [f"{site.url}/p2/"]


def test_the_password_goes_to_its_own_site_alone(
    project: Path, site: WordPressStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """The password goes to the site in config/wordpress.txt; for another one, the import says that it had none."""
    sign_in(project, site.url)
    assert imported(project, "--wordpress", site.url, "--delay", "0") == 0
    assert site.calls("users/me") and {"authorization" in call.headers for call in site.calls("types")} == {
        True
    }
    with WordPressStandIn([StoredPost(9, "p9", "<p>Text</p>")]) as other:
        assert imported(project, "--wordpress", other.url, *QUICK) == 0
        assert not any("authorization" in call.headers for call in other.ledger)
    assert "is read without a password" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("break_it", "code", "sentence"),
    [
        (lambda site: site.script(*[Reply(404)] * 9), 4, "no REST API was found"),
        (lambda site: site.posts.clear(), 3, "no published posts"),
        (lambda site: setattr(site, "editor", False), 4, "lacks the right"),
    ],
)
def test_a_failed_import_changes_nothing(
    project: Path,
    site: WordPressStandIn,
    capsys: pytest.CaptureFixture[str],
    break_it: object,
    code: int,
    sentence: str,
) -> None:
    sign_in(project, site.url)
    assert callable(break_it)
    break_it(site)
    assert imported(project, "--wordpress", site.url, *QUICK) == code
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (project / "files/urls_rawdata.csv").exists()


def test_a_wrong_password_is_told_and_shown_nowhere(
    project: Path, site: WordPressStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong password ends the import with a sentence; no output and no file but its own has it."""
    secret = "wrong wrong wrong wrong"
    sign_in(project, site.url, secret)
    assert imported(project, "--wordpress", site.url, *QUICK) == 4
    said = capsys.readouterr()
    found = said.out + said.err
    assert "config/wordpress.txt is wrong" in " ".join(found.split())
    found += "".join(
        path.read_bytes().decode("utf-8", "replace")
        for path in project.rglob("*")
        if path.is_file() and path.parent.name != "config"
    )
    assert secret not in found and secret.replace(" ", "") not in found


@pytest.mark.parametrize("address", ["https://me:pw@a.example", "ftp://a.example", "https://a.example/?p=1"])
def test_an_address_that_is_no_site_is_refused(
    project: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(project, "--wordpress", address) == 2
    assert "name the site's address" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "text",
    ["anna", "https://a.example\nanna", "https://a.example\nan:na\nx y", "https://u:p@a.example\na\nb"],
)
def test_a_wrong_account_file_is_told_without_repeating_it(text: str) -> None:
    with pytest.raises(
        ConfigurationError, match=re.escape("config/wordpress.txt must have three lines")
    ) as told:
        wordpress_account(text)
    assert "anna" not in str(told.value)


def test_check_signs_in(project: Path, site: WordPressStandIn) -> None:
    """`check` says as whom it signed in and which rights are missing; a wrong password is to be fixed."""
    sign_in(project, site.url)
    told = {fact.name: fact for fact in check(project).facts}["WordPress"]
    assert told.ok and "as editor; it lacks edit_others_posts" in told.text
    sign_in(project, site.url, "wrong")
    told = {fact.name: fact for fact in check(project).facts}["WordPress"]
    assert told.ok is False and "is wrong" in told.text
    assert "WordPress" not in {fact.name for fact in check(empty_project(project / "other")).facts}


def test_the_password_is_a_secret_of_the_settings(project: Path, site: WordPressStandIn) -> None:
    sign_in(project, site.url)
    assert {PASSWORD, PASSWORD.replace(" ", "")} <= set(load_settings(project).secrets)


@pytest.mark.long
def test_a_real_site_is_imported(project: Path, wordpress: WordPress) -> None:
    """All 120 posts of a real WordPress are imported; what editors change, delete or hide counts next time."""
    assert imported(project, "--wordpress", wordpress.url, *QUICK) == 0
    found = pages(project)
    assert len(found) == 120 and {page["Lang"] for page in found} == {"en", "fa", "ja"}
    assert {page["Categories"] for page in found} == {"Tools", "Seasons & weather", ""}
    assert len(table(project, "existing_links.csv")) == 121
    changed, hidden, gone = (wordpress.posts[f"post-00{number}"] for number in (1, 2, 3))
    wordpress.edit(changed, content="<p>An editor's text</p>")
    wordpress.set_meta(
        hidden, "yoast", '{"robots": {"index": "noindex"}, "canonical": "https://a.example/x"}'
    )
    wordpress.edit(hidden, title="Hidden")
    wordpress.delete(gone)
    assert imported(project, "--wordpress", wordpress.url, *QUICK) == 0
    later = {page["URL"].removeprefix(wordpress.url): page for page in pages(project)}
    assert len(later) == 119 and "/post-003/" not in later
    assert "An editor" in later["/post-001/"]["Main Content"]
    assert later["/post-002/"]["Indexability"] == "Non-Indexable"
    assert later["/post-002/"]["Canonical"] == "https://a.example/x"
