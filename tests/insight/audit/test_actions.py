"""The actions of an audit: what to do first, where, and how many pages it helps."""

from dataclasses import replace
from pathlib import Path

import openpyxl

from internal_linker.insight.audit.actions import MOST_OF_A_KIND, ProposedLinks, actions
from internal_linker.insight.audit.records import Action, Audit, Finding, Rule
from internal_linker.insight.audit.workbook import write_workbook
from internal_linker.model.edges import Anchor, Edge
from tests.support.audits import audit, audited, detailed

NAMES = "0abcdefg"
URLS = [f"https://www.slowkettle.example/{name}" for name in NAMES]


def edge(ends: str, **changes: object) -> Edge:
    source, target = (URLS[NAMES.index(name)] for name in ends)
    found = Edge(source, target, source, target, strength=0.9, tier="inline", status="proposed")
    return replace(found, **changes)  # type: ignore[arg-type]


def small(edges: list[Edge]) -> Audit:
    """Return the audit of eight pages: 0 links to a, b and back; c and d link to each other; the others are orphans."""
    at = {url: row for row, url in enumerate(URLS)}
    known = [(0, 1), (0, 2), (1, 0), (2, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    offered = [((at[one.source], at[one.target]), 3.0) for one in edges]
    return detailed(audited(URLS, ["Home", *"ABCDEFG"], known, offered), edges)


def told(found: Audit) -> list[tuple[str, int, str]]:
    return [(one.rule, one.pages, one.what) for one in found.actions]


def test_the_best_link_of_each_weak_page_is_named_with_its_anchor() -> None:
    tea = (Anchor("green tea", "We like green tea a lot."),)
    found = small(
        [
            edge("ae", anchors=tea, strength=0.85),
            edge("be", tier="sidebar", strength=0.99),
            edge("bf", anchors=(Anchor("f words"),)),
            edge("bg", anchors=(Anchor("g words"),)),
            edge("0d", tier="sidebar", anchors=(Anchor("D", verbatim=False),)),
            edge("gf", tier="review", strength=0.1),
        ]
    )
    assert told(found) == [
        (Rule.ORPHAN, 2, "Link from “B” to 2 pages"),
        (Rule.ORPHAN, 1, "Link from “A” to “E” with the anchor “green tea” (in the text)"),
        (Rule.CLOSED_CIRCLE, 2, "Link from “Home” to “D” (related box)"),
    ]
    assert [link.anchor for link in found.actions[0].links] == ["f words", "g words"]
    assert found.actions[1].links[0].sentence == "We like green tea a lot."


def test_wrong_targets_dense_pages_and_copies_are_grouped_by_what_mends_them() -> None:
    detail = "The link's target: HTTP status 404. Link to https://x.example/new."
    findings = [
        *(Finding(Rule.REDIRECTED_TARGET, url, detail, "https://x.example/old") for url in URLS[:3]),
        Finding(Rule.BROKEN_TARGET, URLS[1], detail, "https://x.example/gone"),
        Finding(Rule.BROKEN_TARGET, URLS[2], detail, "https://x.example/planned", "new"),
        Finding(Rule.DENSE, URLS[3], "It has 160 links, with a limit of 100."),
        Finding(Rule.DUPLICATE, URLS[4], "62%.", URLS[5]),
        Finding(Rule.DUPLICATE, URLS[6], "70%.", URLS[5]),
    ]
    found = replace(small([]), findings=findings)
    assert [(one.rule, one.pages, one.what) for one in actions(found, [])] == [
        (Rule.BROKEN_TARGET, 1, "Change the links to https://x.example/gone on 1 page"),
        (Rule.REDIRECTED_TARGET, 3, "Change the links to https://x.example/old on 3 pages"),
        (Rule.DUPLICATE, 2, f"Keep {URLS[5]}; canonicalise or merge its 2 copies"),
        (Rule.DENSE, 1, f"Split {URLS[3]}, or remove links from it"),
    ]
    assert actions(found, [])[0].detail == detail


def test_no_kind_of_action_crowds_out_the_others() -> None:
    found = audit(200)
    dense = [Finding(Rule.DENSE, url, "Too many.") for url in found.urls[:9]]
    kinds = [one.rule for one in actions(replace(found, findings=[*found.findings, *dense]), found.links)]
    assert len(kinds) == 10 and kinds.count(Rule.ORPHAN) == MOST_OF_A_KIND
    few = replace(found, findings=[one for one in found.findings if one.rule == Rule.ORPHAN])
    only = actions(few, few.links)
    assert [one.rule for one in only] == [Rule.ORPHAN] * 10
    assert [one.pages for one in only] == sorted((one.pages for one in only), reverse=True)


def test_strong_links_fill_up_the_actions() -> None:
    offered = [((0, 1), 4.5), ((1, 2), 5.0), ((2, 0), 0.0)]
    every = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]
    assert not audited(URLS[:3], ["Home", "A", "B"], every, offered).actions
    assert [one.what for one in audited(URLS[:3], ["Home", "A", "B"], [], offered).actions] == [
        "Link from “A” to “B” with the anchor “B” (in the text)",
        "Link from “Home” to “A” with the anchor “A” (in the text)",
    ]
    # A title from right to left does not turn the sentence.
    found = audited(URLS[:3], ["", "قهوه", ""], [(0, 2), (2, 0)], [((0, 1), 4.0)])
    assert found.actions[0].what.startswith(f"Link from {URLS[0]} to “\u2068قهوه\u2069” with")


def test_the_strongest_links_are_shown_and_those_to_weak_pages() -> None:
    """Beyond the limit, weaker links to orphans are still known, so that an action can name them."""
    found = audit(200)
    rows = {url: row for row, url in enumerate(found.urls)}
    shown = ProposedLinks(found, {}, rows, most=3).links()
    weak = {one.page for one in found.findings if one.rule in (Rule.ORPHAN, Rule.UNDER_LINKED)}
    assert [one.strength for one in shown[:3]] == sorted(found.candidates.weights, reverse=True)[:3]
    assert len(shown) <= 6 and sum(found.urls[one.target] in weak for one in shown) >= 3


def test_the_workbook_has_the_actions_and_all_proposed_links(tmp_path: Path) -> None:
    found = small([edge("ae", anchors=(Anchor("tea", "=Fine tea."),))])
    found = replace(found, actions=[*found.actions, Action("dense", "warning", 1, "=1+1", "x", (), ())])
    assert write_workbook(tmp_path / "audit.xlsx", found) == []
    book = openpyxl.load_workbook(tmp_path / "audit.xlsx", rich_text=True)
    assert book.sheetnames[:3] == ["Summary", "Actions", "Proposed links"]
    assert [row[0].value for row in book["Actions"].iter_rows()] == [
        "What to do",
        "Link from “A” to “E” with the anchor “tea” (in the text)",
        "=1+1",
    ]
    header, row = book["Proposed links"].iter_rows(values_only=True)
    line = dict(zip(header, row, strict=True))
    assert [str(part) for part in line["Sentence"]] == ["=Fine ", "tea", "."]
    assert (line["Source title"], line["Target title"], line["Anchor"]) == ("A", "E", "tea")
    assert (line["Score"], line["Tier"], line["Source section"]) == (90, "in the text", "/")
    found = audit(200)
    (remark,) = write_workbook(tmp_path / "audit.xlsx", replace(found, links=found.links[:7]))
    assert remark == "files/audit.xlsx has the 7 strongest proposed links; links.csv has all."
