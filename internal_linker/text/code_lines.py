"""Which lines of a plain text are code, command lines or their output rather than prose."""

import re
from collections.abc import Sequence

# What a line of code begins with: a prompt, a branch of a tree, a comment, an element, closing brackets, or a keyword
# of a common programming language with what follows it there.
_START = re.compile(
    r"\$ \S|[\u2500-\u257f]|[+|`\\]-- \S"
    r"|PS [A-Z]:|[A-Z]:\\|[\w.-]+@[\w.-]+:\S*[$#] |>>> |//|/\*|\*/|<!|<\?(?:php|xml)|#!|#include\b"
    r"|\d+/(?:tcp|udp)\s|@\w+(?:\(.*\))?$|[}\])]+[;,]?$|[}\]][\s)};,]|</?[A-Za-z][^<>]*$"
    r"|(?:import|export)\s+(?:[\w*{}, ]+\s+from\s+[\"']|[\"'{]|default\b|(?:const|function|class|type)\b|\w+=)"
    r"|from\s+[\w.]+\s+import\b|(?:const|let|var|static|final)\s+[\w${}\[\], :<>]+="
    r"|(?:async\s+)?(?:function|def|func|fn)\s+\w+\s*[(<]|(?:public|private|protected)\s+\w[\w<>\[\]]*(?:\s+\w+)*\s*(?:\(.*\)\s*[{;]?|[{;=].*)$"
    r"|(?:class|interface|struct|enum|namespace)\s+\w+[^.]*[{:]$|type\s+\w+(?:<.*>)?\s*="
    r"|(?:if|for|while|switch|elif|catch)\s*\(.*[){:;]$|(?:else|try|finally|do)\s*[{:]$"
    r"|(?:return|throw|await)\b.*[;({<]$|(?:console|window|document)\.\w+|print\("
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP)\s+\S"
)
# What it ends with, if it has other signs of code.
_END = re.compile(r"(?:[{;]|=>|\)[,:]?|\}[,)]*|[\"'][,\]]+|\[|\($|/>|</\w+>)$")
_ELEMENTS = re.compile(r"<[^<>]+>.*<?/?[^<>]*>$")
# A word of code: brackets, operators, calls, options, paths, snake_case and camelCase.
_CODE_WORD = re.compile(
    r"[{}=;<>$|\\\[\]`]|\w\(|\(\)|^--?\w|\w_\w|[a-z][A-Z]|::|->|^[~.]*/\w|\w/\w+/|^@\w|^[\"'][^\"']*[\"']:?,?$|^//|^#$"
)
# A line without any of these has no match of `_HARD`, which takes much longer to search for.
_HARD_SIGN = re.compile(r"[{}=<>$|\\;(-]")
_HARD = re.compile(r"[{}=<>$|\\]|;$|\w\([^ ]*\)|\(\)|(?:^|\s)--?[A-Za-z]")
# Programs that a page tells to run; what follows is a command if it is no sentence.
_COMMAND = re.compile(
    r"(?:sudo\s+)?(?:apt|apt-get|aws|az|brew|bundle|bun|cargo|cd|cf|chmod|chown|composer|cp|curl|deno|dnf|docker"
    r"|docker-compose|dotnet|echo|flyctl|fly|gcloud|gem|git|go|grep|helm|hugo|java|kubectl|ls|mkdir|mv|mysql|node|npm|npx"
    r"|php|pip|pip3|pnpm|psql|python|python3|rails|railway|rm|rsync|scp|sed|ssh|systemctl|tar|terraform|wget|wp|wsl|yarn"
    r"|yum)(?:\.exe)?\s+\S+"
)
_NO_COMMAND = re.compile(r"\b(?:a|an|the|is|are|and|or|of|to|your|you|for|in|on|with|can|will|how)\b")
_SENTENCE = re.compile(r"[^\W\d_]{2,}[.!?…。！？؟]+[\"'”’»)\]」』）]*$|[^\W\d_]{2,}[.!?,]\s+\S+\s+\S+")
# The share of the words that look like code, for a line or for a sentence to be code; and of letters beyond ASCII, for
# a line to be none.
_CODE_SHARE, _SENTENCE_SHARE, _OWN_SHARE = 0.5, 0.7, 0.2
# The most words of a command, characters of a line of code, and lines between two lines of code.
_FEW_WORDS, _LONG, _FEW_LINES = 14, 400, 12


def code_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is code: by its own signs, or as it stands between such lines and is no prose."""
    found = [_is_code(line.strip()) for line in lines]
    last = -1
    for at in [at for at, code in enumerate(found) if code]:
        between = lines[last + 1 : at]
        if last >= 0 and 0 < len(between) <= _FEW_LINES and all(map(_may_be_code, between)):
            found[last:at] = [True] * (at - last)
        last = at
    return found


def _is_code(line: str) -> bool:
    if not line or len(line) > _LONG:
        return False
    if _START.match(line) or (line[0] == "<" and _ELEMENTS.match(line)):
        return True
    if _is_foreign(line):
        return False
    if _COMMAND.match(line) and not _SENTENCE.search(line) and not _NO_COMMAND.search(line):
        return len(line.split()) <= _FEW_WORDS and line[-1] != ":"
    if not _HARD_SIGN.search(line) or not _HARD.search(line):
        return False
    words = line.split()
    coded = sum(_CODE_WORD.search(word) is not None for word in words)
    is_sentence = _SENTENCE.search(line) is not None
    if coded >= (_SENTENCE_SHARE if is_sentence else _CODE_SHARE) * len(words):
        return len(words) > 1 or _END.search(line) is not None or "=" in line
    return coded > 0 and _END.search(line) is not None and not is_sentence and line[-1] in "{;>"


def _may_be_code(line: str) -> bool:
    """Return whether a line between lines of code is part of them: short, and neither a sentence nor foreign."""
    text = line.strip()
    return not text or (
        len(text) <= _LONG
        and not _SENTENCE.search(text)
        and len(text.split()) <= _FEW_WORDS
        and (
            not _is_foreign(text)
            or (
                text[0].isascii()
                and text[-1].isascii()
                and text[-1] != ":"
                and _HARD.search(text) is not None
            )
        )
    )


def _is_foreign(line: str) -> bool:
    """Return whether a line has so many letters beyond ASCII that it is prose, whatever signs it has."""
    # Each letter takes one or two more bytes than one of ASCII: the quickest count.
    return not line.isascii() and len(line.encode("utf-8", "replace")) > (1 + _OWN_SHARE) * len(line)
