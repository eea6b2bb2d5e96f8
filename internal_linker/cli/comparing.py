"""The options of all commands that compare pages -> how they are to be compared."""

from typing import Annotated

import typer

ByOption = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="FIELDS",
        help="title, h1, content, or several: title,content; weights: title=1,h1=1,content=3.",
    ),
]
EncoderOption = Annotated[
    str,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="As embedding_provider in the settings; default: theirs, and for contents without one the words alone.",
    ),
]
WordsOption = Annotated[
    float | None,
    typer.Option(
        "--words", min=0, max=1, metavar="SHARE", help="How much words count beside the encoder, 0 to 1."
    ),
]
MatryoshkaOption = Annotated[
    int,
    typer.Option(
        "--matryoshka", min=0, metavar="N", help="Only the first N numbers of a vector count (0: all)."
    ),
]
BrandOption = Annotated[
    list[str] | None,
    typer.Option(
        "--brand",
        metavar="TEXT",
        help="What stands behind | or - at the end of titles; default: it is found.",
    ),
]
KeepBrandsOption = Annotated[bool, typer.Option("--keep-brands", help="Leave titles as they are.")]
LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Only the first N pages (0: all).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
