"""Tables far larger than any site's, written piece by piece when needed and never in memory."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

from tests.research.hostile.cases import Hostile
from tests.research.hostile.tables import LINKS, PAGES, QUERIES, rows_of, text_of
from tests.support.small_project import SITE

SIZE, MANY = 50_000_000, 1_000_000
ROWS = MANY // 2


def large() -> Iterator[Hostile]:
    """Yield long cells, many columns, many rows, and many repetitions of HTML that is slow to parse."""
    contents = {
        "50 MB of words": _long("tea leaves and water "),
        "50 MB of words of their own": (f"tea{number:07} " for number in range(SIZE // 11)),
        "50 MB of HTML": _long("<p>Tea <b>leaves</b> and <a href=/water/>water</a>."),
        "50 MB of <": _long("<"),
        "50 MB of a tag that never ends": chain(["<p "], _long("tea=leaves ")),
        "100,000 links": (f"<a href=/{number}/>Tea {number}</a> " for number in range(100_000)),
        **{
            f"a million open {tag}": repeat(tag, MANY)
            for tag in ("<div>", "<b><i>", "<a href=x>", "<p>x<nav>")
        },
        "a million elements in elements": chain(repeat("<div>", MANY), ["tea"], repeat("</div>", MANY)),
    }
    for name, content in contents.items():
        yield _more(f"a content of {name}", PAGES, [f'{SITE}/large/,Large,"'], content, ['"\r\n'])
    yield _more("a title of 50 MB", PAGES, [f"{SITE}/large/,"], _long("tea "), [",Tea\r\n"])
    yield _more("a URL of 50 MB", PAGES, [f"{SITE}/large/"], _long("tea"), [",Large,Tea\r\n"])
    yield _more("a query of 50 MB", QUERIES, [f"{SITE}/water/,"], _long("tea leaves "), ["\r\n"])
    yield _more("an anchor of 50 MB", LINKS, [f"{SITE}/water/,{SITE}/storage/,"], _long("tea "), ["\r\n"])
    header, *rows = text_of(rows_of(PAGES)).splitlines()
    wide = (f"{line}{',tea' * 100_000}\r\n" for line in (header, *rows))
    yield _is("100,000 columns", PAGES, wide)
    yield _is(
        "a name of 50 MB in its header", PAGES, [header, ","], _long("tea"), ["\r\n", "\r\n".join(rows)]
    )
    yield _more("5 million empty lines", PAGES, repeat("\r\n", 5 * MANY))
    yield _more("5 million lines of separators", PAGES, repeat(",,\r\n", 5 * MANY))
    yield _more("a quotation mark that stays open before 50 MB", PAGES, ['"'], _long("tea leaves\r\n"))
    yield _is("50 MB without a separator or an end of a line", PAGES, _long("tea"))
    yield _is("50 MB of separators", PAGES, _long(","))
    yield _more("half a million rows of one page", PAGES, repeat(f"{SITE}/water/,Water,Soft water\r\n", ROWS))
    yield _more(
        "half a million queries of no page", QUERIES, (f"tea,tea {number}\r\n" for number in range(ROWS))
    )
    yield _more("half a million rows of junk", LINKS, (f"tea,{number},tea\r\n" for number in range(ROWS)))


def _long(piece: str) -> Iterator[str]:
    """Return 50 MB of one piece."""
    return repeat(piece * 1000, SIZE // (1000 * len(piece)) + 1)


def _more(name: str, file: str, *parts: Iterable[str]) -> Hostile:
    """Return a good table with more at its end."""
    return _is(name, file, [text_of(rows_of(file))], *parts)


def _is(name: str, file: str, *parts: Iterable[str]) -> Hostile:
    def put(project: Path) -> None:
        with (project / file).open("w", encoding="utf-8", newline="") as table:
            table.writelines(chain(*parts))

    return Hostile(f"{file}: {name}", put, Path(file).name)
