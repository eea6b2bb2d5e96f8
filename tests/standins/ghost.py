"""A stand-in for the Content API of a Ghost site: posts, pages and settings, a page at a time, for one key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.standins.base import Answer, Request, StandIn

KEY = "22444f78447824223cefc48062"
_API = "/ghost/api/content/"


class GhostStandIn(StandIn):
    """Answers as the API of Ghost 6 is documented to: at most 100 posts at a time, errors as lists.

    Args:
        posts, pages: what the site has, as `ghost_post` makes it.
        locale: the site's language.
    """

    def __init__(
        self, posts: Sequence[dict[str, Any]] = (), pages: Sequence[dict[str, Any]] = (), locale: str = "en"
    ) -> None:
        super().__init__()
        self.lists = {"posts": list(posts), "pages": list(pages)}
        self.locale = locale

    def reply(self, request: Request) -> Answer:
        """Check the key first, then answer with settings or a page of a list."""
        what = request.path.removeprefix(_API).rstrip("/")
        if not request.path.startswith(_API):
            return Answer(404, "<html>not found</html>")
        if request.query.get("key") != [KEY]:
            return _refused(401, "Unknown Content API Key", "UnauthorizedError")
        if what == "settings":
            return Answer(200, {"settings": {"title": "Tea", "locale": self.locale}, "meta": {}})
        if what not in self.lists:
            return _refused(404, "Resource not found", "NotFoundError")
        return Answer(200, self._page(what, request))

    def _page(self, what: str, request: Request) -> dict[str, Any]:
        limit, number = (
            int(request.query.get(name, [default])[0]) for name, default in (("limit", "15"), ("page", "1"))
        )
        limit = min(limit, 100)
        posts = sorted(self.lists[what], key=lambda post: str(post["id"]))
        pages = max(1, -(-len(posts) // limit))
        shown = posts[(number - 1) * limit : number * limit]
        if "tags" not in request.query.get("include", [""])[0].split(","):
            shown = [{name: value for name, value in post.items() if name != "tags"} for post in shown]
        pagination = {
            "page": number,
            "limit": limit,
            "pages": pages,
            "total": len(posts),
            "next": number + 1 if number < pages else None,
            "prev": number - 1 or None,
        }
        return {
            what: [{**post, "url": post["url"].replace("SITE", self.url)} for post in shown],
            "meta": {"pagination": pagination},
        }


def ghost_post(number: int, html: str = "<p>Tea</p>", **more: Any) -> dict[str, Any]:
    """Return a post as the API has it; SITE stands for the site's address."""
    post = {
        "id": f"{number:024x}",
        "slug": f"p{number}",
        "title": f"Tea & {number}",
        "html": html,
        "url": f"SITE/p{number}/",
        "canonical_url": None,
        "visibility": "public",
        "access": True,
        "tags": [{"name": "Green", "visibility": "public"}, {"name": "#hidden", "visibility": "internal"}],
    }
    return post | more


def _refused(status: int, message: str, kind: str) -> Answer:
    return Answer(status, {"errors": [{"message": message, "type": kind, "context": None}]})
