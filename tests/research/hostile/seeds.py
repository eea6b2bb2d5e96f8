"""A few good inputs for each reader, which fuzzers damage."""

import gzip
import json

from internal_linker.project.settings.template import render_settings
from tests.research.hostile.stores import one_sheet
from tests.research.hostile.tables import LINKS, PAGES, QUERIES, rows_of, text_of
from tests.support.drafts import document, paragraph
from tests.support.small_project import SITE
from tests.support.web_server import sitemap
from tests.support.web_sites import html_page

_KEY = {
    "type": "service_account",
    "client_email": "a@b.example",
    "private_key": "-----BEGIN",
    "project_id": "x",
}
_HTML = (
    '<!doctype html><nav>Menu</nav><h1>Tea</h1><p>Green <b>t</b>ea &amp; <a href="/water/">water</a><br>hot'
    "<ul><li>one<li>two</ul><script>var x = '<p>'</script><table><tr><td>1<td>2</table><!-- no -->"
)
_TABLE = "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{}</w:tc></w:tr></w:tbl>"
_PAGE = html_page("Tea", head='<base href="/x/"><meta name=robots content=noindex>', links=[("../a", "pots")])
_SITEMAP = sitemap(f"{SITE}/a", f"{SITE}/b?c=d&e=f")
_GOOGLE = {
    "error": {"code": 403, "message": "The caller does not have permission", "details": [{"reason": "X"}]}
}
_TAB = {"title": "Main", "sheetId": 0, "gridProperties": {"columnCount": 26}}
_VECTORS = {"data": [{"index": at, "embedding": [0.6, 0.8]} for at in (1, 0)], "usage": {"total_tokens": 5}}
_WORDS = {"choices": [{"message": {"content": "tea"}}], **_VECTORS}


def _tables(file: str) -> list[bytes]:
    rows = rows_of(file)[:3]
    text = text_of(rows)
    return [
        text.encode(),
        text_of(rows, ";").encode("utf-16"),
        f"sep=\t\n{text_of(rows, chr(9))}é".encode("cp1252"),
    ]


def _answers(*bodies: object) -> list[bytes]:
    """Return each answer with a first byte for each kind of status."""
    texts = [json.dumps(body).encode() for body in bodies]
    return [bytes([status]) + text for text in texts for status in (0, 1, 2, 4, 9)]


SEEDS: dict[str, list[bytes]] = {
    "pages": [
        *_tables(PAGES),
        f'URL,Canonical,Main Content\n{SITE},/a,"{_HTML}"'.replace('="', "=").encode(),
    ],
    "queries": _tables(QUERIES),
    "links": _tables(LINKS),
    "encoding": _tables(PAGES),
    "html": [_HTML.encode()],
    "web_page": [b"text/html; charset=utf-8\n" + page for page in (_HTML.encode(), _PAGE.encode())],
    "sitemap": [_SITEMAP.encode(), gzip.compress(_SITEMAP.encode()), f"{SITE}/a\n{SITE}/b\n".encode()],
    "robots": [
        b"User-agent: *\nDisallow: /*.php$\nAllow: /a\nCrawl-delay: 2\nSitemap: https://a.example/s.xml\n"
    ],
    "embedding": [b"[0.25, -1e-3, 3]", b"0.25,-1.5, 3"],
    "urls": [
        f"{SITE}:443/a%c3%a4/b?utm_source=x&q=%41#top".encode(),
        "HTTPS://bücher.example/ä/?b=1".encode(),
    ],
    "patterns": [b"# no\n/tag/\n\\?page=[0-9]+$\n(?i)login|basket\n"],
    "settings": [render_settings().encode(), b"[a]\nb = 1", b'links_per_page = 5\nserp_provider = "none"'],
    "account": [
        json.dumps({**_KEY, "token_uri": "https://a.example/token"}).encode(),
        json.dumps(_KEY).encode(),
    ],
    "workbook": [one_sheet("Link Id", "Status", "Anchor")],
    "draft": [
        b"---\ntitle: Tea\n---\n# Tea\n\n[Green](/tea/) *tea*\n\n- a\n\n```\nb\n```\n",
        document(paragraph("Tea", "Heading1"), paragraph("Green <w:tab/>")).encode(),
        document(_TABLE.format(paragraph("Tea"))).encode("utf-16"),
    ],
    "serper": _answers(
        {"organic": [{"link": SITE}, {"link": 5}], "credits": 1}, {"message": "Not enough credits"}
    ),
    "serpapi": _answers(
        {"search_metadata": {"status": "Success"}, "organic_results": [{"link": SITE}, {"link": 5}]},
        {"search_metadata": {"status": "Error"}, "error": "Your account has run out of searches."},
    ),
    "openai": _answers(_WORDS, {"error": {"message": "too long", "code": "insufficient_quota"}}),
    "google": _answers(_GOOGLE, {"sheets": [{"properties": _TAB}], "values": [["URL"], ["a"]]}),
    "headers": [b"5", b"1.5", b"Wed, 21 Oct 2037 07:28:00 GMT", b"-1", b"1e400"],
}
