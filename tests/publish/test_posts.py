"""Posts of WordPress: which a page builder made, and how they write their links."""

import pytest

from internal_linker.publish.posts import PostLinks, page_builder

HERE, THERE = "https://a.example/one/", "https://a.example/caf%C3%A9/?x=1&y=2"
PATH = "/caf%C3%A9/?x=1&y=2"
MADE = {
    "Avada": "[fusion_builder_container type='flex']Text[/fusion_builder_container]",
    "Beaver Builder": "<!-- wp:fl-builder/layout --><p>Text</p><!-- /wp:fl-builder/layout -->",
    "Brizy": '<div class="brz-root__container brz-reset-all"></div>',
    "Cornerstone": "[cs_content]Text[/cs_content]",
    "Divi": '[et_pb_section fb_built="1"]Text[/et_pb_section]',
    "Enfold": "[av_section min_height='']Text[/av_section]",
    "Oxygen": "[ct_section ct_options='{}']Text[/ct_section]",
    "SiteOrigin": "<!-- wp:siteorigin-panels/layout-block {} /-->",
    "Themify": "<!-- wp:themify-builder/canvas /--><!--themify_builder_static--><p>Text</p>",
    "Visual Composer": '<!--vcv no format--><div class="vce-row-container">Text</div>',
    "WPBakery": "[vc_row][vc_column]Text[/vc_column][/vc_row]",
}
SHOWN = {
    "Beaver Builder": '<div class="fl-builder-content fl-builder-content-7 fl-builder-content-primary">Text</div>',
    "Breakdance": '<section class="bde-section-28-100 bde-section">Text</section>',
    "Bricks": '<section id="brxe-a" class="brxe-section">Text</section>',
    "Divi": '<div class="et_pb_section et_pb_section_0">Text</div>',
    "Elementor": '<div data-elementor-type="wp-page" data-elementor-id="7" class="elementor elementor-7">Text</div>',
    "Thrive": '<div class="thrv_wrapper thrv_text_element">Text</div>',
}


def test_builders_are_known_by_what_is_stored_or_shown() -> None:
    for name, content in MADE.items():
        assert page_builder(content, "<p>Text</p>") == name
    for name, content in SHOWN.items():
        assert page_builder("<p>Text</p>", content) == name


@pytest.mark.parametrize(
    "content",
    [
        "",
        "<!-- wp:paragraph -->\n<p>Elementor and Divi are page builders.</p>\n<!-- /wp:paragraph -->",
        '[gallery ids="1"] [caption]Text[/caption] [vcard]',
        "<p>One</p><!-- wp:divi/layout -->[et_pb_text]Two[/et_pb_text]<!-- /wp:divi/layout -->",
        '<div class="wp-block-kadence-rowlayout kb-row-layout-id1">Text</div>',
    ],
)
def test_other_posts_are_not(content: str) -> None:
    assert page_builder(content, content) == ""


@pytest.mark.parametrize(
    ("content", "href"),
    [
        ("<p>No link</p>", THERE),
        ('<a href="https://a.example/x/">x</a> <a href="/y/">y</a>', THERE),
        (
            '<a href="/x/">x</a> <a href="/y/">y</a> <a href="https://A.example/z/">z</a>',
            PATH,
        ),
        (
            '<a href="/x/">x</a> <a href="https://other.example/">y</a> <a href="//b.example">z</a>',
            PATH,
        ),
        ("<!-- <a href='/x/'> --> <a name='/x/'>x</a> <a href='http://['>y</a> <a href='#top'>z</a>", THERE),
    ],
)
def test_links_are_written_as_most_links_are(content: str, href: str) -> None:
    assert PostLinks.learn([(HERE, content)]).href(HERE, THERE) == href


@pytest.mark.parametrize(
    ("target", "href"),
    [
        ("https://a.example", "/"),
        ("http://a.example/two/", "http://a.example/two/"),
        ("https://b.example/two/", "https://b.example/two/"),
        ("https://a.example//two/", "https://a.example//two/"),
        ("https://a.example/a b/", "/a%20b/"),
    ],
)
def test_a_path_from_the_root_leads_to_the_target(target: str, href: str) -> None:
    """Where a path would lead elsewhere, the link is the whole URL."""
    assert PostLinks(from_root=True).href(HERE, target) == href
