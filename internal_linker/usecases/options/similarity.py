"""How pages are compared and grouped, and which vectors are exported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Options):
    """How pages are compared.

    Attributes:
        files: exports of a crawler to compare instead of the project's pages, as `import` takes them; nothing is
            imported. Empty: the project's pages.
        by: fields with their weights, such as "content", "title,content" or "title=1,h1=1,content=3"; "": the
            content, or the title if no page has any.
        encoder: a name as embedding_provider has it; "": the one in the settings.
        words: how much words count beside the encoder, 0 to 1; None: fully, and alone for contents if no model
            was asked for.
        matryoshka: how many dimensions of a vector count; 0: as the settings say.
        brands: brand names at the end of titles, outermost first; empty: they are detected.
        keep_brands: leave titles as they are.
        sections: "/blog": compare only pages below /blog; "/blog=off": all others.
        limit: compare only the first so many pages; 0: all.
    """

    files: Annotated[
        Sequence[Path],
        Option(
            "A crawler's exports to compare instead of the project's pages (.csv, .xlsx); nothing is imported.",
            metavar="FILE",
            argument=True,
        ),
    ] = ()
    by: Annotated[
        str,
        Option(
            "title, h1, content, or several: title,content; with weights: title=1,h1=1,content=3. Default: content, "
            "or title if no page has content.",
            metavar="FIELDS",
        ),
    ] = ""
    encoder: Annotated[
        str,
        Option(
            "An encoder as in embedding_provider. Default: the one in the settings; without one, contents are "
            "compared by their words alone.",
            metavar="NAME",
        ),
    ] = ""
    words: Annotated[
        float | None,
        Option("Weight of the words in addition to the encoder, 0 to 1.", metavar="SHARE", least=0, most=1),
    ] = None
    matryoshka: Annotated[
        int, Option("Use only the first N dimensions of a vector (0: all).", metavar="N", least=0)
    ] = 0
    brands: Annotated[
        Sequence[str],
        Option(
            "The brand after | or - at the end of titles; may be repeated. Default: detected.",
            flag="--brand",
            metavar="TEXT",
        ),
    ] = ()
    keep_brands: Annotated[bool, Option("Do not remove brands from titles.")] = False
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()
    limit: Annotated[int, Option("Compare only the first N pages (0: all).", least=0)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsOptions(CompareOptions):
    """How pages are compared, and which pairs are listed.

    Attributes:
        min_similarity: the lowest similarity of a pair, 0 to 1.
        max_per_page: list a pair only if it is among so many best matches of one of its pages; 0: all pairs.
        full_matrix: "csv", "npy" or "parquet": also write the similarities of all pages; "": don't.
    """

    min_similarity: Annotated[
        float, Option("Minimum similarity of a pair; usual values are 0.5 to 0.95.", least=0, most=1)
    ] = 0.6
    max_per_page: Annotated[int, Option("List only the N best matches of each page (0: all).", least=0)] = 2
    full_matrix: Annotated[
        str, Option("Also write the similarities of all pages.", metavar="csv|npy|parquet")
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportVectorsOptions(Options):
    """Which vectors are exported.

    Attributes:
        by: "content": the vectors of runs; "title" or "h1": those by which `pairs` and `clusters` compare.
    """

    by: Annotated[
        str,
        Option(
            "The vectors of the pages' contents, titles or first headings.",
            metavar="content|title|h1",
            choices=("content", "title", "h1"),
        ),
    ] = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersOptions(CompareOptions):
    """How pages are compared and grouped.

    Attributes:
        method: "kmeans", or "communities" of the graph of similar pages.
        k: a number of clusters, or a range such as "5-40" from which the best is chosen; "": as suits the site.
        min_similarity: communities only: pages less similar than this are not joined, 0 to 1.
    """

    method: Annotated[
        str,
        Option("k-means, or communities of the graph of similar pages.", metavar="kmeans|communities"),
    ] = "kmeans"
    k: Annotated[
        str | int,
        Option(
            "The number of clusters, or a range to choose the best from. Default: depends on the site.",
            metavar="N|A-B",
        ),
    ] = ""
    min_similarity: Annotated[
        float, Option("Communities only: join pages with at least this similarity.", least=0, most=1)
    ] = 0.4
