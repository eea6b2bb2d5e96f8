"""What was collected, and where links may lead -> every target that is left out, with the reason."""

from collections import Counter
from collections.abc import Iterator

from internal_linker.core.listed import ExcludedTarget
from internal_linker.core.records import Collected, Targets


def excluded_targets(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield what holds for every source, then what holds for one, each rule in its turn, in the input's order."""
    yield from _barred(collected, targets)
    yield from _other_languages(collected, targets)
    yield from _linked_already(collected, targets)
    yield from _rejected(collected, targets)


def _barred(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Errors, copies, redirects and excluded patterns."""
    for key, url in _urls(collected).items():
        if reason := targets.barred.get(key):
            yield ExcludedTarget("", url, reason)


def _other_languages(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Pages that are not in the site's most common language: a link joins pages of one language."""
    pages = Counter(page.lang for page in collected.pages if page.lang)
    most = max(pages, key=pages.__getitem__, default="")
    for page in collected.pages:
        if page.lang not in ("", most) and page.key in targets.known:
            yield ExcludedTarget("", page.url, f"in {page.lang}: only for pages in {page.lang}")


def _linked_already(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """What a source links to and could be a target otherwise."""
    for key, url in _urls(collected).items():
        for target in targets.linked.get(key, ()):
            if target in targets.known:
                yield ExcludedTarget(url, targets.known[target], "already linked")


def _rejected(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """What an editor rejected; of a page's queries one stands for all."""
    names = {source.end: source.name for source in reversed(collected.sources)}
    for end, rejected in targets.rejected.items():
        for target in rejected:
            if end in names and target in targets.known:
                yield ExcludedTarget(names[end], targets.known[target], "rejected by an editor")


def _urls(collected: Collected) -> dict[str, str]:
    """The user's own writing of every listed page, by its normal form."""
    urls = {page.key: page.url for page in collected.pages}
    for source in collected.sources:
        if source.key:
            urls.setdefault(source.key, source.url)
    return urls
