"""How pages are compared and grouped, and which vectors are exported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import Sections
from internal_linker.store.files.plain_text import shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Options):
    """How pages are compared."""

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
            doc='A name as embedding_provider has it; "": the one in the settings.',
        ),
    ] = ""
    words: Annotated[
        float | None,
        Option(
            "Weight of the words in addition to the encoder, 0 to 1.",
            metavar="SHARE",
            least=0,
            most=1,
            doc="Weight of the words, 0 to 1; None: fully, and alone for contents if no model was asked for.",
        ),
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
    sections: Sections = ()
    limit: Annotated[int, Option("Compare only the first N pages (0: all).", least=0)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsOptions(CompareOptions):
    """How pages are compared, and which pairs are listed."""

    min_similarity: Annotated[
        float, Option("Minimum similarity of a pair; usual values are 0.5 to 0.95.", least=0, most=1)
    ] = 0.6
    max_per_page: Annotated[int, Option("List only the N best matches of each page (0: all).", least=0)] = 2
    full_matrix: Annotated[
        str,
        Option(
            "Also write the similarities of all pages.",
            metavar="csv|npy|parquet",
            doc='Also write the similarities of all pages in this format; "": don\'t.',
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportVectorsOptions(Options):
    """Which vectors are exported."""

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
    """How pages are compared and grouped."""

    method: Annotated[
        str,
        Option(
            "k-means, or communities of the graph of similar pages.",
            metavar="kmeans|communities",
            choices=("kmeans", "communities"),
        ),
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

    def __post_init__(self) -> None:
        if self.method not in ("kmeans", "communities"):
            raise ConfigurationError(f"--method {shortened(self.method)}: choose kmeans or communities.")
        Options.__post_init__(self)
