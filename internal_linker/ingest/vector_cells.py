"""A cell with an embedding, as a crawler or export-vectors writes it -> a JSON list of its numbers, as they stand."""

import json
import math

# Numbers of an embedding: ten times what any model gives.
_MOST = 50_000
# A float32, which is what vectors are kept as, holds no more, and its square nothing of less.
_LARGEST, _SMALLEST = 1e38, 1e-18


def vector_cell(cell: str) -> tuple[str, int]:
    """The list, its numbers spelt as they were, and how many they are.

    Args:
        cell: numbers divided by commas, with or without square brackets.

    Raises:
        ValueError: it is no embedding; the message says why, in a person's words.
    """
    inside = cell.strip()
    if inside.startswith("[") and inside.endswith("]"):
        inside = inside[1:-1]
    if inside.count(",") >= _MOST:
        raise ValueError(f"its embedding has more than {_MOST:,} numbers")
    try:
        numbers = json.loads(f"[{inside}]", parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError("its embedding is no list of numbers") from None
    if not all(type(number) in (int, float) for number in numbers) or len(numbers) < 2:
        raise ValueError("its embedding is no list of numbers")
    largest = max(abs(number) for number in numbers)
    if largest < _SMALLEST:
        raise ValueError("its embedding is nothing but zeros")
    if largest > _LARGEST or not math.isfinite(largest):
        raise ValueError("its embedding has a number that is too large")
    return "[" + ", ".join(part.strip() for part in inside.split(",")) + "]", len(numbers)


def _refuse(name: str) -> float:
    raise ValueError(name)
