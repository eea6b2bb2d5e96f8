"""The Python interface: every command as a function that returns a record, for notebooks and scripts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.core.errors import ConfigurationError, InternalLinkerError
from internal_linker.usecases.console import Reporter, open_console
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options import (
    ApplyOptions,
    AuditOptions,
    BacktestOptions,
    BackUpOptions,
    BriefOptions,
    CalibrateOptions,
    ClustersOptions,
    CopyStoreOptions,
    DiffOptions,
    EvaluateOptions,
    ExportVectorsOptions,
    ImportOptions,
    LookupOptions,
    PairsOptions,
    PruneCacheOptions,
    RestoreOptions,
    RollbackOptions,
    RunOptions,
    UndoOptions,
    VerifyCacheOptions,
)
from internal_linker.usecases.project import Project, open_project

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from pandas import DataFrame

    from internal_linker.analysis.similarity.clusters import Clustering
    from internal_linker.analysis.similarity.pairs import SimilarPages
    from internal_linker.core.briefs import BriefLinks
    from internal_linker.ingest.import_crawl import Imported
    from internal_linker.pipeline.report import Plan
    from internal_linker.review.session import ReviewCounts
    from internal_linker.usecases.apply_results import ApplyResult
    from internal_linker.usecases.audit import AuditResult, LinkPaths
    from internal_linker.usecases.cache import CopyResult, PruneResult, RestoreResult, VerifyResult
    from internal_linker.usecases.calibrate import Calibration
    from internal_linker.usecases.check import CheckResult
    from internal_linker.usecases.evaluate import AnchorEvaluation, Backtest, Evaluation
    from internal_linker.usecases.export_vectors import ExportResult
    from internal_linker.usecases.history import DiffResult, HistoryResult, RollbackResult
    from internal_linker.usecases.init import InitResult
    from internal_linker.usecases.open_site import OpenSite
    from internal_linker.usecases.review import LinkDecision, ReviewResult
    from internal_linker.usecases.run import PageLinks
    from internal_linker.usecases.undo_links import ApplicationsResult, UndoResult


@takes(RunOptions)
def run(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "PageLinks":
    """Find links for every page and deliver them, as the command `run` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps, notes and the summary on stderr; logfile.txt has them in any case.
        options: as below.

    Returns:
        `.links`, `.notes` and `.gaps`, and the DataFrames `.frames["links"]` and `.frames["notes"]`.

    Raises:
        InternalLinkerError: it could not be done, or a place did not take its links.
    """
    from internal_linker.usecases import run as usecase

    with _reporter(progress) as reporter:
        found = usecase.run(_opened(project), RunOptions(**options), reporter)
    if found.failure:
        raise found.failure
    return found


@takes(RunOptions)
def plan(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Plan":
    """Return what a run would fetch, embed and cost, as `run --dry-run` does; nothing is spent or written.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import run as usecase

    with _reporter(progress) as reporter:
        return usecase.plan(_opened(project), RunOptions(**options), reporter)


@takes(LookupOptions)
def lookup(
    page: str,
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    queries: "DataFrame | None" = None,
    progress: bool = False,
    **options: Any,
) -> "PageLinks":
    """Find the best links for one page, by its URL, or for any query, as the command `lookup` does.

    Args:
        page: a URL or a query.
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.
        queries: with a DataFrame of pages: their main queries: URL, Main Query.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.links` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import run as usecase

    with _reporter(progress) as reporter, _site(project, links, queries) as opened:
        return usecase.lookup(opened, LookupOptions(page=page, **options), reporter)


def open_site(project: str | Path = ".", *, progress: bool = False) -> "OpenSite":
    """Open a site for many lookups and content briefs, such as those of a web app, which take milliseconds each.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.

    Returns:
        An object with the methods `lookup` and `content_brief`, which take the same options and return the same as the
        functions of these names, and `close`; also for a `with` block.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases.open_site import OpenSite

    return OpenSite(Path(project), partial(_reporter, progress))


@takes(BriefOptions)
def content_brief(
    draft: str | Path, project: str | Path = ".", *, progress: bool = False, **options: Any
) -> "BriefLinks":
    """Find the links of a page that does not exist yet, to it and from it, as the command `content-brief` does.

    Args:
        draft: a title, an outline or a draft, as text or as the path of a .docx, .md, .html or .txt file.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.links_to`, `.links_from` and `.like`, each a DataFrame in `.frames`, too.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import run as usecase

    with _reporter(progress) as reporter:
        return usecase.content_brief(_opened(project), BriefOptions(draft=draft, **options), reporter)


@takes(ImportOptions)
def import_crawl(
    *files: str | Path, project: str | Path = ".", progress: bool = False, **options: Any
) -> "Imported":
    """Make files/urls_rawdata.csv and files/existing_links.csv, as the command `import` does without asking.

    Args:
        files: a crawler's exports (.csv, .xlsx), HTML files and folders of them.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.pages`, `.links` and other counts, in `.gaps` what is missing because a site failed, and the DataFrames
        `.frames["counts"]` and `.frames["columns"]`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import import_crawl as usecase

    with _reporter(progress) as reporter:
        wanted = ImportOptions(files=[Path(file) for file in files], **options)
        return usecase.import_crawl(_opened(project), wanted, reporter)


@takes(PairsOptions)
def pairs(
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "SimilarPages":
    """Find pairs of similar pages, as the command `pairs` does.

    Args:
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.
        write: write the command's files, too.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.pairs` and `.orphaned`, the DataFrames `.frames["pairs"]` and `.frames["orphaned_content"]`, and in
        `.compared.similarity.tiles()` all similarities.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import pairs as usecase

    with _reporter(progress) as reporter, _site(project, links) as opened:
        return usecase.pairs(opened, PairsOptions(**options), reporter, write=_writes(project, write))


@takes(ClustersOptions)
def clusters(
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "Clustering":
    """Group similar pages into named clusters, as the command `clusters` does.

    Args:
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.
        write: write the command's files, too.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.clusters`, `.pages` and `.missing_links`, each a DataFrame in `.frames`, too.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import clusters as usecase

    with _reporter(progress) as reporter, _site(project, links) as opened:
        return usecase.clusters(opened, ClustersOptions(**options), reporter, write=_writes(project, write))


@takes(AuditOptions)
def audit(
    project: str | Path = ".", *, write: bool = False, progress: bool = False, **options: Any
) -> "AuditResult":
    """Audit the site's links: today's, the last run's, and both together, as the command `audit` does.

    Args:
        project: the folder with config/ and files/.
        write: write the command's files, too.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.audit`, `.failed`, and the DataFrames `.frames["findings"]`, `.frames["summary"]` and `.frames["pages"]`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import audit as usecase

    with _reporter(progress) as reporter:
        return usecase.audit(_opened(project), AuditOptions(**options), reporter, write=write)


def link_paths(
    start: str,
    end: str,
    project: str | Path = ".",
    *,
    home: str = "",
    after: str = "in-text",
    progress: bool = False,
) -> "LinkPaths":
    """Find the shortest paths of links between two pages, as `audit --path` does.

    Args:
        start: URL of the first page.
        end: URL of the last page.
        project: the folder with config/ and files/.
        home: URL of the home page; "": it is detected.
        after: which proposed links are adopted: "accepted", "in-text" or "all".
        progress: show steps and notes on stderr.

    Returns:
        `.today` and `.after` adoption of the proposed links.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import audit as usecase

    with _reporter(progress) as reporter:
        return usecase.link_paths(_opened(project), start, end, reporter, home=home, after=after)


@takes(EvaluateOptions)
def evaluate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Evaluation":
    """Measure relevance on links that editors made, as the command `evaluate` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.measurements`, and their figures as a DataFrame: `.to_frame()`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import evaluate as usecase

    with _reporter(progress) as reporter:
        return usecase.evaluate(_opened(project), EvaluateOptions(**options), reporter)


def evaluate_anchors(project: str | Path = ".", *, progress: bool = False) -> "AnchorEvaluation":
    """Compare proposed anchors with the editors', and look for flaws in those of a run, as `evaluate --anchors` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.

    Returns:
        `.agreement` and `.proposals`, and their figures as DataFrames: `.frames`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import evaluate as usecase

    with _reporter(progress) as reporter:
        return usecase.evaluate_anchors(_opened(project), reporter)


@takes(BacktestOptions)
def backtest(
    before: str | Path,
    after: str | Path,
    project: str | Path = ".",
    *,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "Backtest":
    """Measure relevance on the links that were added between two crawls, as the command `backtest` does.

    Args:
        before: CSV of the site's links at a date.
        after: CSV of its links at a later date.
        project: the folder with config/ and files/.
        write: write files/backtest.csv, too.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        The DataFrames `.frames["figures"]` and `.frames["links"]`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import evaluate as usecase

    with _reporter(progress) as reporter:
        wanted = BacktestOptions(before=Path(before), after=Path(after), **options)
        return usecase.backtest(_opened(project), wanted, reporter, write=write)


@takes(CalibrateOptions)
def calibrate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Calibration":
    """Fill files/labels.csv and measure precision and recall by threshold, as the command `calibrate` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.tier_inline` and `.tier_sidebar`, and the curve as a DataFrame: `.to_frame()`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import calibrate as usecase

    with _reporter(progress) as reporter:
        return usecase.calibrate(_opened(project), CalibrateOptions(**options), reporter)


def waiting_links(project: str | Path = ".") -> "ReviewResult":
    """Return the links that wait for an editor's decision; `decide` takes the decisions.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.links` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    from internal_linker.usecases import review as usecase

    return usecase.waiting_links(_opened(project))


def decide(
    decisions: "Sequence[LinkDecision] | DataFrame", project: str | Path = ".", *, by: str = ""
) -> "ReviewCounts":
    """Keep an editor's decisions on links, by the same rules as the Sheet and review.xlsx.

    Args:
        decisions: records, or a DataFrame with the column link_id and any of status, anchor and notes, as
            `waiting_links` returns it; None and missing values change nothing.
        project: the folder with config/ and files/.
        by: the editor's name; "": the name of the login.

    Returns:
        How many links were accepted, rejected and edited, and how many still wait.

    Raises:
        InternalLinkerError: a link or a status is unknown; nothing is kept then.
    """
    from internal_linker.usecases import review as usecase

    return usecase.decide(_opened(project), decisions, by=by)


@takes(ApplyOptions)
def apply(
    files: str | Path, project: str | Path = ".", *, progress: bool = False, **options: Any
) -> "ApplyResult":
    """Put accepted links into the site's source files, as the command `apply` does.

    Args:
        files: the folder of the site's source files.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below; without `write`, `patch` or `branch` nothing changes.

    Returns:
        `.links`, what became of each, `.diff`, `.counts` and `.application`, which `undo` takes.

    Raises:
        InternalLinkerError: it could not be done.
    """
    from internal_linker.usecases import apply as usecase

    with _reporter(progress) as reporter:
        return usecase.apply(_opened(project), ApplyOptions(files=Path(files), **options), reporter)


def applications(project: str | Path = ".") -> "ApplicationsResult":
    """List the applications of links and how many of their links are live, as `undo` does without an argument.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.applications`, the oldest first.

    Raises:
        InternalLinkerError: the store can't be read.
    """
    from internal_linker.usecases import undo_links as usecase

    return usecase.applications(_opened(project))


@takes(UndoOptions)
def undo(what: str, project: str | Path = ".", *, progress: bool = False, **options: Any) -> "UndoResult":
    """Take applied links back, as the command `undo` does.

    Args:
        what: "LAST", the id of an application, or a page's URL.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.restored` and `.kept`: the texts that are as they were, and those that changed since.

    Raises:
        InternalLinkerError: it could not be done, or there is nothing to take back.
    """
    from internal_linker.usecases import undo_links as usecase

    with _reporter(progress) as reporter:
        return usecase.undo(_opened(project), UndoOptions(what=what, **options), reporter)


def history(project: str | Path = ".") -> "HistoryResult":
    """Return the runs whose links are kept, the oldest first, as the command `history` does.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.versions` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    from internal_linker.usecases import history as usecase

    return usecase.history(_opened(project))


@takes(DiffOptions)
def diff(
    before: str, after: str, project: str | Path = ".", *, write: bool = False, **options: Any
) -> "DiffResult":
    """Compare the links of two runs, as the command `diff` does.

    Args:
        before: the earlier run, as `history` names it.
        after: the later run.
        project: the folder with config/ and files/.
        write: write files/diff.csv, too.
        options: as below.

    Returns:
        `.differences` and `.counts`, and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: a run is not kept, or the file can't be written.
    """
    from internal_linker.usecases import history as usecase

    return usecase.diff(_opened(project), DiffOptions(before=before, after=after, **options), write=write)


@takes(RollbackOptions)
def rollback(
    run: str, project: str | Path = ".", *, progress: bool = False, **options: Any
) -> "RollbackResult":
    """Put the links of an earlier run back, as the command `rollback` does.

    Args:
        run: the run, as `history` names it.
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        The links that were put back; `.rejected` counts those that stay out, `.gaps` says what is missing.

    Raises:
        InternalLinkerError: the run is not kept, or a place did not take its links.
    """
    from internal_linker.usecases import history as usecase

    with _reporter(progress) as reporter:
        found = usecase.rollback(_opened(project), RollbackOptions(run=run, **options), reporter)
    if found.failure:
        raise found.failure
    return found


def check(project: str | Path = ".") -> "CheckResult":
    """Verify keys, Sheet, files and model, as the command `check` does; nothing is spent.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.ok`, `.facts` and the DataFrame `.to_frame()`.
    """
    from internal_linker.usecases import check as usecase

    return usecase.check(Path(project).resolve())


def init(project: str | Path = ".", *, sheet: bool = False) -> "InitResult":
    """Write a commented configuration into a folder, as the command `init` does; existing files stay.

    Args:
        project: the folder; it is made if it doesn't exist.
        sheet: also write the column names into the tab of the Google Sheet, if it is empty.

    Raises:
        InternalLinkerError: the folder or the Sheet can't be written.
    """
    from internal_linker.usecases import init as usecase
    from internal_linker.usecases.options import InitOptions

    return usecase.init(Path(project).resolve(), InitOptions(sheet=sheet))


@takes(ExportVectorsOptions)
def export_vectors(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "ExportResult":
    """Write every page's vector to files/vectorized_urls.csv, as the command `export-vectors` does.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.found` and `.missing`, and which pages have a vector as a DataFrame: `.to_frame()`.

    Raises:
        InternalLinkerError: there are no pages, or no vectors that are kept.
    """
    from internal_linker.usecases import export_vectors as usecase

    with _reporter(progress) as reporter:
        return usecase.export_vectors(_opened(project), reporter, ExportVectorsOptions(**options))


@takes(CopyStoreOptions)
def copy_store(
    source: str, destination: str, project: str | Path = ".", *, progress: bool = False
) -> "CopyResult":
    """Copy a cache into another database, as the command `store copy` does.

    Args:
        source: where the cache is: as store_url, or the path of an SQLite file.
        destination: where it is copied to, likewise.
        project: the folder with config/ and files/; relative paths start there.
        progress: show steps and notes on stderr.

    Raises:
        InternalLinkerError: a database can't be opened, or there is no cache at the source.
    """
    from internal_linker.usecases import cache as usecase

    with _reporter(progress) as reporter:
        wanted = CopyStoreOptions(source=source, destination=destination)
        return usecase.copy_store(_opened(project), wanted, reporter)


@takes(VerifyCacheOptions)
def verify_cache(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "VerifyResult":
    """Read all that the cache and the link graph hold, as the command `cache verify` does, and repair it if asked to.

    Args:
        project: the folder with config/ and files/.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.ok`, the damaged rows by table, `.damaged`, and what was done with them, `.repaired`.

    Raises:
        InternalLinkerError: the database can't be opened, or is damaged as a whole.
    """
    from internal_linker.usecases import cache as usecase

    with _reporter(progress) as reporter:
        return usecase.verify_cache(_opened(project), VerifyCacheOptions(**options), reporter)


@takes(BackUpOptions)
def back_up_store(project: str | Path = ".", **options: Any) -> Path:
    """Back up the cache file, as the command `store backup` does.

    Args:
        project: the folder with config/ and files/.
        options: as below.

    Returns:
        The path of the backup.

    Raises:
        InternalLinkerError: there is no cache file, or the backup can't be written.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.back_up_store(_opened(project), BackUpOptions(**options))


@takes(RestoreOptions)
def restore_store(project: str | Path = ".", **options: Any) -> "RestoreResult":
    """Put a backup in the place of the cache file, as the command `store restore` does.

    Args:
        project: the folder with config/ and files/.
        options: as below.

    Returns:
        The backup, and where the former cache file is: `.backup` and `.former`.

    Raises:
        InternalLinkerError: there is no sound backup, a run is active, or a file can't be written.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.restore_store(_opened(project), RestoreOptions(**options))


@takes(PruneCacheOptions)
def prune_cache(project: str | Path = ".", **options: Any) -> "PruneResult":
    """Count or remove what no run needed for a long time, as the command `cache prune` does.

    Args:
        project: the folder with config/ and files/.
        options: as below.

    Returns:
        `.needless`, table by table.

    Raises:
        InternalLinkerError: the database can't be opened.
    """
    from internal_linker.usecases import cache as usecase

    return usecase.prune_cache(_opened(project), PruneCacheOptions(**options))


def schedule(project: str | Path = ".", *, progress: bool = False) -> None:
    """Stay and run at the times of schedule_cron until Ctrl-C or SIGTERM, as the command `schedule` does.

    Args:
        project: the folder with config/ and files/; settings are read for each run.
        progress: show steps, notes and the times of the next runs on stderr; logfile.txt has the runs in any case.

    Raises:
        InternalLinkerError: the settings can't be read, or schedule_cron is wrong.
    """
    from internal_linker.usecases import run as usecase
    from internal_linker.usecases.schedule import run_schedule

    with _reporter(progress) as reporter:

        def job(should_stop: Callable[[], bool]) -> None:
            try:
                usecase.run(_opened(project), RunOptions(), reporter, should_stop=should_stop)
            except InternalLinkerError as error:
                reporter.console.print(f"Error: {error}")

        run_schedule(_opened(project).settings, job, reporter.console.print, Path(project))


def _opened(project: str | Path) -> Project:
    return open_project(Path(project))


@contextmanager
def _site(
    project: "str | Path | DataFrame", links: "DataFrame | None" = None, queries: "DataFrame | None" = None
) -> Iterator[Project]:
    """Open a project folder, or make a project of DataFrames."""
    if isinstance(project, str | Path):
        if links is not None or queries is not None:
            raise ConfigurationError(
                "links and queries go with a DataFrame of pages, not with a project folder."
            )
        yield _opened(project)
        return
    from internal_linker.usecases.frames import frame_project

    with frame_project(project, links, queries) as opened:
        yield opened


def _writes(project: object, write: bool) -> bool:
    if write and not isinstance(project, str | Path):
        raise ConfigurationError("write=True needs a project folder: DataFrames have no files/.")
    return write


@contextmanager
def _reporter(shown: bool) -> Iterator[Reporter]:
    """Show progress on stderr if it is wanted; the log of a run has it in any case."""
    console = open_console(stderr=True)
    console.quiet = not shown
    reporter = Reporter(console)
    try:
        yield reporter
    finally:
        reporter.close()
