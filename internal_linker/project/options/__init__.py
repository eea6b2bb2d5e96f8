"""The options of every command, declared once for the command line, Python and the web; here those of several."""

from collections.abc import Sequence
from typing import Annotated

from internal_linker.project.option_records import Option

Sections = Annotated[
    Sequence[str],
    Option(
        "Only pages below PATH; =off: all others; may be repeated.", flag="--section", metavar="PATH[=off]"
    ),
]
TierName = Annotated[
    str,
    Option(
        'Only links of this tier: "in the text", "related box" or "needs a look"; or inline, sidebar, review.',
        metavar="TIER",
        choices=("in the text", "related box", "needs a look", "inline", "sidebar", "review"),
    ),
]
TargetInclude = Annotated[
    Sequence[str], Option("Propose links only to pages below PATH; may be repeated.", metavar="PATH")
]
TargetExclude = Annotated[
    Sequence[str], Option("Propose no links to pages below PATH; may be repeated.", metavar="PATH")
]
SiteDelay = Annotated[float, Option("Seconds between two requests to a WordPress site.", least=0, most=60)]
SearchStep = Annotated[bool, Option("Skip the search step.", flag="--no-serp")]
KeepAnchors = Annotated[bool, Option("Leave the links' anchors in the text.")]
