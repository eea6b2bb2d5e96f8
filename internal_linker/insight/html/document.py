"""HTML reports: renders a template into one file that loads nothing from elsewhere."""

import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from internal_linker.store.files.atomic import remarks_on, replace_whole

_HERE = Path(__file__).parent
# The app serves it, too.
_ECHARTS = _HERE / "echarts"


class ReportFile:
    """A report as one file that can be mailed, with style, data and scripts inlined."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        self.path, self._now = path, now

    def replace(
        self,
        template: Path,
        shown: Mapping[str, Any],
        filters: Mapping[str, Callable[..., str]] | None = None,
    ) -> list[str]:
        """Replace the file; return a sentence that says where it is, if it could not be replaced.

        The arguments are those of `document`; `made`, the date, is added to the template's variables.

        Raises:
            OutputError: it can't be written; the earlier file stays as it was.
        """
        text = document(template, {**shown, "made": f"{self._now():%Y-%m-%d}"}, filters)
        return remarks_on(self.path, replace_whole(self.path, lambda file: file.writelines(text)))


def document(
    template: Path, shown: Mapping[str, Any], filters: Mapping[str, Callable[..., str]] | None = None
) -> Iterator[str]:
    """Yield the text of a report's file in parts.

    Args:
        template: NAME.html, which fills the blocks of base.html. NAME.js beside it draws `data`; an optional
            NAME.css extends the style of all reports.
        shown: the template's variables; its script reads `data`.
        filters: the template's own filters by name.
    """
    environment = _environment(template)
    environment.filters |= filters or {}
    style = template.with_suffix(".css")
    scripts = (
        _text(_ECHARTS / "echarts.min.js"),
        "".join(map(_text, (_HERE / "common.js", _HERE / "tables.js", template.with_suffix(".js")))),
    )
    inlined = {
        "policy": _policy(*scripts),
        "style": Markup(_text(_HERE / "common.css") + (_text(style) if style.exists() else "")),
        "echarts": Markup(scripts[0]),
        "script": Markup(scripts[1]),
        "notices": [_text(_ECHARTS / "NOTICE"), _text(_ECHARTS / "LICENSE-d3")],
    }
    yield from environment.get_template(template.name).generate({**inlined, **shown})


@cache
def _environment(template: Path) -> Environment:
    """Return the environment that keeps a template compiled, which takes longer than filling it."""
    environment = Environment(
        loader=FileSystemLoader([template.parent, _HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.globals["href"] = href
    return environment


def number(value: float, decimals: int = 0) -> str:
    """Format a number as `1,234.50`; NaN and infinity as "none"."""
    return f"{value:z,.{decimals}f}" if math.isfinite(value) else "none"


def href(url: str) -> str:
    """Return an HTTP URL, and "" for any other: a browser would run a `javascript:` URL in the report."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def _policy(*scripts: str) -> str:
    """Return a content security policy that allows only these scripts and loads nothing."""
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    # Charts set inline styles.
    return f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:"


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def _text(path: Path) -> str:
    return path.read_text("utf-8")
