"""The options of every command, declared once for the command line, Python and the web."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options

# From here on a lookup or a content brief would list pages that have nothing to do with it.
MOST_LINKS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(Options):
    """Which pages a run finds links for, and what it leaves out.

    Attributes:
        limit: a trial of the first so many rows, written to files/trial only; 0: all rows.
        publish: with `limit`, write the links where a whole run writes them.
        only: URLs or paths; only these pages get links.
        sections: "/blog": only pages below /blog get new links; "/blog=off": these keep the last run's; "/blog=on"
            overrules `sections_off`.
        target_include, target_exclude: paths of the pages that links may lead to, instead of the setting of this name,
            and of those they may not, in addition to the setting.
        search: whether search results are used.
        accept_drift: publish links even if they moved far from those of the last run.
    """

    limit: Annotated[
        int,
        Option(
            "Trial run: print the links of the first N rows and write them to files/trial only (0: all rows).",
            least=0,
        ),
    ] = 0
    publish: Annotated[bool, Option("With --limit: publish the links like those of a whole run.")] = False
    only: Annotated[
        Sequence[str],
        Option("Find links for the page with this URL or path only; may be repeated.", metavar="URL"),
    ] = ()
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH get new links; =off: all others; =on overrides sections_off; may be repeated.",
            flag="--section",
            metavar="PATH[=off|on]",
        ),
    ] = ()
    target_include: Annotated[
        Sequence[str], Option("Propose links only to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    target_exclude: Annotated[
        Sequence[str], Option("Propose no links to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True
    accept_drift: Annotated[
        bool, Option("Publish links even if they differ strongly from the last run's.")
    ] = False

    @property
    def trial(self) -> bool:
        """Whether the links go to files/trial, and nowhere else."""
        return bool(self.limit) and not self.publish


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupOptions(Options):
    """What to look up.

    Attributes:
        page: a page's URL, its path, or any query.
        to: list the pages that should link to this page, instead of those that it should link to.
        limit: the maximum number of links; 0: links_per_page.
        search: whether search results are used; never for `to`.
    """

    page: Annotated[
        str,
        Option(
            "A page's URL, with or without https://, its path such as /blog/a/, or any query.",
            metavar="URL-OR-QUERY",
            argument=True,
        ),
    ]
    to: Annotated[bool, Option("List the pages that should link to this page, best first.")] = False
    limit: Annotated[
        int, Option("The maximum number of links (0: links_per_page).", least=0, most=MOST_LINKS)
    ] = 0
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefOptions(Options):
    """A page that does not exist yet.

    Attributes:
        draft: a title, an outline or a draft, as text or as the path of a .docx, .md, .html or .txt file.
        title: the page's title; "": its first heading or line.
        query: its main query; searched for if there is a key for a search service.
        url: where the page will be.
        lang: its language code; "": the language of the text.
        limit: links each way; 0: links_per_page.
        search: whether search results are used.
    """

    draft: Annotated[
        str | Path,
        Option(
            "A title, an outline or a draft: as text, or a .docx, .md, .html or .txt file; - reads standard input.",
            metavar="FILE-OR-TEXT",
            argument=True,
        ),
    ]
    title: Annotated[str, Option("The page's title. Default: its first heading or line.")] = ""
    query: Annotated[str, Option("Its main query; searched for if there is a key for a search service.")] = ""
    url: Annotated[str, Option("Where the page will be.", metavar="URL")] = ""
    lang: Annotated[
        str,
        Option(
            "Its language, a code that your pages have, such as en. Default: that of the text.",
            metavar="CODE",
        ),
    ] = ""
    limit: Annotated[
        int, Option("Links in each direction (0: links_per_page).", least=0, most=MOST_LINKS)
    ] = 0
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions(Options):
    """What to import, and which pages to leave out.

    Attributes:
        files: exports of a crawler (.csv, .xlsx), HTML files and folders of them.
        sitemap: URL of a sitemap, or a host that has one, whose pages are fetched; "": none.
        wordpress: the address of a WordPress site, whose posts are read over its REST API; "": none.
        urls: a file with one URL per line, whose pages are fetched; None: none.
        delay: seconds between two requests to a host.
        allow_private: whether pages may be fetched from private networks.
        url_column: the column of the pages' URLs, if it isn't recognised.
        content_column: the column of the pages' main content, if it isn't recognised.
        sheets: names of the sheets to read of each workbook; empty: the first one with pages or links.
        base_url: the address of a folder of HTML files, if the files don't say it themselves.
        map_host: hosts that stand for another one, as in map_hosts, such as a staging site's.
        pagination, parameters: whether paginated URLs and URLs with parameters are kept.
        only_indexable, only_200: keep only indexable pages, and only pages with status 200.
        canonicalised, duplicates: whether canonicalised pages and pages with the text of an earlier one are kept.
        include, exclude: paths of the pages to keep and to leave out.
        source_include, source_exclude: paths of the pages that get links, and of those that don't.
        target_include, target_exclude: paths of the pages that links may lead to, and of those they may not.
        min_words: leave out pages with fewer words.
        limit: keep only the first so many pages; 0: all.
    """

    files: Annotated[
        Sequence[Path],
        Option(
            "Exports of pages or links (.csv, .xlsx); saved pages (.html, or a folder).",
            metavar="FILE",
            argument=True,
        ),
    ] = ()
    sitemap: Annotated[
        str, Option("Fetch the pages of this sitemap, or of the sitemap of this host.", metavar="URL|HOST")
    ] = ""
    wordpress: Annotated[
        str, Option("Read the posts and pages of this WordPress site, over its REST API.", metavar="URL")
    ] = ""
    urls: Annotated[
        Path | None, Option("Fetch the pages listed in this file, one URL per line.", metavar="FILE")
    ] = None
    delay: Annotated[float, Option("Seconds between two requests to a host.", least=0, most=60)] = 0.5
    allow_private: Annotated[bool, Option("Allow fetching from private networks.")] = False
    url_column: Annotated[str, Option("The column of the pages' URLs.", metavar="NAME")] = ""
    content_column: Annotated[str, Option("The column of the pages' main content.", metavar="NAME")] = ""
    sheets: Annotated[
        Sequence[str],
        Option(
            "The sheet of a workbook; may be repeated. Default: the first one with pages or links.",
            flag="--sheet",
            metavar="NAME",
        ),
    ] = ()
    base_url: Annotated[str, Option("The URL at which saved pages are online.", metavar="URL")] = ""
    map_host: Annotated[
        Sequence[str],
        Option(
            "Write URLs of the host HOST (a staging site) as URLs of the host OTHER; may be repeated.",
            metavar="HOST=OTHER",
        ),
    ] = ()
    pagination: Annotated[
        bool, Option("Leave out /page/2, ?page=2 and the like.", flag="--no-pagination")
    ] = True
    parameters: Annotated[
        bool, Option("Leave out URLs with parameters, except tracking parameters.", flag="--no-parameters")
    ] = True
    only_indexable: Annotated[bool, Option("Leave out pages that are not indexable.")] = False
    only_200: Annotated[bool, Option("Leave out pages whose status is not 200.")] = False
    canonicalised: Annotated[
        bool, Option("Leave out pages whose canonical is another page.", flag="--no-canonicalised")
    ] = True
    include: Annotated[Sequence[str], Option("Only pages below PATH; may be repeated.", metavar="PATH")] = ()
    exclude: Annotated[Sequence[str], Option("No pages below PATH; may be repeated.", metavar="PATH")] = ()
    source_include: Annotated[
        Sequence[str], Option("Propose links only on pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    source_exclude: Annotated[
        Sequence[str], Option("Propose no links on pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    target_include: Annotated[
        Sequence[str], Option("Propose links only to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    target_exclude: Annotated[
        Sequence[str], Option("Propose no links to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    duplicates: Annotated[
        bool, Option("Leave out pages with the same text as an earlier page.", flag="--no-duplicates")
    ] = True
    min_words: Annotated[int, Option("Leave out pages with fewer than N words.", least=0)] = 0
    limit: Annotated[int, Option("Keep only the first N pages (0: all).", least=0)] = 0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions(Options):
    """Who reviews which links.

    Attributes:
        by: the reviewer's name; "": the name of the login.
        sections: paths; only links from pages below them.
        source: the URL of a page, or a query: only its links.
        tier: only links of this tier, by its name or by its name in links.csv: "in the text" or "inline", "related
            box" or "sidebar", "needs a look" or "review"; "": of all tiers.
    """

    by: Annotated[str, Option("The reviewer's name. Default: your login name.", metavar="NAME")] = ""
    sections: Annotated[
        Sequence[str],
        Option("Only links from pages below PATH; may be repeated.", flag="--section", metavar="PATH"),
    ] = ()
    source: Annotated[
        str, Option("Only links from this page or query.", flag="--page", metavar="URL|QUERY")
    ] = ""
    tier: Annotated[
        str,
        Option(
            'Only links of this tier: "in the text", "related box" or "needs a look"; or inline, sidebar, review.',
            metavar="TIER",
            choices=("in the text", "related box", "needs a look", "inline", "sidebar", "review"),
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions(Options):
    """Two runs to compare.

    Attributes:
        before: the earlier run: its id, or its name, "last" for the newest and "last-1" for the one before.
        after: the later run.
        sections: "/blog": only pages below /blog count; "/blog=off": all others.
    """

    before: Annotated[
        str,
        Option("The earlier run: its number or name (last-1), see history.", metavar="RUN", argument=True),
    ]
    after: Annotated[str, Option("The later run, such as last.", metavar="RUN", argument=True)]
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackOptions(Options):
    """A run to go back to.

    Attributes:
        run: the run: its id, or its name, "last" for the newest and "last-1" for the one before.
        sections: "/blog": only the links of pages below /blog are put back; "/blog=off": those of all others.
    """

    run: Annotated[
        str, Option("The run: its number or name (last-1), see history.", metavar="RUN", argument=True)
    ]
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions(Options):
    """Which accepted links are put into which texts, and where the result goes.

    Attributes:
        files: the folder of the site's source files.
        write: write the files; otherwise nothing is changed.
        patch: write the changes into this file instead, for `git apply`.
        branch: write the changes into a new git branch of this name instead.
        links_json: write the links of the tier "related box" into this file.
        max_per_page: how many links a page may get before they are live.
        sections: "/blog": only links from pages below /blog; "/blog=off": from all others.
        tier: only links of this tier, by its name or by its name in links.csv; "": of all tiers.
        only: URLs of pages, and ids of links: only these.
    """

    files: Annotated[Path | None, Option("The folder of the site's source files.", metavar="DIR")] = None
    write: Annotated[bool, Option("Write the files; without this option, only show what would change.")] = (
        False
    )
    patch: Annotated[
        Path | None, Option("Write a patch for git apply instead of the files.", metavar="FILE")
    ] = None
    branch: Annotated[
        str,
        Option(
            "Write a git branch instead of the files, with one commit per section of the site.",
            metavar="NAME",
        ),
    ] = ""
    links_json: Annotated[
        Path | None,
        Option('Write the links of the tier "related box" to FILE, for a template.', metavar="FILE"),
    ] = None
    max_per_page: Annotated[
        int, Option("New links of a page; those that are not live yet count.", least=1)
    ] = 3
    sections: Annotated[
        Sequence[str],
        Option(
            "Only links from pages below PATH; =off: from all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()
    tier: Annotated[
        str,
        Option(
            'Only links of this tier: "in the text", "related box" or "needs a look"; or inline, sidebar, review.',
            metavar="TIER",
            choices=("in the text", "related box", "needs a look", "inline", "sidebar", "review"),
        ),
    ] = ""
    only: Annotated[
        Sequence[str],
        Option("Only links from this page, or the link with this id; may be repeated.", metavar="URL|LINK"),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOptions(Options):
    """Which applied links are taken back.

    Attributes:
        what: "LAST" for the last application; the id of one; or the URL of a page. "": none, list the applications.
        files: the folder of the source files, if it has moved since.
    """

    what: Annotated[
        str,
        Option(
            "LAST, the number of an application, or a page's URL. Default: list the applications.",
            metavar="LAST|RUN|PAGE",
            argument=True,
        ),
    ] = ""
    files: Annotated[
        Path | None,
        Option(
            "The folder of the source files, if it is elsewhere than when links were applied.", metavar="DIR"
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(Options):
    """What an audit starts from, and when it fails.

    Attributes:
        home: URL of the home page; "": it is detected.
        after: which proposed links the site has "after": "accepted" by editors; "in-text": these and the ones that are
            strong enough for the text; or "all" but rejected ones.
        fail_on: rules such as "orphan" or "orphan=10"; the audit fails from so many findings on (default: 1).
        sections: "/blog": only findings about pages below /blog; "/blog=off": about all others.
        report: whether the HTML report and the graph files are written beside the workbook.
    """

    home: Annotated[str, Option("The home page, if it isn't detected.", metavar="URL")] = ""
    after: Annotated[
        str,
        Option(
            "The proposed links that count as adopted: those that editors accepted; these and the ones strong enough "
            "for the text; or all but rejected ones.",
            metavar="accepted|in-text|all",
            choices=("accepted", "in-text", "all"),
        ),
    ] = "in-text"
    fail_on: Annotated[
        Sequence[str],
        Option(
            "Exit with code 7 if RULE has at least COUNT findings (default 1); may be repeated.",
            metavar="RULE[=COUNT]",
        ),
    ] = ()
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()
    report: Annotated[bool, Option("Write the workbook only.", flag="--no-report")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions(Options):
    """Which links are hidden, and from what text they are looked for.

    Attributes:
        hide: "all" or "half" of the links.
        keep_anchors: leave the links' anchors in the text.
    """

    hide: Annotated[str, Option("Which links are hidden.", metavar="all|half", choices=("all", "half"))] = (
        "all"
    )
    keep_anchors: Annotated[bool, Option("Leave the links' anchors in the text.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestOptions(Options):
    """The site's links at two dates.

    Attributes:
        before: CSV of the links at the earlier date.
        after: CSV of the links at the later date.
        keep_anchors: leave the links' anchors in the text.
    """

    before: Annotated[Path, Option("The site's links at an earlier date.", metavar="CSV")]
    after: Annotated[Path, Option("The site's links at a later date.", metavar="CSV")]
    keep_anchors: Annotated[bool, Option("Leave the links' anchors in the text.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions(Options):
    """How many pairs are drawn for labelling, and how good links must be.

    Attributes:
        pairs: rows that files/labels.csv should have at least.
        precision: wanted share of good links among those in the text, 0 to 1.
        sidebar_precision: wanted share of good or borderline links among those beside the text, 0 to 1.
    """

    pairs: Annotated[int, Option("Fill files/labels.csv up to N rows.", least=0)] = 100
    precision: Annotated[
        float, Option("Wanted share of good links among links in the text.", metavar="SHARE")
    ] = 0.8
    sidebar_precision: Annotated[
        float,
        Option("Wanted share of good or borderline links among links next to the text.", metavar="SHARE"),
    ] = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions(Options):
    """What is made besides the configuration.

    Attributes:
        sheet: whether the column names are written into the tab of the Google Sheet, if it is empty.
    """

    sheet: Annotated[
        bool, Option("Also write the column names into the tab of your Google Sheet, if it is empty.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStoreOptions(Options):
    """Two databases.

    Attributes:
        source: where the cache is: as store_url, or the path of an SQLite file.
        destination: where it is copied to, likewise.
    """

    source: Annotated[str, Option("The database to copy from.", metavar="FROM", argument=True)]
    destination: Annotated[str, Option("The database to copy to.", metavar="TO", argument=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyCacheOptions(Options):
    """What to do with damaged rows.

    Attributes:
        repair: replace or set aside the damaged rows; otherwise they are only counted.
    """

    repair: Annotated[
        bool, Option("Restore damaged rows from a backup, set them aside, or have them fetched again.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUpOptions(Options):
    """Where a backup goes.

    Attributes:
        to: the file to write, or the folder to write it in; None: backups/ beside the cache.
    """

    to: Annotated[
        Path | None,
        Option(
            "The file or folder to write to. Default: backups/ beside the cache.", metavar="TO", argument=True
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions(Options):
    """Which backup takes the cache's place.

    Attributes:
        backup: the file; None: the newest one in backups/.
    """

    backup: Annotated[
        Path | None,
        Option(
            "The backup. Default: the newest one in backups/ beside the cache.", metavar="FROM", argument=True
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneCacheOptions(Options):
    """What to remove from the cache.

    Attributes:
        days: remove what no run needed for so many days.
        apply: remove it; otherwise it is only counted.
    """

    days: Annotated[int, Option("Remove what no run has used for N days.", least=1)] = 182
    apply: Annotated[bool, Option("Remove the rows; without this option, only count them.")] = False
