"""Internal Linker: the best internal links for each page of a site, with the reason for each."""

from importlib import import_module
from typing import Any

# A literal: the build backend reads it from the file, before the package can be imported.
__version__ = "0.1.0"

# The public functions by module, imported when somebody asks for one: the command line starts without what it
# doesn't need.
_FUNCTIONS = {
    "analysis": (
        "audit",
        "backtest",
        "calibrate",
        "clusters",
        "evaluate",
        "evaluate_anchors",
        "export_vectors",
        "link_paths",
        "pairs",
    ),
    "decisions": (
        "applications",
        "apply",
        "decide",
        "diff",
        "history",
        "rollback",
        "undo",
        "waiting_links",
    ),
    "imports": ("import_crawl",),
    "links": (
        "content_brief",
        "lookup",
        "open_site",
        "plan",
        "run",
        "schedule",
    ),
    "performance": (
        "end_experiment",
        "impact",
        "import_analytics",
        "import_search_console",
        "import_search_data",
        "plan_experiment",
        "queries",
        "search_data",
    ),
    "stores": (
        "back_up_store",
        "check",
        "copy_store",
        "init",
        "prune_cache",
        "restore_store",
        "verify_cache",
    ),
}
_MODULES = {name: f"api.{module}" for module, names in _FUNCTIONS.items() for name in names} | {
    "InternalLinkerError": "core.errors"
}
__all__ = ["__version__", *sorted(_MODULES)]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names, so that a notebook completes them."""
    return __all__
