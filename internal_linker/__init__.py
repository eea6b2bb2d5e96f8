"""Internal Linker: the five best internal links for each page of a site, with the reason for each."""

from importlib import import_module
from typing import Any

# A literal: the build backend reads it from the file, before the package can be imported.
__version__ = "0.1.0"

# The public names and their modules. No import for type checkers stands here: every module would wait for all others.
_MODULES = {
    "InternalLinkerError": "core.errors",
    "clusters": "api",
    "content_brief": "api",
    "import_crawl": "api",
    "lookup": "api",
    "pairs": "api",
    "run": "api",
}
__all__ = [
    "InternalLinkerError",
    "__version__",
    "clusters",
    "content_brief",
    "import_crawl",
    "lookup",
    "pairs",
    "run",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is asked for: the command line starts without what it doesn't need."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, so that a notebook completes them."""
    return __all__
