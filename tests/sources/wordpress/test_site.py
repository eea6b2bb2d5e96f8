"""Lists of posts: all of them, although the list has pages and may change while it is read."""

import pytest

from internal_linker.sources.wordpress import rest
from internal_linker.sources.wordpress.site import PostType, listed, public_types, published
from tests.sources.wordpress.test_rest import client_of
from tests.standins import Answer, Reply, Request, WordPressStandIn
from tests.standins.wordpress import StoredPost

POSTS = PostType("post", "wp/v2/posts")


def site_with(count: int, counts: bool = True) -> WordPressStandIn:
    posts = [StoredPost(number, f"p{number}", "x" * 100) for number in range(1, count + 1)]
    return WordPressStandIn(posts, counts=counts)


@pytest.mark.parametrize("count", [0, 1, 100, 200, 201])
@pytest.mark.parametrize("counts", [True, False])
def test_every_page_of_a_list_is_read(count: int, counts: bool) -> None:
    with site_with(count, counts=counts) as site, client_of(site.url) as client:
        posts, whole = listed(client, POSTS)
        assert whole and [post.id for post in posts] == [*range(1, count + 1)]


@pytest.mark.parametrize("always", [False, True])
def test_a_list_that_changes_while_it_is_read_is_read_again(always: bool) -> None:
    """A post that is deleted between two pages would hide another; the list is read again, or told to be incomplete."""
    with site_with(300) as site, client_of(site.url) as client:
        answer = site.reply

        def reply(request: Request) -> Answer:
            if request.query.get("page") == ["2"] and (always or len(site.posts) == 300):
                del site.posts[min(site.posts)]
            return answer(request)

        site.reply = reply  # type: ignore[method-assign]
        posts, whole = listed(client, POSTS)
        assert whole is not always
        assert always or [post.id for post in posts] == [*range(2, 301)]


def test_posts_are_read_fewer_at_a_time_if_they_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """If posts are too large for one answer, fewer are asked for; a single one that is too large is missing."""
    monkeypatch.setattr(rest, "MOST_BYTES", 5_000)
    with site_with(60) as site:
        site.posts[7].content = "x" * 6_000
        with client_of(site.url) as client:
            found = [post.id for post in published(client, POSTS.route, [*range(1, 61)])]
    assert found == [number for number in range(1, 61) if number != 7]


def test_types_without_pages_are_left_out() -> None:
    """WordPress's own types and types whose posts no reader can open are no pages; public custom types are."""
    with site_with(1) as site, client_of(site.url) as client:
        types = {name: {"rest_base": "posts"} for name in ("post", "wp_block", "attachment", "recipe")}
        site.script(Reply(200, types), on="types")
        assert [kind.slug for kind in public_types(client)] == ["post", "recipe"]
        site.script(Reply(200, types), on="types")
        site.script(Reply(404, html="no page"), on="GET /p1/")
        assert [kind.slug for kind in public_types(client)] == ["post"]


def test_an_answer_of_another_shape_is_an_error() -> None:
    """JSON that is no list of posts is an error, and not an empty list."""
    with site_with(1) as site, client_of(site.url) as client:
        site.script(Reply(200, {"posts": []}), on="posts")
        with pytest.raises(rest.RestError, match="not what WordPress sends"):
            listed(client, POSTS)
