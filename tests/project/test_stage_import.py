"""An import in steps: a preview of columns, what filters leave out, and the import itself."""

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.model.errors import InputError, Interrupted
from internal_linker.project.options.imports import ImportOptions
from internal_linker.project.project import Project, open_project
from internal_linker.project.stage_import import TableChoice, import_uploads, preview, survey
from internal_linker.project.uploads import received, uploads
from tests.support.builders import Told
from tests.support.crawls import LANGUAGES, PAGES, empty_project, links, pages, screaming_frog, workbook
from tests.support.small_project import SITE, snapshot, write_csv

TEXT = "Green tea leaves are steamed. " * 9
SITE_PAGES = [
    ("Address", "Title 1", "Status Code", "Indexability", "Canonical Link Element 1", "Text"),
    (f"{SITE}/", "Home", "200", "Indexable", f"{SITE}/", TEXT + "home"),
    (f"{SITE}/a/", "A", "200", "Indexable", "", TEXT + "one two"),
    (f"{SITE}/b/", "B", "404", "Non-Indexable", "", ""),
    (f"{SITE}/copy/", "A", "200", "Non-Indexable", f"{SITE}/a/", TEXT + "one  two"),
    (f"{SITE}/blog/page/2/", "Blog", "200", "Indexable", "", "few words"),
    (f"{SITE}/s?q=x", "Search", "200", "Indexable", "", TEXT + "three"),
    ("mailto:x", "", "200", "", "", ""),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(empty_project(tmp_path / "project"))


def put(project: Project, path: Path) -> TableChoice:
    with received(project, path.name) as receiver:
        receiver.write(path.read_bytes())
    assert receiver.upload
    return TableChoice(receiver.upload.id)


def put_rows(
    project: Project, folder: Path, rows: Sequence[Sequence[str]], name: str = "crawl.csv"
) -> TableChoice:
    write_csv(folder / name, rows)
    return put(project, folder / name)


def test_columns_are_recognised(project: Project, tmp_path: Path) -> None:
    """The preview shows pages and links with the columns that an import would take."""
    choices = [put(project, Path(path)) for path in screaming_frog(tmp_path, "German")]
    of_pages, of_links = preview(project, choices)
    assert (of_pages.rows_are, of_links.rows_are) == ("pages", "links")
    assert {"URL", "Title", "H1", "Status Code"} <= of_pages.columns.keys()
    assert of_links.header[of_links.columns["Source"]] == LANGUAGES["German"][1].split(",")[1]
    assert of_links.rows[0][1] == f"{SITE}/a/" and not of_pages.problem


def test_a_preview_has_twenty_rows_and_changes_nothing(project: Project, tmp_path: Path) -> None:
    rows = [(f"{SITE}/{number}/", "x" * 5000) for number in range(1000)]
    choice = put_rows(project, tmp_path, [("URL", "Copy of it"), *rows])
    before = snapshot(project.root)
    (shown,) = preview(project, [choice])
    assert len(shown.rows) == 20 and len(shown.rows[0][1]) == 300
    assert shown.proposed and shown.columns["Main Content"] == 1 and shown.median_content == 5000
    assert snapshot(project.root) == before


def test_unknown_columns_can_be_chosen(project: Project, tmp_path: Path) -> None:
    rows = [("wo", "was", "text"), (f"{SITE}/a/", "Tee", TEXT)]
    choice = put_rows(project, tmp_path, rows)
    (shown,) = preview(project, [choice])
    assert "no column with the pages' URLs" in shown.problem and shown.rows == (rows[1],)
    assert shown.columns == {"Main Content": 2}
    with pytest.raises(InputError, match="no column with the pages' URLs"):
        import_uploads(project, [choice], ImportOptions(), Told())
    chosen = replace(choice, columns={"URL": 0, "Title": 1, "Main Content": 2})
    (again,) = preview(project, [chosen])
    assert not again.problem and again.columns == chosen.columns
    import_uploads(project, [chosen], ImportOptions(), Told())
    assert pages(project.root) == [("URL", "Title", "Main Content"), (f"{SITE}/a/", "Tee", TEXT.strip())]


@pytest.mark.parametrize(
    ("columns", "rows_are", "words"),
    [
        ({"Title": 0}, "pages", "choose the column 'URL'"),
        ({"Source": 0}, "links", "choose the column 'Destination'"),
        ({"URL": 3}, "pages", "can't be column 4 of 3"),
        ({"URL": -1}, "pages", "can't be column 0 of 3"),
        ({"Anchor": 0, "URL": 0}, "pages", "'Anchor' can't be"),
        ({"Nonsense": 0}, "pages", "no column 'Nonsense'"),
    ],
)
def test_impossible_columns_are_a_problem(
    project: Project, tmp_path: Path, columns: dict[str, int], rows_are: str, words: str
) -> None:
    choice = put_rows(project, tmp_path, [("a", "b", "c"), ("1", "2", "3")])
    wrong = replace(choice, columns=columns, rows_are=rows_are)  # type: ignore[arg-type]
    assert words in preview(project, [wrong])[0].problem


def test_another_sheet_can_be_chosen(project: Project, tmp_path: Path) -> None:
    other = [("URL", "Title"), (f"{SITE}/z/", "Z")]
    choice = put(project, Path(workbook(tmp_path / "b.xlsx", PAGES, other)))
    assert preview(project, [choice])[0].sheet == "Sheet1"
    second = replace(choice, sheet="Sheet2")
    assert preview(project, [second])[0].rows == (other[1],)
    import_uploads(project, [second], ImportOptions(), Told())
    assert pages(project.root) == other


def test_filters_say_what_they_would_leave_out(project: Project, tmp_path: Path) -> None:
    choice = put_rows(project, tmp_path, SITE_PAGES)
    found = survey(project, [choice], ImportOptions(), Told())
    assert (found.rows, len(found.pages), sum(found.rejected.values())) == (7, 6, 1)
    assert found.alone == {
        "only_200": 1,
        "only_indexable": 2,
        "canonicalised": 1,
        "pagination": 1,
        "parameters": 1,
        "duplicates": 1,
    }
    options = ImportOptions(only_200=True, parameters=False, duplicates=False, min_words=5, exclude=["/a"])
    counts = found.counts(options)
    done = import_uploads(project, [choice], options, Told())
    assert counts.left_out == done.left_out and counts.kept == done.pages
    assert counts.left_out == {
        "status is not 200": 1,
        "in --exclude": 1,
        "fewer than 5 words": 1,
        "URL with parameters": 1,
    }
    assert found.counts(ImportOptions()).kept == 6


def test_an_import_deletes_its_uploads(project: Project, tmp_path: Path) -> None:
    """After the import, nothing of the uploads is left; the tables hold pages and links."""
    choices = [put(project, Path(path)) for path in screaming_frog(tmp_path, "English")]
    done = import_uploads(project, choices, ImportOptions(), Told())
    assert (done.pages, done.links) == (2, 3) and len(links(project.root)) == 4
    assert uploads(project) == []


def test_saved_pages_are_imported_with_their_links(project: Project, tmp_path: Path) -> None:
    """A zip of HTML files gives pages at the given address, and the links between them."""
    one = '<html><title>One</title><body><p>Tea and <a href="../two.html">two</a></p></body></html>'
    with zipfile.ZipFile(tmp_path / "site.zip", "w") as archive:
        archive.writestr("blog/one.html", one)
        archive.writestr("two.html", "<html><title>Two</title><body><p>Pots</p></body></html>")
    choice = put(project, tmp_path / "site.zip")
    (shown,) = preview(project, [choice])
    assert not shown.changeable
    options = ImportOptions(base_url=SITE)
    assert len(survey(project, [choice], options, Told()).pages) == 2
    done = import_uploads(project, [choice], options, Told())
    assert (done.pages, done.links) == (2, 1)
    assert links(project.root)[1][:2] == (f"{SITE}/blog/one.html", f"{SITE}/two.html")


def test_an_import_can_be_cancelled(project: Project, tmp_path: Path) -> None:
    choice = put_rows(project, tmp_path, [("URL", "Title"), *((f"{SITE}/{n}/", "T") for n in range(5000))])
    before, looks = snapshot(project.root), iter([False, False, False])
    with pytest.raises(Interrupted, match="nothing was changed"):
        survey(project, [choice], ImportOptions(), Told(), lambda: next(looks, True))
    with pytest.raises(Interrupted, match="nothing was changed"):
        import_uploads(project, [choice], ImportOptions(), Told(), lambda: next(looks, True))
    after = snapshot(project.root)
    assert {name: after[name] for name in before} == before and "files/urls_rawdata.csv" not in after
    assert [each.id for each in uploads(project)] == [choice.upload]


def test_nothing_to_import_is_an_error(project: Project) -> None:
    with pytest.raises(InputError, match="upload a file, or name a sitemap or a site"):
        import_uploads(project, [], ImportOptions(), Told())
    with pytest.raises(InputError, match="Upload it again"):
        preview(project, [TableChoice("0" * 16)])
