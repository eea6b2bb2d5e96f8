"""Importing pages and links."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.imports import ImportOptions

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.ingest.import_crawl import Imported


@takes(ImportOptions)
def import_crawl(
    *files: str | Path, project: str | Path = ".", progress: bool = False, **options: Any
) -> "Imported":
    """Make files/urls_rawdata.csv and files/existing_links.csv, as the command `import` does without asking.

    Args:
        files: a crawler's exports (.csv, .xlsx), HTML files and folders of them.

    Returns:
        `.pages`, `.links` and other counts, in `.gaps` what is missing because a site failed, and the DataFrames
        `.frames["counts"]` and `.frames["columns"]`.
    """
    from internal_linker.usecases import import_crawl as usecase

    with shown_reporter(progress) as reporter:
        wanted = ImportOptions(files=[Path(file) for file in files], **options)
        return usecase.import_crawl(opened_project(project), wanted, reporter)
