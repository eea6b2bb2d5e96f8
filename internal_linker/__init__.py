"""Internal Linker: the best internal links for each page of a site, with the reason for each."""

from importlib import import_module
from typing import Any

# A literal: the build backend reads it from the file, before the package can be imported.
__version__ = "0.1.0"

# The public functions, imported when somebody asks for one: the command line starts without what it doesn't need.
_FUNCTIONS = (
    "applications",
    "apply",
    "audit",
    "back_up_store",
    "backtest",
    "calibrate",
    "check",
    "clusters",
    "content_brief",
    "copy_store",
    "decide",
    "diff",
    "evaluate",
    "evaluate_anchors",
    "export_vectors",
    "history",
    "import_crawl",
    "init",
    "link_paths",
    "lookup",
    "open_site",
    "pairs",
    "plan",
    "prune_cache",
    "restore_store",
    "rollback",
    "run",
    "schedule",
    "undo",
    "verify_cache",
    "waiting_links",
)
_MODULES = {"InternalLinkerError": "core.errors", **dict.fromkeys(_FUNCTIONS, "api")}
__all__ = ["InternalLinkerError", "__version__", *_FUNCTIONS]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, so that a notebook completes them."""
    return __all__
