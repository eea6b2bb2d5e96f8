"""A real WordPress: what it publishes, and that writes to it are exact or leave no trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from internal_linker.adapters.wordpress.rest import Account, RestClient, RestError
from internal_linker.adapters.wordpress.site import (
    PostType,
    category_names,
    listed,
    public_types,
    published,
)
from internal_linker.adapters.wordpress.writing import Outcome, Post, read_post, write_post
from internal_linker.core.errors import CredentialsRefused
from tests.standins import Answer, Request, Reset, StandIn
from tests.support.wordpress import WordPress
from tests.support.wordpress_posts import slug_of

pytestmark = pytest.mark.long

POSTS, PAGES = PostType("post", "wp/v2/posts"), PostType("page", "wp/v2/pages")
COUNT, SOME = 120, 20
LINK = ' <a href="/post-001/">one more</a>'
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


def some_posts(client: RestClient) -> Iterator[Post]:
    """Yield posts and pages of blocks and of classic HTML in each language."""
    for kind in (POSTS, PAGES):
        for post in listed(client, kind)[0]:
            if post.id <= SOME:
                yield read_post(client, kind.route, post.id)


def with_link(content: str) -> str:
    """Return a content with a link after its first sentence, as an insertion does."""
    head, full_stop, tail = content.partition(". " if ". " in content else "。")
    return head + full_stop + LINK + tail


def test_everything_public_is_read(wordpress: WordPress) -> None:
    """All published posts and pages are listed with their language and categories; drafts and private ones are not."""
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
    """Custom types that readers see are found with and without a password, and internal ones are not."""
    wordpress.plugin(TYPES)
    with client_as(wordpress, user) as client:
        assert [kind.slug for kind in public_types(client)] == ["post", "page", "recipe"]


def test_writes_are_exact_and_taken_back_exactly(wordpress: WordPress) -> None:
    """An administrator's write changes each post as asked; writing back what was there leaves equal bytes."""
    with client_as(wordpress, "admin") as client:
        posts = [*some_posts(client)]
        before = {post.id: wordpress.content(post.id) for post in posts}
        for post in posts:
            assert post.content == before[post.id]
            done = write_post(client, post, with_link(post.content))
            assert done.outcome is Outcome.WRITTEN
            assert wordpress.content(post.id) == with_link(before[post.id]) != before[post.id]
            assert write_post(client, done.post, post.content).outcome is Outcome.WRITTEN
        assert {number: wordpress.content(number) for number in before} == before


def test_an_author_writes_exactly_or_not_at_all(wordpress: WordPress) -> None:
    """WordPress filters what authors write: each own post gets the link and nothing else, or stays as it is."""
    outcomes = set()
    with client_as(wordpress, "admin") as admin, client_as(wordpress, "anna") as client:
        for post in some_posts(admin):
            try:
                own = read_post(client, post.route, post.id)
            except RestError:  # somebody else's
                continue
            outcomes.add(outcome := write_post(client, own, with_link(own.content)).outcome)
            assert wordpress.content(post.id) == (
                with_link(post.content) if outcome is Outcome.WRITTEN else post.content
            )
    assert outcomes == {Outcome.WRITTEN, Outcome.REFUSED}


def test_an_editor_in_between_wins(wordpress: WordPress) -> None:
    """A post that an editor changed after it was read keeps the editor's text."""
    number = wordpress.posts[slug_of(0)]
    with client_as(wordpress, "admin") as client:
        post = read_post(client, POSTS.route, number)
        wordpress.edit(number, content="<p>An editor's text</p>")
        assert write_post(client, post, with_link(post.content)).outcome is Outcome.CONFLICT
    assert wordpress.content(number) == "<p>An editor's text</p>"


def test_a_plugin_that_rewrites_content_is_noticed(wordpress: WordPress) -> None:
    """If a plugin rewrites links while a post is saved, the post gets its former bytes back."""
    number = wordpress.posts[slug_of(3)]
    wordpress.plugin(
        "add_filter( 'content_save_pre', fn( $text ) => str_replace( 'post-001', 'go?to=1', $text ) );"
    )
    with client_as(wordpress, "admin") as client:
        post = read_post(client, POSTS.route, number)
        done = write_post(client, post, with_link(post.content))
        assert (done.outcome, done.restored) == (Outcome.ALTERED, True)
    assert wordpress.content(number) == post.content


def test_a_lost_reply_to_a_write_that_landed_is_found_out(wordpress: WordPress) -> None:
    """If the connection breaks after the site saved a post, the result is still that it was written."""
    number = wordpress.posts[slug_of(0)]
    with _Proxy(wordpress.url) as proxy, client_as(wordpress, "admin", url=proxy.url) as client:
        post = read_post(client, POSTS.route, number)
        proxy.script(Reset(after_work=True), on="POST")
        assert write_post(client, post, with_link(post.content)).outcome is Outcome.WRITTEN
        assert len(proxy.calls("POST")) == 1
    assert wordpress.content(number) == with_link(post.content)


@pytest.mark.parametrize("user", ["admin", "nobody"])
def test_a_wrong_password_is_refused(wordpress: WordPress, user: str) -> None:
    """A wrong password and an unknown user are an error that names the file."""
    with (
        client_as(wordpress, user, "wrong") as client,
        pytest.raises(CredentialsRefused, match="config/wordpress.txt"),
    ):
        client.sign_in()


def test_a_subscriber_edits_nothing(wordpress: WordPress) -> None:
    """A user without the right to edit posts can't read them for editing, and the error says what is missing."""
    with client_as(wordpress, "sam") as client:
        assert client.sign_in()["roles"] == ["subscriber"]
        with pytest.raises(RestError, match="lacks the right"):
            read_post(client, POSTS.route, 1)


def test_switched_off_application_passwords_are_told(wordpress: WordPress) -> None:
    """If the site takes no application passwords, the error says so instead of naming the password."""
    wordpress.plugin("add_filter( 'wp_is_application_passwords_available', '__return_false' );")
    with (
        client_as(wordpress, "admin") as client,
        pytest.raises(CredentialsRefused, match="takes it only over https"),
    ):
        client.sign_in()


def test_maintenance_is_told(wordpress: WordPress) -> None:
    """A site in maintenance is an error that says to try again later."""
    wordpress.plugin("wp_die( 'Briefly unavailable', '', array( 'response' => 503 ) );")
    with pytest.raises(RestError, match="in maintenance"), client_as(wordpress):
        pass


class _Proxy(StandIn):
    """Passes requests on to a server, so that faults can be put between."""

    def __init__(self, to: str) -> None:
        super().__init__()
        self._to = to

    def reply(self, request: Request) -> Answer:
        import httpx

        kept = ("authorization", "content-type", "accept")
        got = httpx.request(
            request.method,
            self._to + request.path,
            params=[(name, value) for name, values in request.query.items() for value in values],
            headers={name: request.headers[name] for name in kept if name in request.headers},
            content=request.body,
        )
        counts = {
            name: got.headers[name] for name in ("x-wp-total", "x-wp-totalpages") if name in got.headers
        }
        return Answer(got.status_code, got.content, counts)
