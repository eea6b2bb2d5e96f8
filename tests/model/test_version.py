"""The version of the package."""

from pathlib import Path

from flit_core.common import Module, get_docstring_and_version_via_ast

import internal_linker
from internal_linker.model.version import __version__


def test_the_build_backend_reads_the_version_without_an_import() -> None:
    found = get_docstring_and_version_via_ast(
        Module("internal_linker", Path(internal_linker.__file__).parents[1])
    )
    assert found[1] == internal_linker.__version__ == __version__
