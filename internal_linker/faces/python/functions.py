"""The functions of Python, made of capabilities: each opens the project, checks the options and shows progress."""

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, wraps
from pathlib import Path
from typing import Any

from internal_linker.faces.python.opening import opened_site, shown_reporter
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.capabilities import Capability, find_capability

# What functions have in common: type, default and description.
_COMMON: dict[str, tuple[Any, Any, str]] = {
    "project": (str | Path, ".", "The folder with config/ and files/."),
    "links": ("DataFrame | None", None, "Existing links of these pages: Source, Destination, Anchor."),
    "queries": ("DataFrame | None", None, "Main queries of these pages: URL, Main Query."),
    "write": (bool, False, "Write the command's files, too."),
    "progress": (bool, False, "Show steps and notes on stderr."),
}
# A project of a use case that takes tables as well.
_PAGES = (
    "str | Path | DataFrame",
    ".",
    "The folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...",
)


@cache
def public_function(name: str) -> Callable[..., Any]:
    """Return a capability as a function of Python."""
    found = find_capability(name)
    signature = inspect.signature(found.function).replace(parameters=_parameters(found))

    @wraps(found.function)
    def call(*args: Any, **more: Any) -> Any:
        bound = signature.bind(*args, **more)
        bound.apply_defaults()
        given = bound.arguments
        options = found.record(**{each.name: given[each.name] for each in found.options})
        project, write = given["project"], given.get("write", False)
        if write and found.tables and not isinstance(project, str | Path):
            raise ConfigurationError("write=True needs a project folder: DataFrames have no files/.")
        with ExitStack() as stack:
            reporter = stack.enter_context(shown_reporter(given.get("progress", False)))
            if found.takes_project:
                site = opened_site(project, given.get("links"), given.get("queries"))
                project = stack.enter_context(site)
            else:
                project = Path(project).resolve()
            result = found.call(project, options=options, progress=reporter, write=write)
        if failure := getattr(result, "failure", None):
            raise failure
        return result

    del call.__wrapped__, call.capability  # type: ignore[attr-defined]
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = _described(found, signature)
    return call


def _parameters(found: Capability) -> list[inspect.Parameter]:
    """Return options by position, the project, what functions have in common, and all other options."""
    by_position = [each for each in found.options if each.required or each.name in found.positional]
    others = [each for each in found.options if each not in by_position]
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = list[inspect.Parameter]()
    for each in by_position:
        if each.many:
            parameters.append(inspect.Parameter(each.name, inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        default = inspect.Parameter.empty if each.required else each.default
        parameters.append(inspect.Parameter(each.name, kind, default=default, annotation=each.annotation))
    names = ["project", *found.tables, *(name for name in ("write", "progress") if name in found.parameters)]
    for name in names:
        annotation, default, _ = _common(found, name)
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        kind = inspect.Parameter.KEYWORD_ONLY
    for each in others:
        default = found.defaults.get(each.name, each.default)
        parameters.append(inspect.Parameter(each.name, kind, default=default, annotation=each.annotation))
    return parameters


def _common(found: Capability, name: str) -> tuple[Any, Any, str]:
    return _PAGES if name == "project" and found.tables else _COMMON[name]


def _described(found: Capability, signature: inspect.Signature) -> str:
    """Return the use case's docstring with what it doesn't say of the function's parameters."""
    text = inspect.getdoc(found.function) or ""
    described = {name: _common(found, name)[2] for name in signature.parameters if name in _COMMON}
    described |= {each.name: each.described for each in found.options}
    lines = [f"    {name}: {says}" for name, says in described.items() if f"    {name}:" not in text]
    return "\n".join([text, "", "Options:", *lines])
