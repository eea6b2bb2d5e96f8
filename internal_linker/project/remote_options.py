"""Options that come from elsewhere: from a request to the app, or from an assistant."""

from typing import Annotated, Any, Literal

from pydantic import Field

from internal_linker.project.option_records import Declared, Options, declared_options

# More than anybody needs, and less than makes a request too large.
_CHARACTERS, _VALUES, _NUMBER = 4_000, 1_000, 1_000_000


def remote_fields(record: type[Options], *left_out: str) -> dict[str, tuple[Any, Any]]:
    """Return the fields of a record by name, each with its type for pydantic and its default; ...: it is required.

    Options that name files of this computer are no fields.
    """
    return {
        each.name: (_type(each), ... if each.required else [*each.default] if each.many else each.default)
        for each in declared_options(record)
        if not each.names_files and each.name not in left_out
    }


def _type(declared: Declared) -> Any:
    """Return the type of a field with its bounds and description."""
    option = declared.option
    kind: Any = (
        Literal[(*{declared.default: 0, **dict.fromkeys(option.choices)},)]
        if option.choices
        else declared.type
    )
    if kind is str:
        kind = Annotated[
            str, Field(max_length=_CHARACTERS, min_length=int(declared.required or declared.many))
        ]
    elif kind in (int, float):
        most = _NUMBER if option.most is None else option.most
        kind = Annotated[
            kind, Field(ge=option.least, le=most, allow_inf_nan=False if kind is float else None)
        ]
    if declared.many:
        kind = Annotated[list[kind], Field(max_length=_VALUES)]
    elif declared.default is None and not declared.required:
        kind = kind | None
    return Annotated[kind, Field(description=declared.described)]
