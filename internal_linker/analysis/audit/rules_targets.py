"""The audit's rules for targets: links to errors, redirects, canonicalised or noindex pages, and near-duplicates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from internal_linker.analysis.audit.records import Finding, Rule, Standing
from internal_linker.core.reasons import NoTarget
from internal_linker.core.records import Duplicate, Page

# A page that is only a source breaks no rule: links to it are fine.
_BROKEN: Mapping[NoTarget, Rule] = {
    NoTarget.ERROR_STATUS: Rule.BROKEN_TARGET,
    NoTarget.REDIRECT_STATUS: Rule.REDIRECTED_TARGET,
    NoTarget.REDIRECT: Rule.REDIRECTED_TARGET,
    NoTarget.BAD_REDIRECT: Rule.REDIRECTED_TARGET,
    NoTarget.CANONICALISED: Rule.COPY_TARGET,
    NoTarget.BAD_CANONICAL: Rule.COPY_TARGET,
    NoTarget.NOINDEX: Rule.NOINDEX_TARGET,
}


def target_findings(
    links: Iterable[tuple[str, str]],
    bad: Mapping[str, Page],
    aliases: Mapping[str, str],
    urls: Mapping[str, str],
    standing: Standing,
) -> Iterator[Finding]:
    """Report links to pages that no link should lead to, each pair once.

    Args:
        links: keys of source and target, the target as the link names it.
        bad: pages with an issue, by their keys.
        aliases: final targets by the keys of redirecting or canonicalised pages.
        urls: the user's own spelling of URLs, by key.
        standing: "stays" for today's links, "new" for proposed ones.
    """
    for source, target in dict.fromkeys(link for link in links if link[1] in bad):
        page, end = bad[target], aliases.get(target, "")
        if page.issue and (rule := _BROKEN.get(page.issue.kind)):
            remedy = f" Link to {urls.get(end, end)}." if end and end != source else ""
            detail = f"The link's target: {page.issue}.{remedy}"
            yield Finding(rule, urls.get(source, source), detail, page.url, standing)


def duplicate_findings(duplicates: Iterable[Duplicate]) -> Iterator[Finding]:
    """Report near-duplicates, each pair once, the page to keep second."""
    for pair in duplicates:
        detail = f"{pair.overlap:.0%} of their phrases are the same: keep the other; canonicalise or merge this one."
        yield Finding(Rule.DUPLICATE, pair.page, detail, pair.canonical)


def exact_copies(
    pages: Sequence[Page], digests: Sequence[bytes], inlinks: Sequence[int]
) -> Iterator[Duplicate]:
    """Yield pages with the same text, each with the one to keep: most inlinks, then the shorter URL, then A to Z.

    Args:
        pages: n pages.
        digests: n digests of their texts; empty for a page without text.
        inlinks: n numbers of pages that link to each page.
    """
    groups: dict[bytes, list[int]] = {}
    for row, digest in enumerate(digests):
        if digest:
            groups.setdefault(digest, []).append(row)
    for rows in groups.values():
        if len(rows) > 1:
            keep, *others = sorted(rows, key=lambda at: (-inlinks[at], len(pages[at].url), pages[at].url))
            yield from (Duplicate(pages[at].url, pages[keep].url, 1.0, 1.0, 1.0) for at in others)
