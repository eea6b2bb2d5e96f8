"""Which decisions are asked for, compared and taken back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions(Options):
    """Who reviews which links."""

    by: Annotated[str, Option("The reviewer's name. Default: your login name.", metavar="NAME")] = ""
    sections: Annotated[
        Sequence[str],
        Option("Only links from pages below PATH; may be repeated.", flag="--section", metavar="PATH"),
    ] = ()
    source: Annotated[
        str, Option("Only links from this page or query.", flag="--page", metavar="URL|QUERY")
    ] = ""
    tier: Annotated[
        str,
        Option(
            'Only links of this tier: "in the text", "related box" or "needs a look"; or inline, sidebar, review.',
            metavar="TIER",
            choices=("in the text", "related box", "needs a look", "inline", "sidebar", "review"),
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions(Options):
    """Two runs to compare."""

    before: Annotated[
        str,
        Option(
            "The earlier run: its number or name (last-1), see history.",
            metavar="RUN",
            argument=True,
            doc='The earlier run: its id, or its name, "last" for the newest and "last-1" for the one before.',
        ),
    ]
    after: Annotated[str, Option("The later run, such as last.", metavar="RUN", argument=True)]
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackOptions(Options):
    """A run to go back to."""

    run: Annotated[
        str,
        Option(
            "The run: its number or name (last-1), see history.",
            metavar="RUN",
            argument=True,
            doc='The run: its id, or its name, "last" for the newest and "last-1" for the one before.',
        ),
    ]
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH; =off: all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
            doc='"/blog": only the links of pages below /blog are put back; "/blog=off": those of all others.',
        ),
    ] = ()
