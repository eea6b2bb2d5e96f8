"""Accepted links in the posts of a real WordPress: exact in all of them, and taken back byte by byte."""

import re
import signal
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from internal_linker.model.edges import Edge
from internal_linker.project.apply import ApplyOutcome, ApplyResult
from internal_linker.project.project import open_project
from internal_linker.project.targets import SkipReason
from internal_linker.project.undo_links import applications
from internal_linker.publish.insertion import Refusal
from tests.support.crawls import empty_project, imported
from tests.support.post_site import accepted, applied, by_link, put_links, sign_in, undone
from tests.support.small_project import start
from tests.support.wordpress import WordPress
from tests.support.wordpress_posts import LANGUAGES, slug_of

pytestmark = pytest.mark.long

COUNT = 120


@pytest.fixture
def project(tmp_path: Path, wordpress: WordPress) -> Path:
    """Return a project into which the site was imported, without links."""
    made = empty_project(tmp_path / "project")
    sign_in(made, wordpress.url, "admin", wordpress.passwords["admin"])
    assert imported(made, "--wordpress", wordpress.url, "--delay", "0") == 0
    return made


def url(site: WordPress, number: int) -> str:
    return f"{site.url}/{slug_of(number % COUNT)}/"


def links_of(site: WordPress, number: int) -> Iterator[Edge]:
    """Yield links of a post: two into its sentences, one that it has already, and some that can't be applied."""
    subjects, sentences = LANGUAGES[[*LANGUAGES][number % 3]]
    first, second = subjects[number % 6], subjects[(number + 1) % 6]
    one, two = (sentences[at].format(first, second) for at in (0, 1))
    here = url(site, number)
    yield accepted(here, url(site, number + 6), second, two, rank=1)
    yield accepted(here, url(site, number + 9), first, one, rank=2)
    yield accepted(here, url(site, number + 3), first, one, rank=3)
    if number % 5 == 0:
        yield accepted(here, url(site, number + 12), "no such words", rank=4)
    if number % 7 == 0:
        yield accepted(here, url(site, number + 15), "a < b", rank=5)


def contents(site: WordPress) -> dict[str, str]:
    return {slug: site.content(number) for slug, number in site.posts.items()}


def new_tags(site: WordPress, content: str, number: int) -> list[str]:
    """Return the tags of the links that were put into a post."""
    hrefs = "|".join(re.escape(url(site, number + step)) for step in (6, 9))
    return re.findall(rf'<a href="(?:{hrefs})">', content)


def without(site: WordPress, content: str, number: int) -> str:
    hrefs = "|".join(re.escape(url(site, number + step)) for step in (6, 9))
    return re.sub(rf'<a href="(?:{hrefs})">(.*?)</a>', r"\1", content)


def test_links_of_120_posts_are_exact_and_taken_back_exactly(project: Path, wordpress: WordPress) -> None:
    """Blocks and classic HTML in three languages get their links, 50 posts a call; undo leaves every byte as before."""
    put_links(project, [link for number in range(COUNT) for link in links_of(wordpress, number)])
    before, results = contents(wordpress), list[ApplyResult]()
    began = time.monotonic()
    while not results or results[-1].gaps:
        results.append(applied(project, wordpress.url, write=True))
    took = time.monotonic() - began
    assert [result.files for result in results] == [50, 50, 20]
    assert not any(result.remarks for result in results)
    now = contents(wordpress)
    for number in range(COUNT):
        slug = slug_of(number)
        assert len(new_tags(wordpress, now[slug], number)) == 2, slug
        assert without(wordpress, now[slug], number) == before[slug]
    assert {slug: now[slug] for slug in ("draft", "private", "protected")} == {
        slug: before[slug] for slug in ("draft", "private", "protected")
    }
    assert (
        sum(link.outcome is ApplyOutcome.APPLIED for result in results for link in result.links) == 2 * COUNT
    )
    found = Counter(str(link.reason or link.outcome) for link in results[-1].links)
    in_code = sum(number // 3 % 2 for number in range(0, COUNT, 7))
    assert found == {
        ApplyOutcome.IN_PLACE: 200,
        ApplyOutcome.APPLIED: 40,
        Refusal.LINKED: COUNT,
        Refusal.NOT_BODY: in_code,
        Refusal.NO_ANCHOR: len(range(0, COUNT, 5)) + len(range(0, COUNT, 7)) - in_code,
    }
    began = time.monotonic()
    for one in reversed(applications(open_project(project)).applications):
        assert not undone(project, one.application).kept
    print(
        f"{2 * COUNT} links applied in {took:.1f} s, undone in {time.monotonic() - began:.1f} s; {dict(found)}"
    )
    assert contents(wordpress) == before


SOME = 6
# What a plugin does for one request to a post, which the test names.
EDITED_BETWEEN = """
add_filter( 'rest_pre_dispatch', function ( $result, $server, $request ) {
	global $wpdb;
	if ( preg_match( '#^/wp/v2/posts/(%s)$#', $request->get_route(), $found ) ) {
		$wpdb->update( $wpdb->posts, array( 'post_content' => "An editor's text" ), array( 'ID' => $found[1] ) );
		clean_post_cache( (int) $found[1] );
	}
	return $result;
}, 10, 3 );
"""
# While a post is saved, WordPress keeps its content with backslashes before quotes.
REWRITES = r"""
add_filter( 'content_save_pre', fn( $text ) => str_replace( '\"%s\">', '\"/go\">', $text ) );
"""
# Breaks the connection in the middle of the answer, after the post was saved.
WAITS_AFTER_SAVING = """
add_action( 'rest_after_insert_post', function ( $post ) {
	if ( %d === $post->ID ) {
		touch( '%s' );
		sleep( 2 );
	}
} );
"""
SAVES_NOTHING = """
add_filter( 'rest_pre_insert_post', function ( $post ) {
	if ( %d === $post->ID ) {
		touch( '%s' );
		sleep( 2 );
		exit;
	}
	return $post;
} );
"""


@pytest.fixture
def few(project: Path, wordpress: WordPress) -> Path:
    """Return the project with links of the first posts only."""
    put_links(project, [link for number in range(SOME) for link in links_of(wordpress, number)])
    return project


def reasons(site: WordPress, result: ApplyResult, number: int) -> set[object]:
    """Return what became of the two links of a post that can be applied."""
    found = by_link(result)
    return {found[link.id].reason or found[link.id].outcome for link in [*links_of(site, number)][:2]}


def test_what_editors_change_meanwhile_stays(few: Path, wordpress: WordPress) -> None:
    before = contents(wordpress)
    edited = [wordpress.posts[slug_of(number)] for number in (1, 4)]  # classic and blocks
    wordpress.plugin(EDITED_BETWEEN % "|".join(map(str, edited)))
    result = applied(few, wordpress.url, write=True)
    (wordpress.folder / "mu-plugins/test.php").unlink()
    assert result.files == SOME - 2 and result.gaps == [f"4 links not applied: {SkipReason.CHANGED}."]
    assert [wordpress.content(number) for number in edited] == ["An editor's text"] * 2
    assert reasons(wordpress, result, 0) == {ApplyOutcome.APPLIED}
    # One that is changed after the write stays, too, and is listed.
    changed = wordpress.posts[slug_of(2)]
    wordpress.edit(changed, content=wordpress.content(changed) + "<p>More</p>")
    kept = wordpress.content(changed)
    assert [text.file for text in undone(few).kept] == [f"wp/v2/posts/{changed}"]
    assert wordpress.content(changed) == kept
    ours = {slug_of(number) for number in (0, 3, 5)}
    assert {slug: text for slug, text in contents(wordpress).items() if slug in ours} == {
        slug: before[slug] for slug in ours
    }


def test_plugins_that_rewrite_content_leave_no_trace(few: Path, wordpress: WordPress) -> None:
    before = contents(wordpress)
    wordpress.plugin(REWRITES % url(wordpress, 1 + 6))  # earlier links have more attributes
    result = applied(few, wordpress.url, write=True)
    assert reasons(wordpress, result, 1) == {SkipReason.ALTERED} and result.files == SOME - 1
    assert wordpress.content(wordpress.posts[slug_of(1)]) == before[slug_of(1)]
    assert not undone(few).kept and contents(wordpress) == before


_KILLED = """
import sys
from pathlib import Path
from tests.support.post_site import applied

applied(Path(sys.argv[1]), sys.argv[2], write=True)
"""


@pytest.mark.parametrize(
    ("plugin", "goes_on"), [(WAITS_AFTER_SAVING, True), (SAVES_NOTHING, False)], ids=["saved", "not saved"]
)
def test_a_killed_application_is_found_out(
    few: Path, wordpress: WordPress, tmp_path: Path, plugin: str, goes_on: bool
) -> None:
    """After kill -9 in the middle of a write, the next apply or undo is right, whether or not the post was saved."""
    before, reached = contents(wordpress), tmp_path / "reached"
    wordpress.plugin(plugin % (wordpress.posts[slug_of(3)], reached))
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(_KILLED), encoding="utf-8")
    child = start(str(script), str(few), wordpress.url, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not reached.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    assert child.wait(timeout=60) == -signal.SIGKILL
    child.communicate()
    (wordpress.folder / "mu-plugins/test.php").unlink()
    with open_project(few).applications() as (_, store):
        assert [row.status for row in store.writes()] == ["applied"] * 3 + ["begun"]
    if goes_on:
        result = applied(few, wordpress.url, write=True)
        written = int(plugin is WAITS_AFTER_SAVING)
        assert f"it wrote {written} of 1 post that it had begun" in " ".join(result.remarks)
        assert result.files == SOME - 3 - written and not result.gaps
        for number in range(SOME):
            content = wordpress.content(wordpress.posts[slug_of(number)])
            assert len(new_tags(wordpress, content, number)) == 2
    for one in reversed(applications(open_project(few)).applications):
        assert not undone(few, one.application).kept
    assert contents(wordpress) == before


def test_an_author_changes_own_posts_only(few: Path, wordpress: WordPress) -> None:
    """With an author's password, others' posts and filtered ones are named with the reason, and stay as they are."""
    before = contents(wordpress)
    sign_in(few, wordpress.url, "anna", wordpress.passwords["anna"])
    result = applied(few, wordpress.url, write=True)
    found = {number: reasons(wordpress, result, number) for number in range(SOME)}
    assert found[0] == found[4] == {SkipReason.CLOSED}  # the administrator's
    assert {SkipReason.FILTERED} in found.values() and len(result.gaps) == 2
    changed = {slug for slug, text in contents(wordpress).items() if text != before[slug]}
    assert changed == {slug_of(number) for number in found if found[number] == {ApplyOutcome.APPLIED}}
    assert not undone(few).kept and contents(wordpress) == before
