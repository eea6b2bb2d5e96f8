"""Which pages a run, a lookup or a content brief finds links for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import SearchStep, TargetExclude, TargetInclude

# From here on a lookup or a content brief would list pages that have nothing to do with it.
MOST_LINKS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(Options):
    """Which pages a run finds links for, and what it leaves out."""

    limit: Annotated[
        int,
        Option(
            "Trial run: print the links of the first N rows and write them to files/trial only (0: all rows).",
            least=0,
            doc="A trial of the first so many rows, written to files/trial only; 0: all rows.",
        ),
    ] = 0
    publish: Annotated[
        bool,
        Option(
            "With --limit: publish the links like those of a whole run.",
            doc="With `limit`, write the links where a whole run writes them.",
        ),
    ] = False
    only: Annotated[
        Sequence[str],
        Option("Find links for the page with this URL or path only; may be repeated.", metavar="URL"),
    ] = ()
    sections: Annotated[
        Sequence[str],
        Option(
            "Only pages below PATH get new links; =off: all others; =on overrides sections_off; may be repeated.",
            flag="--section",
            metavar="PATH[=off|on]",
        ),
    ] = ()
    target_include: TargetInclude = ()
    target_exclude: TargetExclude = ()
    search: SearchStep = True
    accept_drift: Annotated[
        bool, Option("Publish links even if they differ strongly from the last run's.")
    ] = False
    figures: Annotated[bool, Option("Write the figures behind each score into links.csv, too.")] = False

    @property
    def trial(self) -> bool:
        """Whether the links go to files/trial, and nowhere else."""
        return bool(self.limit) and not self.publish


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupOptions(Options):
    """What to look up."""

    page: Annotated[
        str,
        Option(
            "A page's URL, with or without https://, its path such as /blog/a/, or any query.",
            metavar="URL-OR-QUERY",
            argument=True,
        ),
    ]
    to: Annotated[bool, Option("List the pages that should link to this page, best first.")] = False
    limit: Annotated[
        int, Option("The maximum number of links (0: links_per_page).", least=0, most=MOST_LINKS)
    ] = 0
    search: SearchStep = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefOptions(Options):
    """A page that does not exist yet."""

    draft: Annotated[
        str | Path,
        Option(
            "A title, an outline or a draft: as text, or a .docx, .md, .html or .txt file; - reads standard input.",
            metavar="FILE-OR-TEXT",
            argument=True,
        ),
    ]
    title: Annotated[str, Option("The page's title. Default: its first heading or line.")] = ""
    query: Annotated[str, Option("Its main query; searched for if there is a key for a search service.")] = ""
    url: Annotated[str, Option("Where the page will be.", metavar="URL")] = ""
    lang: Annotated[
        str,
        Option(
            "Its language, a code that your pages have, such as en. Default: that of the text.",
            metavar="CODE",
        ),
    ] = ""
    limit: Annotated[
        int, Option("Links in each direction (0: links_per_page).", least=0, most=MOST_LINKS)
    ] = 0
    search: SearchStep = True
