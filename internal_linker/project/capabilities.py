"""Capabilities: use cases that every face offers as they declare themselves."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar, get_args

import internal_linker
from internal_linker.project.option_records import Declared, Options, declared_options

UseCase = TypeVar("UseCase", bound=Callable[..., Any])


@dataclass(frozen=True)
class Capability:
    """A use case with what its faces have to know; its own parameters and docstring say the rest.

    The use case takes a `Project` or, as `root` or `folder`, the folder of one, and by these names what it needs of
    `options` (a record), `progress`, `write` and `should_stop`. Its further parameters are no matter of faces.
    """

    function: Callable[..., Any]
    positional: tuple[str, ...] = ()  # options that Python takes by position, besides those that are required
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of options in Python, where they differ
    tables: tuple[str, ...] = ()  # the DataFrames that go with one of pages in place of a project
    writes: bool = False  # whether an assistant may use it only where it may write

    @property
    def name(self) -> str:
        """Its name in Python, in the app's API and for assistants."""
        return self.function.__name__

    @property
    def summary(self) -> str:
        """What its docstring says to everybody: the text above its sections."""
        return re.split(r"\n\n(?:Args|Returns|Raises):", inspect.getdoc(self.function) or "")[0]

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The use case's own parameters."""
        return inspect.signature(self.function).parameters

    @property
    def takes_project(self) -> bool:
        """Whether it takes an opened project; otherwise the folder."""
        return "project" in self.parameters

    @cached_property
    def record(self) -> type[Options]:
        """The record of its options; without any, that of none."""
        if "options" not in self.parameters:
            return Options
        annotation = self.parameters["options"].annotation
        kinds = (annotation, *get_args(annotation))
        return next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Options))

    @property
    def options(self) -> tuple[Declared, ...]:
        """Its options, in the order of `--help`."""
        return declared_options(self.record)

    def call(self, project: Any, **given: Any) -> Any:
        """Call the use case with what it takes of `options`, `progress`, `write` and `should_stop`.

        Raises:
            InternalLinkerError: it could not be done.
        """
        return self.function(
            project, **{name: value for name, value in given.items() if name in self.parameters}
        )


def capability(
    *,
    positional: tuple[str, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    tables: tuple[str, ...] = (),
    writes: bool = False,
) -> Callable[[UseCase], UseCase]:
    """Declare a use case a capability; see `Capability`. Its place belongs into `internal_linker.CAPABILITIES`."""

    def decorate(function: UseCase) -> UseCase:
        function.capability = Capability(  # type: ignore[attr-defined]
            function, positional, defaults or {}, tables, writes
        )
        return function

    return decorate


def find_capability(name: str) -> Capability:
    """Return a capability by its name; its use case is imported now."""
    found: Capability = getattr(
        import_module(internal_linker.CAPABILITIES[name], "internal_linker"), name
    ).capability
    return found


def derived_capabilities() -> list[Capability]:
    """Return the capabilities whose command, route and tool are derived."""
    return [find_capability(name) for name in internal_linker.DERIVED]
