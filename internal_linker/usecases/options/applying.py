"""Which accepted links are put into a site's texts, and taken out again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions(Options):
    """Which accepted links are put into which texts, and where the result goes.

    Attributes:
        files: the folder of the site's source files; None, without `wordpress`: the setting source_folder.
        wordpress: the address of a WordPress site, instead of `files`.
        write: write the files or posts; otherwise nothing is changed.
        patch: write the changes into this file instead, for `git apply`.
        branch: write the changes into a new git branch of this name instead.
        links_json: write the links of the tier "related box" into this file.
        max_per_page: how many links a page may get before they are live.
        sections: "/blog": only links from pages below /blog; "/blog=off": from all others.
        tier: only links of this tier, by its name or by its name in links.csv; "": of all tiers.
        only: URLs of pages, and ids of links: only these.
        delay: seconds between two requests to a WordPress site.
        max_writes: how many posts may be written.
    """

    files: Annotated[
        Path | None,
        Option("The folder of the site's source files. Default: the setting source_folder.", metavar="DIR"),
    ] = None
    wordpress: Annotated[
        str,
        Option("The WordPress site whose posts get the links, instead of source files.", metavar="URL"),
    ] = ""
    write: Annotated[
        bool, Option("Write the files or posts; without this option, only show what would change.")
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
    tier: Annotated[
        str,
        Option(
            'Only links of this tier: "in the text", "related box" or "needs a look"; or inline, sidebar, review.',
            metavar="TIER",
            choices=("in the text", "related box", "needs a look", "inline", "sidebar", "review"),
        ),
    ] = ""
    only: Annotated[
        Sequence[str],
        Option("Only links from this page, or the link with this id; may be repeated.", metavar="URL|LINK"),
    ] = ()
    delay: Annotated[float, Option("Seconds between two requests to a WordPress site.", least=0, most=60)] = (
        0.5
    )
    max_writes: Annotated[int, Option("Posts of a WordPress site that one call writes.", least=1)] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoOptions(Options):
    """Which applied links are taken back.

    Attributes:
        what: "LAST" for the last application; the id of one; or the URL of a page. "": none, list the applications.
        files: the folder of the source files, if it has moved since or the cache is outside the project folder.
        delay: seconds between two requests to a WordPress site.
    """

    what: Annotated[
        str,
        Option(
            "LAST, the number of an application, or a page's URL. Default: list the applications.",
            metavar="LAST|RUN|PAGE",
            argument=True,
        ),
    ] = ""
    files: Annotated[
        Path | None,
        Option(
            "The folder of the source files, if it has moved, or the cache is outside the project folder.",
            metavar="DIR",
        ),
    ] = None
    delay: Annotated[float, Option("Seconds between two requests to a WordPress site.", least=0, most=60)] = (
        0.5
    )
