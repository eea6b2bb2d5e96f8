"""What editors decide, where accepted links go, and which runs are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import Sections, SiteDelay, TierName


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
    tier: TierName = ""


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
    sections: Sections = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions(Options):
    """Which accepted links are put into which texts, and where the result goes."""

    files: Annotated[
        Path | None,
        Option("The folder of the site's source files. Default: the setting source_folder.", metavar="DIR"),
    ] = None
    wordpress: Annotated[
        str,
        Option("The WordPress site whose posts get the links, instead of source files.", metavar="URL"),
    ] = ""
    write: Annotated[
        bool,
        Option(
            "Write the files or posts; without this option, only show what would change.",
            doc="Write the files or posts; otherwise nothing is changed.",
        ),
    ] = False
    patch: Annotated[
        Path | None, Option("Write a patch for git apply instead of the files.", metavar="FILE")
    ] = None
    branch: Annotated[
        str,
        Option(
            "Write a git branch instead of the files, with one commit per section of the site.",
            metavar="NAME",
        ),
    ] = ""
    links_json: Annotated[
        Path | None,
        Option('Write the links of the tier "related box" to FILE, for a template.', metavar="FILE"),
    ] = None
    max_per_page: Annotated[
        int, Option("New links of a page; those that are not live yet count.", least=1)
    ] = 3
    sections: Annotated[
        Sequence[str],
        Option(
            "Only links from pages below PATH; =off: from all others; may be repeated.",
            flag="--section",
            metavar="PATH[=off]",
        ),
    ] = ()
    tier: TierName = ""
    only: Annotated[
        Sequence[str],
        Option("Only links from this page, or the link with this id; may be repeated.", metavar="URL|LINK"),
    ] = ()
    delay: SiteDelay = 0.5
    max_writes: Annotated[int, Option("Posts of a WordPress site that one call writes.", least=1)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOptions(Options):
    """Which applied links are taken back."""

    what: Annotated[
        str,
        Option(
            "LAST, the number of an application, or a page's URL. Default: list the applications.",
            metavar="LAST|RUN|PAGE",
            argument=True,
            doc='"LAST", the id of an application, or a page\'s URL.',
        ),
    ] = ""
    files: Annotated[
        Path | None,
        Option(
            "The folder of the source files, if it has moved, or the cache is outside the project folder.",
            metavar="DIR",
        ),
    ] = None
    delay: SiteDelay = 0.5
