"""The posts of a WordPress site as texts of pages: those of given pages are read, and each is replaced for itself."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeGuard
from urllib.parse import urljoin

from internal_linker.model.applied_links import PageWrite
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.sequences import counted
from internal_linker.model.source_files import StoredSource
from internal_linker.project.log import LOGGER
from internal_linker.project.targets import SkipReason, TextState, UndoSkipReason, WriteFailure, compared
from internal_linker.publish.posts import PostLinks, page_builder
from internal_linker.sources.wordpress.rest import RestClient, RestError
from internal_linker.sources.wordpress.site import ListedPost, listed, public_types
from internal_linker.sources.wordpress.writing import (
    Post,
    Write,
    WriteOutcome,
    loses_html,
    read_post,
    read_posts,
    write_post,
)

# A post's route, such as wp/v2/posts/12: what is stored must not lead to any other.
_PLACE = re.compile(r"((?:[A-Za-z][\w-]*/)+(?:v\d+/)?[\w-]+)/(\d{1,18})")
_SHORT = re.compile(r"/(?:index\.php)?\?(?:p|page_id)=(\d{1,18})(?:#.*)?\Z")


@dataclass(frozen=True, slots=True)
class PostText:
    """A post as the text of a page; see `StoredSource`."""

    post: Post

    @property
    def path(self) -> str:
        """The post's own route."""
        return f"{self.post.route}/{self.post.id}"

    @property
    def text(self) -> str:
        """Its content as it is stored."""
        return self.post.content

    @property
    def bom(self) -> bool:
        """Whether a byte order mark comes before it: never."""
        return False

    @property
    def text_format(self) -> Literal["html"]:
        """Its markup; blocks are comments in HTML."""
        return "html"

    def encoded(self, text: str | None = None) -> bytes:
        """Return the content in UTF-8, or another one."""
        return _encoded(self.post.content if text is None else text)


class PostHome:
    """A site whose posts are replaced; see `PublishTarget`. After an error that ends all, it sends nothing more.

    The client is signed in.
    """

    noun = "post"
    # A post takes a second, so its row is stored right before.
    block = 1

    def __init__(self, client: RestClient) -> None:
        self._client, self._stopped = client, False

    @property
    def address(self) -> str:
        """The site's address."""
        return self._client.site

    def state(self, write: PageWrite) -> TextState:
        """Return how a post is now, compared with a write of it."""
        if not (found := _PLACE.fullmatch(write.place)) or self._stopped:
            return TextState.UNKNOWN
        try:
            return compared(_encoded(read_post(self._client, found[1], int(found[2])).content), write)
        except ServiceError as error:
            LOGGER.warning("%s: %s", write.page_url, error)
            if _is_of_post(error):
                return TextState.GONE if error.status in (404, 410) else TextState.UNKNOWN
            self._stopped = True
            return TextState.UNKNOWN

    def write(self, text: StoredSource, new: str) -> WriteFailure | None:
        """Replace the content of a post that is still as it was read."""
        assert isinstance(text, PostText)
        if self._stopped:
            return WriteFailure(SkipReason.STOPPED)
        try:
            done = write_post(self._client, text.post, new)
        except ServiceError as error:
            self._stopped = True
            return WriteFailure(SkipReason.STOPPED, str(error))
        if done.outcome is WriteOutcome.WRITTEN:
            return None
        LOGGER.warning("%s: %s", text.post.link, done.reason)
        return _unwritten(done, text.post.link)

    def restore(self, write: PageWrite, former: bytes) -> UndoSkipReason | None:
        """Put the former content of a post back."""
        if not (found := _PLACE.fullmatch(write.place)):
            return UndoSkipReason.POST_GONE
        if self._stopped:
            return UndoSkipReason.STOPPED
        try:
            now = read_post(self._client, found[1], int(found[2]))
            match compared(_encoded(now.content), write):
                case TextState.BEFORE:
                    return None
                case TextState.AFTER:
                    done = write_post(self._client, now, former.decode("utf-8", "surrogatepass"))
                case _:
                    return UndoSkipReason.CHANGED
        except ServiceError as error:
            LOGGER.warning("%s: %s", write.page_url, error)
            if _is_of_post(error):
                return UndoSkipReason.POST_GONE if error.status in (404, 410) else UndoSkipReason.CLOSED
            self._stopped = True
            return UndoSkipReason.STOPPED
        if done.outcome is not WriteOutcome.WRITTEN:
            LOGGER.warning("%s: %s", write.page_url, done.reason)
        return _KEPT[done.outcome]


_KEPT: Mapping[WriteOutcome, UndoSkipReason | None] = {
    WriteOutcome.WRITTEN: None,
    WriteOutcome.CONFLICT: UndoSkipReason.CHANGED,
    WriteOutcome.ALTERED: UndoSkipReason.ALTERED,
    WriteOutcome.REFUSED: UndoSkipReason.NOT_SAVED,
    WriteOutcome.UNKNOWN: UndoSkipReason.STOPPED,
}


@dataclass(frozen=True)
class PostTexts:
    """The posts of some pages; see `SourceTexts`."""

    home: PostHome  # the site
    hosts: CanonicalHosts  # the form of the hosts in keys
    every: Mapping[str, ListedPost]  # all published posts of the site, by the keys of their URLs
    posts: Mapping[int, Post]  # those of the pages that the user may edit, by their ids
    builders: Mapping[int, str]  # the page builder that made a post, by the post's id
    style: PostLinks  # how the posts write links
    summary: str  # what was found, in a sentence
    remarks: Sequence[str]  # what was unusual, one sentence each

    @property
    def unsure(self) -> Mapping[str, str]:
        """Pages of which several posts may be the source: none, as each post has its own URL."""
        return {}

    def find(self, url: str) -> StoredSource | SkipReason:
        """Return the post of a page, or why links can't be put into one."""
        key = _key_of(self.hosts, url)
        if key not in self.every:
            return SkipReason.NO_POST
        post = self.posts.get(number := self.every[key].id)
        if post is None:
            return SkipReason.CLOSED
        return SkipReason.BUILDER if number in self.builders else PostText(post)

    def href(self, text: StoredSource, target: str) -> str:
        """Return how a post writes a link to a page."""
        return self.style.href(_post_of(text).link, target)

    def leads_to(self, text: StoredSource, href: str) -> str | None:
        """Return the key of the page that a link in a post leads to."""
        try:
            url = urljoin(_post_of(text).link, href.strip())
            return self._by_id.get(_id_in(url)) or self.hosts.key(url)
        except ValueError:
            return None

    def held(self, text: StoredSource, new: str) -> SkipReason | None:
        """Return why a post must not be written: WordPress would remove HTML from it."""
        return SkipReason.FILTERED if loses_html(_post_of(text), new) else None

    @cached_property
    def _by_id(self) -> Mapping[int, str]:
        return {one.id: key for key, one in self.every.items()}


def read_page_posts(
    client: RestClient, hosts: CanonicalHosts, pages: Collection[str], progress: Progress
) -> PostTexts:
    """Find the posts of pages, and read them as their editors see them. The client is signed in.

    Raises:
        ServiceError: the site doesn't answer, or the user may edit none of these posts.
    """
    progress.start("Listing", 0, "")
    every, remarks = _listed(client, hosts)
    progress.finish(counted(len(every), "post"))
    found = {one.id: one for url in pages if (one := every.get(_key_of(hosts, url)))}
    progress.start("Posts", len(found), "posts")
    posts, builders, contents = dict[int, Post](), dict[int, str](), list[tuple[str, str]]()
    for post in _editable(client, found.values(), progress):
        if name := page_builder(post.content, post.rendered):
            builders[post.id] = name
        contents.append((post.link, post.content))
        posts[post.id] = replace(post, rendered="")
    progress.finish(counted(len(posts), "post"))
    if builders:
        named = Counter(builders.values()).most_common()
        those = ", ".join(f"{count} with {name}" for name, count in named)
        remarks.append(f"{counted(len(builders), 'post')} left alone, made with a page builder: {those}.")
    return PostTexts(
        PostHome(client),
        hosts,
        every,
        posts,
        builders,
        PostLinks.learn(contents),
        f"{client.site} has {counted(len(every), 'published post')}; {counted(len(pages), 'page')} with accepted "
        f"links for the text: {len(posts)} can be edited, {len(found) - len(posts)} can't, "
        f"{len(pages) - len(found)} are no posts.",
        remarks,
    )


def _listed(client: RestClient, hosts: CanonicalHosts) -> tuple[dict[str, ListedPost], list[str]]:
    every, remarks = dict[str, ListedPost](), list[str]()
    for kind in public_types(client):
        posts, whole = listed(client, kind)
        if not whole:
            remarks.append(
                f"The list of the type {kind.slug} changed while it was read, so posts may be missing: run the "
                "command again."
            )
        every.update((key, post) for post in posts if (key := _key_of(hosts, post.link)))
    return every, remarks


def _editable(client: RestClient, wanted: Iterable[ListedPost], progress: Progress) -> Iterator[Post]:
    routes = defaultdict[str, list[int]](list)
    for one in wanted:
        routes[one.route].append(one.id)
    refused: RestError | None = None
    is_any = False
    for route, ids in routes.items():
        try:
            for post in read_posts(client, route, ids):
                is_any = True
                yield post
                progress.advance()
        except RestError as error:
            # An author may edit posts, and no pages.
            if error.status != 403 or not error.code:
                raise
            refused = error
    if refused and not is_any:
        raise refused


def _unwritten(done: Write, link: str) -> WriteFailure:
    problem = f"{link}: {done.reason}"
    match done.outcome:
        case WriteOutcome.CONFLICT:
            return WriteFailure(SkipReason.CHANGED, is_doubtful=done.sent)
        case WriteOutcome.ALTERED if done.restored:
            return WriteFailure(SkipReason.ALTERED)
        case WriteOutcome.ALTERED:
            return WriteFailure(SkipReason.STAYS_ALTERED, problem, is_doubtful=True)
        case WriteOutcome.UNKNOWN:
            return WriteFailure(SkipReason.UNKNOWN, problem, is_doubtful=True)
    return WriteFailure(SkipReason.NOT_SAVED, problem)


def _is_of_post(error: ServiceError) -> TypeGuard[RestError]:
    """Return whether an error is about one post: others may be readable."""
    return isinstance(error, RestError) and error.status in (403, 404, 410)


def _post_of(text: StoredSource) -> Post:
    assert isinstance(text, PostText)
    return text.post


def _key_of(hosts: CanonicalHosts, url: str) -> str:
    """Return the key of a URL; "" if it is none."""
    try:
        return hosts.key(url)
    except ValueError:
        return ""


def _id_in(url: str) -> int:
    """Return the id of a short link, such as https://www.example.com/?p=12; 0 if it has none."""
    found = _SHORT.search(url)
    return int(found[1]) if found else 0


def _encoded(content: str) -> bytes:
    return content.encode("utf-8", "surrogatepass")
