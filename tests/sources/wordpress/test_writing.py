"""Writing posts: only what was read is replaced, and what became of each write is found out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from internal_linker.sources.wordpress.rest import RestClient, RestError
from internal_linker.sources.wordpress.writing import WriteOutcome, read_post, survives_filter, write_post
from tests.sources.wordpress.test_rest import client_of
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


@pytest.mark.parametrize("late", [False, True])
def test_what_an_editor_changes_before_or_right_after_the_write_stays(late: bool) -> None:
    with site_with_post() as (site, client):
        post, answer = read_post(client, ROUTE, 1), site.reply

        def reply(request: Request) -> Answer:
            answered = answer(request)
            if request.method == "POST" or not late:
                site.posts[1].content = "<p>An editor's</p>"
            return answered

        site.posts[1].content = BEFORE if late else "<p>An editor's</p>"
        site.reply = reply  # type: ignore[method-assign]
        assert write_post(client, post, AFTER).outcome is WriteOutcome.CONFLICT
        assert site.posts[1].content == "<p>An editor's</p>" and site.saved == [AFTER] * late


@pytest.mark.parametrize(
    ("on_write", "on_read", "outcome", "saved"),
    [
        ([], [], WriteOutcome.WRITTEN, 1),
        ([Reset(after_work=True)], [], WriteOutcome.WRITTEN, 1),
        ([Reset(), Reply(500)], [], WriteOutcome.WRITTEN, 1),
        ([Reply(500)] * 20, [], WriteOutcome.REFUSED, 0),
        ([Reset(after_work=True)], [Fault(), *[Reset()] * 40], WriteOutcome.UNKNOWN, 1),
    ],
    ids=["sound", "lost reply", "second try", "never", "site gone"],
)
def test_what_became_of_a_write_is_found_out(
    on_write: list[Fault], on_read: list[Fault], outcome: WriteOutcome, saved: int
) -> None:
    """Where no answer tells, the post is read again; nothing but the content is sent, and only until it landed."""
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.script(*on_write, on="POST")
        site.script(*on_read, on="GET /wp-json/wp/v2/posts/1")
        done = write_post(client, post, AFTER)
        assert done.outcome is outcome and site.saved == [AFTER] * saved
        assert site.posts[1].content == (AFTER if saved else BEFORE)
        assert outcome is not WriteOutcome.WRITTEN or done.post.content == AFTER
        assert outcome is not WriteOutcome.REFUSED or "HTTP 500" in done.reason


def test_missing_rights_are_an_error_of_reading_and_a_refusal_of_writing() -> None:
    """A user who may not edit a post can't read it for editing; a right that is lost meanwhile is a refusal."""
    with site_with_post() as (site, client):
        post = read_post(client, ROUTE, 1)
        site.editor = False
        done = write_post(client, post, AFTER)
        assert done.outcome is WriteOutcome.REFUSED and "lacks the right" in done.reason
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
