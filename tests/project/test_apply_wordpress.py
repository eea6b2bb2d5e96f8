"""Accepted links are put into the posts of a WordPress site, and taken back byte by byte; seen on a stand-in."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from internal_linker.model.applied_links import PageWrite, content_hash
from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.errors import ConfigurationError, ExitCode
from internal_linker.project.apply import ApplyOutcome
from internal_linker.project.project import open_project
from internal_linker.project.targets import SkipReason, UndoSkipReason
from internal_linker.project.undo_links import applications
from internal_linker.publish.insertion import Refusal
from tests.standins import Answer, Request, WordPressStandIn
from tests.standins.wordpress import PASSWORD, USER, StoredPost
from tests.support.post_site import accepted, applied, by_link, make_project, put_links, sign_in, undone
from tests.support.small_project import command, snapshot

TEXTS = {
    "green": "<!-- wp:paragraph -->\n<p>A clay pot keeps green tea warm &amp; fresh.</p>\n<!-- /wp:paragraph -->",
    "black": "Black tea likes a clay pot.\r\n\r\nIt likes a dark tin, too.",
    "pot": "<p>Our clay pot comes from the river.</p>",
    "tin": "<p>A dark tin has a lid.</p>",
    "built": "[et_pb_section][et_pb_text]A clay pot of <b>Divi</b>.[/et_pb_text][/et_pb_section]",
}


@pytest.fixture
def site() -> Iterator[WordPressStandIn]:
    posts = [StoredPost(number, name, text) for number, (name, text) in enumerate(TEXTS.items(), 1)]
    with WordPressStandIn(posts) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, site: WordPressStandIn) -> Path:
    pages = [(url(site, name), name.title(), text) for name, text in TEXTS.items()]
    pages.append((f"{site.url}/elsewhere/", "Elsewhere", "A clay pot."))
    made = make_project(tmp_path / "project", pages, links(site).values())
    sign_in(made, site.url, USER, PASSWORD)
    return made


def url(site: WordPressStandIn, name: str) -> str:
    return f"{site.url}/{name}/"


def links(site: WordPressStandIn) -> dict[str, Edge]:
    """Return the accepted links by names of their own."""

    def link(source: str, target: str, anchor: str, rank: int = 1, tier: str = "inline") -> Edge:
        return accepted(url(site, source), url(site, target), anchor, rank=rank, tier=tier)

    return {
        "green-pot": link("green", "pot", "clay pot", rank=1),
        "black-pot": link("black", "pot", "clay pot", rank=1),
        "black-tin": link("black", "tin", "dark tin", rank=2),
        "built-pot": link("built", "pot", "clay pot"),
        "elsewhere-pot": link("elsewhere", "pot", "clay pot"),
        "tin-missing": link("tin", "pot", "red pot"),
        "pot-box": link("pot", "tin", "", tier="sidebar"),
    }


def contents(site: WordPressStandIn) -> dict[int, str]:
    return {number: post.content for number, post in site.posts.items()}


def test_a_dry_run_sends_nothing_but_questions(project: Path, site: WordPressStandIn) -> None:
    """Without --write no post changes, and the result says what would become of each link."""
    before = snapshot(project), contents(site)
    result, made = applied(project, site.url), links(site)
    assert (snapshot(project), contents(site), site.saved) == (*before, [])
    found = by_link(result)
    assert {name: found[link.id].reason or found[link.id].outcome for name, link in made.items()} == {
        "green-pot": ApplyOutcome.PLANNED,
        "black-pot": ApplyOutcome.PLANNED,
        "black-tin": ApplyOutcome.PLANNED,
        "built-pot": SkipReason.BUILDER,
        "elsewhere-pot": SkipReason.NO_POST,
        "tin-missing": Refusal.NO_ANCHOR,
        "pot-box": ApplyOutcome.FOR_BOX,
    }
    assert f'+<p>A <a href="{url(site, "pot")}">clay pot</a> keeps green tea' in result.diff
    assert result.remarks == ["1 post left alone, made with a page builder: 1 with Divi."]
    assert (
        f"{site.url} has 5 published posts; 5 pages with accepted links for the text: 4 can" in result.mapping
    )
    assert (result.files, result.noun, result.gaps) == (2, "post", [])


def test_what_is_written_is_taken_back(project: Path, site: WordPressStandIn) -> None:
    """--write sends the content of each post once; a second call finds the links; undo leaves all bytes as before."""
    before, shown = contents(site), applied(project, site.url)
    result = applied(project, site.url, write=True)
    assert (result.diff, result.files, len(site.saved)) == (shown.diff, 2, 2)
    link = f'<a href="{url(site, "pot")}">clay pot</a>'
    assert site.posts[2].content == (
        f'Black tea likes a {link}.\r\n\r\nIt likes a <a href="{url(site, "tin")}">dark tin</a>, too.'
    )
    again = applied(project, site.url, write=True)
    assert (again.files, again.application) == (0, "") and len(site.saved) == 2
    assert by_link(again)[links(site)["green-pot"].id].outcome is ApplyOutcome.IN_PLACE
    done = undone(project)
    assert done.summary == "2 posts restored, 3 links taken back." and not done.kept
    assert contents(site) == before


def test_an_accepted_wording_goes_into_a_post_and_comes_out(project: Path, site: WordPressStandIn) -> None:
    before, sentence = contents(site), "It likes a dark tin, too."
    wording = "It likes a dark tin, too (see Green & fresh)."
    new = Anchor("Green & fresh", sentence, verbatim=False, quality=0.0, wording=wording)
    link = accepted(url(site, "black"), url(site, "green"), "", wording=wording, rank=0)
    put_links(project, [replace(link, anchors=(new,), tier="sidebar")])
    applied(project, site.url, write=True, only=[link.id])
    href = f'<a href="{url(site, "green")}">Green &amp; fresh</a>'
    assert site.posts[2].content == before[2].replace("too.", f"too (see {href}).")
    assert not undone(project).kept and contents(site) == before


def test_links_are_written_as_the_posts_write_theirs(project: Path, site: WordPressStandIn) -> None:
    """Where most links of the posts are paths from the root, new ones are; a short link counts as the page it means."""
    site.posts[1].content += '\n<p><a href="/tin/">x</a> <a href="/green/">y</a></p>'
    site.posts[2].content += '\n<a href="/?p=4#lid">z</a>'
    result = applied(project, site.url, write=True)
    assert '<a href="/pot/">clay pot</a>' in site.posts[1].content
    assert by_link(result)[links(site)["black-tin"].id].reason is Refusal.LINKED


def test_a_call_writes_no_more_posts_than_allowed(project: Path, site: WordPressStandIn) -> None:
    """--max-writes leaves posts for the next call, names their links, and counts as a gap."""
    result = applied(project, site.url, write=True, max_writes=1)
    later = {link.link_id for link in result.links if link.reason is SkipReason.LATER}
    assert (result.files, later) == (1, {links(site)["green-pot"].id})
    assert result.gaps == [f"1 link not applied: {SkipReason.LATER}."]
    assert len(site.saved) == 1
    applied(project, site.url, write=True, max_writes=1)
    assert not applied(project, site.url, write=True, max_writes=1).gaps and len(site.saved) == 2


def test_what_an_editor_changes_meanwhile_stays(project: Path, site: WordPressStandIn) -> None:
    """A post that an editor saves between reading and writing is a conflict; the others are written."""
    answer = site.reply

    def reply(request: Request) -> Answer:
        if request.path.endswith("/posts/1"):
            site.posts[1].content = "<p>An editor's clay pot</p>"
        return answer(request)

    site.reply = reply  # type: ignore[method-assign]
    result = applied(project, site.url, write=True)
    assert by_link(result)[links(site)["green-pot"].id].reason is SkipReason.CHANGED
    assert site.posts[1].content == "<p>An editor's clay pot</p>" and result.files == 1
    assert result.gaps == [f"1 link not applied: {SkipReason.CHANGED}."]
    with open_project(project).applications() as (_, store):
        assert [row.place for row in store.writes()] == ["wp/v2/posts/2"]


def test_posts_that_changed_since_are_listed_and_stay(project: Path, site: WordPressStandIn) -> None:
    applied(project, site.url, write=True)
    site.posts[1].content += "<p>More</p>"
    del site.posts[2]
    kept = contents(site)
    done = undone(project)
    assert {text.file: text.reason for text in done.texts} == {
        "wp/v2/posts/1": UndoSkipReason.CHANGED,
        "wp/v2/posts/2": UndoSkipReason.POST_GONE,
    }
    assert contents(site) == kept


def test_a_site_that_stops_answering_gets_no_more_writes(project: Path, site: WordPressStandIn) -> None:
    """A site that vanishes in the middle leaves rows for what nobody knows; the next call finds out and goes on."""
    before, answer = contents(site), site.reply
    posts: list[str] = []

    def reply(request: Request) -> Answer:
        posts.extend([request.path] * (request.method == "POST"))
        return Answer(503, "{}") if posts else answer(request)

    site.reply = reply  # type: ignore[method-assign]
    result = applied(project, site.url, write=True)
    reasons = {link.reason for link in result.links if link.outcome is ApplyOutcome.REFUSED} & {*SkipReason}
    assert {SkipReason.UNKNOWN, SkipReason.STOPPED} < reasons and len(set(posts)) == 1 and result.files == 0
    assert any("maintenance" in remark for remark in result.remarks)
    site.reply = answer  # type: ignore[method-assign]
    again = applied(project, site.url, write=True)
    assert "it wrote 0 of 1 post that it had begun" in " ".join(again.remarks) and again.files == 2
    assert not undone(project).kept and contents(site) == before


def test_what_a_plugin_alters_gets_its_former_content(project: Path, site: WordPressStandIn) -> None:
    before = contents(site)
    site.saves = lambda content: content.replace(f"{site.url}/pot/", "/go?to=pot")
    result = applied(project, site.url, write=True)
    assert {link.reason for link in result.links if link.link_id == links(site)["green-pot"].id} == {
        SkipReason.ALTERED
    }
    assert contents(site) == before and len(result.gaps) == 1
    assert applications(open_project(project)).applications == []


def test_a_post_that_stays_altered_keeps_its_backup(project: Path, site: WordPressStandIn) -> None:
    before = site.posts[1].content.encode()
    site.saves = lambda content: f"{content}<!-- saved -->"
    result = applied(project, site.url, write=True, only=[links(site)["green-pot"].id])
    assert by_link(result)[links(site)["green-pot"].id].reason is SkipReason.STAYS_ALTERED
    assert any("could not be restored" in remark for remark in result.remarks)
    with open_project(project).applications() as (_, store):
        [row] = store.writes()
        assert store.former(row) == before
    assert [text.reason for text in undone(project).texts] == [UndoSkipReason.CHANGED]


def test_a_user_whose_html_is_filtered_is_told_before(project: Path, site: WordPressStandIn) -> None:
    """Posts from which WordPress might remove HTML are named in the dry run, and nothing is sent for them."""
    site.unfiltered = False
    site.posts[1].content += '<img src="/a.jpg" alt=""/>'
    result = applied(project, site.url)
    found = by_link(result)
    assert found[links(site)["green-pot"].id].reason is SkipReason.FILTERED
    assert found[links(site)["black-pot"].id].outcome is ApplyOutcome.PLANNED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"files": "."}, "--files and --wordpress can't be used together"),
        ({"patch": "x.patch"}, "--patch is for source files"),
        ({"branch": "x", "write": True}, "--branch is for source files"),
        ({"wordpress": ""}, "--files DIR or --wordpress URL"),
        (
            {"wordpress": "https://other.example"},
            "config/wordpress.txt has no account for https://other.example",
        ),
    ],
)
def test_wrong_options_are_named(
    project: Path, site: WordPressStandIn, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        applied(project, site.url, **options)
    assert not site.ledger


def test_wrong_passwords_and_missing_rights_are_errors(
    project: Path, site: WordPressStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong password, and a user who may edit nothing, end the command with code 4 and a sentence."""
    where = ("--wordpress", site.url, "--write", "--delay", "0", "--project", str(project))
    sign_in(project, site.url, USER, "wrong wrong wrong")
    assert command("apply", *where) == ExitCode.SERVICE
    assert "config/wordpress.txt is wrong" in " ".join(capsys.readouterr().err.split())
    sign_in(project, site.url, USER, PASSWORD)
    site.editor = False
    assert command("apply", *where) == ExitCode.SERVICE
    assert "lacks the right" in " ".join(capsys.readouterr().err.split())
    assert not site.saved


def test_the_command_names_posts(
    project: Path, site: WordPressStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--wordpress", site.url, "--delay", "0", "--project", str(project))
    assert command("apply", *where) == ExitCode.SUCCESS
    said = capsys.readouterr().out
    assert any(line.startswith("/green/ ") for line in said.splitlines())
    assert said.endswith("Nothing was changed. To change the posts, add --write.\n")
    assert command("apply", *where, "--write") == ExitCode.SUCCESS
    site.posts[1].content = "<p>New</p>"
    capsys.readouterr()
    assert command("undo", "LAST", "--delay", "0", "--project", str(project)) == ExitCode.GAPS
    said = capsys.readouterr().out
    assert "1 post restored, 2 links taken back." in said
    assert f"Left as it is: {url(site, 'green')} (wp/v2/posts/1): it changed" in said
    assert command("undo", "--project", str(project)) == ExitCode.SUCCESS
    assert site.url in capsys.readouterr().out


def test_undo_sends_to_no_other_site(project: Path, site: WordPressStandIn) -> None:
    applied(project, site.url, write=True)
    with WordPressStandIn([StoredPost(1, "green", "x")]) as other:
        hostile(project, site, home=other.url)
        assert {text.reason for text in undone(project, "hostile").texts} == {UndoSkipReason.OTHER_SITE}
        assert not other.ledger
    site.forget()
    hostile(project, site, place="wp/v2/../../posts/1")
    assert {text.reason for text in undone(project, "hostile").texts} == {UndoSkipReason.POST_GONE}
    assert not site.saved[2:] and not [call for call in site.ledger if ".." in call.path]


def test_a_password_for_a_folder_is_not_for_the_host(project: Path, site: WordPressStandIn) -> None:
    sign_in(project, f"{site.url}/blog", USER, PASSWORD)
    with pytest.raises(ConfigurationError, match="has no account for"):
        applied(project, site.url)
    assert not site.ledger


def hostile(project: Path, site: WordPressStandIn, **facts: str) -> None:
    """Store the row of a write that never was."""
    content = site.posts[1].content.encode()
    row = PageWrite(
        application="hostile",
        page=links(site)["green-pot"].source,
        page_url=url(site, "green"),
        home=site.url,
        place="wp/v2/posts/1",
        links=(),
        hash_before=content_hash(b"spam"),
        hash_after=content_hash(content),
        by="Mallory",
        at=datetime.now(UTC),
        status="applied",
    )
    with open_project(project).applications(read_only=False) as (_, store):
        store.forget(store.writes(application="hostile"))
        store.begin([(replace(row, **facts), b"spam")])  # type: ignore[arg-type]
