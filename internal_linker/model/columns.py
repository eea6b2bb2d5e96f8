"""The tables that people see: the key, header, width and value of each column, and the headers of other languages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args
from urllib.parse import unquote

from internal_linker.model.edges import TIER_NAMES, Edge, Status, score_of, why
from internal_linker.model.records import Link, Page, Source
from internal_linker.model.results import Column
from internal_linker.model.sections import section_of
from internal_linker.model.wordings import full_reason, shown_wording, warning, with_warning


@dataclass(frozen=True, slots=True)
class LinkView:
    """A stored link with its pages, as people see it."""

    edge: Edge
    # its pages; None where nobody looked them up
    source_page: Page | None = None
    target_page: Page | None = None

    @property
    def source_title(self) -> str:
        """The title of its page; "" if unknown."""
        return self.source_page.name if self.source_page else ""

    @property
    def target_title(self) -> str:
        """The title of its target; "" if unknown."""
        return self.target_page.name if self.target_page else ""


@dataclass(frozen=True, slots=True)
class RunLink:
    """A link of a run with what is stored of it."""

    source: Source
    link: Link
    view: LinkView | None  # None: nothing is stored
    model: str  # the encoder's name
    run: str  # the run's id


def proposed_anchor(edge: Edge) -> str:
    """Return the program's own anchor of a link; "" if there is none."""
    return edge.anchors[0].text if edge.anchors else ""


def _sentence(edge: Edge) -> str:
    """Return the sentence of a link, with the words of its suggested wording in brackets."""
    return shown_wording(edge) or edge.chosen.sentence


def _section(source: str) -> str:
    """Return the section of a page's URL, readable."""
    return unquote(section_of(source if "://" in source else f"https://{source}"))


def _stored(key: str, header: str, value: Callable[[LinkView], Any]) -> Column:
    """Return a column of links.csv for what is stored of a link; its cells are "" if nothing is."""
    return Column(key, header, value=lambda row: "" if row.view is None else value(row.view))


def _numbered(header: str, count: int, values: Callable[[Any], Sequence[str]]) -> list[Column]:
    """Return a column for each of the first values of an item, such as "Link 1"."""

    def nth(place: int) -> Callable[[Any], str]:
        return lambda item: next(islice(values(item), place, None), "")

    numbers = range(1, count + 1)
    return [Column(f"{header.lower()}_{at}", f"{header} {at}", value=nth(at - 1)) for at in numbers]


# links.csv: a `RunLink` a row. Tiers and statuses are those of programs.
LINKS_CSV = (
    Column("source", "Source", value=lambda row: row.source.url),
    Column("target", "Target", value=lambda row: row.link.target.url),
    Column("rank", "Rank", value=lambda row: row.link.rank),
    _stored("score", "Score", lambda link: score_of(link.edge.strength)),
    _stored("tier", "Tier", lambda link: link.edge.tier),
    _stored("anchor", "Anchor", lambda link: link.edge.chosen.text),
    _stored("sentence", "Sentence", lambda link: link.edge.chosen.sentence),
    _stored("wording", "Suggested Wording", lambda link: shown_wording(link.edge)),
    _stored("why", "Why", lambda link: why(link.edge)),
    _stored("status", "Status", lambda link: link.edge.status),
    _stored("type", "Type", lambda link: link.edge.kind),
    Column("origin", "Origin", value=lambda row: row.link.origin),
    Column("query", "Main Query", value=lambda row: row.source.query),
    Column("model", "Model"),
    Column("run", "Run"),
    _stored("id", "Link Id", lambda link: link.edge.id),
)
# The figures behind a score, which links.csv has on demand.
FIGURES = (
    Column("serp_rank", "Serp Rank", value=lambda row: row.link.target.serp_rank or ""),
    Column("similarity", "Embedding Similarity", value=lambda row: row.link.target.similarity),
    Column("lexical", "Lexical Score", value=lambda row: row.link.target.lexical),
    Column("probability", "Probability", value=lambda row: row.link.target.probability),
    Column("blend", "Blend", value=lambda row: row.link.target.score),
    _stored("anchor_model", "Anchor Model", lambda link: link.edge.chosen.model),
    _stored("anchor_confidence", "Anchor Confidence", lambda link: link.edge.chosen.confidence),
)


def output_columns(links: int) -> Sequence[Column]:
    """Return the columns of Output.csv, a `Recommendation` a row, with so many links."""
    return (
        Column("url", "URL", value=lambda item: item.source.row_url or item.source.url),
        Column("query", "Main Query", value=lambda item: item.source.query),
        *_numbered("Link", links, lambda item: [link.target.url for link in item.links]),
        Column("note", "Note"),
    )


# The review, a `LinkView` a row: the workbook and the tab of the Sheet.
REVIEW = (
    Column("status", "Status", 15, value=lambda link: link.edge.status),
    Column("anchor", "Anchor", 28, "text", value=lambda link: link.edge.chosen.text),
    Column("sentence", "Sentence", 64, "text", value=lambda link: _sentence(link.edge)),
    Column("source_title", "Source Title", 30, "text"),
    Column("target_title", "Target Title", 30, "text"),
    Column("section", "Source Section", 16, value=lambda link: _section(link.edge.source_url)),
    Column("score", "Score", 7, value=lambda link: score_of(link.edge.strength)),
    Column("tier", "Tier", 12, value=lambda link: TIER_NAMES[link.edge.tier]),
    Column(
        "why", "Why", 40, "text", value=lambda link: with_warning(warning(link.edge), full_reason(link.edge))
    ),
    Column("notes", "Notes", 28, "text", value=lambda link: link.edge.notes),
    Column("source", "Source", 40, value=lambda link: link.edge.source_url),
    Column("target", "Target", 40, value=lambda link: link.edge.target_url),
    # The row's id, the anchor and the status that a run wrote last, and a digest of the row's source and target, which
    # shows that somebody sorted the visible columns without the hidden ones.
    Column("link_id", "Link ID", 20, "hidden", value=lambda link: link.edge.id),
    Column("proposed", "Proposed Anchor", 30, "hidden", value=lambda link: proposed_anchor(link.edge)),
    Column("written", "Written Status", 12, "hidden", value=lambda link: link.edge.status),
    Column("row_key", "Row Key", 12, "hidden"),
)
REVIEW_KEYS = tuple(column.key for column in REVIEW)
# Editors write into these columns of the review, and the program into the others.
EDITORS = ("status", "anchor", "notes")
HIDDEN = tuple(column.key for column in REVIEW if column.look == "hidden")

# Whether a link is on the site, as people read it.
ON_SITE = {"": "", "missing": "not yet", "undone": "taken back", "applied": "applied", "live": "live"}
# The app's list of links, a `project.link_lists.LinkRow` a row.
LINK_LIST = (
    Column("source_url", "Source", 40, "link"),
    Column("source_title", "Source Title", 40),
    Column("target_url", "Target", 40, "link"),
    Column("target_title", "Target Title", 40),
    Column("anchor", "Anchor", 30),
    Column("score", "Score"),
    Column("tier", "Tier", 14, value=lambda row: TIER_NAMES[row.tier]),
    Column("status", "Status"),
    Column("on_site", "On the Site", value=lambda row: ON_SITE[row.on_site]),
    Column("origin", "Origin"),
    Column("section", "Source Section", 16),
    Column("by", "Who", 16),
    Column("at", "When", 20),
    Column("notes", "Notes", 40, "text"),
    Column("id", "Link Id", 22),
)

# Tables of other records, whose attributes the columns show.
REJECTED_ROWS = (
    Column("table", "Table"),
    Column("row", "Row"),
    Column("url", "URL"),
    Column("reason", "Reason"),
)
# Source is empty if a row applies to every page, or to all pages of a language.
EXCLUDED_TARGETS = (
    Column("source", "Source"),
    Column("target", "Target"),
    Column("reason", "Reason", value=lambda item: str(item.reason)),
)
# Each pair of near-duplicates once, with the page to keep.
DUPLICATES = (
    Column("page", "Page"),
    Column("canonical", "Canonical Candidate"),
    Column("similarity", "Embedding Similarity"),
    Column("lexical", "Lexical Score"),
    Column("overlap", "Shingle Overlap"),
)
# Each page without inlinks, and the pages to link from, best first.
ORPHANS = Column("page", "Orphan"), *_numbered("Source", 5, lambda item: item.sources)
# Added links; Place is empty if the target was not among the candidates.
BACKTEST = (
    Column("source", "Source"),
    Column("target", "Target"),
    Column("anchor", "Anchor"),
    Column("place", "Place", value=lambda item: item.place or ""),
)
# Links that differ between two runs; a place is empty in a run without the link.
DIFFERENCES = (
    Column("source", "Source"),
    Column("target", "Target"),
    Column("change", "Change"),
    Column("before", "Place Before", value=lambda item: item.before or ""),
    Column("after", "Place After", value=lambda item: item.after or ""),
    Column("why", "Why", value=lambda item: str(item.why)),
    Column("other", "Other Link"),
)


@dataclass(frozen=True, slots=True)
class Language:
    """What the review says in one language."""

    headers: Mapping[str, str]  # by the keys of columns
    notes: Mapping[str, str]  # on headers, by the keys of columns; Excel shows 255 characters
    statuses: Mapping[Status, str]


ENGLISH = Language(
    # Editors may add the column Who to say who decided.
    headers={**{column.key: column.header for column in REVIEW}, "who": "Who"},
    notes={
        "status": "Choose accepted or rejected, or edited if you changed the anchor. The tool writes proposed, live "
        "(found on the site) and withdrawn, and never changes your decision.",
        "anchor": "The text to put the link on. Change it freely: the tool never changes your text.",
        "sentence": "The sentence in which the link goes; the anchor is in bold. Words in [brackets] are new text: if "
        "you accept the link, apply adds them. To accept it for a related box instead, empty this cell first.",
        "score": "How good the link is, from 0 to 100; links in the text always score more than others of their page.",
        "tier": "Where the link belongs: in the text (green), in a box of related links (amber), or only after your "
        "look at it (grey).",
        "why": "Why the tool proposes the link. 'New text' means the title, for a box of related links or new words. "
        "A warning comes first if the anchor is not in the page's text, or only in a link or a heading.",
        "notes": "Your own notes. The tool never changes what you write here.",
    },
    statuses={status: status for status in get_args(Status)},
)
GERMAN = Language(
    headers={
        **ENGLISH.headers,
        "anchor": "Ankertext",
        "sentence": "Satz",
        "source_title": "Titel der Quelle",
        "target_title": "Titel des Ziels",
        "section": "Bereich der Quelle",
        "score": "Punkte",
        "tier": "Platzierung",
        "why": "Begründung",
        "notes": "Notizen",
        "source": "Quelle",
        "target": "Ziel",
    },
    notes={
        "status": "Wählen Sie angenommen oder abgelehnt, oder geändert, wenn Sie den Ankertext geändert haben. Das "
        "Programm schreibt vorgeschlagen, live (auf der Website gefunden) und zurückgezogen und ändert Ihre "
        "Entscheidung nie.",
        "anchor": "Der Text, der verlinkt wird. Ändern Sie ihn frei: Das Programm ändert Ihren Text nie.",
        "sentence": "Der Satz, in den der Link kommt, mit dem Ankertext in Fettschrift. Wörter in [Klammern] sind "
        "neuer Text: Nehmen Sie den Link an, fügt apply sie ein. Soll er stattdessen in einen Kasten, leeren Sie "
        "zuerst diese Zelle.",
        "score": "Wie gut der Link ist, von 0 bis 100; Links im Text haben immer mehr Punkte als andere ihrer Seite.",
        "tier": "Wohin der Link gehört: in den Text (in the text, grün), in einen Kasten mit verwandten Links (related "
        "box, gelb) oder erst nach Ihrer Prüfung auf die Seite (needs a look, grau).",
        "why": "Warum das Programm den Link vorschlägt. 'New text' heißt: der Titel, für einen Kasten oder neuen Text. "
        "Steht der Ankertext nicht im Text der Seite, oder nur in einem Link oder einer Überschrift, steht das "
        "zuerst da.",
        "notes": "Ihre eigenen Notizen. Das Programm ändert sie nie.",
    },
    statuses={
        "proposed": "vorgeschlagen",
        "accepted": "angenommen",
        "rejected": "abgelehnt",
        "edited": "geändert",
        "live": "live",
        "withdrawn": "zurückgezogen",
    },
)
# By the values of the setting `review_language`.
LANGUAGES = {"en": ENGLISH, "de": GERMAN}
