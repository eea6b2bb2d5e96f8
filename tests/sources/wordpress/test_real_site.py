"""A real WordPress: what it publishes, and that writes to it are exact or leave no trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from internal_linker.model.errors import CredentialsRefused
from internal_linker.sources.sites.wordpress import Account
from internal_linker.sources.wordpress.rest import RestClient
from internal_linker.sources.wordpress.site import (
    PostType,
    category_names,
    listed,
    public_types,
    published,
)
from tests.support.wordpress import WordPress

pytestmark = pytest.mark.long

POSTS, PAGES = PostType("post", "wp/v2/posts"), PostType("page", "wp/v2/pages")
COUNT, SOME = 120, 20
# A custom type that the site shows to readers, and one that it does not.
TYPES = """
add_action( 'init', function () {
	register_post_type( 'recipe', array( 'public' => true, 'show_in_rest' => true, 'rest_base' => 'recipes' ) );
	register_post_type( 'snippet', array( 'public' => false, 'show_in_rest' => true ) );
	flush_rewrite_rules();
	foreach ( array( 'recipe', 'snippet' ) as $type ) {
		if ( ! get_posts( array( 'post_type' => $type ) ) ) {
			wp_insert_post( array( 'post_type' => $type, 'post_status' => 'publish', 'post_title' => $type ) );
		}
	}
}, 20 );
"""


@contextmanager
def client_as(site: WordPress, user: str = "", password: str = "", url: str = "") -> Iterator[RestClient]:
    """Yield a client that does not wait between requests, signed in as this user."""
    url = url or site.url
    account = Account(url, url, user, password or site.passwords[user]) if user else None
    client = RestClient(url, account, per_second=10_000)
    try:
        client.discover()
        yield client
    finally:
        client.close()


def test_everything_public_is_read(wordpress: WordPress) -> None:
    with client_as(wordpress) as client:
        assert public_types(client) == [POSTS, PAGES]
        (posts, whole), (pages, _) = listed(client, POSTS), listed(client, PAGES)
        assert whole and len(posts) + len(pages) == COUNT + 1
        found = [*published(client, POSTS.route, [post.id for post in posts])]
        assert {post.link for post in found} == {post.link for post in posts}
        assert {post.language for post in found} == {"en", "fa", "ja"}
        assert [post.link for post in found if post.protected] == [f"{wordpress.url}/protected/"]
        names = category_names(client)
        assert {names[each] for post in found for each in post.categories} == {
            "Tools",
            "Seasons &amp; weather",
        }


@pytest.mark.parametrize("user", ["", "anna", "admin"])
def test_public_custom_types_are_found(wordpress: WordPress, user: str) -> None:
    wordpress.plugin(TYPES)
    with client_as(wordpress, user) as client:
        assert [kind.slug for kind in public_types(client)] == ["post", "page", "recipe"]


@pytest.mark.parametrize("user", ["admin", "nobody"])
def test_a_wrong_password_is_refused(wordpress: WordPress, user: str) -> None:
    with (
        client_as(wordpress, user, "wrong") as client,
        pytest.raises(CredentialsRefused, match="config/wordpress.txt"),
    ):
        client.sign_in()


def test_switched_off_application_passwords_are_told(wordpress: WordPress) -> None:
    wordpress.plugin("add_filter( 'wp_is_application_passwords_available', '__return_false' );")
    with (
        client_as(wordpress, "admin") as client,
        pytest.raises(CredentialsRefused, match="takes it only over https"),
    ):
        client.sign_in()
