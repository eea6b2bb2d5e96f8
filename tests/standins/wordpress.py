"""A stand-in for a WordPress site's REST API: posts with revisions of their content, for one user."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.standins.base import Answer, Request, StandIn

USER, PASSWORD = "anna", "abcd efgh ijkl mnop qrst uvwx"
PER_PAGE = 100


@dataclass
class StoredPost:
    """A published post."""

    id: int
    slug: str
    content: str
    modified: str = "2024-01-01T00:00:00"
    title: str = "A post"
    lang: str = ""


class WordPressStandIn(StandIn):
    """Posts at wp/v2/posts, a type that only `viewable` tells about, and wp/v2/users/me.

    Args:
        posts: the posts.
        pretty: whether the API is at /wp-json/; otherwise only at ?rest_route=.
        saves: what the site makes of a content when it saves it.
        unfiltered: whether the user may write any HTML.
        editor: whether the user may edit the posts.
        counts: whether lists come with their counts; some proxies drop these headers.
    """

    def __init__(
        self,
        posts: Sequence[StoredPost] = (),
        *,
        pretty: bool = True,
        saves: Callable[[str], str] = lambda content: content,
        unfiltered: bool = True,
        editor: bool = True,
        counts: bool = True,
    ) -> None:
        super().__init__()
        self.posts = {post.id: replace(post) for post in posts}
        self.pretty, self.saves, self.unfiltered, self.editor = pretty, saves, unfiltered, editor
        self.counts = counts
        self.saved: list[str] = []
        """The contents that were sent, in order."""

    def reply(self, request: Request) -> Answer:
        """Answer the index, lists and single posts."""
        route = request.query["rest_route"][0] if "rest_route" in request.query else ""
        if self.pretty and request.path.startswith("/wp-json/"):
            route = request.path.removeprefix("/wp-json")
        if not route:
            slug = request.path.strip("/")
            there = any(post.slug == slug for post in self.posts.values())
            return Answer(200 if there else 404, "<html>a page</html>")
        wanted = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return self._answer(route, request, signed_in=request.headers.get("authorization") == wanted)

    def _answer(self, route: str, request: Request, *, signed_in: bool) -> Answer:
        given = {name: values[0] for name, values in request.query.items()}
        if route == "/":
            passwords: dict[str, Any] = {"application-passwords": {"endpoints": {}}}
            return Answer(body={"name": "A site", "namespaces": ["wp/v2"], "authentication": passwords})
        if given.get("context") == "edit" and not (signed_in and self.editor):
            return _error(
                403 if signed_in else 401, "rest_forbidden_context", "Sorry, you are not allowed to."
            )
        if route == "/wp/v2/types":
            return Answer(body={"post": {"rest_base": "posts"}, "wp_block": {"rest_base": "blocks"}})
        if route == "/wp/v2/users/me":
            return Answer(body={"name": USER, "roles": ["editor"], "capabilities": {"edit_posts": True}})
        if route == "/wp/v2/categories":
            return Answer(body=[{"id": 1, "name": "Tea &amp; more"}], headers={"X-WP-TotalPages": "1"})
        if route == "/wp/v2/posts":
            return self._list(given)
        post = self.posts.get(int(route.rpartition("/")[2])) if route.startswith("/wp/v2/posts/") else None
        if post is None:
            return _error(404, "rest_post_invalid_id", "Invalid post ID.")
        if request.method == "POST":
            if not (signed_in and self.editor):
                return _error(403 if signed_in else 401, "rest_cannot_edit", "Sorry, you are not allowed to.")
            self._save(post, request.json())
        return Answer(body=self._edited(post))

    def _save(self, post: StoredPost, sent: Any) -> None:
        assert set(sent) == {"content"}
        self.saved.append(sent["content"])
        post.content = self.saves(sent["content"])
        post.modified = f"2024-02-01T00:00:{len(self.saved):02}"

    def _list(self, given: dict[str, str]) -> Answer:
        page, size = int(given.get("page", 1)), int(given.get("per_page", 10))
        if size > PER_PAGE:
            return _error(400, "rest_invalid_param", "Invalid parameter(s): per_page")
        posts = [self.posts[number] for number in sorted(self.posts)]
        if "include" in given:
            posts = [post for post in posts if str(post.id) in given["include"].split(",")]
        pages = -(-len(posts) // size)
        if page > max(pages, 1):
            return _error(400, "rest_post_invalid_page_number", "The page number is too large.")
        show = self._edited if given.get("context") == "edit" else self._shown
        shown = [show(post) for post in posts[(page - 1) * size : page * size]]
        counts = {"X-WP-Total": str(len(posts)), "X-WP-TotalPages": str(pages)}
        return Answer(body=shown, headers=counts if self.counts else {})

    def _shown(self, post: StoredPost) -> dict[str, Any]:
        language = {"lang": post.lang} if post.lang else {}
        return {
            "id": post.id,
            "link": f"{self.url}/{post.slug}/",
            "modified_gmt": post.modified,
            "title": {"rendered": post.title},
            "content": {"rendered": post.content, "protected": False},
            "categories": [1],
            **language,
        }

    def _edited(self, post: StoredPost) -> dict[str, Any]:
        links = {"wp:action-unfiltered-html": [{"href": "x"}]} if self.unfiltered else {}
        content = {"raw": post.content, "rendered": post.content}
        return {**self._shown(post), "status": "publish", "content": content, "_links": links}


def _error(status: int, code: str, message: str) -> Answer:
    return Answer(status, {"code": code, "message": message, "data": {"status": status}})
