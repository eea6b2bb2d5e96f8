"""Front matter: the block above a text that names its title and address, in YAML, TOML or JSON; and settings files."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, time

from internal_linker.model.cli_commands import needs_extra

# Characters; no page has so much, and a parser takes long for it.
MOST = 100_000
# Lists and mappings inside each other.
_DEEPEST = 100
_FENCES = re.compile(r"\A\s*(?P<fence>---|\+\+\+)(?P<kind>[a-z]*)[ \t]*\r?\n")
_JSON = re.compile(r"\A\{(?=\s*[\"}])")


@dataclass(frozen=True)
class FrontMatter:
    """The front matter of a text."""

    # Its keys and values; texts, lists and mappings, and in TOML and JSON numbers as well
    values: Mapping[str, object] = field(default_factory=dict)
    end: int = 0  # the position in the text at which the body begins
    problem: str = ""  # why it can't be read, with the line in the file; "" if it can

    def text(self, key: str) -> str:
        """Return a value as a text; "" if it is missing, null, a list or a mapping."""
        return scalar(self.values.get(key))

    def texts(self, key: str) -> list[str]:
        """Return a list of texts; one text counts as its words, as in Jekyll's `categories: a b`."""
        value = self.values.get(key)
        if isinstance(value, list):
            return [text for one in value if (text := scalar(one))]
        return scalar(value).split()


def scalar(value: object) -> str:
    """Return a value as it is written in YAML; "" for null, a list or a mapping."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return "" if value.strip() in {"~", "null"} else value.strip()
    return ""


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a text, which may be Markdown or HTML; a text without one has an empty one."""
    if json_start := _JSON.match(text):
        return _json(text, json_start.start())
    opening = _FENCES.match(text)
    if opening is None:
        return FrontMatter()
    fence = re.escape(opening["fence"])
    dots = r"|\.\.\." if opening["fence"] == "---" else ""
    closing = re.compile(rf"^(?:{fence}{dots})[ \t]*\r?(?:\n|\Z)", re.MULTILINE).search(text, opening.end())
    if closing is None:
        # A text may begin with a rule.
        return FrontMatter()
    line = text.count("\n", 0, opening.end())
    inside = text[opening.end() : closing.start()]
    kind = {"+++": "toml"}.get(opening["fence"], opening["kind"] or "yaml")
    if kind not in _READERS:  # Eleventy's JavaScript
        return FrontMatter(end=closing.end(), problem=f"line {line}: front matter in {kind} is not supported")
    values, problem = parse_front_matter(inside, kind, line)
    return FrontMatter(values, closing.end(), problem)


def _json(text: str, start: int) -> FrontMatter:
    try:
        values, end = json.JSONDecoder().raw_decode(text[:MOST], start)
    except (ValueError, RecursionError):
        # A template may begin with a brace; only what can be read is front matter.
        return FrontMatter()
    return FrontMatter(values if isinstance(values, dict) else {}, end)


def parse_front_matter(text: str, kind: str, line: int = 0) -> tuple[Mapping[str, object], str]:
    """Read YAML, TOML or JSON; return its values, and why it can't be read, "" if it can.

    `kind` is "yaml", "yml", "toml" or "json"; `line` is the number of lines above the text in its file.
    """
    if len(text) > MOST:
        return {}, f"line {line + 1}: longer than {MOST:,} characters"
    try:
        values = _READERS[kind](text)
    except _NotYaml as error:
        return {}, f"line {line + 1 + error.line}: {error}"
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        what = str(error).partition(" (at ")[0]
        return {}, f"line {line + int(found[1]) if found else line + 1}: {what}"
    except json.JSONDecodeError as error:
        return {}, f"line {line + error.lineno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return {}, f"line {line + 1}: {str(error).splitlines()[0] if str(error) else 'nested too deeply'}"
    if values is None or values == "":
        return {}, ""
    if not isinstance(values, dict):
        return {}, f"line {line + 1}: not a mapping of names to values"
    return {str(name): value for name, value in values.items()}, ""


class _NotYaml(ValueError):
    def __init__(self, error: Exception) -> None:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
        super().__init__(problem.splitlines()[0] if problem else "not valid YAML")
        self.line: int = mark.line if mark else 0


def _yaml(text: str) -> object:
    with needs_extra("publish", "Reading front matter or settings in YAML"):
        import yaml

    # The C parser, which PyYAML's wheels have, is ten times as fast. Neither makes anything but texts, lists and
    # mappings.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    try:
        # The C parser crashes Python with values nested too deeply to make; events alone are harmless.
        for event in yaml.parse(text, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise RecursionError
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise _NotYaml(error) from None


_READERS: Mapping[str, Callable[[str], object]] = {
    "yaml": _yaml,
    "yml": _yaml,
    "toml": tomllib.loads,
    "json": json.loads,
}
