"""What registers itself is offered and documented: encoders and content management systems."""

import pytest

from internal_linker.match.encoders import encoder_kinds
from internal_linker.project.settings.sources import provider
from internal_linker.sources.sites import site_sources
from tests.support.small_project import REPOSITORY


@pytest.mark.parametrize("name", encoder_kinds())
def test_every_encoder_can_be_named_and_has_a_row(name: str) -> None:
    spelled = name + encoder_kinds()[name].argument
    assert provider(spelled) == spelled
    assert f'| `"{spelled}"` |' in (REPOSITORY / "docs/embeddings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", site_sources())
def test_every_content_management_system_has_a_page(name: str) -> None:
    assert f"import --{name} " in (REPOSITORY / f"docs/{name}.md").read_text(encoding="utf-8")
    assert f"({name}.md)" in (REPOSITORY / "docs/import.md").read_text(encoding="utf-8")
