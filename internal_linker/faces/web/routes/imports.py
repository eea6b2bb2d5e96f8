"""The API of imports: uploads, previews of their columns, counts of filters, and the import itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from pydantic import Field, create_model

from internal_linker.faces.web.context import Body, Folder, OpenedProject, SharedState, require_own_computer
from internal_linker.faces.web.routes.session import Done
from internal_linker.faces.web.tasks import TaskState
from internal_linker.project.options.imports import ImportOptions, SiteOptions
from internal_linker.project.remote_options import remote_fields
from internal_linker.project.stage_import import (
    FilterCounts,
    Survey,
    TableChoice,
    TablePreview,
    import_uploads,
    preview,
    survey,
)
from internal_linker.project.uploads import MOST_BYTES, Upload, delete_uploads, received, uploads
from internal_linker.sources.import_crawl import Imported

router = APIRouter(prefix="/projects/{key}", tags=["Import"])
# All together stay below the limit of a body.
_Paths = Annotated[list[Annotated[str, Field(max_length=1_000)]], Field(max_length=200)]


class UploadedTable(Body):
    """What to read of an upload."""

    upload: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    sheet: Annotated[
        str, Field(max_length=200, description="A sheet of a workbook; empty: the first fit.")
    ] = ""
    rows_are: Literal["pages", "links"] = "pages"
    columns: Annotated[
        dict[str, int] | None,
        Field(description="Positions of columns from 0, by name; null: recognise them."),
    ] = None

    @property
    def choice(self) -> TableChoice:
        """The choice as the use cases take it."""
        return TableChoice(self.upload, self.sheet, self.rows_are, self.columns)


if TYPE_CHECKING:
    SiteAddresses = Body
else:
    SiteAddresses = create_model("SiteAddresses", __base__=Body, **remote_fields(SiteOptions))


class ImportRequest(SiteAddresses):
    """What to import, and which pages to leave out."""

    tables: Annotated[list[UploadedTable], Field(max_length=50)] = Field(default_factory=list)
    sitemap: Annotated[str, Field(max_length=2_000, description="A sitemap, or a host that has one.")] = ""
    allow_private: Annotated[
        bool, Field(description="Fetch from a private network; not where others can reach the app.")
    ] = False
    base_url: Annotated[str, Field(max_length=2_000, description="Where saved pages are online.")] = ""
    only_200: bool = False
    only_indexable: bool = False
    canonicalised: Annotated[bool, Field(description="Keep pages whose canonical is another page.")] = True
    pagination: Annotated[bool, Field(description="Keep /page/2, ?page=2 and the like.")] = True
    parameters: Annotated[bool, Field(description="Keep URLs with parameters.")] = True
    duplicates: Annotated[bool, Field(description="Keep pages with the text of an earlier one.")] = True
    include: _Paths = Field(default_factory=list)
    exclude: _Paths = Field(default_factory=list)
    min_words: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Field(ge=0, le=10_000_000)] = 0

    @property
    def choices(self) -> list[TableChoice]:
        """The tables as the use cases take them."""
        return [table.choice for table in self.tables]

    @property
    def options(self) -> ImportOptions:
        """The filters as the use cases take them."""
        return ImportOptions(**self.model_dump(exclude={"tables"}))


@dataclass(frozen=True, slots=True)
class _Surveyed:
    tables: Sequence[UploadedTable]
    base_url: str
    survey: Survey


@dataclass(frozen=True, slots=True)
class ImportDone:
    """What an import wrote; see `Imported`."""

    pages: int | None
    links: int | None
    vectors: int | None
    merged: int
    rejected: int
    reasons: Mapping[str, int]
    left_out: Mapping[str, int]
    facts: Mapping[str, int]
    copies: Sequence[str]
    gaps: Sequence[str]


@router.get("/uploads")
def list_uploads(project: OpenedProject) -> Sequence[Upload]:
    """List the uploads that wait for an import."""
    return uploads(project)


@router.post("/uploads/file", status_code=201)
async def upload_file(
    request: Request,
    project: OpenedProject,
    name: Annotated[str, Query(max_length=1_000, description="The file's name, to be shown.")],
) -> Upload:
    """Upload a file as the request's body: CSV, .xlsx, HTML, or a zip of HTML files; its content decides."""
    size = request.headers.get("content-length", "")
    if size.isdigit() and int(size) > MOST_BYTES:
        raise HTTPException(
            413, f"A file can have {MOST_BYTES // 1_000_000} MB: import it with the command import"
        )
    async with contextmanager_in_threadpool(received(project, name)) as receiver:
        async for piece in request.stream():
            await run_in_threadpool(receiver.write, piece)
    assert receiver.upload is not None, "it was received as a whole"
    return receiver.upload


@router.delete("/uploads/{upload}")
def delete_upload(upload: str, project: OpenedProject) -> Done:
    """Delete an upload."""
    delete_uploads(project, [upload])
    return Done()


@router.post("/import/preview")
def preview_tables(given: ImportRequest, project: OpenedProject) -> Sequence[TablePreview]:
    """Show the first rows of uploads, with the columns that are recognised or chosen."""
    return preview(project, given.choices)


@router.post("/import/survey", status_code=202)
def start_survey(given: ImportRequest, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to read all pages of the uploads, so that filters can be tried; the task `survey` shows how far it is."""
    return state.tasks.start(
        project.root,
        "survey",
        lambda progress, stop: _Surveyed(
            given.tables, given.base_url, survey(project, given.choices, given.options, progress, stop)
        ),
        again=True,
    )


@router.post("/import/counts")
def count_filters(given: ImportRequest, folder: Folder, state: SharedState) -> FilterCounts:
    """Show what the filters would leave out of the pages that the last survey read."""
    found: _Surveyed | None = state.tasks.result(folder, "survey")
    if found is None:
        raise HTTPException(409, "The pages have not been read yet")
    if (found.tables, found.base_url) != (given.tables, given.base_url):
        raise HTTPException(
            409, "Other files or columns were read since, perhaps in another tab: reload the page"
        )
    return found.survey.counts(given.options)


@router.post("/import", status_code=202)
def start_import(given: ImportRequest, project: OpenedProject, state: SharedState) -> TaskState:
    """Start the import; the task `import` shows how far it is, and nothing changes until everything was read."""
    if given.allow_private:
        # Others could look into the network that the app's computer is in.
        require_own_computer(state)
    return state.tasks.start(
        project.root,
        "import",
        lambda progress, stop: import_uploads(project, given.choices, given.options, progress, stop),
    )


@router.get("/import")
def show_import(folder: Folder, state: SharedState) -> ImportDone | None:
    """Show what the last import since the app's start wrote."""
    done: Imported | None = state.tasks.result(folder, "import")
    if done is None:
        return None
    return ImportDone(
        done.pages,
        done.links,
        done.vectors,
        done.merged,
        done.rejected,
        dict(done.reasons),
        dict(done.left_out),
        dict(done.facts),
        done.copies,
        done.gaps,
    )
