"""Scores contacts read from business cards: micro F1 of entities, compared by tag and text.

A match ignores case, punctuation, spaces, and labels before a value, such as "Phone". The tags
OTHER and TITLE count as equal. The lines of an address are joined in order before they are
compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chalicelib.engines.ocr.contacts.labels import tag_before

Entity = tuple[str, str]
"""Tag and text."""

ALIKE = {"TITLE": "OTHER"}
"""Tags that count as another tag."""
_LABELLED = ("PHONE", "MOBILE_PHONE", "FAX", "EMAIL", "WEBSITE")


@dataclass
class Tally:
    """Counts of entities over several cards, by tag."""

    right: Counter[str] = field(default_factory=Counter)
    """Entities that are in the truth and in the answer."""
    missing: Counter[str] = field(default_factory=Counter)
    """Entities of the truth that the answer lacks."""
    extra: Counter[str] = field(default_factory=Counter)
    """Entities of the answer that the truth lacks."""

    def add(self, truth: Iterable[Entity], answer: Iterable[Entity]) -> None:
        """Count the entities of one card."""
        wanted, given = comparable(truth), comparable(answer)
        for counts, entities in (
            (self.right, wanted & given),
            (self.missing, wanted - given),
            (self.extra, given - wanted),
        ):
            for (tag, _), count in entities.items():
                counts[tag] += count

    def f1(self, *tags: str) -> float:
        """Return the micro F1 of `tags`, or of all tags if none is given; 1 without entities."""
        right, missing, extra = (
            _total(counts, tags) for counts in (self.right, self.missing, self.extra)
        )
        total = 2 * right + missing + extra
        return 2 * right / total if total else 1.0


def comparable(entities: Iterable[Entity]) -> Counter[Entity]:
    """Return entities in the form that is compared. The lines of an address become one entity."""
    found: Counter[Entity] = Counter()
    address = ""
    for tag, text in entities:
        if tag == "ADDRESS":
            address += plain(text)
        else:
            found[ALIKE.get(tag, tag), plain(_without_label(tag, text))] += 1
    if address:
        found["ADDRESS", address] += 1
    return found


def plain(text: str) -> str:
    """Return the letters and digits of a text in lower case, without accents."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def entities_of(items: Iterable[Mapping[str, str]]) -> list[Entity]:
    """Return the entities in the true values of a card."""
    return [(item["tag"], item["text"]) for item in items]


def _without_label(tag: str, text: str) -> str:
    """Remove a label such as "Phone" from the start of an entity's text."""
    if tag not in _LABELLED:
        return text
    value = re.search(r"\+|\(|\d|\S+@|www|http|\S+\.\w", text)
    if value is None or tag_before(text[: value.start()])[0] is None:
        return text
    return text[value.start() :]


def _total(counts: Counter[str], tags: tuple[str, ...]) -> int:
    return sum(count for tag, count in counts.items() if not tags or tag in tags)
