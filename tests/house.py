"""The size of the program in figures, held against the limits in pyproject.toml.

python -m tests.house
"""

import ast
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_RECORDS = {"dataclass", "NamedTuple", "BaseModel", "TypedDict", "Body", "Options", "Result", "Record"}


def figures() -> Mapping[str, int]:
    """Return what there is of everything that should not grow."""
    product = _python("internal_linker")
    texts = {path: path.read_text("utf-8") for path in product}
    sizes = {path: len(text.splitlines()) for path, text in texts.items()}
    found = Counter({"product lines": sum(sizes.values()), "product files": len(product)})
    found["largest file"] = max(sizes.values())
    found["files under 60 lines"] = sum(
        size < 60 for path, size in sizes.items() if path.name != "__init__.py"
    )
    found["test lines"] = _lines([path for path in _python("tests") if "research" not in path.parts])
    scripts = (ROOT / "internal_linker").rglob("*.js")
    found["javascript lines"] = _lines(
        [path for path in scripts if not {"vendor", "echarts"} & {*path.parts}]
    )
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    found["docs words"] = sum(len(page.read_text("utf-8").split()) for page in pages)
    project = _pyproject()["project"]
    found["base dependencies"] = len(project["dependencies"])
    found["rooms"] = sum((path / "__init__.py").exists() for path in (ROOT / "internal_linker").iterdir())
    return {**found, **_counted([ast.parse(text) for text in texts.values()])}


def limits() -> Mapping[str, int]:
    """Return the limits by figure."""
    found: Mapping[str, int] = _pyproject()["tool"]["internal-linker"]["house"]
    return found


def _counted(modules: Sequence[ast.Module]) -> Counter[str]:
    """Count classes of some kinds, class names used twice, functions called `of` and lines of docstrings."""
    found, places = Counter[str](), defaultdict[str, set[int]](set)
    for number, module in enumerate(modules):
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                made_by = {_last_name(one) for one in (*node.bases, *node.decorator_list)}
                found["records"] += bool(made_by & _RECORDS)
                found["protocols"] += "Protocol" in made_by
                if not node.name.startswith("_"):
                    places[node.name].add(number)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node, clean=False)
                found["docstring lines"] += text.count("\n") + 1 if text else 0
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found["functions called of"] += node.name == "of"
    found["class names used twice"] = sum(len(there) > 1 for there in places.values())
    return found


def _last_name(node: ast.expr) -> str:
    """Return the name of a base or decorator without modules, arguments and parameters."""
    return ast.unparse(node).partition("(")[0].partition("[")[0].rpartition(".")[2]


def _python(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if not {"__pycache__", "vendor"} & {*path.parts}]


def _lines(paths: Sequence[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def _pyproject() -> dict[str, dict[str, dict[str, dict[str, int]]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def main() -> int:
    """Print each figure beside its limit; return 1 if one is over."""
    allowed, over = limits(), False
    for name, value in figures().items():
        limit = allowed.get(name)
        over |= limit is not None and value > limit
        print(f"{name:24}{value:8}  {'' if limit is None else f'limit {limit}'}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
