"""URLs that are invalid, misleading, or harmful when opened."""

from collections.abc import Iterator

from tests.research.hostile.cases import Hostile, holds
from tests.research.hostile.tables import LINKS, PAGES, QUERIES, rows_of, text_of
from tests.support.small_project import SITE

HOST = SITE.removeprefix("https://")
URLS = (
    *(
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>x</script>",
    ),
    *(
        "vbscript:x",
        "file:///etc/passwd",
        "ftp://www.tiny.example/",
        "mailto:a@b.example",
        "tel:+1",
        "about:blank",
    ),
    *("/green-tea/", "green-tea", "../../green-tea", "//www.tiny.example/green-tea/", "?q=tea", "#top", "."),
    *(f"https://user:secret@{HOST}/green-tea/", f"https://user@{HOST}/", f"https://:secret@{HOST}/"),
    *(
        "https://",
        "https:///green-tea",
        "http:/www.tiny.example/",
        "https:www.tiny.example",
        "https://?",
        "://",
    ),
    *(f"https://{HOST}:99999/", f"https://{HOST}:-1/", f"https://{HOST}:port/", f"https://{HOST}:/x"),
    *("https://[::1]/", "https://[::1", "https://[v1.x]/", "https://[fe80::1%25eth0]/", "https://::1/"),
    *("https://127.0.0.1/", "https://0x7f.1/", "https://2130706433/", "https://localhost/", "https://a..b/"),
    *(
        "https://wwԝ.tiny.example/",
        "https://tıny.example/",
        "https://ｗｗｗ.tiny.example/",
        "https://xn--a.example/",
    ),
    *(
        "https://xn--0.example/",
        "https://\u202eelpmaxe.ynit/",
        "https://www.tiny.example\u3002/",
        "https://☃.net/",
    ),
    *("https://-a.example/", "https://a-.example/", "https://a_b.example/", f"https://{'a' * 64}.example/"),
    *(
        f"https://{'a.' * 130}example/",
        f"{SITE}/{'a' * 100_000}",
        f"{SITE}/?{'a=b&' * 25_000}",
        "h" * 100_000,
    ),
    *(f"{SITE}/%", f"{SITE}/%zz", f"{SITE}/%00", f"{SITE}/%ff%fe", f"{SITE}/%252e%252e/", f"{SITE}/a\\b"),
    *(
        f"{SITE}/a b",
        f"{SITE}/a\u00a0b",
        f"{SITE}/a\u200bb",
        f"{SITE}/a\x00b",
        f"{SITE}/a\x1bb",
        f"{SITE}/a\nb",
    ),
    *(f"{SITE}/\ud800", f"{SITE}/\U0010ffff", f"{SITE}/..", f"{SITE}/./.", f"{SITE}//////", f"{SITE}/;a=b"),
    *(
        f"{SITE}/<script>",
        f'{SITE}/"onload=x',
        f"{SITE}/'",
        f"{SITE}/`x`",
        f"{SITE}/{{{{x}}}}",
        f"{SITE}/[x]",
    ),
    *(f'=HYPERLINK("{SITE}")', f"+{SITE}", f"-{SITE}", f"@{SITE}", f"'{SITE}", f'"{SITE}"', f"<{SITE}>"),
    *(f"{SITE}, {SITE}/water/", f"{SITE} {SITE}", "N/A", "NaN", "None", "null", "0", "-1", "1e309", "TRUE"),
)


def addresses() -> Iterator[Hostile]:
    """Yield each as a page's URL, as a query's, and as the target of links and redirects."""
    for number, url in enumerate(URLS):
        shown = f"URL {number}, {url[:40]!r}"
        pages = rows_of(PAGES)
        yield holds(f"{shown} of a page", PAGES, text_of([*pages, (url, "Tea", "Tea of any kind.")]))
        yield holds(f"{shown} of a query", QUERIES, text_of([*rows_of(QUERIES), (url, "tea")]))
        led = [("https://www.tiny.example/old/", url, url, f'<p>Tea <a href="{url}">{url}</a> and tea.</p>')]
        names = ("URL", "Canonical", "Redirect URL", "Main Content")
        wide = [names, *((row[0], "", "", row[2]) for row in pages[1:])]
        yield holds(f"{shown} led to", PAGES, text_of([*wide, *led]))
        yield holds(f"{shown} linked", LINKS, text_of([*rows_of(LINKS), (url, url, url), (SITE, url, "tea")]))
