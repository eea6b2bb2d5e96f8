"""Everything that a command left behind as lines of text, with whatever changes from run to run masked."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from python_calamine import CalamineWorkbook
from selectolax.lexbor import LexborHTMLParser

from internal_linker import __version__
from internal_linker.project.project import open_project

# In the project's folder. The store is shown by its tables, and the memory of the program for itself not at all.
NOT_SHOWN = re.compile(r"files/(cache\.sqlite3|index/|backups/|\.|fetched/)|logfile\.txt|config/")
# Lines of progress tell what came from a memory, and that may change.
NOT_PRINTED = re.compile(r"^(Embedding|Comparing|Points|Map): ")
NOT_LOGGED = re.compile(r"Summary: (Run|Seconds|Texts embedded|Memory|SERP pages from the cache)")
DECIMALS = 4
_VECTOR = re.compile(r"\[(-?[\d.e-]+(?:, ?-?[\d.e-]+){7,})\]")


class Masks:
    """Names in the place of what differs between two runs of the golden master.

    Args:
        names: what stands for these texts, such as folders and ports.
        ids: mask the ids of links, which depend on the pages' URLs and thus on a port.
    """

    def __init__(self, names: Mapping[str, str], *, ids: bool = False) -> None:
        self._names = sorted(names.items(), key=lambda one: -len(one[0]))
        self._ids = ids
        self._runs: dict[str, str] = {}

    def masked(self, text: str) -> str:
        """Return a text with names instead of run ids, times, durations, folders, ports and the version."""
        for given, name in self._names:
            text = text.replace(given, name)
        text = re.sub(r"\b\d{8}-\d{6}-[a-z]{4}\b", self._run, text)
        text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "<time>", text)
        text = re.sub(r"\b\d{8}-\d{6}\b", "<time>", text)
        text = re.sub(r"\(\d+\.\d s\)|Seconds: \d+\.\d", "(<seconds>)", text)
        text = re.sub(r"(127\.0\.0\.1|localhost):\d{4,5}", r"\1:<port>", text)
        text = text.replace(f"internal-linker {__version__}", "internal-linker <version>")
        text = _VECTOR.sub(lambda found: f"[<{found[1].count(',') + 1} numbers>]", text)
        if self._ids:
            text = re.sub(r"\b([0-9a-f]{20}|[0-9a-f]{8})\b", "<id>", text)
        return text.replace("\r", "\\r")

    def _run(self, found: re.Match[str]) -> str:
        return self._runs.setdefault(found[0], f"<run {len(self._runs) + 1}>")


def file_text(path: Path) -> str:
    """Return what a file holds for people: cells, values, visible text; other files by their size alone."""
    kinds: Mapping[str, Callable[[Path], str]] = {
        ".xlsx": _workbook_text,
        ".html": _page_text,
        ".json": lambda path: json_text(path.read_text("utf-8")),
    }
    if path.suffix in kinds:
        return kinds[path.suffix](path)
    try:
        text = path.read_bytes().decode("utf-8").replace("\ufeff", "<BOM>")
        return text.replace("\r\n", "\n") if path.suffix == ".csv" else text
    except UnicodeDecodeError:
        return f"<{path.stat().st_size} bytes>"


def json_text(text: str) -> str:
    """Return JSON with each value in a line of its own, and its fractions rounded."""
    return json.dumps(_rounded(json.loads(text)), ensure_ascii=False, indent=0)


def printed_text(text: str) -> str:
    """Return what a command printed, without lines about memories; JSON as `json_text`."""
    if text.startswith(("{", "[")):
        return json_text(text)
    return "\n".join(line.rstrip() for line in text.splitlines() if not NOT_PRINTED.match(line))


def logged_text(log: str) -> str:
    """Return the summary of the last run, which only the log has as a whole."""
    last = log.rpartition("Run starts")[2]
    lines = (line.partition("] ")[2] for line in last.splitlines())
    return "\n".join(line for line in lines if line.startswith("Summary: ") and not NOT_LOGGED.match(line))


def stored_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each table of the store that people care about."""
    project = open_project(folder)
    if not (folder / "files/cache.sqlite3").exists():
        return
    with project.applications() as (edges, applied):
        links = sorted(
            edges.each(), key=lambda edge: (edge.source_url or edge.query, edge.rank, edge.target_url)
        )
        writes = applied.writes()
    yield (
        "links",
        "\n".join(
            _line(
                *(
                    edge.id,
                    _path(edge.source_url) or edge.query,
                    _path(edge.target_url),
                    edge.rank,
                    edge.origin,
                    edge.kind,
                    edge.tier,
                ),
                *(
                    edge.strength,
                    edge.similarity,
                    edge.lexical,
                    edge.probability,
                    edge.serp_rank,
                    edge.status,
                ),
                *(edge.verdict, edge.by, edge.anchor, edge.notes),
                *(f"{one.text!r} at {one.start}" for one in edge.anchors[:1]),
            )
            for edge in links
        ),
    )
    with project.graph() as (_, runs):
        kept = [
            _line(run.run, run.what, run.encoder, run.rows, run.links, run.published)
            for run in runs.versions()
        ]
    yield "runs", "\n".join(kept)
    yield (
        "applied links",
        "\n".join(
            _line(write.number, write.page_url, write.place, " ".join(write.links), write.status)
            for write in writes
        ),
    )


def _path(url: str) -> str:
    return url.partition("://")[2].partition("/")[2]


def _line(*values: object) -> str:
    return " | ".join(str(_rounded(value)) for value in values)


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0  # -0.0 is 0.0
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def _workbook_text(path: Path) -> str:
    lines = list[str]()
    book = CalamineWorkbook.from_path(path)
    for name in book.sheet_names:
        lines.append(f"sheet {name}")
        for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False):
            lines.append(_line(*row).replace("\n", "\\n"))
    return "\n".join(lines)


def _page_text(path: Path) -> str:
    tree = LexborHTMLParser(path.read_text("utf-8"))
    # Where pages stand on the map of clusters depends on the processor.
    given = () if path.stem == "clusters" else tree.css('script[type="application/json"]')
    data = [json_text(node.text()) for node in given]
    tree.strip_tags(["script", "style"])
    body = tree.body
    shown = body.text(separator="\n", strip=True).partition("Made by Internal Linker")[0] if body else ""
    return "\n".join([*filter(str.strip, shown.split("\n")), *data])
