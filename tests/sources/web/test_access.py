"""Protected sites: headers, a password or a proxy reach the site that they were configured for, and nobody else."""

import os
import socket
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.log import LOGGER, run_log
from internal_linker.project.settings.accounts import site_accesses
from internal_linker.project.settings.settings import load_settings
from internal_linker.sources.web.access import SiteAccess, origin_of
from internal_linker.sources.web.client import NoAnswer, SiteClient
from tests.support.crawls import imported, pages
from tests.support.small_project import write_text
from tests.support.web_server import Reply, Site, moved, sitemap
from tests.support.web_sites import html_page

QUICK = ("--allow-private", "--delay", "0")
PASSWORD, TOKEN = "very-secret-password", "token-0123456789"
BASIC = b64encode(f"editor:{PASSWORD}".encode()).decode()


def protect(project: Path, origin: str, *lines: str) -> None:
    """Write config/site_access.toml for one site."""
    path = project / "config/site_access.toml"
    write_text(path, "\n".join([f'["{origin}"]', *lines]))
    path.chmod(0o600)


CREDENTIALS = (f'user = "editor"\npassword = "{PASSWORD}"', f'headers = {{ "X-Preview" = "{TOKEN}" }}')


def secrets_in(project: Path, *texts: str) -> list[str]:
    """Return which secrets are in the texts or in any file of the project but its configuration."""
    found = "".join(texts)
    for path in project.rglob("*"):
        if path.is_file() and path.parent.name != "config":
            found += path.read_bytes().decode("utf-8", "replace")
    return [secret for secret in (PASSWORD, TOKEN, BASIC) if secret in found]


def sent(site: Site) -> list[tuple[str, str]]:
    """Return the secrets of each request: its authorization and its header."""
    return [(headers.get("authorization", ""), headers.get("x-preview", "")) for _, headers in site.asked]


def test_a_staging_site_is_imported(project: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Password and headers go with each request to the site, and nowhere else; ignore_robots opens its pages."""

    def page() -> Reply:
        return Reply(html_page("A")) if sent(site)[-1] == (f"Basic {BASIC}", TOKEN) else Reply("", 401)

    site.pages = {
        "/robots.txt": "User-agent: *\nDisallow: /",
        "/sitemap.xml": sitemap(site.url + "/a"),
        "/a": page,
    }
    protect(project, site.url, *CREDENTIALS, "ignore_robots = true")
    with Site({"/b": html_page("B")}) as other:
        write_text(project / "urls.txt", f"{other.url}/b")
        options = ("--sitemap", site.url, "--urls", str(project / "urls.txt"), *QUICK)
        assert imported(project, *options) == 0
        assert set(sent(other)) == {("", "")}
    assert [row[0] for row in pages(project)[1:]] == [other.url + "/b", site.url + "/a"]
    assert set(sent(site)) == {(f"Basic {BASIC}", TOKEN)}
    told = capsys.readouterr()
    assert secrets_in(project, told.out, told.err) == []


def test_a_redirect_takes_no_secret_along(site: Site, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    here = "127.0.0.1"

    def known(host: str, *rest: Any, **more: Any) -> Any:
        return real(here if str(host).endswith("tiny.example") else host, *rest, **more)

    monkeypatch.setattr("socket.getaddrinfo", known)
    first, second = (site.url.replace(here, host) for host in ("tiny.example", "www.tiny.example"))
    site.pages = {"/a": moved(second + "/b"), "/b": html_page("B"), "/robots.txt": moved(second + "/r")}
    protect(project, first, *CREDENTIALS)
    write_text(project / "urls.txt", f"{first}/a")
    assert imported(project, "--urls", str(project / "urls.txt"), *QUICK) == 0
    hosts = [
        (headers["host"].partition(":")[0], headers.get("authorization", "")) for _, headers in site.asked
    ]
    assert {host for host, _ in hosts} == {"tiny.example", "www.tiny.example"}
    assert all(bool(secret) == (host == "tiny.example") for host, secret in hosts)


def test_a_proxy_is_used_for_its_site_alone(project: Path, site: Site) -> None:
    """Requests to the configured site go through the proxy, with its password; others go directly."""
    staging = "http://staging.example:8080"
    site.pages = {"/b": html_page("B"), f"{staging}/a": html_page("A")}
    address = site.url.replace("//", f"//me:{PASSWORD}@")
    protect(project, staging, f'proxy = "{address}"')
    write_text(project / "urls.txt", f"{staging}/a\n{site.url}/b")
    assert imported(project, "--urls", str(project / "urls.txt"), *QUICK) == 0
    assert [row[0] for row in pages(project)[1:]] == [f"{staging}/a", f"{site.url}/b"]
    secret = "Basic " + b64encode(f"me:{PASSWORD}".encode()).decode()
    asked = {path: headers.get("proxy-authorization", "") for path, headers in site.asked}
    assert asked == {
        **{f"{staging}/robots.txt": secret, f"{staging}/a": secret},
        **{"/robots.txt": "", "/b": ""},
    }


def test_a_dead_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that can't be reached is a reason that shows neither its address nor its password."""
    access = {"https://staging.example": SiteAccess(proxy=f"http://me:{PASSWORD}@127.0.0.1:9")}
    client = SiteClient(0, allow_private=False, access=access)
    monkeypatch.setattr("internal_linker.sources.web.client._ATTEMPTS", 1)
    with pytest.raises(NoAnswer, match="the proxy in config/site_access.toml") as caught:
        client.get("https://staging.example/a")
    client.close()
    assert PASSWORD not in str(caught.value) and PASSWORD not in repr(access)


@pytest.mark.parametrize("way", ["--urls", "--sitemap"])
def test_a_site_that_asks_for_a_password_has_a_remedy(
    way: str, project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """HTTP 401 on each page or on the sitemap names config/site_access.toml."""
    site.pages = dict.fromkeys(("/sitemap.xml", "/a"), Reply("", 401))
    write_text(project / "urls.txt", f"{site.url}/a")
    given = str(project / "urls.txt") if way == "--urls" else site.url
    assert imported(project, way, given, *QUICK) == (4 if way == "--urls" else 3)
    assert "write them into config/site_access.toml" in capsys.readouterr().err


def test_a_site_that_allows_no_robot_has_a_remedy(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.pages = {"/robots.txt": "User-agent: *\nDisallow: /"}
    write_text(project / "urls.txt", f"{site.url}/a\n{site.url}/b")
    assert imported(project, "--urls", str(project / "urls.txt"), *QUICK) == 3
    told = capsys.readouterr().err
    assert (
        "robots.txt disallows the pages (2)" in told
        and "set ignore_robots in config/site_access.toml" in told
    )


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
def test_readable_and_unencrypted_secrets_are_told(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """`import` warns of a configuration that others can read, and of a site that gets it unencrypted."""
    protect(project, "http://staging.example", *CREDENTIALS)
    (project / "config/site_access.toml").chmod(0o644)
    site.pages = {"/a": html_page("A")}
    write_text(project / "urls.txt", f"{site.url}/a")
    assert imported(project, "--urls", str(project / "urls.txt"), *QUICK) == 0
    told = capsys.readouterr().err
    assert "chmod 600 config/site_access.toml" in told
    assert "http://staging.example gets its password, headers and key unencrypted" in told


def test_the_log_knows_the_secrets(project: Path) -> None:
    protect(project, "https://a.example", *CREDENTIALS, 'proxy = "http://me:proxy%21password@p.example:3128"')
    with run_log(project, "1", load_settings(project).secrets):
        LOGGER.info("%s %s %s %s %s", PASSWORD, TOKEN, BASIC, "proxy%21password", "proxy!password")
    assert (project / "logfile.txt").read_text(encoding="utf-8").rstrip().endswith("*** *** *** *** ***")


WRONG = {
    "no TOML": ("user = secret-value", "it can't be read as TOML (at line 1, column 8)."),
    "no site": ('user = "secret-value"', "user stands outside of a table"),
    "no address": ('["a.example/path"]', "each table is named by a site"),
    "a password in the address": ('["https://me:secret-value@a.example"]', "each table is named by a site"),
    "a mistyped name": ('["a.example"]\npasword = "secret-value"', "did you mean password?"),
    "no text": ('["a.example"]\nuser = 1', "user of a.example must be a text in double quotes."),
    "no user": ('["a.example"]\npassword = "secret-value"', "a.example needs a user without a colon"),
    "no headers": ('["a.example"]\nheaders = "secret-value"', "headers of a.example must be written as in"),
    "a header of two lines": (
        '["a.example"]\nheaders = { X = "secret-value\\nY: 1" }',
        "must be ASCII on one line.",
    ),
    "a header of our own": (
        '["a.example"]\nheaders = { Host = "secret-value" }',
        "the header Host of a.example can't",
    ),
    "two passwords": (
        '["a.example"]\nuser = "u"\nheaders = { Authorization = "secret-value" }',
        "the header Authorization of a.example can't be set.",
    ),
    "a proxy without a port": (
        '["a.example"]\nproxy = "http://secret-value"',
        "such as http://proxy.example.com:3128",
    ),
    "another proxy": (
        '["a.example"]\nproxy = "socks5://secret-value:1"',
        "such as http://proxy.example.com:3128",
    ),
    "no answer to a question": ('["a.example"]\nignore_robots = "secret-value"', "must be true or false."),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_configuration_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as told:
        site_accesses(text)
    assert sentence in str(told.value) and "secret-value" not in str(told.value)


def test_a_wrong_configuration_ends_the_import(
    project: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake ends the import with exit code 2 before any request, and nothing repeats the value."""
    write_text(project / "config/site_access.toml", WRONG["no site"][0])
    assert imported(project, "--sitemap", site.url, *QUICK) == 2
    told = capsys.readouterr().err
    assert told.startswith("Error: config/site_access.toml: ") and "secret-value" not in told
    assert site.asked == []


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Staging.Example./a?b", "https://staging.example"),
        ("https://staging.example:443", "https://staging.example"),
        ("http://staging.example:8080/a", "http://staging.example:8080"),
        ("http://[::1]:80/", "http://[::1]"),
        ("ftp://staging.example", ""),
        ("https://[", ""),
        ("https://a.example:99999", ""),
    ],
)
def test_an_origin_has_one_spelling(url: str, origin: str) -> None:
    """Scheme, host and port tell one origin from another; the default port is left out."""
    assert origin_of(url) == origin
