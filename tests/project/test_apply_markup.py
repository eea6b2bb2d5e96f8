"""Proposed anchors can be applied: what an import knows of headings, links and code, it keeps for the run."""

import re
from collections import Counter
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.model.edges import Edge
from internal_linker.model.progress import Tracker as Notes
from internal_linker.model.urls import normal_form
from internal_linker.project.apply import ApplyOutcome, apply
from internal_linker.project.options.decisions import ApplyOptions
from internal_linker.project.project import open_project
from internal_linker.project.site_texts import imported_site
from internal_linker.publish.insertion import Refusal
from internal_linker.store.files.text_spool import TextSpool
from tests.support.small_project import command, write_csv, write_settings, write_text

SITE = "https://www.leaves.example"
NAMES = (
    "clay pots", "dark tins", "soft water", "green tea", "black tea", "bamboo whisks", "porcelain cups", "tea rooms",
)  # fmt: skip
# Sentences with a name, in Markdown as MkDocs reads it and in HTML. In the first four forms it can be linked.
FORMS = (
    ("Many people love {0} on a Sunday.", "<p>Many people love {0} on a Sunday.</p>"),
    (
        '!!! note "About {0}"\n\n    Buy {0} early, as few are left.',
        '<div class="admonition note"><p class="admonition-title">About {0}</p>'
        "<p>Buy {0} early, as few are left.</p></div>",
    ),
    ("Advice\n:   Take care of {0} at home.", "<dl><dt>Advice</dt><dd>Take care of {0} at home.</dd></dl>"),
    ("## All {0}\n\nWe have *{0}* for all.", "<h2>All {0}</h2><p>We have <em>{0}</em> for all.</p>"),
    (
        "Ask our [{0}](mailto:a@leaves.example) team.",
        '<p>Ask our <a href="mailto:a@leaves.example">{0}</a> team.</p>',
    ),
    ("The word `{0}` prints a list.", "<p>The word <code>{0}</code> prints a list.</p>"),
    ("What [{0}](#end) cost is below.", '<p>What <a href="#end">{0}</a> cost is below.</p>'),
)
OPEN = 4


def page(number: int) -> tuple[str, str]:
    """Return a page in Markdown and in HTML: each other name stands on it in a form of its own."""
    title, others = NAMES[number].capitalize(), (*NAMES[number + 1 :], *NAMES[:number])
    parts = [[way.format(name) for way in form] for form, name in zip(FORMS, others, strict=True)]
    intro = f"This page is about {NAMES[number]} and all that our little shop has to say on them."
    text = "\n\n".join([f"# {title}", intro, *(one for one, _ in parts)])
    body = f"<h1>{title}</h1><p>{intro}</p>" + "".join(one for _, one in parts)
    html = f'<html lang="en"><head><title>{title}</title></head><body><main>{body}</main></body></html>'
    return f"---\ntitle: {title}\n---\n\n{text}\n", html


def results(folder: Path, way: str) -> Counter[str]:
    """Import a site in a way, accept a link at each name that may be an anchor, and return what becomes of them."""
    project, sources, saved = folder / "project", folder / "docs", folder / "site"
    rows = [("URL", "Title", "Main Content")]
    for number, name in enumerate(NAMES):
        text, html = page(number)
        write_text(sources / f"{slug(name)}.md", text)
        write_text(saved / slug(name) / "index.html", html)
        plain = re.sub(r"<[^>]*>", "", re.sub(r"</(?:h\d|p|dt|dd)>", "\n", html.partition("<main>")[2]))
        marked = text.partition("---\n\n")[2]
        rows.append((url(name), name.capitalize(), plain if way == "plain" else marked))
    write_settings(project, {"search_query_template": "site:www.leaves.example {main_query}"})
    write_csv(folder / "crawl.csv", rows)
    given = (str(saved), "--base-url", f"{SITE}/") if way == "html" else (str(folder / "crawl.csv"),)
    assert command("import", *given, "--yes", "--project", str(project)) == 0
    opened = open_project(project)
    with closing(TextSpool(project / "files")) as spool, opened.graph(read_only=False) as (edges, _):
        anchoring = Anchoring(CountedSite(imported_site(opened, spool, Notes())))
        edges.put(
            [
                Edge(
                    normal_form(ends[0]),
                    normal_form(ends[1]),
                    *ends,
                    tier="inline",
                    status="accepted",
                    verdict="accepted",
                    anchors=(anchor,),
                )
                for ends, name in (((url(one), url(other)), other) for one, other in permutations(NAMES, 2))
                if (anchor := anchoring.placed(normal_form(ends[0]), name)).verbatim
            ]
        )
    found = apply(opened, ApplyOptions(files=sources, max_per_page=99), Notes())
    return Counter(str(link.reason or link.outcome) for link in found.links)


def slug(name: str) -> str:
    return name.replace(" ", "-")


def url(name: str) -> str:
    return f"{SITE}/{slug(name)}/"


@pytest.mark.parametrize("way", ["html", "markdown"])
def test_an_import_with_markup_leads_to_anchors_that_can_be_applied(tmp_path: Path, way: str) -> None:
    """No anchor stands only in a heading, a link, code or a title of a note; text in notes and definitions is open."""
    assert results(tmp_path, way) == {ApplyOutcome.PLANNED: OPEN * len(NAMES)}


def test_a_crawl_without_markup_is_uncertain(tmp_path: Path) -> None:
    """Without markup, some anchors can't be applied, and their refusal says why."""
    found = results(tmp_path, "plain")
    assert found == {
        ApplyOutcome.PLANNED: OPEN * len(NAMES),
        Refusal.UNCERTAIN: (len(FORMS) - OPEN) * len(NAMES),
    }
