"""The cache of language models' answers by model, recipe and prompt, so that each prompt is paid for once."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, Engine, Row, Table, func, select

from internal_linker.adapters.database.engine import key_text, lacks, note_damage, transact, upsert
from internal_linker.adapters.database.schema import METADATA, CheckedString, CheckedText, Moment, Waste
from internal_linker.core.ports import Chat

ANSWERS = Table(
    "answers",
    METADATA,
    Column("model", CheckedString(200), primary_key=True),
    Column("recipe", CheckedString(100), primary_key=True),
    Column("prompt", CheckedString(64), primary_key=True),
    Column("answer", CheckedText, nullable=False),
    Column("created_at", Moment, nullable=False),
)


class StoredAnswers:
    """`ports.AnswerCache` in a database.

    Args:
        engine: from `open_database`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, chat: Chat, prompt: str) -> str | None:
        """Return the answer to the prompt with this hash; None if it was never asked."""
        wanted = select(ANSWERS.c.answer).where(
            ANSWERS.c.model == _model(chat), ANSWERS.c.recipe == chat.recipe, ANSWERS.c.prompt == prompt
        )

        def read(connection: Connection) -> Row[Any] | None:
            return connection.execute(wanted).one_or_none()

        row = None if lacks(self._engine, ANSWERS) else transact(self._engine, read)
        if row is not None and row.answer is None:
            note_damage(self._engine, ANSWERS)
        return row.answer if row else None

    def put(self, chat: Chat, prompt: str, answer: str) -> None:
        """Insert or replace an answer; it is committed when this returns."""
        row = {
            "model": _model(chat),
            "recipe": chat.recipe,
            "prompt": prompt,
            # PostgreSQL rejects NUL, and both databases reject lone surrogates.
            "answer": answer.replace("\0", "").encode("utf-8", "replace").decode(),
            "created_at": datetime.now(UTC),
        }
        transact(self._engine, lambda connection: upsert(connection, ANSWERS, [row]))


def waste(before: datetime) -> list[Waste]:
    """Return the answers from before then: links keep their anchors without them."""
    return [Waste(ANSWERS, ANSWERS.c.created_at < before, func.length(ANSWERS.c.answer))]


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of ANSWERS can be read."""
    return row.answer is not None


def _model(chat: Chat) -> str:
    """Return the model as part of a key: a server's model may have any name."""
    return key_text(chat.model, 200)
