"""Posts of WordPress whose text a page builder keeps: what the site shows of them is not made of their content."""

import re

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
    """Return the name of the page builder that made a post; "" if none left a mark.

    Args:
        content: the post's content as it is stored.
        rendered: HTML of its content as the site shows it.
    """
    found = _ANY.search(content) or _ANY.search(rendered)
    return _NAMES[int((found.lastgroup or "")[1:])] if found else ""
