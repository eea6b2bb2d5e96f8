"""Why a run found no links: the cause, with its remedy, in one sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from internal_linker.model.reasons import FewLinks, NoSource, NoTarget, Reason
from internal_linker.model.records import Collected, Recommendation, Targets
from internal_linker.model.sections import Scope
from internal_linker.sources.staging import host_hint

_REMEDIES = {
    NoTarget.CANONICALISED: "Correct the canonicals in files/urls_rawdata.csv, or delete their column",
    NoTarget.NOINDEX: "If the crawl is of a staging site, delete the column Indexability from files/urls_rawdata.csv",
    NoTarget.ERROR_STATUS: "Check that the site lets your crawler in, and crawl it again",
    NoTarget.REDIRECT_STATUS: "Crawl the site at the address that it redirects to",
    NoTarget.REDIRECT: "Crawl the site at the address that it redirects to",
    NoTarget.EXCLUDED: "Correct the patterns in config/excluded_urls.txt",
    NoTarget.OTHER_SECTION: "Correct target_include and target_exclude, or the path in search_query_template",
    NoTarget.SOURCE_ONLY: "Give pages that links may lead to another Role than source",
}
_SECTIONS = "Correct source_include and source_exclude, or the path in search_query_template"
# Reasons in a sentence.
_MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class NoLinks:
    """Why there are no links."""

    sentence: str  # the cause, with its remedy if there is one
    # whether nothing is wrong: every link that there could be exists, waits for an editor, or was rejected
    complete: bool = False


def why_no_links(
    collected: Collected,
    recommendations: Sequence[Recommendation],
    targets: Targets,
    *,
    scope: Scope,
    partial: bool,
) -> NoLinks | None:
    """Return why no page got a link; None if any did, or if only queries were to get suggestions and some did."""
    pages = [item for item in recommendations if item.source.is_page]
    if any(item.links for item in pages):
        return None
    if (partial or not collected.pages) and any(item.links for item in recommendations):
        return None
    found = "No links were found"
    if waiting := sum(len(item.held) for item in pages):
        return NoLinks(f"{found} that need no approval; {waiting} wait for it in the review.", complete=True)
    if not recommendations:
        return _without_rows(collected, scope)
    if not targets.known:
        return NoLinks(f"{found}, because no page is a possible target: {_barred(collected, targets)}")
    takers = [item for item in pages if not _obstacle(item)]
    if not takers:
        return NoLinks(f"{found}, because {_obstacles(map(_obstacle, pages))}.")
    if len(targets.known) == 1 and len(takers) == 1 and takers[0].source.key in targets.known:
        only = "the only page" if len(collected.pages) == 1 else "the only page that is a possible target"
        return NoLinks(
            f"{found}: {takers[0].source.url} is {only}, and a link needs two. {_more(collected, targets)}"
        )
    if not any(targets.new_to(item.source.end, key) for item in takers for key in targets.known):
        return NoLinks(
            f"{found} that are new: every page links to all possible targets, or an editor rejected the link.",
            complete=True,
        )
    return NoLinks(f"{found}: {_shortages(takers)}.")


def _obstacle(item: Recommendation) -> str:
    """Return why the row's page gets no links, "" if it gets some."""
    kind = item.shortage.reason.kind if item.shortage else None
    return item.shortage.reason.detail if item.shortage and kind is FewLinks.NO_SOURCE else ""


def _without_rows(collected: Collected, scope: Scope) -> NoLinks:
    obstacles = [source.obstacle for source in collected.sources]
    if all(obstacles):
        barred = Counter(collected.issues.values())
        if len(collected.pages) == barred.total():
            reasons = _by_reason(collected, barred)
            return NoLinks(f"No links were found, because no page is a possible source or target: {reasons}")
        return NoLinks(f"No links were found, because {_obstacles(obstacles)}.")
    able = [source for source in collected.sources if source.key and not source.obstacle]
    if not any(scope.gives(source.key, queried=bool(source.row_url)) for source in able):
        outside = NoSource.OTHER_SECTION.message
        return NoLinks(f"No links were looked for: all pages are {outside}. {_SECTIONS}.")
    return NoLinks(
        "No links were looked for: every page is in a section that is off, and keeps its links of the last run.",
        complete=True,
    )


def _barred(collected: Collected, targets: Targets) -> str:
    return _by_reason(collected, Counter(targets.barred.values()))


def _more(collected: Collected, targets: Targets) -> str:
    """Return why the other pages are no targets, or what to do if there are none."""
    if targets.barred:
        return f"Of the others: {_barred(collected, targets)}"
    return "Put more pages into files/urls_rawdata.csv."


def _by_reason(collected: Collected, barred: Counter[Reason[NoTarget]]) -> str:
    """Return the reasons why pages are no targets, with their counts and the remedy for the most frequent one."""
    kinds = Counter[NoTarget]()
    for reason, count in barred.items():
        kinds[reason.kind] += count
    ranked = sorted(barred.items(), key=lambda item: (-item[1], str(item[0])))
    counted = ", ".join(f"{count} {reason}" for reason, count in ranked[:_MOST_REASONS])
    more = f" and {len(ranked) - _MOST_REASONS} other reasons" if len(ranked) > _MOST_REASONS else ""
    most = max(kinds, key=kinds.__getitem__, default=None)
    hint = host_hint(collected) if most is NoTarget.CANONICALISED else ""
    remedy = hint or (_REMEDIES.get(most, "") if most else "") or "See files/excluded_targets.csv"
    return f"{counted}{more}. {remedy.rstrip('.')}."


def _obstacles(obstacles: Iterable[str]) -> str:
    counts = Counter(filter(None, obstacles)).most_common(_MOST_REASONS)
    listed = ", ".join(f"{count} {obstacle}" for obstacle, count in counts)
    outside = counts and counts[0][0] == NoSource.OTHER_SECTION.message
    remedy = _SECTIONS if outside else "Correct the columns of files/urls_rawdata.csv that say so"
    return f"no page may get links ({listed}). {remedy}"


def _shortages(items: Sequence[Recommendation]) -> str:
    kinds = Counter(item.shortage.reason.kind for item in items if item.shortage)
    most = max(kinds, key=kinds.__getitem__, default=FewLinks.NO_TARGET)
    if most in (FewLinks.NO_CONTENT, FewLinks.NOTHING_KNOWN):
        return (
            f"of {len(items)} pages, {kinds[most]} have no content. Import a crawl with the pages' text "
            "into files/urls_rawdata.csv"
        )
    return (
        f"for none of {len(items)} pages is another page a possible target. Pages in another language and "
        "near-duplicates are none: see files/excluded_targets.csv and files/duplicates.csv"
    )
