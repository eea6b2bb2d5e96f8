"""The table of the results of a sample of mutations: RESULTS.md."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.research.mutations.mutants import ROOMS, Mutation
from tests.research.mutations.trials import Verdict

# Mutations without an observable effect, marked by hand with the reason.
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
_LONGEST = 90


def write(file: Path, root: Path, seed: int, tried: Sequence[tuple[Mutation, Verdict]]) -> None:
    """Write the shares of each package and the list of surviving mutations."""
    file.write_text("\n".join(_lines(root, seed, tried)) + "\n", encoding="utf-8")


def reasons(root: Path, mutations: Sequence[Mutation]) -> dict[Mutation, str]:
    """Return why a mutation is equivalent, for those that are marked."""
    marked = tomllib.loads(EQUIVALENT.read_text("utf-8")).get("mutation", [])
    known = {(one["path"], one["code"], one["before"], one["after"]): one["reason"] for one in marked}
    found = {}
    for mutation in mutations:
        code = (root / mutation.path).read_text("utf-8").splitlines()[mutation.line - 1].strip()
        reason = known.get((mutation.path, code, mutation.before, mutation.after))
        if reason:
            found[mutation] = str(reason)
    return found


def _lines(root: Path, seed: int, tried: Sequence[tuple[Mutation, Verdict]]) -> Iterator[str]:
    alive = [mutation for mutation, verdict in tried if verdict.outcome == "survived"]
    equal = reasons(root, alive)
    yield "# Mutations that the quick tier notices"
    yield ""
    yield (
        f"Written by `python -m tests.research.mutations --seed {seed} --count {len(tried)}`: single changes of the "
        "code, drawn from each package by its share of the lines. A timeout counts as noticed; equivalent "
        "changes don't count."
    )
    yield ""
    yield "| Room | Mutations | Killed | Timeout | Survived | Equivalent | Noticed |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for room in (*ROOMS, ""):
        own = [(mutation, verdict) for mutation, verdict in tried if not room or mutation.room == room]
        outcomes = [verdict.outcome for _, verdict in own]
        killed, timeout = outcomes.count("killed"), outcomes.count("timeout")
        equivalent = sum(mutation in equal for mutation, _ in own)
        counted = len(own) - equivalent
        share = f"{(killed + timeout) / counted:.0%}" if counted else ""
        survived = counted - killed - timeout
        yield f"| {room or '**all**'} | {len(own)} | {killed} | {timeout} | {survived} | {equivalent} | {share} |"
    for title, wanted in (("Survived", False), ("Equivalent", True)):
        yield f"\n## {title}\n"
        for mutation in alive:
            if (mutation in equal) is wanted:
                yield f"- {shown(mutation)}{': ' + equal[mutation] if wanted else ''}"


def shown(mutation: Mutation) -> str:
    """Return a mutation as one line of Markdown."""
    before, after = (_short(text) for text in (mutation.before, mutation.after))
    return f"`{mutation.path}:{mutation.line}` {mutation.kind}: `{before}` becomes `{after}`"


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("`", "'")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 4] + " ..."
