"""Writing posts: only what was read is replaced, and what became of each write is found out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from internal_linker.adapters.wordpress.rest import RestClient, RestError
from internal_linker.adapters.wordpress.writing import Outcome, read_post, survives_filter, write_post
from tests.adapters.wordpress.test_rest import client_of
from tests.standins import Answer, Fault, Reply, Request, Reset, WordPressStandIn
from tests.standins.wordpress import PASSWORD, StoredPost

BEFORE, AFTER = "<p>One & two</p>", '<p>One & <a href="/2/">two</a></p>'
ROUTE = "wp/v2/posts"


@contextmanager
def site_with_post(
    saves: Callable[[str], str] = lambda content: content, **options: bool
) -> Iterator[tuple[WordPressStandIn, RestClient]]:
    """Yield a site with one post, and a client that is signed in."""
    with (
        WordPressStandIn([StoredPost(1, "one", BEFORE)], saves=saves, **options) as site,
        client_of(site.url, PASSWORD) as client,
    ):
        yield site, client


def test_a_write_sends_the_content_alone() -> None:
    with site_with_post() as (site, client):
        done = write_post(client, read_post(client, ROUTE, 1), AFTER)
        assert (done.outcome, done.post.content, site.posts[1].content) == (Outcome.WRITTEN, AFTER, AFTER)
        assert site.saved == [AFTER]


def test_what_an_editor_changed_meanwhile_stays() -> None:
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.posts[1].content = "<p>An editor's</p>"
        assert write_post(client, post, AFTER).outcome is Outcome.CONFLICT
        assert site.posts[1].content == "<p>An editor's</p>" and not site.saved


def test_what_an_editor_changes_right_after_the_write_stays() -> None:
    with site_with_post() as (site, client):
        post, answer = read_post(client, ROUTE, 1), site.reply

        def reply(request: Request) -> Answer:
            answered = answer(request)
            if request.method == "POST":
                site.posts[1].content = "<p>An editor's</p>"
            return answered

        site.reply = reply  # type: ignore[method-assign]
        assert write_post(client, post, AFTER).outcome is Outcome.CONFLICT
        assert site.posts[1].content == "<p>An editor's</p>" and site.saved == [AFTER]


def test_a_lost_reply_is_found_out() -> None:
    """If the reply to a write is lost, reading the post again tells that the write landed; it is sent once."""
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.script(Reset(after_work=True), on="POST")
        assert write_post(client, post, AFTER).outcome is Outcome.WRITTEN
        assert site.saved == [AFTER]


def test_a_write_that_did_not_land_is_repeated() -> None:
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.script(Reset(), Reply(500), on="POST")
        assert write_post(client, post, AFTER).outcome is Outcome.WRITTEN
        assert site.saved == [AFTER]


def test_a_write_that_never_lands_is_refused() -> None:
    """If no attempt lands, the result is a refusal with the reason, and the post is as it was."""
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.script(*[Reply(500)] * 20, on="POST")
        done = write_post(client, post, AFTER)
        assert (done.outcome, site.posts[1].content) == (
            Outcome.REFUSED,
            BEFORE,
        ) and "HTTP 500" in done.reason


def test_a_site_that_vanishes_during_a_write_leaves_it_unknown() -> None:
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.script(Reset(after_work=True), on="POST")
        site.script(Fault(), *[Reset()] * 40, on="GET /wp-json/wp/v2/posts/1")
        assert write_post(client, post, AFTER).outcome is Outcome.UNKNOWN


def test_what_a_plugin_alters_is_put_back() -> None:
    with site_with_post(lambda content: content.replace("/2/", "/amp/2/")) as (site, client):
        done = write_post(client, read_post(client, ROUTE, 1), AFTER)
        assert (done.outcome, done.restored, site.posts[1].content) == (Outcome.ALTERED, True, BEFORE)
        assert site.saved == [AFTER, BEFORE]


def test_what_cannot_be_put_back_is_told() -> None:
    with site_with_post(lambda content: f"{content}<!-- saved -->") as (site, client):
        done = write_post(client, read_post(client, ROUTE, 1), AFTER)
        assert (done.outcome, done.restored) == (Outcome.ALTERED, False)
        assert done.post.content == site.posts[1].content == f"{BEFORE}<!-- saved -->"


def test_a_user_whose_html_is_filtered_writes_nothing_that_the_filter_removes() -> None:
    """A user without the right to any HTML gets a refusal before anything is sent, if the filter might act."""
    with site_with_post(unfiltered=False) as (site, client):
        done = write_post(client, read_post(client, ROUTE, 1), AFTER)
        assert done.outcome is Outcome.REFUSED and "unfiltered_html" in done.reason and not site.saved


def test_missing_rights_are_an_error_of_reading_and_a_refusal_of_writing() -> None:
    """A user who may not edit a post can't read it for editing; a right that is lost meanwhile is a refusal."""
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.editor = False
        done = write_post(client, post, AFTER)
        assert done.outcome is Outcome.REFUSED and "lacks the right" in done.reason
        with pytest.raises(RestError, match="lacks the right"):
            read_post(client, ROUTE, 1)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ('<p class="a">Tom &amp; <a href="https://a.example/?x=1" data-track="b">Jerry</a></p>', True),
        ('<!-- wp:heading {"level":3} -->\n<h3>1</h3>\n<!-- /wp:heading -->', True),
        ('<img src="/a.jpg" alt="" />', True),
        ("[gallery ids='1']", True),
        ('<img src="/a.jpg" alt=""/>', False),
        ("Tom & Jerry", False),
        ("1 > 0", False),
        ("<script>x</script>", False),
        ('<p onclick="x">y</p>', False),
        ('<p style="color:red">y</p>', False),
        ('<a href="javascript:x">y</a>', False),
        ("<P>y</P>", False),
        ('<!-- wp:x {"a": 1} -->', False),
        ("<!-- a note -->", False),
    ],
)
def test_only_what_the_filter_surely_keeps_passes(content: str, kept: bool) -> None:
    assert survives_filter(content) is kept
