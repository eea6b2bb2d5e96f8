"""Pages of a WordPress site: lists all posts, fetches those that changed since they were cached, and reads them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.records import FetchedPage, ReadReport, Reject
from internal_linker.model.sequences import counted
from internal_linker.model.urls import normal_form
from internal_linker.sources.import_sources import SiteReader
from internal_linker.sources.sites import SitePost
from internal_linker.sources.web.fetch import FETCHED, UNCHANGED
from internal_linker.sources.web.html_page import text_in
from internal_linker.sources.web.page_table import post_tables
from internal_linker.sources.wordpress.rest import MOST_BYTES, RestClient
from internal_linker.sources.wordpress.site import (
    ListedPost,
    Published,
    category_names,
    listed,
    public_types,
    published,
)
from internal_linker.store.answers import StoredPages

GONE = "Posts that were deleted or unpublished since the last import"
_PROTECTED = "protected by a password"
_MISSED = f"it was not returned: it was deleted meanwhile, or is larger than {MOST_BYTES // 1_000_000} MB"
# The cache's names of what it has: a post's state, and the list of all posts.
_STATE, _LIST = "last-modified", "#posts"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A post to import."""

    key: str  # its name in the cache
    post: ListedPost

    @property
    def state(self) -> str:
        """What differs after each change of the post; a page's URL changes with the one above it."""
        return f"{self.post.modified} {self.post.link}"


def wordpress_tables(client: RestClient, reader: SiteReader) -> list[StreamSource]:
    """Fetch the posts that changed into the cache; return tables of the pages and of their links.

    Raises:
        InputError: the site has no posts.
        ServiceError: the site doesn't answer; what was fetched is cached.
    """
    asides, cache, progress, limit = ReadReport(), reader.cache, reader.progress, reader.limit
    progress.start("Listing", 0, "")
    every = [*_listed(client, asides)]
    progress.finish(counted(len(every), "post"))
    if not every:
        raise InputError(f"{client.site} has no published posts or pages, and no table was changed.")
    _count_gone(client, cache, every, asides)
    wanted = [*_wanted(client.site, every, reader.reason, asides)]
    if limit and len(wanted) > limit:
        asides.left_out["beyond --limit"] += len(wanted) - limit
        del wanted[limit:]
    progress.start("Fetching", len(wanted), "posts")
    changed = [entry for entry in wanted if not _is_cached(entry, cache)]
    asides.facts[UNCHANGED] += len(wanted) - len(changed)
    progress.advance(len(wanted) - len(changed))
    _fetch(client, changed, cache, asides, progress)
    progress.finish(f"{asides.facts[FETCHED]} fetched, {asides.facts[UNCHANGED]} unchanged")
    names = {number: text_in(name) for number, name in category_names(client).items()}
    posts = partial(_posts, client.site, wanted, cache, names)
    return post_tables(client.site, posts, reader.links, asides, size=len(wanted))


def _listed(client: RestClient, asides: ReadReport) -> Iterator[_Entry]:
    for kind in public_types(client):
        posts, whole = listed(client, kind)
        if not whole:
            asides.gaps.append(
                f"The list of the type {kind.slug} changed while it was read, so posts may be missing. Import again."
            )
        yield from (_Entry(client.address(f"{post.route}/{post.id}"), post) for post in posts)


def _count_gone(client: RestClient, cache: StoredPages, every: Sequence[_Entry], asides: ReadReport) -> None:
    """Count the posts that the last import listed and this one doesn't."""
    name = client.address("") + _LIST
    before, now = cache.get(name), [entry.key for entry in every]
    gone = set(json.loads(before.body)).difference(now) if before else ()
    if gone:
        asides.facts[GONE] += len(gone)
    cache.put(FetchedPage(name, {_STATE: _LIST}, json.dumps(now).encode()))


def _wanted(
    table: str, every: Sequence[_Entry], reason: Callable[[str], str], asides: ReadReport
) -> Iterator[_Entry]:
    for number, entry in enumerate(every, 1):
        try:
            key = normal_form(entry.post.link)
        except ValueError as error:
            asides.rejects.append(Reject(table, number, entry.post.link, str(error)))
            continue
        if why := reason(key):
            asides.left_out[why] += 1
        else:
            yield entry


def _is_cached(entry: _Entry, cache: StoredPages) -> bool:
    """Return whether the cache has a post as it is now, and note there that it is still needed."""
    kept = cache.get(entry.key)
    if kept is None or kept.headers.get(_STATE) != entry.state or _post_of(kept) is None:
        return False
    cache.put(kept)
    return True


def _fetch(
    client: RestClient, entries: Sequence[_Entry], cache: StoredPages, asides: ReadReport, progress: Progress
) -> None:
    for route in dict.fromkeys(entry.post.route for entry in entries):
        of_route = {entry.post.id: entry for entry in entries if entry.post.route == route}
        for post in published(client, route, list(of_route)):
            if (entry := of_route.pop(post.id, None)) is not None:
                body = json.dumps(asdict(post), ensure_ascii=False).encode("utf-8", "replace")
                cache.put(FetchedPage(entry.key, {_STATE: entry.state}, body))
                asides.facts[FETCHED] += 1
                progress.advance()
        progress.advance(len(of_route))


def _posts(
    table: str,
    entries: Sequence[_Entry],
    cache: StoredPages,
    categories: Mapping[int, str],
    asides: ReadReport,
) -> Iterator[tuple[int, SitePost]]:
    for number, entry in enumerate(entries, 1):
        kept = cache.get(entry.key)
        post = _post_of(kept) if kept and kept.headers.get(_STATE) == entry.state else None
        if post is None:
            asides.rejects.append(Reject(table, number, entry.post.link, _MISSED))
        elif post.protected:
            asides.left_out[_PROTECTED] += 1
        else:
            yield (
                number,
                SitePost(
                    post.link,
                    text_in(post.title),
                    post.content,
                    post.language,
                    post.canonical,
                    post.indexable,
                    [categories[each] for each in post.categories if each in categories],
                ),
            )


def _post_of(kept: FetchedPage) -> Published | None:
    """Return the post that the cache has; None if another version of the program stored it."""
    try:
        return Published(**json.loads(kept.body))
    except (TypeError, ValueError, RecursionError):
        return None
