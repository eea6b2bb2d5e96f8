"""An audit -> audit.html: the template with the tables, and style, figures and scripts inlined."""

import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from internal_linker.audit_records import Audit, Measure
from internal_linker.services.audit_report.charts import chart_data, concentration, readable, tiers, tiles
from internal_linker.services.audit_report.pages import findings, href, movers, orphans
from internal_linker.whole_files import ReplaceWhole, remarks_on, replace_whole

_HERE = Path(__file__).parent
_CONTENTS = (
    ("figures", "Before and after"),
    ("sections", "Sections and topics"),
    ("between", "Links between sections"),
    ("strength", "Strength"),
    ("pagerank", "PageRank"),
    ("orphans", "Orphans"),
    ("findings", "Findings"),
)
# Per cent of the pages in the table beside the curve.
_TOLD_SHARES = (0.1, 1, 5, 10, 20, 50)


class AuditHtml:
    """An `AuditSink`: one file that can be mailed and opened without a network.

    Args:
        path: the file.
        write_whole: replaces a file.
        now: tells the date that stands on the report.
    """

    def __init__(
        self,
        path: Path,
        write_whole: ReplaceWhole = replace_whole,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self.path, self.name = path, f"files/{path.name}"
        self._write_whole, self._now = write_whole, now

    def write(self, audit: Audit) -> Sequence[str]:
        """Replace the last one; the answer says in a sentence where it landed, if not in its place.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        parts = _template().generate(_context(audit) | {"made": f"{self._now():%Y-%m-%d}"})
        return remarks_on(self.path, self._write_whole(self.path, lambda file: file.writelines(parts)))


def number(value: float, decimals: int = 0) -> str:
    """`1,234.50`; "none" for NaN."""
    return f"{value:z,.{decimals}f}" if math.isfinite(value) else "none"


def change(measure: Measure) -> str:
    """The difference after adoption with its sign; nothing where there is none."""
    difference = measure.after - measure.before
    told = f"{difference:+z,.{measure.decimals}f}"
    return told if math.isfinite(difference) and float(told.replace(",", "")) else ""


def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "change": change, "readable": readable}
    return environment.get_template("report.html")


def _context(audit: Audit) -> dict[str, Any]:
    sections, (gaining, losing) = tiles(audit), movers(audit)
    edges, counts = audit.histogram
    curves = (concentration(state.pagerank) for state in (audit.before, audit.after))
    return {
        "audit": audit,
        "contents": _CONTENTS,
        "new_links": len(audit.proposed.sources),
        "cards": _cards(audit),
        "tiles": sections,
        "tiers": tiers(audit),
        "bars": list(zip(edges.tolist(), counts.tolist(), strict=False)),
        "curve": [(x, y, after) for (x, y), (_, after) in zip(*curves, strict=True) if x in _TOLD_SHARES],
        "gaining": gaining,
        "losing": losing,
        "orphans": orphans(audit),
        "orphan_count": len(audit.before.orphans),
        "findings": findings(audit),
        "href": href,
        "data": chart_data(audit, sections),
        "notices": [_text("echarts/NOTICE"), _text("echarts/LICENSE-d3")],
        "policy": _policy(),
        "style": Markup(_text("report.css")),
        "echarts": Markup(_text("echarts/echarts.min.js")),
        "script": Markup(_text("report.js")),
    }


def _cards(audit: Audit) -> list[Measure]:
    before, after = audit.before, audit.after
    links = len(audit.existing.sources)
    return [
        Measure("Pages", len(audit.urls), len(audit.urls)),
        Measure("Links", links, links + len(audit.proposed.sources)),
        Measure("Orphans", len(before.orphans), len(after.orphans)),
        Measure("Out of reach of the home page", before.unreachable, after.unreachable),
        Measure("Clicks from the home page, mean", before.mean_depth, after.mean_depth, 2),
        Measure("Gini of PageRank", before.gini, after.gini, 3),
    ]


def _policy() -> str:
    """What a browser may do with the report: run its two scripts, and load nothing at all."""
    scripts = " ".join(f"'sha256-{_digest(_text(name))}'" for name in ("echarts/echarts.min.js", "report.js"))
    # Charts set the style of what they draw.
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:"


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
