"""A language model in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field

from internal_linker.model.records import Completion


@dataclass
class Model:
    """A Chat that gives the configured answer."""

    says: Callable[[str], str]
    name: str = "openai/model"
    model: str = "model"
    recipe: str = "v1"
    heard: list[tuple[str, str]] = field(default_factory=list)

    def complete(self, task: str, data: str) -> Completion:
        self.heard.append((task, data))
        return Completion(self.says(data), 7)
