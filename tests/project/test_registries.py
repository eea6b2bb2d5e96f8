"""What registers itself: content management systems and encoders are one file each, and documented."""

import subprocess
import sys
from pathlib import Path

import pytest

from internal_linker.match.encoders import encoder_kinds
from internal_linker.project.settings.sources import provider
from internal_linker.sources.sites import site_sources
from tests.support.crawls import links, pages
from tests.support.small_project import REPOSITORY, environment, write_text

SITE = """
from internal_linker.model.records import ReadReport
from internal_linker.sources.sites import SitePost, SiteSource, register_site
from internal_linker.sources.web.page_table import post_tables

def read(address, reader):
    posts = [SitePost(f"{address}/a/", "A", '<p>Tea <a href="/b/">of b</a></p>')]
    return post_tables(address, lambda _: enumerate(posts, 1), reader.links, ReadReport(), size=1)

register_site("toy", SiteSource("Toy", "Read this toy.", "A toy.", read))
"""
ENCODER = """
from internal_linker.match.encoders import register_encoder
from internal_linker.match.encoders.lsa import LsaEncoder

register_encoder("toy", "a toy", lambda request: LsaEncoder(), argument=":SIZE")
"""
# Runs a command as if both files stood beside the others.
PROGRAM = """
import sys
import internal_linker.match.encoders as encoders, internal_linker.sources.sites as sites
encoders.__path__.append(sys.argv[1] + "/encoders"), sites.__path__.append(sys.argv[1] + "/sites")
from internal_linker.faces.cli.main import main
main(sys.argv[2:])
"""


def test_a_new_source_and_a_new_encoder_are_one_file_each(tmp_path: Path) -> None:
    """The option of import and the value of embedding_provider follow from the files alone."""
    write_text(tmp_path / "sites/toy.py", SITE)
    write_text(tmp_path / "encoders/toy.py", ENCODER)
    project = tmp_path / "project"
    write_text(project / "config/settings.toml", 'embedding_provider = "toy:9"\n')
    arguments = ("import", "--toy", "https://a.example", "--project", str(project))
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), *arguments],
        check=True,
        env=environment(),
        cwd=REPOSITORY,
    )
    assert [row[:2] for row in pages(project)[1:]] == [("https://a.example/a/", "A")]
    assert links(project)[1][:3] == ("https://a.example/a/", "https://a.example/b/", "of b")


@pytest.mark.parametrize("name", encoder_kinds())
def test_every_encoder_can_be_named_and_has_a_row(name: str) -> None:
    spelled = name + encoder_kinds()[name].argument
    assert provider(spelled) == spelled
    assert f'| `"{spelled}"` |' in (REPOSITORY / "docs/embeddings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", site_sources())
def test_every_content_management_system_has_a_page(name: str) -> None:
    assert f"import --{name} " in (REPOSITORY / f"docs/{name}.md").read_text(encoding="utf-8")
    assert f"({name}.md)" in (REPOSITORY / "docs/import.md").read_text(encoding="utf-8")
