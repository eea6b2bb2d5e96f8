"""Posts of WordPress: which ones a page builder keeps, and how the others write links to pages of the site."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from internal_linker.model.urls import encoded
from internal_linker.publish.html import tags

# What each builder leaves in the content that is stored, or in what the site shows of it; known from the builders' own
# code, and from exports and saved pages of sites that use them. A builder that keeps a post's text beside the content
# and shows it past the API, as Bricks may, leaves no mark there.
_MARKS = {
    "Avada": r"\[fusion_builder_container\b",
    "Beaver Builder": r"<!-- wp:fl-builder/layout\b|\bfl-builder-content-\d",
    "Breakdance": r"\bbde-section-\d",
    "Bricks": r"\bbrxe-(?:section|container|block)\b",
    "Brizy": r"\bbrz-root__container\b",
    "Cornerstone": r"\[cs_content\b",
    "Divi": r"\[et_pb_section\b|<!-- wp:divi/(?!layout\b)|\bet_pb_section_\d",
    "Elementor": r"\bdata-elementor-(?:type|id)=",
    "Enfold": r"\[av_(?:section|one_full|layout_row)\b",
    "Oxygen": r"\[ct_section\b|\bct-section-inner-wrap\b",
    "SiteOrigin": r"<!-- wp:siteorigin-panels/layout-block\b|\bpanel-grid-cell\b",
    "Themify": r"<!-- wp:themify-builder/canvas\b|<!--themify_builder_static-->",
    "Thrive": r"\bthrv_wrapper\b",
    "Visual Composer": r"<!--vcv no format-->|\bvce-row-container\b",
    "WPBakery": r"\[vc_(?:row|section)\b",
}
_ANY = re.compile("|".join(f"(?P<m{at}>{marks})" for at, marks in enumerate(_MARKS.values())))
_NAMES = tuple(_MARKS)


def page_builder(content: str, rendered: str) -> str:
    """Return the name of the page builder that made a post; "" if none left a mark."""
    found = _ANY.search(content) or _ANY.search(rendered)
    return _NAMES[int((found.lastgroup or "")[1:])] if found else ""


@dataclass(frozen=True, slots=True)
class PostLinks:
    """The form of links: whole URLs, as WordPress's editor writes them, or paths from the root of the host."""

    from_root: bool = False  # whether they are paths from the root

    @classmethod
    def learn(cls, contents: Iterable[tuple[str, str]]) -> "PostLinks":
        """Return the form that most links have. The contents are given with the URLs of their posts."""
        counts = Counter[bool]()
        for url, content in contents:
            for name, is_end, attributes in tags(content):
                href = attributes.get("href", "").strip() if name == "a" and not is_end else ""
                if href.startswith("/") and not href.startswith("//"):
                    counts[True] += 1
                elif "://" in href and _host(href) == _host(url):
                    counts[False] += 1
        return cls(counts[True] > counts[False])

    def href(self, from_url: str, to_url: str) -> str:
        """Return a link from one page to another as the posts write it; another host's is a whole URL."""
        url = encoded(to_url)
        here, there = urlsplit(encoded(from_url)), urlsplit(url)
        is_same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        if not self.from_root or not is_same or there.path.startswith("//"):
            return url
        return there._replace(scheme="", netloc="", path=there.path or "/").geturl()


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
