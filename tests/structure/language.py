"""Finds words of the project's former dialect, and long sentences in its documentation."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
REMAINING = Path(__file__).with_name("remaining_words.txt")
# The words that are never right in the sense that the project once gave them, with what to write.
NEVER = {
    r"told": "reported, described, notified",
    r"mend(?:s|ed|ing|ings|er|ers)?": "fix, edit, correct, repair",
    r"beside": "next to, in addition to, besides",
    r"nobody(?:'s)?": "no one, unassigned",
    r"heirs?": "merge target",
    r"anew": "again",
    r"noughts?": "zero",
    r"at the most": "at most",
    r"at the least": "at least",
    r"go(?:es)? on": "continue",
    r"going on": "running, in progress",
    r"whoever": "the caller, anyone who",
    r"somebody(?:'s)?": "someone, a user",
    r"witness(?:es)?": "signal, evidence, feature",
    r"learnt": "trained on, fitted",
    r"tells? whether": "return whether",
    r"stands? in": "is in, is stored in",
    r"lies? beside": "is next to",
}
_WORD = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(NEVER)})(?![A-Za-z])", re.IGNORECASE)
_READ = {".py", ".md", ".js", ".css", ".html", ".toml", ".yaml", ".yml", ".txt", ".in", ""}
# Other people's texts, data, sentences that models are fitted on, generated files, and NEVER.
_UNREAD = re.compile(
    r"(^|/)(_sync|background|data|corpus)/|\.module\.js$|\.esm\.js$|swagger-ui|LICENSE|NOTICE"
    r"|(everyday_intents|own_sentences)\.txt$|requirements.*\.txt$"
    r"|^tests/structure/(language|remaining_words)\."
)


def occurrences() -> dict[str, Counter[str]]:
    """Count the words of NEVER in every tracked text file, by path and word in lower case."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    found = {}
    for name in listed.stdout.splitlines():
        if Path(name).suffix in _READ and not _UNREAD.search(name) and (ROOT / name).is_file():
            words = _WORD.findall((ROOT / name).read_text("utf-8", errors="replace"))
            if words:
                found[name] = Counter(word.lower() for word in words)
    return found


def remaining() -> Counter[str]:
    """Return how many of the words each folder may still have (remaining_words.txt)."""
    rows = (line.split("\t") for line in REMAINING.read_text("utf-8").splitlines() if line)
    return Counter({folder: int(count) for folder, count in rows})


def sentences(markdown: str) -> Iterator[str]:
    """Yield the sentences of a page's prose: no code, tables, headings or link targets."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|<[^>\n]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text):
        line = " ".join(block.split()).lstrip("-*#> ")
        if line and not block.lstrip().startswith(("|", "#")):
            yield from (part for part in re.split(r"(?<=[.!?])\s+", line) if part)


def word_count(sentence: str) -> int:
    """Count the words of a sentence; code in backticks is one word."""
    plain = re.sub(r"`[^`]*`", "code", sentence)
    return len(re.findall(r"[A-Za-z0-9][\w'’.,-]*", plain))
