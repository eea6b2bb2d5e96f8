"""One ranking of candidates -> the links of a source: the rules that no link may break."""

from collections.abc import Callable, Iterable

from internal_linker.records import Candidate, Link, Page, Recommendation, Source, Targets


def link_targets(
    pages: Iterable[Page], sources: Iterable[Source], excluded: Callable[..., str], any_on_site: bool
) -> Targets:
    """Where links may lead: known URLs that are no error, no copy, and match no exclusion pattern.

    A query's URL without a page is a target too, but only a search result can lead there.
    """
    known: dict[str, str] = {}
    barred: dict[str, str] = {}
    for key, url, reason in _known(pages, sources):
        if key in known or key in barred:
            continue
        pattern = excluded(url, key)
        if why := reason or (f"excluded by {pattern}" if pattern else ""):
            barred[key] = why
        else:
            known[key] = url
    return Targets(known, barred, any_on_site)


def select(
    source: Source, ranked: Iterable[Candidate], targets: Targets, count: int, note: str
) -> Recommendation:
    """Take the best `count` candidates: never the source itself, never a barred or foreign page, none twice."""
    links: list[Link] = []
    used = {source.key}
    for candidate in ranked:
        if len(links) == count:
            break
        if candidate.key not in used and targets.url_of(candidate.key):
            used.add(candidate.key)
            links.append(Link(candidate, len(links) + 1, "serp" if candidate.serp_rank else "semantic"))
    if len(links) < count:
        note = "; ".join(
            part for part in (note, f"{len(links)} of {count} links: {_shortage(source)}") if part
        )
    return Recommendation(source, tuple(links), note)


def _known(pages: Iterable[Page], sources: Iterable[Source]) -> Iterable[tuple[str, str, str]]:
    for page in pages:
        yield page.key, page.url, page.not_target
    for source in sources:
        if source.key and source.page is None:
            yield source.key, source.url, ""


def _shortage(source: Source) -> str:
    if source.page is None and not source.query:
        return "neither content nor a main query is known"
    page = source.page
    if page is not None and not (page.content or page.title or page.h1 or source.query):
        return "the page has no content"
    return "no other page may be linked to"
