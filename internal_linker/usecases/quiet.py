"""Progress that nobody watches: it keeps the notes for the answer."""


class Notes:
    """`ports.Progress` that keeps its notes.

    Attributes:
        told: the notes, in order.
    """

    def __init__(self) -> None:
        self.told: list[str] = []

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step."""

    def advance(self, count: int = 1) -> None:
        """Count what is done."""

    def finish(self, outcome: str) -> None:
        """End a step."""

    def warn(self, message: str) -> None:
        """Keep a note."""
        self.told.append(message)
