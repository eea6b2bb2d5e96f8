"""The tab Review, which the tool creates and fills with links and in which editors work."""

from typing import Any

import pytest

from internal_linker.model.columns import GERMAN, REVIEW_KEYS
from internal_linker.model.edges import TIER_NAMES
from internal_linker.model.errors import CredentialsRefused, InputError, OutputError, ServiceError
from internal_linker.model.ports import ReviewDesk
from tests.standins import GoogleStandIn, Reply, Reset
from tests.standins.google_token import EMAIL
from tests.support.reviews import (
    APPEND,
    HEADERS,
    Row,
    cells,
    ids,
    put,
    rearrange,
    review_tab,
    row,
    shown,
    verdict,
)

A, B, C, D = (row(name) for name in "abcd")


def colours(google: GoogleStandIn) -> list[tuple[int, str]]:
    """Return column and value of each rule that colours cells of the tab."""
    return [
        (
            rule["ranges"][0]["startColumnIndex"],
            rule["booleanRule"]["condition"]["values"][0]["userEnteredValue"],
        )
        for rule in google.tab("Review").looks.rules
    ]


def test_the_tab_is_made_and_dressed_in_one_request(google: GoogleStandIn) -> None:
    """Nothing is there before the first links."""
    desk: ReviewDesk = review_tab(google)
    assert (desk.name, google.ledger) == ("Google Sheet 'Review'", [])
    assert desk.read() == []
    assert [tab.title for tab in google.spreadsheets[google.spreadsheet_id].tabs] == ["Main"]
    assert review_tab(google).write([A, B]) == []
    assert shown(google) == [HEADERS, cells(A), cells(B)]
    kinds = [[next(iter(each)) for each in call.body["requests"]] for call in google.calls(APPEND)]
    assert [len(each) for each in kinds[:2]] == [len(kinds[0]), 6] and kinds[2:] == [["addFilterView"]]
    tab = google.tab("Review")
    assert (tab.frozen_rows, tab.frozen_columns, tab.looks.hidden) == (1, 2, {12, 13, 14, 15})
    box, rule = tab.looks.validations[0]
    listed = [value["userEnteredValue"] for value in rule["condition"]["values"]]
    assert listed == ["proposed", "accepted", "rejected", "edited", "live", "withdrawn"]
    assert (box["startRowIndex"], box["startColumnIndex"], box["endColumnIndex"]) == (1, 0, 1)
    assert colours(google) == [(7, "in the text"), (7, "related box"), (7, "needs a look")]
    assert all(each["warningOnly"] for each in tab.looks.protected)
    guarded = {each["range"]["startColumnIndex"] for each in tab.looks.protected[1:]}
    assert [HEADERS[at] for at in range(len(HEADERS)) if at not in guarded] == ["Status", "Anchor", "Notes"]
    assert tab.looks.filter is not None
    notes = google.cell_notes("Review")
    assert "0 to 100" in notes["G1"] and "in the text" in notes["H1"]


def test_the_score_is_a_number_and_all_else_is_text(google: GoogleStandIn) -> None:
    odd = row("odd", anchor="=1+1", sentence="a\x00b\nc", notes="x" * 60_000, score=float("nan"))
    assert review_tab(google).write([A, odd]) == []
    assert google.tab("Review").at(1, 6).value == 75
    found = shown(google)[2]
    assert (found[1], found[2], found[6], len(found[9])) == ("=1+1", "a b c", "", 32_767)
    google.forget()
    assert review_tab(google).write([A, odd]) == []
    assert google.calls("^POST /v4") == []


def test_a_tab_of_somebody_elses_is_left_alone(google: GoogleStandIn) -> None:
    """If the tab's name is taken, the tool's tab gets another name, by which it is found again."""
    google.set_grid("review", [["My own list"]])
    desk = review_tab(google)
    assert desk.write([A]) == []
    assert google.grid("review") == [["My own list"]]
    assert ids(shown(google, "Review (Internal Linker 1)")) == [A.id]
    assert [each.id for each in review_tab(google).read()] == [A.id]


def test_a_tab_is_not_made_twice_where_the_answer_got_lost(google: GoogleStandIn) -> None:
    google.script(Reset(after_work=True), Reset(after_work=True), on=APPEND)
    assert review_tab(google).write([A, B]) == []
    assert len(google.spreadsheets[google.spreadsheet_id].tabs) == 2
    assert ids(shown(google)) == [A.id, B.id]


def test_editors_words_stay_and_the_tools_are_renewed(google: GoogleStandIn) -> None:
    review_tab(google).write([A, B, C, D])
    put(google, A, "Status", "rejected")
    put(google, B, "Anchor", "my anchor")
    put(google, C, "Notes", "later")
    new = [
        row(each.source[-1], status="live", anchor="new", sentence="New.", score=0.9, notes="n")
        for each in (A, B, C, D)
    ]
    assert review_tab(google).write(new) == []
    assert [line[:3] + line[9:10] + line[13:15] for line in shown(google)[1:]] == [
        ["rejected", A.anchor, "New.", "n", A.anchor, "proposed"],
        ["live", "my anchor", "New.", "n", B.anchor, "live"],
        ["live", "new", "New.", "later", "new", "live"],
        ["live", "new", "New.", "n", "new", "live"],
    ]


def test_untouched_rows_of_other_links_go_and_touched_ones_stay(google: GoogleStandIn) -> None:
    links = [row(name) for name in "abcdef"]
    review_tab(google).write(links)
    put(google, links[1], "Status", "accepted")
    put(google, links[2], "Notes", "n")
    put(google, links[3], "Anchor", "mine")
    tab = google.tab("Review")
    tab.put(9, 1, tab.at(9, 1)._replace(value="somebody's own line"))
    assert review_tab(google).write([links[5]]) == []
    assert ids(shown(google)) == [links[at].id for at in (1, 2, 3, 5)] + ["", "", ""]
    assert shown(google)[-1][1] == "somebody's own line"


def test_a_row_that_came_back_is_appended_below_all(google: GoogleStandIn) -> None:
    review_tab(google).write([A, B, C])
    rearrange(google, lambda grid: [grid[0], grid[3], grid[1]])()
    assert review_tab(google).write([A, B, C, D]) == []
    assert ids(shown(google)) == [C.id, A.id, B.id, D.id]


def test_copies_of_a_row(google: GoogleStandIn) -> None:
    """Untouched copies of a row are removed; of copies with edits, all stay and are read."""
    review_tab(google).write([A, B])
    rearrange(google, lambda grid: [*grid, grid[1], grid[1], grid[2]])()
    place = google.tab("Review")
    place.put(3, 0, place.at(3, 0)._replace(value="accepted"))
    place.put(4, 0, place.at(4, 0)._replace(value="rejected"))
    said = [verdict(B), verdict(A, status="accepted"), verdict(A, status="rejected")]
    assert review_tab(google).read() == said
    assert review_tab(google).write([A, B]) == []
    assert ids(shown(google)) == [B.id, A.id, A.id]


def test_a_tab_is_renamed_and_found_again(google: GoogleStandIn) -> None:
    review_tab(google).write([A])
    google.tab("Review").title = "Bob's links"
    google.set_grid("Copy of Review", shown(google, "Bob's links"))
    google.tab("Copy of Review").looks.metadata = [
        dict(each) for each in google.tab("Bob's links").looks.metadata
    ]
    google.spreadsheets[google.spreadsheet_id].tabs.reverse()
    assert review_tab(google).read() == [verdict(A, by="Bob's links tab")]
    assert review_tab(google).write([A, B]) == []
    assert ids(shown(google, "Bob's links")) == [A.id, B.id]
    assert ids(shown(google, "Copy of Review")) == [A.id]


def test_a_column_of_ours_that_was_deleted_comes_back(google: GoogleStandIn) -> None:
    review_tab(google).write([A])
    rearrange(google, lambda grid: [line[:8] + line[9:13] + ["own"] for line in grid])()
    google.tab("Review").looks.hidden = {11}
    assert review_tab(google).write([A]) == []
    assert shown(google)[0] == [*HEADERS, "own"]
    assert shown(google)[1][:-1] == cells(A)
    assert google.tab("Review").looks.hidden == {12, 13, 14, 15}


def test_a_renamed_column_of_decisions_says_nothing(google: GoogleStandIn) -> None:
    """Without the heading Status, no row goes and nothing is a decision; the column comes back from the store."""
    review_tab(google).write([A, B])
    put(google, A, "Status", "accepted")
    rearrange(google, lambda grid: [["Stand", *grid[0][1:]], *grid[1:]])()
    desk = review_tab(google)
    assert desk.read() == [verdict(each, status="", unread=("status",)) for each in (A, B)]
    (said,) = desk.remarks()
    assert "no column 'Status' in row 1, so decisions in the column 'Stand' were not read" in said
    assert desk.write([row("a", status="rejected")]) == []
    grid = shown(google)
    at, own = grid[0].index("Status"), grid[0].index("Stand")
    assert [(line[at], line[own]) for line in grid[1:]] == [("rejected", "accepted"), ("", "proposed")]


def test_without_the_ids_nothing_is_touched(google: GoogleStandIn) -> None:
    review_tab(google).write([A])
    rearrange(google, lambda grid: [line[:12] + line[13:] for line in grid])()
    grid = shown(google)
    with pytest.raises(InputError, match=r"no column 'Link ID'.*Version history"):
        review_tab(google).read()
    with pytest.raises(OutputError, match=r"no column 'Link ID'.*Version history"):
        review_tab(google).write([A, B])
    assert shown(google) == grid


def test_a_filter_in_use_is_left_as_it_is(google: GoogleStandIn) -> None:
    """A filter without criteria grows over new rows; an editor's criteria and sort order stay."""
    review_tab(google).write([A])
    looks = google.tab("Review").looks
    assert looks.filter is not None
    looks.filter["range"]["endRowIndex"] = 2
    review_tab(google).write([A, B])
    assert google.tab("Review").looks.filter["range"]["endRowIndex"] == 1000  # type: ignore[index]
    mine = {"range": {**looks.filter["range"]}, "sortSpecs": [{"dimensionIndex": 5}]}
    google.tab("Review").looks.filter = mine
    review_tab(google).write([A, B, C])
    assert google.tab("Review").looks.filter == mine


def test_a_view_begins_with_the_links_in_the_text(google: GoogleStandIn) -> None:
    """It is added once, also to an older tab and if the answer got lost, moves no row, and takes in new rows.

    From then on it is the editors'.
    """
    review_tab(google).write([A, B])
    tab = google.tab("Review")
    (view,) = tab.looks.views
    order = [HEADERS[each["dimensionIndex"]] + each["sortOrder"] for each in view["sortSpecs"]]
    assert order == ["TierASCENDING", "ScoreDESCENDING"] and min(TIER_NAMES.values()) == TIER_NAMES["inline"]
    tab.looks.views.clear()
    google.script(Reset(after_work=True), on=APPEND)
    assert review_tab(google).write([A, B]) == []
    assert [each["title"] for each in google.tab("Review").looks.views] == [view["title"]]
    mine = google.tab("Review").looks.views[0]
    mine |= {"sortSpecs": [{"dimensionIndex": 3}], "range": {**view["range"], "endRowIndex": 3}}
    assert review_tab(google).write([A, B, row("c", tier="inline")]) == []
    assert ids(shown(google)) == [A.id, B.id, C.id]
    (grown,) = google.tab("Review").looks.views
    assert (grown["sortSpecs"], grown["range"]["endRowIndex"]) == ([{"dimensionIndex": 3}], 1000)


def test_a_sort_apart_that_is_too_large_to_mend(
    google: GoogleStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    review_tab(google).write([A, B])
    rearrange(google, lambda grid: [grid[0], *([*grid[3 - at][:12], *grid[at][12:]] for at in (1, 2))])()
    monkeypatch.setattr("internal_linker.sources.google_sheets.spreadsheet.MAX_BYTES", 60)
    before = shown(google)
    with pytest.raises(OutputError, match=r"sorted without its hidden columns.*Version history"):
        review_tab(google).write([A, B])
    assert shown(google) == before


def bold(google: GoogleStandIn, link: Row) -> list[str]:
    """Return the parts of a link's sentence that are in bold."""
    grid, tab = google.grid("Review"), google.tab("Review")
    at = next(at for at, line in enumerate(grid) if link.id in line)
    cell = tab.at(at, grid[0].index("Sentence"))
    text = str(cell.value).encode("utf-16-le")
    starts = [run.get("startIndex", 0) for run in cell.runs]
    parts = zip(cell.runs, starts, [*starts[1:], len(text) // 2], strict=True) if starts else ()
    return [text[2 * a : 2 * b].decode("utf-16-le") for run, a, b in parts if run["format"].get("bold")]


def test_the_anchor_is_in_bold_in_its_sentence(google: GoogleStandIn) -> None:
    """New rows, new sentences and anchors of editors show the anchor in bold; another run writes nothing."""
    links = [row("a", sentence="\U0001f375 an art fair, art", anchor="art"), B, row("c", anchor="not there")]
    assert review_tab(google).write(links) == []
    assert [bold(google, each) for each in links] == [["art"], ["b anchor"], []]
    put(google, B, "Anchor", "stands")
    links[0] = row("a", sentence="More art.", anchor="art")
    assert review_tab(google).write(links) == []
    assert [bold(google, each) for each in links] == [["art"], ["stands"], []]
    google.forget()
    assert review_tab(google).write(links) == []
    assert google.calls("^POST /v4") == []


def test_formats_of_editors_stay(google: GoogleStandIn) -> None:
    """A sentence in which an editor coloured words, and an editor's own row, keep their formats."""
    review_tab(google).write([A, B])
    tab = google.tab("Review")
    mine = ({"startIndex": 2, "format": {"italic": True}},)
    tab.put(1, 2, tab.at(1, 2)._replace(runs=mine))
    for column, text in ((1, "own"), (2, "my own line")):
        tab.put(5, column, tab.at(5, column)._replace(value=text))
    assert review_tab(google).write([A, B]) == []
    assert (tab.at(1, 2).runs, google.tab("Review").at(5, 2).runs) == (mine, ())


def test_rows_that_move_before_the_bold_part_cost_no_run(google: GoogleStandIn) -> None:
    """If Google refuses the format because rows moved, all links are there, and a sentence says what is missing."""
    review_tab(google).write([A, B])
    put(google, B, "Anchor", "stands")
    google.script(Reply(400, {"error": {"code": 400, "message": "startIndex"}}), on=APPEND)
    (said,) = review_tab(google).write([A, B])
    assert said.startswith("The format of the tab Review is not complete")
    assert review_tab(google).write([A, B]) == []
    assert bold(google, B) == ["stands"]


ABOVE, BELOW = "NUMBER_GREATER_THAN_EQ", "NUMBER_LESS"


@pytest.mark.parametrize(
    "bounds",
    [
        [(ABOVE, "=80/100"), (ABOVE, "=65/100"), (BELOW, "=65/100")],
        [(ABOVE, "80"), (ABOVE, "65"), (BELOW, "65")],
    ],
)
def test_an_older_tab_gets_the_new_columns(google: GoogleStandIn, bounds: list[tuple[str, str]]) -> None:
    """A tab of an earlier version gets titles, section, bold anchors, and colours for tiers instead of scores."""
    review_tab(google).write([A, B])
    put(google, A, "Status", "accepted")
    put(google, B, "Notes", "mine")
    old = [0, 1, 2, 10, 11, 6, 7, 8, 9, *range(12, 16)]

    def older(grid: list[list[Any]]) -> list[list[Any]]:
        lines = [[line[at] for at in old] + ["Due" if not at else 7] for at, line in enumerate(grid)]
        return [lines[0], *([*line[:5], 0.876, "sidebar", *line[7:]] for line in lines[1:])]

    rearrange(google, older)()
    looks = google.tab("Review").looks
    looks.hidden = {9, 10, 11, 12}
    for rule, (kind, bound) in zip(looks.rules, bounds, strict=True):
        rule["booleanRule"]["condition"] = {"type": kind, "values": [{"userEnteredValue": bound}]}
    own = {
        **looks.rules[0],
        "booleanRule": {"condition": {"type": "NUMBER_EQ", "values": [{"userEnteredValue": "80"}]}},
    }
    looks.rules.insert(1, own)
    assert review_tab(google).write([row("a", titles=("All teas", "")), C]) == []
    grid = shown(google)
    assert grid[0] == [*HEADERS[:6], "Source", "Target", *HEADERS[6:10], *HEADERS[12:], "Due"]
    assert [line[:1] + line[3:6] + line[8:10] + line[11:12] + line[16:] for line in grid[1:]] == [
        ["accepted", "All teas", "", "/", "75", "related box", "", "7"],
        ["proposed", "", "", "", "87", "related box", "mine", "7"],
        ["proposed", "", "", "/", "75", "related box", "", ""],
    ]
    assert [bold(google, each) for each in (A, B, C)] == [["a anchor"], ["b anchor"], ["c anchor"]]
    looks = google.tab("Review").looks
    assert [name for _, name in colours(google)] == ["in the text", "related box", "needs a look", "80"]
    assert {grid[0][at] for at, _ in colours(google)[:3]} == {"Tier"} and looks.hidden == {12, 13, 14, 15}
    assert "0 to 100" in google.cell_notes("Review")["I1"]
    google.forget()
    assert review_tab(google).write([A, C]) == []
    assert google.calls("^POST /v4") == []


def test_a_viewer_is_told_to_become_editor(google: GoogleStandIn) -> None:
    review_tab(google).write([A])
    google.shared_with[EMAIL] = "reader"
    assert review_tab(google).read() == [verdict(A)]
    with pytest.raises(CredentialsRefused, match="may view .* Editor"):
        review_tab(google).write([A, B])
    google.shared_with[EMAIL] = "writer"
    google.edit("addProtectedRange", protectedRange={"range": {"sheetId": google.tab("Review").sheet_id}})
    with pytest.raises(ServiceError, match=r"the tab Review are protected\. Allow .*Data > Protect sheets"):
        review_tab(google).write([A, B])
    assert ids(shown(google)) == [A.id]


def test_a_tab_is_translated_where_it_stands(google: GoogleStandIn) -> None:
    """Headings, notes, choices and the program's statuses change; what editors wrote stays and is read."""
    review_tab(google).write([A, B, C])
    put(google, A, "Status", "accepted")
    put(google, B, "Notes", "ask Ann")
    said = review_tab(google, GERMAN).read()
    assert said == review_tab(google).read()
    assert review_tab(google, GERMAN).write([A, B, C]) == []
    grid = shown(google)
    assert grid[0][:3] == ["Status", "Ankertext", "Satz"] and grid[0][9:12] == ["Notizen", "Quelle", "Ziel"]
    assert [line[0] for line in grid[1:]] == ["accepted", "vorgeschlagen", "vorgeschlagen"]
    choices = google.tab("Review").looks.validations[-1][1]["condition"]["values"]
    assert {"userEnteredValue": "abgelehnt"} in choices
    assert "Notizen" in google.cell_notes("Review")["J1"]
    put(google, C, "Status", "Abgelehnt")
    read = review_tab(google).read()
    assert [each.status for each in read] == ["accepted", "proposed", "rejected"]
    assert (read[0], read[1].notes) == (said[0], "ask Ann")
    google.forget()
    assert review_tab(google, GERMAN).write([A, B, C]) == []
    assert google.calls("^POST /v4") == []


def test_a_new_tab_is_german_at_once(google: GoogleStandIn) -> None:
    assert review_tab(google, GERMAN).write([A]) == []
    assert shown(google)[:2] == [[*map(GERMAN.headers.get, REVIEW_KEYS)], ["vorgeschlagen", *cells(A)[1:]]]


def test_a_column_of_an_editors_own_is_never_taken_for_ours(google: GoogleStandIn) -> None:
    """A heading that one of ours would get in another language keeps all of ours as they are; a sentence says so."""
    review_tab(google).write([A])
    rearrange(google, lambda grid: [["Notizen", *grid[0]], ["own", *grid[1]]])()
    desk = review_tab(google, GERMAN)
    assert desk.write([A, B]) == []
    assert [line[0] for line in shown(google)] == ["Notizen", "own", ""]
    assert shown(google)[0][1:] == HEADERS
    assert desk.read()[0].notes == ""
    (remark,) = desk.remarks()
    assert "a column of yours is called 'Notizen'" in remark
