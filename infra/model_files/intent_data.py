"""Reads the sentences on which GlobalIntentModel is trained."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

# File of intents for assistants, travel, banks and offices.
EVERYDAY = Path(__file__).with_name("everyday_intents.txt")
# File of intents of a service chat: the global dataset.
CHAT = Path(__file__).parents[2] / "chalicelib" / "assets" / "global" / "text-intent.csv"
# Label in the global dataset for all other texts. The model has no such label: it rejects these
# texts by their energy.
OUTSIDE = "other"

_LABEL = "= "
_COMMENT = "#"
_CHOICE = re.compile(r"\{([^{}]*)\}")


def read_intents() -> list[tuple[str, str]]:
    """Return the distinct sentences with their intents.

    Raises:
        ValueError: a sentence has two different intents in the file of everyday sentences.
    """
    found: dict[str, tuple[str, str]] = {}
    for text, label in read_patterns(EVERYDAY.read_text(encoding="utf-8")):
        _, known = found.setdefault(text.casefold(), (text, label))
        if known != label:
            raise ValueError(f"{text!r} has the labels {known} and {label}")
    for text, label in _read_chat():
        # A sentence in both files has the everyday intent.
        found.setdefault(text.casefold(), (text, label))
    return list(found.values())


def _read_chat() -> Iterator[tuple[str, str]]:
    with CHAT.open(encoding="utf-8", newline="") as file:
        for text, label in csv.reader(file):
            if label != OUTSIDE:
                yield text, label


def read_patterns(content: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences and labels of a file of patterns.

    Raises:
        ValueError: a pattern precedes the first label.
    """
    label = ""
    for line in filter(None, map(str.strip, content.splitlines())):
        if line.startswith(_LABEL):
            label = line.removeprefix(_LABEL)
        elif not line.startswith(_COMMENT):
            if not label:
                raise ValueError(f"{line!r} precedes the first label")
            yield from ((text, label) for text in written_out(line))


def written_out(pattern: str) -> list[str]:
    """Expand a pattern with choices such as `(a|b)` into sentences.

    Each option occurs in at least one sentence. The number of sentences is the number of options of
    the largest choice.
    """
    choices = [choice.split("|") for choice in _CHOICE.findall(pattern)]
    frame = _CHOICE.sub("{}", pattern)
    count = max((len(choice) for choice in choices), default=1)
    return [
        frame.format(*(choice[number % len(choice)] for choice in choices))
        for number in range(count)
    ]
