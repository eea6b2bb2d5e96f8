"""The Sheet is read and written through the real client, with editors at work and Google misbehaving."""

import json
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from internal_linker.errors import (
    ConfigurationError,
    CredentialsRefused,
    InputError,
    InternalLinkerError,
    OutputError,
    ServiceError,
)
from internal_linker.ports import LinkSink, TableSource
from internal_linker.records import Candidate, Link, Recommendation, Source
from internal_linker.services.google_sheets.ranges import MAX_BYTES, chunks, ranges
from internal_linker.services.google_sheets.refusals import Refusals
from internal_linker.services.google_sheets.sheet import GoogleSheet
from internal_linker.urls import normal_form
from tests.standins import CutOff, Fault, GoogleStandIn, Reply, Reset, make_service_account
from tests.standins.google_token import EMAIL

SITE = "https://shop.com/"
HEADER = ["URL", "Main Query", "Link 1", "Link 2", "Link 3"]
READ, WRITE = "^GET .*/values/", "^POST .*/values:batchUpdate"


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": [HEADER, *([SITE + name, f"{name} query"] for name in "abc")]}) as stand_in:
        yield stand_in


def sheet(google: GoogleStandIn, tab: str = "Main", links: int = 3, key: str = "") -> GoogleSheet:
    account = json.dumps(google.service_account)
    key = key or google.spreadsheet_id
    return GoogleSheet(account, key, tab, api_url=google.url, links_per_page=links)


def links_for(url: str, *targets: str, query: str = "", in_sheet: bool = True) -> Recommendation:
    source = Source(normal_form(url) if url else "", url, query, None, in_sheet)
    found = [Candidate(target, target) for target in targets]
    return Recommendation(source, tuple(Link(one, rank, "semantic") for rank, one in enumerate(found, 1)))


def a_to_c() -> list[Recommendation]:
    return [
        links_for(SITE + name, f"{SITE}{name}-1", f"{SITE}{name}-2", query=f"{name} query") for name in "abc"
    ]


def row_of(name: str) -> list[str]:
    return [SITE + name, f"{name} query", f"{SITE}{name}-1", f"{SITE}{name}-2"]


def before(google: GoogleStandIn, words: str, act: Callable[[], None], *, times: int = 1) -> None:
    """Let an editor act right before the next `times` requests that match."""
    left = [act] * times

    def hook(request: Any) -> None:
        if left and re.search(words, request.words):
            left.pop()()

    google.on_request = hook


def edit(google: GoogleStandIn, change: Callable[[list[list[str]]], list[list[str]]]) -> Callable[[], None]:
    return lambda: google.set_grid("Main", change(google.grid("Main")))


def shown(error: BaseException) -> str:
    """All that could reach a log or a screen."""
    return "".join([str(error), repr(error), *traceback.format_exception(error)])


# -- reading ---------------------------------------------------------------------------------------


def test_a_table_comes_as_it_stands(google: GoogleStandIn) -> None:
    """Every cell is text as shown, rows are padded and keep their numbers, empty rows at the end are none."""
    google.set_grid("Main", [HEADER[:3], ["/a", "007"], [], ["/b", "1,5", "x", "beyond"], ["", " "]])
    table = sheet(google).read()
    assert (table.name, table.header) == ("Google Sheet 'Main'", ("URL", "Main Query", "Link 1"))
    assert [(number, list(row)) for number, row in table.rows] == [
        (2, ["/a", "007", ""]),
        (3, ["", "", ""]),
        (4, ["/b", "1,5", "x", "beyond"]),
    ]


def test_without_a_name_the_first_tab_is_read(google: GoogleStandIn) -> None:
    """Once it was read it stays our tab, even if editors rename it or put another first."""
    google.set_grid("Notes", [["private"]])
    ours = sheet(google, tab="")
    assert ours.read().name == ours.name == "Google Sheet 'Main'"
    google.tab("Main").title = "Bob's links"
    google.spreadsheets[google.spreadsheet_id].tabs.reverse()
    assert ours.deliver(a_to_c(), "run") == []
    assert google.grid("Bob's links")[1] == row_of("a")
    assert google.grid("Notes") == [["private"]]


def test_a_tab_is_found_in_any_case(google: GoogleStandIn) -> None:
    """A name in the settings with other case or spaces means Main, unless a tab has that very name."""
    assert len(sheet(google, tab=" main").read().rows) == 3


def test_nothing_is_contacted_before_it_is_used(google: GoogleStandIn) -> None:
    """Making the object costs no call, and it fits both ports."""
    source: TableSource = sheet(google)
    sink: LinkSink = sheet(google)
    assert sink.deliver([links_for(SITE, in_sheet=False)], "run") == []
    assert source.name == "Google Sheet 'Main'"
    assert google.ledger == []


def test_an_empty_first_row_is_said(google: GoogleStandIn) -> None:
    """A sheet without column names is an input error that says what row 1 must hold."""
    google.set_grid("Main", [["", ""], ["URL", "Main Query"]])
    with pytest.raises(InputError, match=r"row 1 is empty.*URL and Main Query"):
        sheet(google).read()


# -- writing ---------------------------------------------------------------------------------------


def test_only_our_columns_change(google: GoogleStandIn) -> None:
    """Foreign columns, even between ours, rows of others and all notes stay exactly as they were."""
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
    """They come after the last column that holds anything, header or not, even where the grid ends there."""
    add = "^POST /v4/spreadsheets/[^/]*:batchUpdate"
    rows = [["URL", "Link 2"], [SITE + "a", "", "no header"]]
    with GoogleStandIn({"Main": rows}, columns=3) as google:
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
    """If an editor inserts a column at that very moment, ours are inserted beside it and found by name."""
    google.set_grid("Main", [["URL", "Main Query"], [SITE + "a", "a query"]])
    before(google, "spreadsheets/[^/]*:batchUpdate", edit(google, lambda grid: [["x", *row] for row in grid]))
    assert sheet(google, links=2).deliver(a_to_c()[:1], "run") == []
    assert google.grid("Main") == [
        ["x", "URL", "Link 1", "Link 2", "Main Query"],
        ["x", SITE + "a", SITE + "a-1", SITE + "a-2", "a query"],
    ]


def test_a_lost_answer_to_new_columns_does_not_add_them_twice() -> None:
    """The header is looked at again before columns are added again."""
    with GoogleStandIn({"Main": [["URL"], [SITE + "a"]]}, columns=1) as google:
        google.script(Reset(after_work=True), on="^POST /v4/spreadsheets/[^/]*:batchUpdate")
        assert sheet(google, links=2).deliver([links_for(SITE + "a", "/1")], "run") == []
        assert google.tab("Main").columns == 3
        assert google.grid("Main") == [["URL", "Link 1", "Link 2"], [SITE + "a", "/1"]]


def test_fewer_links_clear_the_rest(google: GoogleStandIn) -> None:
    """Links of an earlier run do not stay beside the new ones; rows that are not ours keep theirs."""
    old = ["old 1", "old 2", "old 3"]
    google.set_grid("Main", [HEADER, *([SITE + name, "", *old] for name in "abc")])
    assert sheet(google).deliver([links_for(SITE + "a", "/1"), links_for(SITE + "b")], "run") == []
    assert google.grid("Main")[1:] == [[SITE + "a", "", "/1"], [SITE + "b"], [SITE + "c", "", *old]]


def test_what_is_right_is_not_written_again(google: GoogleStandIn) -> None:
    """A second delivery of the same links reads once and sends nothing."""
    sheet(google).deliver(a_to_c(), "run")
    google.forget()
    assert sheet(google).deliver(a_to_c(), "run") == []
    assert [call.method for call in google.calls("/v4/")] == ["GET", "GET"]


def test_text_that_looks_like_a_formula_stays_text(google: GoogleStandIn) -> None:
    """Nothing that came from a crawl or a search is ever executed."""
    assert sheet(google).deliver([links_for(SITE + "a", "=1+1", "+49", "007")], "run") == []
    assert google.grid("Main")[1][2:] == ["=1+1", "+49", "007"]


def test_rows_of_one_url_are_told_apart_by_their_query(google: GoogleStandIn) -> None:
    """Case and spacing of a query do not matter, nor how the URL is written; double rows get the same."""
    rows = [["HTTPS://Shop.com/a/", " Two  Words"], [SITE + "a", "one"], [SITE + "a", "ONE"]]
    google.set_grid("Main", [HEADER, *rows])
    both = [links_for(SITE + "a", "/1", query="one"), links_for(SITE + "a", "/2", query="two words")]
    assert sheet(google).deliver(both, "run") == []
    assert [row[2] for row in google.grid("Main")[1:]] == ["/2", "/1", "/1"]


def test_an_edited_query_takes_what_is_left_for_its_url(google: GoogleStandIn) -> None:
    """The links of a row whose query was reworded meanwhile still find it."""
    google.set_grid("Main", [HEADER, [SITE + "a", "reworded"], [SITE + "a", "one"]])
    both = [links_for(SITE + "a", "/1", query="one"), links_for(SITE + "a", "/2", query="two")]
    assert sheet(google).deliver(both, "run") == []
    assert [row[2] for row in google.grid("Main")[1:]] == ["/2", "/1"]


def test_a_run_over_some_rows_leaves_the_others(google: GoogleStandIn) -> None:
    """A second query of the same URL that this run was not about keeps its links."""
    google.set_grid("Main", [HEADER, [SITE + "a", "one"], [SITE + "a", "two", "/kept"]])
    assert sheet(google).deliver([links_for(SITE + "a", "/1", query="one")], "run") == []
    assert [row[2] for row in google.grid("Main")[1:]] == ["/1", "/kept"]


def test_a_row_without_url_is_known_by_its_query(google: GoogleStandIn) -> None:
    """A row with a broken URL is nobody's, whatever its query."""
    google.set_grid("Main", [HEADER, ["", "Red  Shoes"], ["shop.com", "red shoes"], []])
    assert sheet(google).deliver([links_for("", "/1", query="red shoes")], "run") == []
    assert google.grid("Main")[1:] == [["", "Red  Shoes", "/1"], ["shop.com", "red shoes"]]


def test_a_sheet_without_its_key_columns_is_left_alone(google: GoogleStandIn) -> None:
    """If the column names vanished during the run, the error says so and nothing is written."""
    google.set_grid("Main", [["Something"], [SITE + "a"]])
    with pytest.raises(OutputError, match="no column URL or Main Query"):
        sheet(google).deliver(a_to_c(), "run")
    assert google.calls(WRITE) == []


# -- editors at work -------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", [READ, WRITE])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda grid: [grid[0], *reversed(grid[1:])], id="sorted"),
        pytest.param(lambda grid: [grid[0], ["https://new.com/"], *grid[1:]], id="row inserted"),
        pytest.param(lambda grid: [grid[0], [], *grid[1:]], id="empty row inserted"),
        pytest.param(lambda grid: [*grid, grid[2]], id="row doubled"),
        pytest.param(lambda grid: [["x", *row] for row in grid], id="column inserted"),
        pytest.param(lambda grid: [["x", "y", *row] for row in grid], id="two columns inserted"),
        pytest.param(lambda grid: [row[1:] for row in grid], id="column deleted"),
        pytest.param(lambda grid: [row[3:6] + row[:3] + row[6:] for row in grid], id="columns moved"),
    ],
)
def test_links_follow_their_rows(
    google: GoogleStandIn, moment: str, change: Callable[[list[list[str]]], list[list[str]]]
) -> None:
    """Whatever editors move before we look or between our look and our write, all ends where it belongs."""
    filled = [
        ["Owner", *HEADER, "Notes"],
        *([f"owner {name}", SITE + name, f"{name} query", "", "", "", f"notes {name}"] for name in "abc"),
        ["owner a", SITE + "a", "second query", "a-1", "", "a-3", "notes a"],
        ["owner z", "https://other.com/z", "z query", "z-1", "", "z-3", "notes z"],
    ]
    google.set_grid("Main", filled)
    before(google, moment, edit(google, change))
    assert sheet(google).deliver(a_to_c(), "run") == []
    undisturbed = [list(row) for row in filled]
    for row, name in zip(undisturbed[1:4], "abc", strict=True):
        row[3:5] = [f"{SITE}{name}-1", f"{SITE}{name}-2"]
    assert google.grid("Main") == change(undisturbed)
    assert len(google.calls(WRITE)) <= 3


def test_a_row_that_is_not_known_again_is_left_to_a_person(google: GoogleStandIn) -> None:
    """If rows and columns move at once and URLs are hit, we say which row to look at instead of guessing."""
    google.set_grid("Main", [HEADER, *([SITE + name, f"{name} query", "", "", "old"] for name in "abc")])

    def jumble(grid: list[list[str]]) -> list[list[str]]:
        moved = [["x", "y", *row] for row in grid]
        return [moved[0], ["", "", "https://new.com/"], *moved[1:]]

    before(google, WRITE, edit(google, jumble))
    gaps = sheet(google).deliver(a_to_c(), "run")
    assert any("Version history" in gap for gap in gaps)
    assert "https://new.com/" not in [row[2] for row in google.grid("Main")[2:]]


def test_a_deleted_row_is_reported(google: GoogleStandIn) -> None:
    """The answer names the URL that has no row any more; the row that moved up keeps what it had."""
    google.set_grid("Main", [HEADER, [SITE + "a", "a query"], ["https://other.com/", "", "its own"]])
    before(google, WRITE, edit(google, lambda grid: [grid[0], *grid[2:]]))
    gaps = sheet(google).deliver(a_to_c()[:1], "run")
    assert len(gaps) == 1
    assert "https://shop.com/a (a query): the links could not be placed" in gaps[0]
    assert google.grid("Main") == [HEADER, ["https://other.com/", "", "its own"]]


def test_a_row_that_keeps_changing_is_reported_after_one_repair(google: GoogleStandIn) -> None:
    """We do not fight with an editor (or a merged cell): one repair, then a sentence with the row."""

    def meddle(grid: list[list[str]]) -> list[list[str]]:
        return [grid[0], [SITE + "a", "a query", "mine!", *grid[1][3:]], *grid[2:]]

    before(google, READ, edit(google, meddle), times=9)
    gaps = sheet(google).deliver(a_to_c(), "run")
    assert len(gaps) == 1
    assert "https://shop.com/a (a query): the links could not be placed: row 2" in gaps[0]
    assert [row[:4] for row in google.grid("Main")[2:]] == [row_of("b"), row_of("c")]
    assert len(google.calls(WRITE)) == 2


def test_chunks_are_placed_each_by_a_fresh_look(google: GoogleStandIn) -> None:
    """A delivery too big for one request survives a sort between its requests."""
    names = [f"{number:04}" for number in range(1000)]
    google.set_grid("Main", [HEADER, *([SITE + name, "", "", "", "old"] for name in names)])
    wanted = {SITE + name: [f"{SITE}{name}-{rank}-{'x' * 900}" for rank in (1, 2)] for name in names}
    everything = [links_for(url, *targets) for url, targets in wanted.items()]
    seen: list[str] = []

    def sort_before_the_second_write(request: Any) -> None:
        if re.search(WRITE, request.words):
            seen.append(request.words)
            if len(seen) == 2:
                edit(google, lambda grid: [grid[0], *reversed(grid[1:])])()

    google.on_request = sort_before_the_second_write
    assert sheet(google).deliver(everything, "run") == []
    assert {row[0]: row[2:] for row in google.grid("Main")[1:]} == wanted
    assert google.grid("Main")[1][0] == SITE + "0999"
    writes = google.calls(WRITE)
    assert len(writes) == 3
    assert all(call.size < MAX_BYTES + 1000 for call in writes)


def test_a_write_whose_answer_got_lost_is_checked_before_it_is_repeated(google: GoogleStandIn) -> None:
    """The rows are looked at first, since they may have moved while we paused; nothing is sent twice."""
    google.script(Reset(after_work=True), on=WRITE)
    assert sheet(google).deliver(a_to_c(), "run") == []
    assert [row[:4] for row in google.grid("Main")[1:]] == [row_of(name) for name in "abc"]
    assert len(google.calls(WRITE)) == 1


# -- cost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("header", "calls"), [(HEADER, "GG GGPG"), (HEADER[:2], "GG GGPGPG")])
def test_a_thousand_rows_cost_six_calls(google: GoogleStandIn, header: list[str], calls: str) -> None:
    """Reading: tabs, values. Delivering: tabs, values, write, read back; a first run adds columns too."""
    names = [f"{number:04}" for number in range(1000)]
    google.set_grid("Main", [header, *([SITE + name, name] for name in names)])
    ours = sheet(google)
    assert len(ours.read().rows) == 1000
    targets = [f"{SITE}target-{rank}" for rank in range(3)]
    assert ours.deliver([links_for(SITE + name, *targets, query=name) for name in names], "run") == []
    assert "".join(call.method[0] for call in google.calls("/v4/")) == calls.replace(" ", "")
    assert google.grid("Main")[1000] == [SITE + "0999", "0999", *targets]


def test_ranges_are_blocks_that_leave_gaps_alone() -> None:
    """Neighbouring columns and nearby rows share a range, null keeps what is between them."""
    cells = {(2, 3): "a", (4, 4): "b", (50, 3): "c", (2, 9): "d"}
    assert ranges(cells) == [
        (2, 3, [["a", None], [None, None], [None, "b"]]),
        (50, 3, [["c", None]]),
        (2, 9, [["d"]]),
    ]


def test_chunks_keep_rows_whole_and_order() -> None:
    """Many scattered rows are cut by the number of ranges; urgent rows that come first are sent first."""
    cells = {(row, column): "x" for row in [9000, *range(100, 9000, 10)] for column in (1, 2)}
    parts = list(chunks(cells))
    assert len(parts) == 2
    assert (9000, 1) in parts[0]
    assert {place: text for part in parts for place, text in part.items()} == cells
    assert not {row for row, _ in parts[0]} & {row for row, _ in parts[1]}


# -- passing failures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, json={"error": {"code": 429, "message": "Quota"}}, headers={"Retry-After": "0"}),
        Reply(429, html="<h1>Slow down</h1>", headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Reply(503, html="<h1>Service Unavailable</h1>"),
        Reply(500, json={"error": "not Google's shape"}),
        Reply(200, html="<h1>Sign in to the hotel's network</h1>"),
        CutOff(),
        CutOff(honest=True),
        Reset(),
    ],
)
def test_a_passing_failure_passes_unseen(google: GoogleStandIn, fault: Fault) -> None:
    """One bad answer of any shape costs one more try, no more."""
    google.script(fault, on=READ)
    assert len(sheet(google).read().rows) == 3
    assert google.script_left == 0


def test_an_expired_token_is_renewed_without_a_word(google: GoogleStandIn) -> None:
    """A run that is longer than a token's life goes on."""
    ours = sheet(google)
    ours.read()
    google.tokens.expire_tokens()
    assert ours.deliver(a_to_c(), "run") == []
    assert len(google.calls("POST /token")) == 2


# -- lasting failures ------------------------------------------------------------------------------

SKEW = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."


def _refused(status: int, message: str, word: str = "INVALID_ARGUMENT") -> Reply:
    return Reply(status, json={"error": {"code": status, "message": message, "status": word}})


def _not_shared(google: GoogleStandIn) -> None:
    google.shared_with.clear()


def _disabled(google: GoogleStandIn) -> None:
    google.api_enabled = False


def _revoked(google: GoogleStandIn) -> None:
    google.tokens.revoked = True


def _skewed(google: GoogleStandIn) -> None:
    answer = {"error": "invalid_grant", "error_description": SKEW}
    google.script(Reply(400, json=answer), on="POST /token")


def _unauthorised(google: GoogleStandIn) -> None:
    google.script(*[_refused(401, "Request had ya29.secret credentials")] * 3)


def _excel(google: GoogleStandIn) -> None:
    google.script(_refused(400, "This operation is not supported for this document", "FAILED_PRECONDITION"))


def _proxy(google: GoogleStandIn) -> None:
    google.script(Reply(404, html="<h1>Not here</h1>"))


def _odd(google: GoogleStandIn) -> None:
    google.script(_refused(400, "Something new about ya29.secret " + "and on " * 99))


def _tab_gone(google: GoogleStandIn) -> None:
    google.tab("Main").title = "Other"


@pytest.mark.parametrize(
    ("trouble", "kind", "remedy"),
    [
        (_not_shared, CredentialsRefused, f"press Share and add.*Editor|{re.escape(EMAIL)}"),
        (_disabled, ServiceError, r"sheets\.googleapis\.com\?project=standin, press Enable"),
        (_revoked, CredentialsRefused, "Make a new key for .*config/service_account.txt"),
        (_skewed, ServiceError, "clock is wrong. Let the computer set date"),
        (_unauthorised, CredentialsRefused, "not accepted. Make a new key"),
        (_excel, InputError, "File > Save as Google Sheets"),
        (_proxy, ServiceError, "Check google_api_url"),
        (_odd, ServiceError, r'the words "Something new about \*\*\* and on'),
        (_tab_gone, InputError, "no such tab. The spreadsheet's tabs are: Other"),
    ],
)
def test_a_lasting_failure_says_what_to_do(
    google: GoogleStandIn,
    trouble: Callable[[GoogleStandIn], None],
    kind: type[InternalLinkerError],
    remedy: str,
) -> None:
    """Each refusal has its own sentence, is not tried again, and gives away neither key nor token."""
    trouble(google)
    with pytest.raises(kind, match=remedy) as caught:
        sheet(google).read()
    assert not getattr(caught.value, "retryable", False)
    assert len(google.calls("/v4/")) <= 3
    text = shown(caught.value)
    assert "PRIVATE KEY" not in text
    assert "ya29" not in text
    assert json.dumps(google.service_account["private_key"])[100:150] not in text


def test_a_wrong_id_is_named(google: GoogleStandIn) -> None:
    """The message shows the id that was asked for and where to put the right one."""
    with pytest.raises(InputError, match=r"no spreadsheet with the id 'no/such'.*google_sheet_id"):
        sheet(google, key="no/such").read()


def test_an_unshared_sheet_names_the_account(google: GoogleStandIn) -> None:
    """The address to share with stands in the message, ready to be copied."""
    google.shared_with.clear()
    with pytest.raises(CredentialsRefused, match=f"not shared with {re.escape(EMAIL)}"):
        sheet(google).read()


@pytest.mark.parametrize("use", [lambda ours: ours.deliver(a_to_c(), "run"), lambda ours: ours.check()])
def test_a_viewer_is_told_to_become_editor(
    google: GoogleStandIn, use: Callable[[GoogleSheet], object]
) -> None:
    """Reading works; delivering and checking say that the right to edit is missing."""
    google.shared_with[EMAIL] = "reader"
    ours = sheet(google)
    assert len(ours.read().rows) == 3
    with pytest.raises(CredentialsRefused, match=f"{re.escape(EMAIL)} may view .* Editor"):
        use(ours)
    assert google.grid("Main")[1] == [SITE + "a", "a query"]


def test_protected_columns_are_named(google: GoogleStandIn) -> None:
    """An owner's protection of our columns is told apart from a missing right."""
    message = "You are trying to edit a protected cell or object."
    google.script(_refused(400, message), on=WRITE)
    with pytest.raises(ServiceError, match="Data > Protect sheets and ranges"):
        sheet(google).deliver(a_to_c(), "run")


def test_a_sheet_that_vanished_is_a_delivery_failure(google: GoogleStandIn) -> None:
    """What reading calls an input error is an output error when links are delivered."""
    ours = sheet(google)
    ours.read()
    google.spreadsheets.clear()
    with pytest.raises(OutputError, match="no spreadsheet with the id"):
        ours.deliver(a_to_c(), "run")


def test_a_tab_renamed_between_look_and_write(google: GoogleStandIn) -> None:
    """Google's own words about ranges never reach the reader."""

    def rename() -> None:
        google.tab("Main").title = "Other"

    before(google, WRITE, rename)
    with pytest.raises(OutputError, match="renamed or deleted while we worked"):
        sheet(google).deliver(a_to_c(), "run")


def test_an_unreachable_google_is_tried_again_and_then_said() -> None:
    """Without a connection the error is retryable and names no address or library's inner text."""
    with GoogleStandIn() as google:
        ours = sheet(google)
    with pytest.raises(ServiceError, match="Check the internet connection") as caught:
        ours.read()
    assert caught.value.retryable
    assert "127.0.0.1" not in str(caught.value)


def test_a_full_quota_waits_for_the_minute() -> None:
    """Google seldom says how long to wait: three pauses together outlast the minute it counts by."""
    refusals = Refusals("a@b", "p", "id")
    silent, told, late = (refusals.of(429, "", text, writing=False) for text in ("", "7", "soon"))
    assert (
        isinstance(silent, ServiceError) and isinstance(told, ServiceError) and isinstance(late, ServiceError)
    )
    assert (silent.retry_after, told.retry_after, late.retry_after) == (20.0, 7.0, 20.0)


# -- the key ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "  ", "is empty"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: json.dumps({"installed": json.loads(text)}), "not the key of a service account"),
        (lambda text: json.dumps([text]), "not the key of a service account"),
        (lambda text: json.dumps({**json.loads(text), "client_email": None}), "lacks client_email"),
        (lambda text: text.replace("PRIVATE KEY", "PRIVAT KEY"), "private key is damaged"),
        (
            lambda text: json.dumps({**json.loads(text), "private_key": text[90:400]}),
            "private key is damaged",
        ),
        (lambda text: re.sub(r"\\n[A-Za-z0-9+/]{30}", r"\\n", text, count=1), "private key is damaged"),
    ],
)
def test_a_broken_key_file_is_named(change: Callable[[str], str], problem: str) -> None:
    """The error names the file and how to get a good one, and repeats nothing of the key."""
    text = json.dumps(make_service_account("http://127.0.0.1:1"))
    with pytest.raises(
        ConfigurationError, match=f"config/service_account.txt can't be used: .*{problem}"
    ) as caught:
        GoogleSheet(change(text), "id")
    assert "Make a new key" in str(caught.value)
    lines = json.loads(text)["private_key"].splitlines()[1:]
    assert not any(line in shown(caught.value) for line in lines if len(line) > 20)


def test_a_key_file_saved_with_a_bom_is_read(google: GoogleStandIn) -> None:
    """Windows editors put a mark before the JSON."""
    text = "\ufeff" + json.dumps(google.service_account) + "\n"
    ours = GoogleSheet(text, google.spreadsheet_id, api_url=google.url + "/")
    assert len(ours.read().rows) == 3
    assert "PRIVATE" not in repr(ours)


# -- check -----------------------------------------------------------------------------------------


def test_check_tells_what_it_found_and_changes_nothing(google: GoogleStandIn) -> None:
    """Account, spreadsheet, tabs, rows, columns understood and columns to be added, one fact each."""
    google.set_grid("Notes", [])
    grid = google.grid("Main")
    assert sheet(google, links=4).check() == [
        f"Service account: {EMAIL}",
        "Spreadsheet: Stand-in",
        "Tabs: Main, Notes",
        "Google Sheet 'Main': 3 rows below the header",
        "Columns understood: URL (URL), Main Query (Main Query)",
        "Link columns to be added: Link 4",
        "Right to edit: not refused (a write of nothing was tried)",
    ]
    assert google.grid("Main") == grid
    assert len(google.calls("/v4/")) == 3
