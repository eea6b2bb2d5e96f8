"""Which pages a run, a lookup or a content brief finds links for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options

# From here on a lookup or a content brief would list pages that have nothing to do with it.
MOST_LINKS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(Options):
    """Which pages a run finds links for, and what it leaves out.

    Attributes:
        limit: a trial of the first so many rows, written to files/trial only; 0: all rows.
        publish: with `limit`, write the links where a whole run writes them.
        only: URLs or paths; only these pages get links.
        sections: "/blog": only pages below /blog get new links; "/blog=off": these keep the last run's; "/blog=on"
            overrules `sections_off`.
        target_include, target_exclude: paths of the pages that links may lead to, instead of the setting of this name,
            and of those they may not, in addition to the setting.
        search: whether search results are used.
        accept_drift: publish links even if they moved far from those of the last run.
    """

    limit: Annotated[
        int,
        Option(
            "Trial run: print the links of the first N rows and write them to files/trial only (0: all rows).",
            least=0,
        ),
    ] = 0
    publish: Annotated[bool, Option("With --limit: publish the links like those of a whole run.")] = False
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
    target_include: Annotated[
        Sequence[str], Option("Propose links only to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    target_exclude: Annotated[
        Sequence[str], Option("Propose no links to pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True
    accept_drift: Annotated[
        bool, Option("Publish links even if they differ strongly from the last run's.")
    ] = False

    @property
    def trial(self) -> bool:
        """Whether the links go to files/trial, and nowhere else."""
        return bool(self.limit) and not self.publish


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupOptions(Options):
    """What to look up.

    Attributes:
        page: a page's URL, its path, or any query.
        to: list the pages that should link to this page, instead of those that it should link to.
        limit: the maximum number of links; 0: links_per_page.
        search: whether search results are used; never for `to`.
    """

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
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefOptions(Options):
    """A page that does not exist yet.

    Attributes:
        draft: a title, an outline or a draft, as text or as the path of a .docx, .md, .html or .txt file.
        title: the page's title; "": its first heading or line.
        query: its main query; searched for if there is a key for a search service.
        url: where the page will be.
        lang: its language code; "": the language of the text.
        limit: links each way; 0: links_per_page.
        search: whether search results are used.
    """

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
    search: Annotated[bool, Option("Skip the search step.", flag="--no-serp")] = True
