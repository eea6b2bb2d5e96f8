"""Internal Linker: the best internal links for each page of a site, with the reason for each."""

from importlib import import_module
from typing import Any

# A literal: the build backend reads it from the file, before the package can be imported.
__version__ = "0.1.0"

# The capabilities by the module of their use case, imported when somebody asks for one: the command line starts
# without what it doesn't need.
_USE_CASES = {
    "apply": ("apply",),
    "audit": ("audit", "link_paths"),
    "cache": ("back_up_store", "copy_store", "prune_cache", "restore_store", "verify_cache"),
    "calibrate": ("calibrate",),
    "check": ("check",),
    "clusters": ("clusters",),
    "evaluate": ("backtest", "evaluate", "evaluate_anchors"),
    "experiments": ("end_experiment", "plan_experiment"),
    "export_vectors": ("export_vectors",),
    "history": ("diff", "history", "rollback"),
    "impact": ("impact",),
    "import_analytics": ("import_analytics",),
    "import_crawl": ("import_crawl",),
    "import_search_console": ("import_search_console",),
    "import_search_exports": ("import_search_data",),
    "init": ("init",),
    "pairs": ("pairs",),
    "queries": ("queries",),
    "review": ("waiting_links",),
    "run": ("content_brief", "lookup", "plan", "run"),
    "search_data": ("search_data",),
    "undo_links": ("applications", "undo"),
}
CAPABILITIES = {name: f".project.{module}" for module, names in _USE_CASES.items() for name in names}
# Capabilities whose command, route and tool for assistants are derived as well; those of the others are written.
DERIVED: tuple[str, ...] = ()
# Public names that are no capabilities.
_OTHERS = {
    "InternalLinkerError": ".model.errors",
    "decide": ".faces.python.written",
    "open_site": ".faces.python.written",
    "schedule": ".faces.python.written",
}
__all__ = ["__version__", *sorted({*CAPABILITIES, *_OTHERS})]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name in CAPABILITIES:
        return import_module(".faces.python.functions", __name__).public_function(name)
    if name not in _OTHERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_OTHERS[name], __name__), name)


def __dir__() -> list[str]:
    """Return the public names, so that a notebook completes them."""
    return __all__
