"""Reads the project's own sentences of everyday intents."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

EVERYDAY = Path(__file__).with_name("everyday_intents.txt")
"""Intents of assistants, journeys, banks and offices."""
CHAT = Path(__file__).parents[2] / "chalicelib" / "assets" / "global" / "text-intent.csv"
"""Intents of a service chat: the global data set."""
OUTSIDE = "other"
"""Label of the global data set for what fits nothing else: rejected by energy instead."""

_LABEL = "= "
_COMMENT = "#"
_CHOICE = re.compile(r"\{([^{}]*)\}")


def read_intents() -> list[tuple[str, str]]:
    """Return all sentences with their intent, none twice.

    A sentence of the chat that an everyday intent has too belongs to the latter.

    Raises:
        ValueError: a sentence stands under two everyday intents.
    """
    found: dict[str, tuple[str, str]] = {}
    for text, label in read_patterns(EVERYDAY.read_text(encoding="utf-8")):
        _, known = found.setdefault(text.casefold(), (text, label))
        if known != label:
            raise ValueError(f"{text!r} stands under {known} and {label}")
    for text, label in _read_chat():
        found.setdefault(text.casefold(), (text, label))
    return list(found.values())


def _read_chat() -> Iterator[tuple[str, str]]:
    with CHAT.open(encoding="utf-8", newline="") as file:
        for text, label in csv.reader(file):
            if label != OUTSIDE:
                yield text, label


def read_patterns(content: str) -> Iterator[tuple[str, str]]:
    """Yield sentences and labels of a file of patterns.

    Raises:
        ValueError: a sentence stands before the first label.
    """
    label = ""
    for line in filter(None, map(str.strip, content.splitlines())):
        if line.startswith(_LABEL):
            label = line.removeprefix(_LABEL)
        elif not line.startswith(_COMMENT):
            if not label:
                raise ValueError(f"{line!r} stands before the first label")
            yield from ((text, label) for text in written_out(line))


def written_out(pattern: str) -> list[str]:
    """Return a sentence for each place of its longest choice; shorter choices begin again."""
    choices = [choice.split("|") for choice in _CHOICE.findall(pattern)]
    frame = _CHOICE.sub("{}", pattern)
    count = max((len(choice) for choice in choices), default=1)
    return [
        frame.format(*(choice[number % len(choice)] for choice in choices))
        for number in range(count)
    ]
