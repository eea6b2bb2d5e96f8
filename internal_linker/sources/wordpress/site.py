"""A WordPress site as its visitors see it: the public types of posts, and what is published of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from internal_linker.sources.wordpress.rest import AnswerTooLarge, RestClient, RestError

# The most that WordPress lists at a time.
_PER_PAGE = 100
# Types of WordPress itself that have no pages of their own.
_NO_PAGES = frozenset({"attachment", "nav_menu_item"})
# How often a list is read again because posts were added or deleted meanwhile.
_READINGS = 3
# `lang` comes from Polylang, `wpml_current_locale` from WPML, `yoast_head_json` from Yoast SEO; others ignore them.
_FIELDS = (
    "id,link,modified_gmt,title.rendered,content.rendered,content.protected,categories,lang,wpml_current_locale,"
    "yoast_head_json.canonical,yoast_head_json.robots"
)


@dataclass(frozen=True, slots=True)
class PostType:
    """A public type of posts."""

    slug: str  # its name in WordPress: post, page, or that of a custom type
    route: str  # its route, such as wp/v2/posts


@dataclass(frozen=True, slots=True)
class ListedPost:
    """A published post in the list of its type."""

    route: str
    id: int
    link: str
    modified: str  # when it was last modified, in UTC, as WordPress writes it: 2026-11-02T09:30:00


@dataclass(frozen=True, slots=True)
class Published:
    """A published post."""

    id: int
    link: str
    modified: str  # as in `Listed`
    title: str  # HTML of its title
    content: str  # HTML of its content as the site shows it, without header, menus and footer
    protected: bool  # whether readers need a password, so that the content is missing
    categories: tuple[int, ...]  # the ids of its categories
    language: str  # its language's code; "": the site does not say
    canonical: str  # its canonical URL; "": the site does not say
    indexable: bool  # whether search engines may index it, as far as the site says


def public_types(client: RestClient) -> list[PostType]:
    """Return the types whose posts have pages.

    WordPress lists which custom types are public for editors only. For other users, one page of each type is tried.

    Raises:
        ServiceError: the site does not answer.
    """
    found = []
    for slug, given in _types(client).items():
        if slug in _NO_PAGES or slug.startswith("wp_") or not isinstance(given, Mapping):
            continue
        kind = PostType(slug, f"{given.get('rest_namespace') or 'wp/v2'}/{given.get('rest_base') or slug}")
        viewable = given.get("viewable", True if slug in ("post", "page") else None)
        if viewable or (viewable is None and _has_pages(client, kind)):
            found.append(kind)
    return found


def listed(client: RestClient, kind: PostType) -> tuple[list[ListedPost], bool]:
    """Return all published posts of a type, and whether the list is complete.

    It is incomplete only if posts were added or deleted during each of several readings.

    Raises:
        ServiceError: the site does not answer.
    """
    posts = dict[int, ListedPost]()
    for _ in range(_READINGS):
        posts, totals = {}, set[int]()
        for one, total in _each(client, kind.route, "id,link,modified_gmt"):
            post = ListedPost(kind.route, int(one["id"]), _text(one, "link"), _text(one, "modified_gmt"))
            posts[post.id] = post
            totals.add(total)
        # A post that is deleted meanwhile moves one from an unread page to a page that was read.
        if totals <= {0} or totals == {len(posts)}:
            return list(posts.values()), True
    return list(posts.values()), False


def published(client: RestClient, route: str, ids: Sequence[int]) -> Iterator[Published]:
    """Yield the published ones of these posts, without those that are too large.

    Raises:
        ServiceError: the site does not answer.
    """
    yield from map(_published, with_ids(client, route, ids, _fields=_FIELDS))


def with_ids(
    client: RestClient, route: str, ids: Sequence[int], **parameters: str
) -> Iterator[Mapping[str, Any]]:
    """Yield those of these posts that the site lists, without those that are too large.

    Raises:
        ServiceError: the site does not answer.
    """
    for start in range(0, len(ids), _PER_PAGE):
        yield from _some(client, route, ids[start : start + _PER_PAGE], parameters)


def category_names(client: RestClient) -> dict[int, str]:
    """Return the HTML names of the categories by their ids.

    Raises:
        ServiceError: the site does not answer.
    """
    return {int(one["id"]): _text(one, "name") for one, _ in _each(client, "wp/v2/categories", "id,name")}


def _each(client: RestClient, route: str, fields: str) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield each item of a list, in the order of ids, with the count of items that the site states; 0: it doesn't."""
    page, more = 1, True
    while more:
        try:
            answer = client.get(
                route, per_page=_PER_PAGE, page=page, orderby="id", order="asc", _fields=fields
            )
        except RestError as error:
            # Without the headers of the counts, this is the end.
            if page > 1 and error.code == "rest_post_invalid_page_number":
                return
            raise
        items = _items(answer.body)
        for one in items:
            yield one, answer.total
        more = page < answer.pages if answer.pages else len(items) == _PER_PAGE
        page += 1


def _types(client: RestClient) -> Mapping[str, Any]:
    """Return all types by their slugs, with the details that WordPress gives of those the user may edit."""
    types = _object(client.get("wp/v2/types").body)
    if client.signs_in:
        try:
            return {**types, **_object(client.get("wp/v2/types", context="edit").body)}
        except RestError as error:
            if error.status != 403:
                raise
    return types


def _has_pages(client: RestClient, kind: PostType) -> bool:
    """Return whether readers can open the first post of a type; a type that lists nothing has no pages."""
    try:
        first = _items(client.get(kind.route, per_page=1, _fields="id,link").body)
    except RestError as error:
        if error.status in (400, 401, 403, 404):
            return False
        raise
    return bool(first) and client.shows(_text(first[0], "link"), f"{kind.route}/{first[0]['id']}")


def _some(
    client: RestClient, route: str, ids: Sequence[int], parameters: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    try:
        answer = client.get(route, per_page=len(ids), include=",".join(map(str, ids)), **parameters)
    except AnswerTooLarge:
        if len(ids) == 1:
            return
        yield from _some(client, route, ids[: len(ids) // 2], parameters)
        yield from _some(client, route, ids[len(ids) // 2 :], parameters)
        return
    yield from _items(answer.body)


def _published(one: Mapping[str, Any]) -> Published:
    content, seo = _part(one, "content"), _part(one, "yoast_head_json")
    language = _text(one, "lang") or _text(one, "wpml_current_locale").replace("_", "-")
    categories = one.get("categories")
    return Published(
        id=int(one["id"]),
        link=_text(one, "link"),
        modified=_text(one, "modified_gmt"),
        title=_text(_part(one, "title"), "rendered"),
        content=_text(content, "rendered"),
        protected=content.get("protected") is True,
        categories=tuple(each for each in categories if isinstance(each, int))
        if isinstance(categories, list)
        else (),
        language=language[:40],
        canonical=_text(seo, "canonical"),
        indexable=_part(seo, "robots").get("index") != "noindex",
    )


def _items(body: Any) -> list[Mapping[str, Any]]:
    """Return the items of a list."""
    if isinstance(body, list) and all(isinstance(one, Mapping) for one in body):
        items: Iterable[Mapping[str, Any]] = body
        return [one for one in items if isinstance(one.get("id", 0), int)]
    raise _unexpected()


def _object(body: Any) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        return body
    raise _unexpected()


def _unexpected() -> RestError:
    return RestError("the answer is JSON, but not what WordPress sends: a plugin may change it.", 200)


def _part(one: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = one.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(one: Mapping[str, Any], name: str) -> str:
    text = one.get(name)
    return text if isinstance(text, str) else ""
