"""How many of the editors' links of both development sites can be put back into their texts, as a table.

    python -m tests.research.quality.placements   prints the tables; --show N also prints N of the results

The plain texts of the sites are written as Markdown and as HTML, in several ways, with lists, quotes, tables, entities
and escapes. Each link is then put at its anchor, one at a time. A link counts where its anchor stands in the text.
"""

import argparse
import gc
import html
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from internal_linker.insight.evaluation.page_text import link_spans
from internal_linker.model.records import ExistingLink, Page
from internal_linker.model.source_files import Markup
from internal_linker.publish.insertion import Inserted, Placement, Refusal, insert
from internal_linker.text.sentences import around, paragraphs, sentences
from tests.support.corpora import DEVELOPMENT, whole_site

FILES = 1000
_SIGNS = re.compile(r"([\\`*_\[\]<>~|$])")
_BLOCK_BEGIN = re.compile(r"(?=[#+\-=>:!]|\d+[.)])")
# Every so many lines there is a block of another kind.
_EVERY = 7
_LIST = "<!-- wp:list -->\n<ul>\n<!-- wp:list-item -->\n<li>{0}</li>\n<!-- /wp:list-item -->\n</ul>\n<!-- /wp:list -->"
_PARAGRAPH = """<!-- wp:paragraph {{"align":"left"}} -->
<p class="has-text-align-left">{0}</p>
<!-- /wp:paragraph -->"""
_PAGE = """<!DOCTYPE html>
<html><head><title>{0}</title><style>p > a {{}}</style></head>
<body><nav><a href=/>{0}</a></nav><main><h1>{0}</h1>
{1}
</main><script>let a = '<p>'</script></body></html>
"""


@dataclass(frozen=True)
class Case:
    """A link and the text to put it into.

    Attributes:
        site: the site's name.
        text_format: what the text is written in.
        text: the text.
        placement: the link.
    """

    site: str
    text_format: Markup
    text: str
    placement: Placement


def as_markdown(page: Page) -> str:
    """Return a page's text as Markdown: each line is a paragraph, an item, a quote, or a cell."""
    blocks = [f"---\ntitle: {page.title!r}\n---"]
    for number, line in enumerate(_paragraphs(page)):
        text = _SIGNS.sub(r"\\\1", line).strip()
        text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
        text = _BLOCK_BEGIN.sub(lambda sign: "\\", text, count=1) if _is_block(text) else text
        match number % _EVERY:
            case 2:
                blocks.append(f"- {text}\n- more")
            case 3:
                blocks.append(f"> {_wrapped(text, '> ')}")
            case 4:
                blocks.append(f"| a | b |\n|---|---|\n| {text} | x |")
            case 5:
                blocks.append(f"1. one\n\n   {_wrapped(text, '   ')}\n")
            case _:
                blocks.append(_wrapped(text, ""))
    return "\n\n".join(blocks) + "\n"


def _paragraphs(page: Page) -> list[str]:
    """Return the lines of a page's text, without breaks that are mere wraps."""
    text = str(page.content)
    return [
        text[start:end].replace("\n", " ").strip() for start, end in pairwise([*paragraphs(text), len(text)])
    ]


def _is_block(text: str) -> bool:
    return _BLOCK_BEGIN.match(text) is not None and not text[:1].isdigit()


def _wrapped(text: str, prefix: str) -> str:
    """Return a text in lines of about 80 characters."""
    lines, line = [], ""
    for word in text.split(" "):
        # A word that would begin a block stays in its line.
        if len(line) + len(word) > 80 and line and word[:1].isalpha():
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return f"\n{prefix}".join([*lines, line])


def as_html(page: Page, number: int) -> str:
    """Return a page's text as WordPress's blocks, as classic content, or as a whole page, by the page's number."""
    lines = [html.escape(line, quote=bool(number % 2)) for line in _paragraphs(page)]
    lines = [
        line.replace("\xa0", "&nbsp;").replace("—", "&mdash;").replace("\u200c", "&zwnj;") for line in lines
    ]
    if number % 3 == 0:
        return "\n\n".join(
            (_LIST if at % _EVERY == 3 else _PARAGRAPH).format(line) for at, line in enumerate(lines)
        )
    if number % 3 == 1:
        return "\n\n".join(lines)
    body = "\n".join(f"<p>{line}" if at % 2 else f"<div><p>{line}</p></div>" for at, line in enumerate(lines))
    return _PAGE.format(html.escape(page.title), body)


def cases(name: str) -> Iterator[Case]:
    """Yield the links of a site whose anchor stands in the text, with the text in each format."""
    site = whole_site(name)
    pages = {page.key: page for page in site.pages}
    for link in site.links:
        page = pages.get(link.source)
        if page is None or not (spans := link_spans(str(page.content), link)):
            continue
        placement = _placement(page, link, spans[0])
        yield Case(name, "markdown", as_markdown(page), placement)
        yield Case(name, "html", as_html(page, site.rows[page.key]), placement)


def _placement(page: Page, link: ExistingLink, span: tuple[int, int]) -> Placement:
    text = str(page.content)
    sentence = around(text, sentences(text), *span)
    return Placement(link.target, link.target, text[slice(*span)], sentence, lambda href: href == link.target)


def main() -> None:
    """Put each link into its text, and print how many went and why others did not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--show", type=int, default=0, help="how many results to print")
    show = parser.parse_args().show
    found = [
        (case, insert(case.text, case.text_format, case.placement))
        for site in DEVELOPMENT
        for case in cases(site)
    ]
    print("| site | format | links | applied | in the sentence | refused |\n|---|---|---|---|---|---|")
    for site in DEVELOPMENT:
        for text_format in ("markdown", "html"):
            results = [one for case, one in found if (case.site, case.text_format) == (site, text_format)]
            applied = [one for one in results if isinstance(one, Inserted)]
            within = sum(one.in_sentence for one in applied)
            reasons = Counter(one.name for one in results if isinstance(one, Refusal))
            share = len(applied) / len(results)
            refused = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
            print(
                f"| {site} | {text_format} | {len(results)} | {share:.1%} | {within / len(results):.1%} | {refused} |"
            )
    _time([case for case, _ in found])
    for case, one in found[:: max(1, len(found) // show)] if show else ():
        _print(case, one)


def _time(known: list[Case]) -> None:
    # A page with many links counts once.
    known = list({(case.text_format, case.text): case for case in known}.values())
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number in range(FILES):
            case = known[number * 7 % len(known)]
            path = Path(folder) / f"{number}"
            path.write_text(case.text, encoding="utf-8")
            files.append((path, case))
        gc.set_threshold(100_000)  # as the command line does
        began, worked = time.perf_counter(), time.process_time()
        for path, case in files:
            insert(path.read_text(encoding="utf-8"), case.text_format, case.placement)
        took, worked = time.perf_counter() - began, time.process_time() - worked
    size = sum(len(case.text) for _, case in files) / FILES
    print(
        f"\n{FILES} files of {size:,.0f} characters on average: {took:.2f} s, {worked:.2f} s of CPU",
        file=sys.stderr,
    )


def _print(case: Case, one: Inserted | Refusal) -> None:
    print(f"\n--- {case.site}, {case.text_format}: {case.placement.anchor!r}")
    if isinstance(one, Inserted):
        print(f"{one.in_sentence=}", one.text[max(0, one.start - 100) : one.end + 80].replace("\n", "⏎"))
    else:
        print(one.name, "|", case.placement.sentence)


if __name__ == "__main__":
    main()
