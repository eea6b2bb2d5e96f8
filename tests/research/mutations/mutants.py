"""Single mutations of the program, and a seeded sample of them."""

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "internal_linker"
ROOMS = tuple(
    sorted(
        room.name
        for room in (Path(__file__).parents[3] / PACKAGE).iterdir()
        if (room / "__init__.py").exists()
    )
)

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# Assignments to plain names are left alone: without one, the next use of the name fails anyway.
_DELETABLE = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)
# The type checker tests types, decorators mostly forbid what no code tries, and positions inside an f-string are
# unknown before Python 3.12.
_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params", "type_comment"}
# What is asserted is so, and nobody sees whether it is asserted: that goes for zip(strict=True), too.
_SKIPPED_NODES = (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)
_SKIPPED_KEYWORDS = {"strict"}
_SKIPPED_CALLS = {"TypeVar", "ParamSpec", "NewType", "cast"}
# An off-by-one of a larger number is a choice of size rather than a bug.
_SMALL = 10


@dataclass(frozen=True)
class Mutation:
    """One change of one file.

    Attributes:
        path: the file's path from the root of the repository, with forward slashes.
        line, last_line: the first and last changed line, from 1.
        start, end: the changed bytes.
        kind: the kind of change.
        before, after: the old text and its replacement.
    """

    path: str
    line: int
    last_line: int
    start: int
    end: int
    kind: str
    before: str
    after: str

    @property
    def room(self) -> str:
        """The package that the file belongs to."""
        return self.path.split("/")[1]

    def apply(self, source: bytes) -> bytes:
        """Return the file's content with the change made."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def sample(root: Path, count: int, seed: int, rooms: Sequence[str] = ROOMS) -> list[Mutation]:
    """Draw mutations, each on a different line: from each package in proportion to its lines of code."""
    lines = {room: _by_line(root, room) for room in rooms}
    dice = random.Random(seed)
    drawn = []
    for room, number in _shares({room: len(found) for room, found in lines.items()}, count).items():
        for key in sorted(dice.sample(sorted(lines[room]), number)):
            drawn.append(dice.choice(lines[room][key]))
    return drawn


def mutations(path: str, source: bytes) -> Iterator[Mutation]:
    """Find every mutation of a file, in the order of its code."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, kind, after in _changes(ast.parse(source)):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = source[start:end].decode()
        yield Mutation(path, node.lineno, node.end_lineno, start, end, kind, before, after)


def _by_line(root: Path, room: str) -> dict[tuple[str, int], list[Mutation]]:
    found = defaultdict[tuple[str, int], list[Mutation]](list)
    for file in sorted((root / PACKAGE / room).rglob("*.py")):
        for mutation in mutations(file.relative_to(root).as_posix(), file.read_bytes()):
            found[mutation.path, mutation.line].append(mutation)
    return found


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Divide a count in proportion, by largest remainders."""
    exact = {name: count * size / sum(sizes.values()) for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda name: shares[name] - exact[name])[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield the nodes below that can change, with the kind of change and the text that replaces each."""
    if isinstance(node, _SKIPPED_NODES) or _is_for_type_checkers(node):
        return
    if isinstance(node, ast.keyword) and node.arg in _SKIPPED_KEYWORDS:
        return
    if isinstance(node, ast.stmt):
        yield from _of_statement(node)
    elif isinstance(node, ast.expr):
        yield from _of_expression(node)
    for name, child in ast.iter_fields(node):
        if name in _SKIPPED_FIELDS:
            continue
        for one in child if isinstance(child, list) else [child]:
            if isinstance(one, ast.AST) and not _is_docstring(one):
                yield from _changes(one)


def _of_statement(node: ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.Return) and node.value and not _is_constant(node.value, None):
        yield node.value, "return value", "None"
    if isinstance(node, ast.If | ast.While):
        yield node.test, "swapped branches", f"(not ({ast.unparse(node.test)}))"
    call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await | ast.YieldFrom)
    stored = isinstance(node, ast.Assign) and all(
        isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets
    )
    if call or stored or isinstance(node, _DELETABLE):
        yield node, "deleted statement", "pass"


def _of_expression(node: ast.expr) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            ops = [*node.ops[:at], _COMPARISONS[type(operator)](), *node.ops[at + 1 :]]
            yield node, "comparison", _text(ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "boolean", _text(ast.BoolOp(other, node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        kind = "boolean" if isinstance(node.op, ast.Not) else "arithmetic"
        yield node, kind, _text(node.operand)
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield node, "arithmetic", _text(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))
    elif isinstance(node, ast.IfExp):
        yield node, "swapped branches", _text(ast.IfExp(node.test, node.orelse, node.body))
    elif isinstance(node, ast.Constant):
        yield from _of_constant(node)
    elif isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg and keyword.arg not in _SKIPPED_KEYWORDS:
                rest = [one for one in node.keywords if one is not keyword]
                yield node, "deleted keyword", _text(ast.Call(node.func, node.args, rest))


def _of_constant(node: ast.Constant) -> Iterator[tuple[ast.expr, str, str]]:
    if isinstance(node.value, bool):
        yield node, "constant", str(not node.value)
    elif isinstance(node.value, int | float):
        by_one = (isinstance(node.value, int) and node.value < _SMALL) or not node.value
        yield node, "constant", repr(node.value + 1 if by_one else 2 * node.value)
    elif isinstance(node.value, str):
        yield node, "constant", '""' if node.value else '"mutated"'
    elif isinstance(node.value, bytes):
        yield node, "constant", 'b""' if node.value else 'b"mutated"'


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_docstring(node: ast.AST) -> bool:
    """Return whether a statement is a text, or the dots that replace a body."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_type_checkers(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _SKIPPED_CALLS
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
