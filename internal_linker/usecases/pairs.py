"""A project -> its pairs of similar pages, best first, and the pages that are like no other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from internal_linker.adapters.tables.xlsx_writer import Cell, Column, Sheet
from internal_linker.analysis.similarity.outputs import require_matrix, rows_of, write_matrix, write_tables
from internal_linker.analysis.similarity.pairs import AlikePairs, alike
from internal_linker.analysis.similarity.similarity import Similarity
from internal_linker.core.arrays import Bools, Vectors, ranks
from internal_linker.core.ports import Progress
from internal_linker.core.records import Page
from internal_linker.core.sequences import Lazy
from internal_linker.usecases.compare import Compared, Comparison, compare
from internal_linker.usecases.project import Project

_PAGE = Column("Page", 55, "link"), Column("Title", 45)
_MATCH = Column("Match", 55, "link"), Column("Match Title", 45), Column("Similarity", 12, "score")
_LINKS = Column("Links To Match", 15), Column("Linked From Match", 18)


@dataclass(frozen=True, slots=True)
class PairWish:
    """Which pairs are wanted.

    Attributes:
        comparison: how pages are compared.
        min_similarity: of a pair, 0 to 1.
        max_per_page: a pair must be among so many best matches of one of its pages; 0: all.
        full_matrix: "csv", "npy" or "parquet": all similarities are written, too; "": they aren't.
    """

    comparison: Comparison = field(default_factory=Comparison)
    min_similarity: float = 0.5
    max_per_page: int = 0
    full_matrix: str = ""


@dataclass(frozen=True, slots=True)
class PagePair:
    """Two similar pages.

    Attributes:
        page: the URL of the one that stands first in the input.
        title: of it, without brand.
        match: the URL of the other one.
        match_title: of it, likewise.
        similarity: -1 to 1.
        links: whether the page links to its match today.
        linked: whether the match links to the page.
    """

    page: str
    title: str
    match: str
    match_title: str
    similarity: float
    links: bool
    linked: bool


@dataclass(frozen=True)
class SimilarPages:
    """What came of it.

    Attributes:
        compared: the pages.
        found: their pairs, by rows.
        links: (p,) of each pair, whether the first page links to the second.
        linked: (p,) the reverse.
    """

    compared: Compared
    found: AlikePairs
    links: Bools
    linked: Bools

    @property
    def pairs(self) -> Sequence[PagePair]:
        """Each pair once, the most similar first."""
        return Lazy(len(self.found.first), self._pair)

    @property
    def orphaned(self) -> Sequence[Page]:
        """Orphaned content: the pages that have no match."""
        return Lazy(len(self.found.alone), lambda at: self.compared.pages[self.found.alone[at]])

    def _pair(self, at: int) -> PagePair:
        pages, titles = self.compared.pages, self.compared.titles
        page, match = int(self.found.first[at]), int(self.found.second[at])
        similarity = float(self.found.scores[at])
        ends = pages[page].url, titles[page], pages[match].url, titles[match]
        return PagePair(*ends, similarity, bool(self.links[at]), bool(self.linked[at]))


def find_pairs(project: Project, wish: PairWish, progress: Progress) -> SimilarPages:
    """Compare all pages with all; nothing is written but vectors into the cache.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are not two pages, or more pairs than anybody can read.
    """
    if wish.full_matrix:
        require_matrix(wish.full_matrix)
    compared = compare(project, wish.comparison, progress)
    progress.start("Pairs", len(compared.pages), "pages")
    asked = compared.similarity, compared.languages, wish.min_similarity, wish.max_per_page
    found = alike(*asked, progress.advance)
    progress.finish(f"{len(found.first)} pairs, {len(found.alone)} pages without a match")
    links = compared.linked(found.first, found.second), compared.linked(found.second, found.first)
    return SimilarPages(compared, found, *links)


def write_pairs(project: Project, wish: PairWish, result: SimilarPages, progress: Progress) -> list[str]:
    """Write pairs.csv, orphaned_content.csv, pairs.xlsx and the matrix, where one is wanted; the answer names them.

    Raises:
        ConfigurationError: the matrix is too large for its form, or the form needs a package.
        OutputError: a file can't be written; it is as it was.
    """
    files, pages = project.root / "files", result.compared.pages
    if wish.full_matrix:
        require_matrix(wish.full_matrix, len(pages))
    tables = {"pairs.csv": _pairs(result), "orphaned_content.csv": _orphaned(result)}
    sheets = [tables["pairs.csv"], _by_page(result, wish), tables["orphaned_content.csv"]]
    matrix = len(pages) if wish.full_matrix else 0
    progress.start("Writing", rows_of([*tables.values(), *sheets]) + matrix, "rows")
    remarks, names = (
        write_tables(files, tables, "pairs.xlsx", sheets, progress.advance),
        [*tables, "pairs.xlsx"],
    )
    if matrix:
        tiles = _tiles(result.compared.similarity, progress)
        name, more = write_matrix(files, wish.full_matrix, [page.url for page in pages], tiles)
        names, remarks = [*names, name], [*remarks, *more]
    progress.finish(", ".join(names))
    for remark in remarks:
        progress.warn(remark)
    return names


def _tiles(similarity: Similarity, progress: Progress) -> Iterator[Vectors]:
    for _, _, scores in similarity.tiles():
        yield scores
        progress.advance(len(scores))


def _pairs(result: SimilarPages) -> Sheet:
    fields = _fields(result)
    found = result.found
    each = [result.compared.similarity.of(found.first, found.second, name) for name in fields]

    def row(at: int) -> Sequence[Cell]:
        pair = result.pairs[at]
        told = pair.page, pair.title, pair.match, pair.match_title, pair.similarity
        return [*told, *(float(scores[at]) for scores in each), _yes(pair.links), _yes(pair.linked)]

    columns = [
        *_PAGE,
        *_MATCH,
        *(Column(f"{name} Similarity", 16, "score") for name in map(str.title, fields)),
        *_LINKS,
    ]
    return Sheet("Pairs", columns, Lazy(len(found.first), row))


def _fields(result: SimilarPages) -> list[str]:
    """What the pages were compared by, where that is more than one thing."""
    fields = [each.name for each in result.compared.similarity.fields]
    return fields if len(fields) > 1 else []


def _by_page(result: SimilarPages, wish: PairWish) -> Sheet:
    """Each page with its matches, best first: every pair from both of its ends."""
    compared, found = result.compared, result.found
    sources = np.concatenate([found.first, found.second])
    matches = np.concatenate([found.second, found.first])
    scores, links = np.tile(found.scores, 2), np.concatenate([result.links, result.linked])
    order = np.lexsort((matches, -scores, sources))
    if wish.max_per_page:
        order = order[ranks(sources[order]) < wish.max_per_page]
    back = np.concatenate([result.linked, result.links])

    def row(at: int) -> Sequence[Cell]:
        place = order[at]
        page, match = int(sources[place]), int(matches[place])
        ends = (
            compared.pages[page].url,
            compared.titles[page],
            compared.pages[match].url,
            compared.titles[match],
        )
        return [*ends, float(scores[place]), _yes(links[place]), _yes(back[place])]

    return Sheet("By page", [*_PAGE, *_MATCH, *_LINKS], Lazy(len(order), row))


def _orphaned(result: SimilarPages) -> Sheet:
    alone, compared = result.found.alone.tolist(), result.compared
    rows = [(compared.pages[row].url, compared.titles[row]) for row in alone]
    return Sheet("Orphaned content", _PAGE, rows)


def _yes(one: object) -> str:
    return "yes" if one else "no"
