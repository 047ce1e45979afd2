"""Labels of pictures and boxes: what they may be, and which cutting would merge.

The rules are those of texts, see chalicelib/formats/texts/language_rows.py. Contract section 5.
"""

from __future__ import annotations

import re

from chalicelib.domain.common.limits import MAX_NAME_CHARACTERS
from chalicelib.domain.datasets.example import text_digest

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def find_label_fault(label: str) -> str:
    """Say what is wrong with a trimmed label; empty when it is fine."""
    if not label:
        return "the label is empty; give it a name of at least one visible character."
    found = _FORBIDDEN.search(label)
    if found:
        return f"the label holds the control character U+{ord(found.group()):04X}; remove it."
    return ""


def cut_label(label: str) -> str:
    """Cut a trimmed label to what is stored."""
    if len(label) <= MAX_NAME_CHARACTERS:
        return label
    return label[:MAX_NAME_CHARACTERS].rstrip()


class LabelBook:
    """Finds labels that become one by cutting; all must be added before the first is judged."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._merged: set[str] = set()

    def __len__(self) -> int:
        """Return the number of labels after cutting."""
        return len(self._digests)

    def add(self, label: str) -> None:
        """Note a trimmed label that has no fault."""
        name = cut_label(label)
        digest = text_digest(label)
        if self._digests.setdefault(name, digest) != digest:
            self._merged.add(name)

    def find_fault(self, name: str) -> str:
        """Say that a label cannot be told from another once they are cut; empty when it can.

        Args:
            name: a label that was added, cut.
        """
        if name not in self._merged:
            return ""
        return (
            f"the label equals another one when cut to {MAX_NAME_CHARACTERS} characters; make "
            f"the labels differ in their first {MAX_NAME_CHARACTERS} characters."
        )
