"""Requests to WordPress: the address of the API, the password, redirects, and errors that name a remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from internal_linker.model.errors import CredentialsRefused, ServiceError
from internal_linker.sources.sites.wordpress import Account
from internal_linker.sources.wordpress.rest import RestClient, RestError
from tests.standins import Reply, WordPressStandIn
from tests.standins.wordpress import PASSWORD, USER
from tests.support.web_server import Reply as Page
from tests.support.web_server import Site, moved


@contextmanager
def client_of(url: str, password: str = "", *, discovers: bool = True) -> Iterator[RestClient]:
    """Yield a client that does not wait between requests; it signs in if there is a password."""
    client = RestClient(url, Account(url, url, USER, password) if password else None, per_second=10_000)
    try:
        if discovers:
            client.discover()
        yield client
    finally:
        client.close()


@pytest.mark.parametrize("pretty", [True, False])
def test_the_api_is_found_at_either_address(pretty: bool) -> None:
    with WordPressStandIn(pretty=pretty) as site, client_of(site.url, PASSWORD) as client:
        assert client.sign_in()["name"] == USER
        assert ("rest_route" in client.address("wp/v2/posts", page=2)) is not pretty


def test_a_wrong_password_is_told_without_showing_it() -> None:
    with (
        WordPressStandIn() as site,
        client_of(site.url, "wrong pass word") as client,
        pytest.raises(CredentialsRefused, match="config/wordpress.txt is wrong") as caught,
    ):
        client.sign_in()
    assert "wrong pass word" not in str(caught.value) and "wrong pass word" not in repr(client.account)


def test_a_site_that_ignores_passwords_over_http_says_so() -> None:
    with WordPressStandIn() as site:
        index = {"namespaces": ["wp/v2"], "authentication": []}
        site.script(Reply(200, index), on="GET /wp-json/$")
        with client_of(site.url, "any") as client, pytest.raises(CredentialsRefused, match="only over https"):
            client.sign_in()


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(404, html="<h1>Not found</h1>"), "no REST API was found"),
        (Reply(200, html="<h1>Welcome</h1>"), "no REST API was found"),
        (Reply(401, {"code": "rest_disabled", "message": "Only for users."}), "config/wordpress.txt"),
        (Reply(401, html="Authorization required"), "config/site_access.toml"),
        (Reply(403, html="<b>Blocked</b>"), "a firewall refuses"),
        (
            Reply(503, html="Briefly unavailable", headers={"Retry-After": "600"}),
            "in maintenance or overloaded",
        ),
        (Reply(429, {"code": "too_many"}, headers={"Retry-After": "600"}), "rate limit"),
        (Reply(500, {"code": "x", "message": "<p>Critical\x1b[31m error</p>"}), "HTTP 500: Critical"),
    ],
)
def test_each_refusal_of_the_site_has_its_remedy(reply: Reply, sentence: str) -> None:
    with WordPressStandIn() as site:
        site.script(*[reply] * 20)
        with pytest.raises(ServiceError, match=sentence) as caught, client_of(site.url):
            pass
    assert "\x1b" not in str(caught.value)


def test_a_busy_site_is_asked_again_and_a_redirect_on_the_same_host_followed() -> None:
    with WordPressStandIn() as site:
        site.script(Reply(301, headers={"Location": "/wp-json/"}), on="GET /wp-json/$")
        with client_of(site.url) as client:
            assert client.address("wp/v2/posts") == f"{site.url}/wp-json/wp/v2/posts"
            site.script(Reply(429, headers={"Retry-After": "0"}), Reply(500), on="posts")
            assert client.get("wp/v2/posts").body == []


def test_no_password_follows_a_redirect_to_another_host() -> None:
    with Site() as other, Site({"/wp-json/": moved(f"{other.url}/wp-json/")}) as site:
        with pytest.raises(RestError, match="redirects to") as caught, client_of(site.url, "secret password"):
            pass
        assert other.url in str(caught.value) and not other.asked
        assert all("authorization" not in headers for _, headers in site.asked)


def test_an_endless_answer_is_given_up() -> None:
    endless = Page("x" * 1_000_000, endless=True)
    with (
        Site({"/wp-json/": endless}) as site,
        pytest.raises(RestError, match="larger than 30 MB"),
        client_of(site.url),
    ):
        pass
