"""Writes the content of WordPress posts, one post after the other, and nothing else of them.

WordPress ignores conditional requests, so a post is read right before it is written and compared with what the new
content was made from; and read again afterwards, because plugins may change what is saved.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from internal_linker.sources.http.limits import with_retries
from internal_linker.sources.sites.wordpress import KEY_FILE
from internal_linker.sources.wordpress.rest import RestClient, RestError
from internal_linker.sources.wordpress.site import with_ids

_ATTEMPTS = 3
_FIELDS = "id,link,status,modified_gmt,content.raw,_links"
_UNFILTERED = "wp:action-unfiltered-html"
_ALTERED = "the site changed the content while saving it; a plugin or a filter for this user does so"
_FILTERED = (
    f"WordPress would remove HTML from the post, because the user in {KEY_FILE} lacks the right unfiltered_html. Use "
    "the application password of an editor or administrator."
)


@dataclass(frozen=True, slots=True)
class Post:
    """A post as its editors see it."""

    route: str  # the route of its type, such as wp/v2/posts
    id: int
    link: str
    status: str  # publish, draft, private, ...
    modified: str  # when it was last modified, in UTC, as WordPress writes it
    content: str  # its content as it is stored: blocks or classic HTML
    unfiltered: bool  # whether WordPress keeps all HTML that the user writes into it
    rendered: str = ""  # HTML of its content as the site shows it; "": it was not asked for


class WriteOutcome(StrEnum):
    """What became of a write."""

    WRITTEN = "written"
    CONFLICT = "conflict"
    """The post has another content than what it was read with; it was left alone."""
    ALTERED = "altered"
    """The site saved something else, so the former content was written back."""
    REFUSED = "refused"
    """The site did not take it, or would have changed it; the post is as it was."""
    UNKNOWN = "unknown"
    """The site stopped answering, so the post may have either content."""


@dataclass(frozen=True, slots=True)
class Write:
    """The result of a write."""

    outcome: WriteOutcome
    post: Post
    reason: str = ""  # why it was not written, one sentence; "": it was
    restored: bool = False  # after `ALTERED`: whether the post has its former content again
    sent: bool = False  # whether the site got the new content at least once, or may have got it


def read_post(client: RestClient, route: str, number: int) -> Post:
    """Return a post as its editors see it.

    Raises:
        RestError: there is no such post, or the user may not edit it.
        ServiceError: the site does not answer.
    """
    return _post(route, client.get(f"{route}/{number}", context="edit", _fields=_FIELDS).body)


def read_posts(client: RestClient, route: str, ids: Sequence[int]) -> Iterator[Post]:
    """Yield those of these published posts that the user may edit, with what the site shows of them.

    Raises:
        ServiceError: the site does not answer, or the user may edit no post of this type.
    """
    for body in with_ids(client, route, ids, context="edit", _fields=f"{_FIELDS},content.rendered"):
        if _raw(body) is not None:
            yield _post(route, body)


def loses_html(post: Post, content: str) -> bool:
    """Return whether WordPress might remove HTML from a content when this user saves it."""
    return not post.unfiltered and not survives_filter(content)


def write_post(client: RestClient, post: Post, content: str) -> Write:
    """Replace a post's content, if the post still has the content with which it was read.

    A reply that gets lost is no loss: whether the write landed is found out by reading the post again.

    Raises:
        CredentialsRefused: the password does not count any more.
        ServiceError: the site does not answer, and nothing was sent.
    """
    return _Writing(client, post, content).result()


class _Writing:
    """One write; `sent` tells whether the site may have got it."""

    def __init__(self, client: RestClient, post: Post, content: str) -> None:
        self._client, self._post, self._content = client, post, content
        self._sent = False

    def result(self) -> Write:
        try:
            done = with_retries(self._attempt, attempts=_ATTEMPTS)
        except RestError as error:
            if not self._sent:
                raise
            done = self._found_out(_sentence(error))
        return replace(done, sent=self._sent)

    def _attempt(self) -> Write:
        """Write once; raise a retryable error if nobody knows whether it landed, which the next attempt finds out."""
        try:
            now = self._read()
        except RestError as error:
            if self._sent or not _is_final(error):
                raise
            return Write(WriteOutcome.REFUSED, self._post, _sentence(error))
        if now.content == self._content:
            return Write(WriteOutcome.WRITTEN, now)
        if now.content != self._post.content or now.status != self._post.status:
            return _conflict(now)
        if loses_html(now, self._content):
            return Write(WriteOutcome.REFUSED, now, _FILTERED)
        self._sent = True
        try:
            saved = self._send(self._content)
        except RestError as error:
            if _is_final(error):
                return Write(WriteOutcome.REFUSED, now, _sentence(error))
            raise
        after = self._read()
        if after.content == self._content:
            return Write(WriteOutcome.WRITTEN, after)
        if after.content != _raw(saved):
            return _conflict(after)
        return self._put_back(after)

    def _found_out(self, problem: str) -> Write:
        try:
            now = self._read()
        except RestError:
            return Write(WriteOutcome.UNKNOWN, self._post, problem)
        if now.content == self._content:
            return Write(WriteOutcome.WRITTEN, now)
        if now.content == self._post.content:
            return Write(WriteOutcome.REFUSED, now, problem)
        return _conflict(now)

    def _put_back(self, saved: Post) -> Write:
        """Write the former content back into a post that the site altered, if nobody has changed it since."""
        kept = Write(WriteOutcome.ALTERED, saved, f"{_ALTERED}, and the post could not be restored.")
        try:
            now = self._read()
            if now.content != saved.content:
                return replace(kept, post=now)
            with suppress(RestError):  # reading the post tells what became of it
                self._send(self._post.content)
            now = self._read()
        except RestError:
            return kept
        if now.content != self._post.content:
            return replace(kept, post=now)
        return Write(
            WriteOutcome.ALTERED, now, f"{_ALTERED}. The post has its former content again.", restored=True
        )

    def _read(self) -> Post:
        return read_post(self._client, self._post.route, self._post.id)

    def _send(self, content: str) -> Any:
        route = f"{self._post.route}/{self._post.id}"
        return self._client.post(route, {"content": content}, _fields="content.raw").body


def _is_final(error: RestError) -> bool:
    """Return whether the site says that it did nothing, and would not do it later either."""
    return error.status in range(400, 500) and not error.retryable


def _conflict(now: Post) -> Write:
    return Write(WriteOutcome.CONFLICT, now, "the post was changed meanwhile, so it was left alone.")


def _post(route: str, body: Any) -> Post:
    content = _raw(body)
    if content is None:
        raise RestError("the post has no content that this user can edit.", 403)
    links, rendered = body.get("_links"), body["content"].get("rendered")
    return Post(
        route=route,
        id=int(body["id"]),
        link=str(body.get("link", "")),
        status=str(body.get("status", "")),
        modified=str(body.get("modified_gmt", "")),
        content=content,
        unfiltered=isinstance(links, dict) and _UNFILTERED in links,
        rendered=rendered if isinstance(rendered, str) else "",
    )


def _raw(body: Any) -> str | None:
    content = body.get("content") if isinstance(body, dict) and isinstance(body.get("id", 0), int) else None
    raw = content.get("raw") if isinstance(content, dict) else None
    return raw if isinstance(raw, str) else None


def _sentence(error: RestError) -> str:
    return str(error).removeprefix(f"{error.service}: ")


# Elements and attributes that its filter keeps for everyone. What else it keeps depends on the site.
_NAMES = (
    "a abbr b blockquote br cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img li mark ol p "
    "pre q s small span strong sub sup table tbody td tfoot th thead tr u ul"
)
_ATTRIBUTE = r' (?:class|id|href|title|rel|target|src|alt|width|height|lang|dir|data-[a-z-]+)="[^"<>&]*"'
_ELEMENT = rf"</?(?:{_NAMES.replace(' ', '|')})(?:{_ATTRIBUTE})*(?: /)?>"
# A block's comment; its attributes only as the filter writes them itself: JSON without spaces and escapes.
_VALUE = r'(?:"[^"\\<>&]*"|-?\d+|true|false)'
_BLOCK = rf'<!-- /?wp:[a-z0-9/-]+ (?:\{{(?:"[\w-]+":{_VALUE}(?:,(?="))?)+\}} )?/?-->'
_ENTITY = r"&(?:amp|lt|gt|quot|nbsp|#\d{2,5});"
_KEPT = re.compile("|".join((_ELEMENT, _BLOCK, _ENTITY)))
# An address with another scheme loses it.
_SCHEME = re.compile(r'="(?!https?:|mailto:|tel:)[^"/?#]*:')


def survives_filter(content: str) -> bool:
    """Return whether a post's content surely stays as it is when such a user saves it."""
    return not (re.search("[<>&\0]", _KEPT.sub("", content)) or _SCHEME.search(content))
