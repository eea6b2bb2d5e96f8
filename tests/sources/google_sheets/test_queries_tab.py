"""The real client reads and writes the Sheet: our columns and our rows, nothing else."""

from dataclasses import replace

import pytest

from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.errors import (
    InputError,
    OutputError,
)
from internal_linker.model.ports import LinkSink, StreamSource
from internal_linker.model.reasons import FewLinks, Reason
from internal_linker.model.records import Shortage
from tests.standins import GoogleStandIn, Reset
from tests.standins.google_token import EMAIL
from tests.support.sheets import HEADER, SITE, WRITE, a_to_c, before, edit, links_for, row_of, sheet


def test_a_table_comes_as_it_stands(google: GoogleStandIn) -> None:
    google.set_grid("Main", [HEADER[:3], ["/a", "007"], [], ["/b", "1,5", "x", "beyond"], ["", " "]])
    table = sheet(google).read()
    assert (table.name, table.header) == ("Google Sheet 'Main'", ("URL", "Main Query", "Link 1"))
    assert [(number, list(row)) for number, row in table.rows] == [
        (2, ["/a", "007", ""]),
        (3, ["", "", ""]),
        (4, ["/b", "1,5", "x", "beyond"]),
    ]


def test_without_a_name_the_first_tab_is_read(google: GoogleStandIn) -> None:
    google.set_grid("Notes", [["private"]])
    assert len(sheet(google, tab=" main").read().rows) == 3, "a name counts in any case"
    ours = sheet(google, tab="")
    assert ours.read().name == ours.name == "Google Sheet 'Main'"
    google.tab("Main").title = "Bob's links"
    google.spreadsheets[google.spreadsheet_id].tabs.reverse()
    assert ours.deliver(a_to_c(), "run") == []
    assert google.grid("Bob's links")[1] == row_of("a")
    assert google.grid("Notes") == [["private"]]


def test_nothing_is_contacted_before_it_is_used(google: GoogleStandIn) -> None:
    source: StreamSource = sheet(google)
    sink: LinkSink = sheet(google)
    assert sink.deliver([links_for(SITE, in_sheet=False)], "run") == []
    assert source.name == "Google Sheet 'Main'"
    assert google.ledger == []


def test_a_sheet_without_its_columns_is_left_alone(google: GoogleStandIn) -> None:
    for rows in ([], [["", " "]], [["", ""], ["x", "y"]]):
        google.set_grid("Main", rows)
        with pytest.raises(InputError, match=r"row 1 is empty.*URL and Main Query.*init --sheet"):
            sheet(google).read()
    google.set_grid("Main", [["Something"], [SITE + "a"]])
    with pytest.raises(OutputError, match="no column URL or Main Query"):
        sheet(google).deliver(a_to_c(), "run")
    assert google.calls(WRITE) == []


@pytest.mark.parametrize(
    "above",
    [
        [["Links of shop.com"]],
        [["Main queries"], [], ["Updated", "2026-11-23"]],
        [["", ""]],
        [["Page"], ["", "", "", "", "", "", "a note far to the right"]],
    ],
)
def test_the_header_may_be_below_titles(google: GoogleStandIn, above: list[list[str]]) -> None:
    google.set_grid("Main", [*above, *google.grid("Main")])
    table = sheet(google).read()
    assert (table.header, [number for number, _ in table.rows]) == (
        tuple(HEADER),
        [len(above) + 2, len(above) + 3, len(above) + 4],
    )
    wanted = [links_for(SITE + name, "/1", "/2", "/3", "/4", query=f"{name} query") for name in "ab"]
    assert sheet(google, links=4).deliver(wanted, "run") == []
    grid = google.grid("Main")
    assert [[cell for cell in row if cell] for row in grid[: len(above)]] == [
        [cell for cell in row if cell] for row in above
    ]
    assert [cell for cell in grid[len(above)] if cell] == [*HEADER, "Link 4"]
    assert [[cell for cell in row if cell][2:] for row in grid[len(above) + 1 :]] == [
        *(["/1", "/2", "/3", "/4"],) * 2,
        [],
    ]


def test_a_title_that_comes_during_the_run_moves_no_links(google: GoogleStandIn) -> None:
    for change in (lambda grid: [["Our links"], *grid], lambda grid: grid[1:]):
        before(google, WRITE, edit(google, change))
        assert sheet(google).deliver(a_to_c(), "run") == []
        google.on_request = None
        rows = [row for row in google.grid("Main") if row and row[0].startswith(SITE)]
        assert rows == [row_of(name) for name in "abc"] and HEADER in google.grid("Main")
        assert sum(map(bool, google.grid("Main"))) == 4 + (google.grid("Main")[0] != HEADER)
        google.set_grid("Main", [row[:2] if row[0].startswith(SITE) else row for row in google.grid("Main")])


@pytest.mark.parametrize("header", [[], [["", "URL"]]], ids=["no header", "no column of queries"])
def test_a_tab_of_urls_alone(google: GoogleStandIn, header: list[list[str]]) -> None:
    google.set_grid("Main", [*header, *(["", SITE + name] for name in "abc")])
    table, first = sheet(google).read(), len(header) + 1
    assert table.header == ("", "URL") and [number for number, _ in table.rows] == [
        first,
        first + 1,
        first + 2,
    ]
    assert sheet(google, links=2).deliver([links_for(SITE + "b", "/1")], "run") == []
    rows = [["", SITE + "a"], ["", SITE + "b", "/1"], ["", SITE + "c"]]
    assert google.grid("Main") == [["", "URL", "Link 1", "Link 2"], *rows]


def test_an_empty_tab_gets_the_column_names(google: GoogleStandIn) -> None:
    google.set_grid("Main", [])
    google.script(Reset(after_work=True), on="^POST /v4/spreadsheets/[^/]*:batchUpdate")
    sheet(google).write_header()
    assert google.grid("Main") == [HEADER]
    for foreign in ([HEADER], [[], ["", "somebody's own"]]):
        google.set_grid("Main", foreign)
        assert not sheet(google).write_header()
        assert google.grid("Main") == foreign
    google.set_grid("Main", [])
    before(google, "^POST", lambda: google.set_grid("Main", [["typed", "just now"]]))
    assert sheet(google).write_header()
    assert google.grid("Main") == [HEADER, ["typed", "just now"]]


def test_a_row_has_its_links_or_the_reason(google: GoogleStandIn) -> None:
    """Links of an earlier run are cleared beside the new ones; a redirected row takes the links of its page."""
    old = ["old 1", "old 2", "old 3"]
    google.set_grid("Main", [HEADER, *([SITE + name, "", *old] for name in "abcde")])
    dead = Shortage(0, 3, Reason(FewLinks.NO_SOURCE, "status 404"))
    few = Shortage(0, 3, Reason(FewLinks.NO_TARGET))
    moved = links_for(SITE + "final", SITE + "x")
    given = [
        replace(links_for(SITE + "a"), shortage=dead),
        replace(links_for(SITE + "b"), shortage=few),
        links_for(SITE + "c", "/1"),
        replace(moved, source=replace(moved.source, row_url=SITE + "d")),
    ]
    assert sheet(google).deliver(given, "run") == []
    assert [row[2:] for row in google.grid("Main")[1:]] == [
        ["no links: status 404"],
        [],
        ["/1"],
        [SITE + "x"],
        old,
    ]


def test_only_our_columns_change(google: GoogleStandIn) -> None:
    header = ["Done?", "link 2", "URL", "Notes", "LINK_1", "Main Query", "Owner"]
    rows = [
        ["x", "old", SITE + "a", "keep", "old", "a query", "Ann"],
        ["", "mine", SITE + "z", "", "mine", "z"],
    ]
    google.set_grid("Main", [header, *rows])
    tab = google.tab("Main")
    for row in range(3):
        for column in range(7):
            tab.put(row, column, tab.at(row, column)._replace(note=f"note {row} {column}"))
    notes = google.cell_notes("Main")
    assert sheet(google, links=2).deliver(a_to_c()[:1], "run") == []
    rows[0][4], rows[0][1] = SITE + "a-1", SITE + "a-2"
    assert google.grid("Main") == [header, *rows]
    assert google.cell_notes("Main") == notes


def test_missing_columns_are_added_and_the_grid_grows() -> None:
    """Once, even if the answer to the request gets lost."""
    add = "^POST /v4/spreadsheets/[^/]*:batchUpdate"
    rows = [["URL", "Link 2"], [SITE + "a", "", "no header"]]
    with GoogleStandIn({"Main": rows}, columns=3) as google:
        google.script(Reset(after_work=True), on=add)
        assert sheet(google, links=4).deliver([links_for(SITE + "a", "/1", "/2", "/3")], "run") == []
        assert google.grid("Main") == [
            ["URL", "Link 2", "", "Link 1", "Link 3", "Link 4"],
            [SITE + "a", "/2", "no header", "/1", "/3"],
        ]
        assert google.tab("Main").columns == 6
        assert len(google.calls(add)) == 1
        insert = google.calls(add)[0].body["requests"][0]["insertDimension"]
        assert insert["inheritFromBefore"], "Google refuses anything else at the grid's edge"


def test_columns_are_added_without_overwriting_any(google: GoogleStandIn) -> None:
    google.set_grid("Main", [["URL", "Main Query"], [SITE + "a", "a query"]])
    before(google, "spreadsheets/[^/]*:batchUpdate", edit(google, lambda grid: [["x", *row] for row in grid]))
    assert sheet(google, links=2).deliver(a_to_c()[:1], "run") == []
    assert google.grid("Main") == [
        ["x", "URL", "Link 1", "Link 2", "Main Query"],
        ["x", SITE + "a", SITE + "a-1", SITE + "a-2", "a query"],
    ]


def test_what_is_right_is_not_written_again(google: GoogleStandIn) -> None:
    sheet(google).deliver(a_to_c(), "run")
    google.forget()
    assert sheet(google).deliver(a_to_c(), "run") == []
    assert [call.method for call in google.calls("/v4/")] == ["GET", "GET"]


@pytest.mark.parametrize(
    ("rows", "given", "links"),
    [
        # Case and spacing of a query and the spelling of its URL don't matter, and duplicate rows get the same links.
        (
            [["HTTPS://Shop.com/a/", " Two  Words"], [SITE + "a", "one"], [SITE + "a", "ONE"]],
            [(SITE + "a", "/1", "one"), (SITE + "a", "/2", "two words")],
            ["/2", "/1", "/1"],
        ),
        # A row whose query was reworded during the run gets the links that are left for its URL.
        (
            [[SITE + "a", "reworded"], [SITE + "a", "one"]],
            [(SITE + "a", "/1", "one"), (SITE + "a", "/2", "two")],
            ["/2", "/1"],
        ),
        # A row of the same URL whose query was not in this run keeps its links.
        ([[SITE + "a", "one"], [SITE + "a", "two", "/kept"]], [(SITE + "a", "/1", "one")], ["/1", "/kept"]),
        # A row without a URL is known by its query; a row with an invalid URL never is.
        ([["", "Red  Shoes"], ["shop.com", "red shoes", "/old"]], [("", "/1", "red shoes")], ["/1", "/old"]),
        # What looks like a formula or a number stays text.
        (
            [[SITE + name, ""] for name in "abc"],
            [(SITE + "a", "=1+1", ""), (SITE + "b", "007", "")],
            ["=1+1", "007", ""],
        ),
    ],
)
def test_links_stand_in_their_rows(
    google: GoogleStandIn, rows: list[list[str]], given: list[tuple[str, str, str]], links: list[str]
) -> None:
    google.set_grid("Main", [HEADER, *rows])
    wanted = [links_for(url, target, query=query) for url, target, query in given]
    assert sheet(google).deliver(wanted, "run") == []
    assert ["".join(row[2:]) for row in google.grid("Main")[1:]] == links


def test_check_tells_what_it_found_and_changes_nothing(google: GoogleStandIn) -> None:
    google.set_grid("Notes", [])
    grid = google.grid("Main")
    assert sheet(google, links=4).check() == [
        f"Service account: {EMAIL}",
        "Spreadsheet: Stand-in",
        "Tabs: Main, Notes",
        "Google Sheet 'Main': 3 rows below the header",
        "Columns recognised: URL (URL), Main Query (Main Query)",
        "Link columns to be added: Link 4",
        "Permission to edit: not refused (tested with an empty write)",
    ]
    assert google.grid("Main") == grid
    assert len(google.calls("/v4/")) == 3


def test_rows_in_any_form_of_the_host_get_their_links(google: GoogleStandIn) -> None:
    """Rows with http://, www. or a mapped host get the links of their page; each keeps its own spelling."""
    forms = ["http://shop.com/a", "https://www.shop.com/a/index.html", "https://test.shop.com/a"]
    google.set_grid("Main", [HEADER[:2], *([url, "a query"] for url in forms)])
    hosts = CanonicalHosts(host_map(["test.shop.com=shop.com"]))
    assert sheet(google, hosts=hosts).deliver(a_to_c()[:1], "run") == []
    assert google.grid("Main")[1:] == [[url, *row_of("a")[1:]] for url in forms]
