"""Ghost: posts and pages over the Content API, or from the JSON file of an export."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from internal_linker.model.errors import ConfigurationError, CredentialsRefused, InputError, ServiceError
from internal_linker.sources.sites import SitePost, SiteSource, register_site, site_address

if TYPE_CHECKING:
    from internal_linker.model.ports import StreamSource
    from internal_linker.model.records import ReadReport
    from internal_linker.sources.import_sources import SiteReader

_NAME = "Ghost"
_KINDS = ("posts", "pages")
# The most that Ghost returns at a time, from version 6 on.
_PER_PAGE = 100
_MOST_QUOTED = 200
# What stands for the site's address in an export.
_PLACEHOLDER = "__GHOST_URL__"
_MEMBERS = "Posts for members, of which only the public part was read"
_UNPUBLISHED = "that are drafts, scheduled, or only sent by mail"
_WITHOUT_HTML = "without HTML: save them in Ghost's editor, and export again"
_WITHOUT_ADDRESS = "without an address of their own"


def read_ghost(address: str, reader: "SiteReader") -> "list[StreamSource]":
    """Return the tables of a site's pages and links; reading the first one fetches the posts.

    Raises:
        ConfigurationError: the address is wrong, or config/site_access.toml has no key for the site.
        InputError: the site has no posts.
        ServiceError: the site does not answer, has no Content API, or refuses the key.
    """
    from internal_linker.model.records import ReadReport
    from internal_linker.sources.web.page_table import post_tables

    api = _ContentApi(site_address("ghost", address), reader)
    settings = api.get("settings").get("settings")
    language = _text(settings, "locale") or _text(settings, "lang")
    sizes = {kind: int(api.page(kind, 1, limit=1)[1]["total"]) for kind in _KINDS}
    if not any(sizes.values()):
        raise InputError(f"{api.site} has no published posts or pages, and no table was changed.")
    return post_tables(
        api.site,
        lambda asides: enumerate(_fetched(api, sizes, language, asides), 1),
        reader.links,
        ReadReport(),
        size=sum(sizes.values()),
    )


def read_ghost_export(path: Path, base_url: str, asides: "ReadReport") -> Sequence[SitePost]:
    """Return the published posts and pages of an export; `base_url` is the address of its site.

    Raises:
        InputError: the file can't be read, or is no export of Ghost.
        ConfigurationError: there is no address, or a wrong one.
    """
    try:
        content = json.loads(path.read_bytes())
        data = content["db"][0]["data"] if "db" in content else content["data"]
        rows = [(row, str(row["slug"]), row["id"]) for row in data["posts"]]
        names = {tag["id"]: tag["name"] for tag in data.get("tags", ()) if _is_public(tag)}
        tags = [(row["post_id"], names.get(row["tag_id"])) for row in data.get("posts_tags", ())]
        settings = {row["key"]: row["value"] for row in data.get("settings", ())}
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path} is not what Ghost exports under Settings > Import/Export.") from None
    if not base_url:
        raise ConfigurationError(f"{path} does not say where its site is: name it with --base-url.")
    site, categories = site_address("base-url", base_url), defaultdict[Any, list[str]](list)
    for of, name in tags:
        categories[of] += [name] if name else []
    posts = list[SitePost]()
    for row, slug, number in rows:
        if row.get("status") != "published":
            asides.left_out[_UNPUBLISHED] += 1
        elif not row.get("html"):
            asides.left_out[_WITHOUT_HTML] += 1
        else:
            whole = {**row, "url": f"{_PLACEHOLDER}/{slug}/"}
            posts.append(_post(whole, _text(settings, "locale"), categories[number], site))
    return posts


def _fetched(
    api: "_ContentApi", sizes: Mapping[str, int], language: str, asides: "ReadReport"
) -> Iterator[SitePost]:
    for kind, size in sizes.items():
        number: int | None = 1
        while number:
            posts, pagination = api.page(kind, number)
            for post in posts:
                if _text(post, "url").endswith("/404/"):  # no route of the site leads to it
                    asides.left_out[_WITHOUT_ADDRESS] += 1
                    continue
                if post.get("access") is False:
                    asides.facts[_MEMBERS] += 1
                yield _post(post, language, [tag["name"] for tag in post.get("tags", ()) if _is_public(tag)])
            number = pagination["next"]
        # A post that is deleted meanwhile moves one from an unread page to a page that was read.
        if pagination["total"] < size:
            asides.gaps.append(
                f"The list of {kind} changed while it was read, so one may be missing. Import again."
            )


def _post(post: Mapping[str, Any], language: str, categories: Sequence[str], site: str = "") -> SitePost:
    url, title, html, canonical = (
        _text(post, name).replace(_PLACEHOLDER, site) for name in ("url", "title", "html", "canonical_url")
    )
    return SitePost(url, title, html, language, canonical, categories=categories)


def _is_public(tag: Mapping[str, Any]) -> bool:
    """Return whether readers see a tag; internal ones begin with #."""
    return not _text(tag, "name").startswith("#")


def _text(content: Any, name: str) -> str:
    text = content.get(name) if isinstance(content, Mapping) else None
    return text if isinstance(text, str) else ""


class _ContentApi:
    """Requests to a site's Content API, with the key in config/site_access.toml."""

    def __init__(self, site: str, reader: "SiteReader") -> None:
        self.site, self._client, self._key = site, reader.client, reader.client.access(site).key
        if not self._key:
            raise ConfigurationError(
                f"config/site_access.toml has no key for {site}: write the Content API key of a custom integration "
                "there (docs/ghost.md)."
            )

    def page(
        self, kind: str, number: int, *, limit: int = _PER_PAGE
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a page of posts or pages, in the order of their ids, and the list's `total` and `next` page."""
        answer = self.get(kind, limit=limit, page=number, order="id asc", include="tags")
        try:
            pagination = answer["meta"]["pagination"]
            return [dict(post) for post in answer[kind]], {
                name: pagination[name] for name in ("total", "next")
            }
        except (LookupError, TypeError, ValueError):
            raise ServiceError(_NAME, "the answer is JSON, but not what Ghost sends.") from None

    def get(self, what: str, **parameters: str | int) -> Mapping[str, Any]:
        """Return what the API answers; wait and try again while the site is busy."""
        query = urlencode({"key": self._key, **parameters})
        answer = self._client.get(f"{self.site}/ghost/api/content/{what}/?{query}")
        try:
            content = json.loads(answer.body)
        except (ValueError, RecursionError):
            content = None
        if answer.status == 200 and isinstance(content, Mapping):
            return content
        raise self._refusal(answer.status, content, answer.headers.get("location", ""))

    def _refusal(self, status: int, content: Any, target: str) -> ServiceError:
        said, errors = f"HTTP {status}", content.get("errors") if isinstance(content, Mapping) else None
        if message := _text(errors[0], "message") if isinstance(errors, list) and errors else "":
            said = f"{said}: {message[:_MOST_QUOTED].rstrip('.')}"
            if status in (401, 403):
                problem = (
                    f"the key in config/site_access.toml was refused ({said}). Copy it from Ghost again."
                )
                return CredentialsRefused(_NAME, problem)
        if target:
            elsewhere = target.partition("/ghost/api/")[0].partition("?")[0]
            return ServiceError(_NAME, f"{self.site} redirects to {elsewhere}: name that address.")
        if status in (429, 500, 502, 503, 504):
            return ServiceError(_NAME, f"the site is busy or failed ({said}). Try again later.")
        return ServiceError(
            _NAME,
            f"no Content API was found at {self.site} ({said}). Check the address; it is that of Ghost's admin.",
        )


register_site(
    "ghost",
    SiteSource(
        "Ghost",
        "Read the posts and pages of this Ghost site, over its Content API.",
        "Posts and pages are read over its Content API, with the site's key in config/site_access.toml.",
        read_ghost,
        {".json": read_ghost_export},
    ),
)
