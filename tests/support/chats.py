"""A language model and its cache in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field

from internal_linker.core.ports import Chat
from internal_linker.core.records import Completion


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


class Answers:
    """An AnswerCache in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, str], str] = {}

    def get(self, chat: Chat, prompt: str) -> str | None:
        return self.kept.get((chat.model, chat.recipe, prompt))

    def put(self, chat: Chat, prompt: str, answer: str) -> None:
        self.kept[chat.model, chat.recipe, prompt] = answer
