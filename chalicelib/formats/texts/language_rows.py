"""What a row of a text upload must be, whatever format it came in.

Spec: Limits; contract section 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chalicelib.domain.common.limits import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS
from chalicelib.domain.datasets.dataset import SENTIMENTS

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """A row that can become an example."""

    number: int
    """From 1, as a spreadsheet counts: header and blank rows too; in JSON the object's place."""
    text: str
    """As it was sent, 1 to 20,000 characters, not only white space."""
    label: str
    """Trimmed, cut to 180 characters; in lower case for sentiments."""
    full_label: str
    """Trimmed, before it was cut."""

    @property
    def was_cut(self) -> bool:
        """True when the label is only the beginning of what was sent."""
        return len(self.full_label) > MAX_NAME_CHARACTERS


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that cannot become an example."""

    row: int
    """Counted like Row.number."""
    reason: str
    """What is wrong, with limit, value and remedy, for the receipt."""


def make_row(number: int, text: str, label: str, *, sentiment: bool) -> Row | Rejection:
    """Apply all rules to one text and label.

    Args:
        number: as in Row.
        text: as it was sent.
        label: as it was sent; trimmed here.
        sentiment: only the three sentiments are labels.

    Returns:
        The row, or why it is refused.
    """
    text = text.removesuffix("\r")
    full_label = label.strip()
    reason = _find_text_fault(text) or _find_label_fault(full_label)
    if not reason and sentiment:
        full_label = full_label.lower()
        if full_label not in SENTIMENTS:
            shown = _shorten(label.strip())
            reason = f'the label is "{shown}"; use positive, negative or neutral.'
    if reason:
        return Rejection(number, reason)
    if len(full_label) <= MAX_NAME_CHARACTERS:
        return Row(number, text, full_label, full_label)
    return Row(number, text, full_label[:MAX_NAME_CHARACTERS].rstrip(), full_label)


def _find_text_fault(text: str) -> str:
    """Say what is wrong with a text; nothing when it is fine."""
    if not text or text.isspace():
        return "the text is missing; give each row a text and a label."
    if len(text) > MAX_TEXT_CHARACTERS:
        line_count = text.count("\n") + 1
        hint = f" It spans {line_count:,} lines: is its quote closed?" if line_count > 1 else ""
        return (
            f"the text has {len(text):,} characters, the limit is {MAX_TEXT_CHARACTERS:,}; "
            f"shorten it or split it into several rows.{hint}"
        )
    if "\x00" in text:
        return "the text holds a NUL character; remove it."
    if not text.isascii() and _SURROGATE.search(text):
        return "the text holds half of a surrogate pair; save the file as UTF-8 again."
    return ""


def _find_label_fault(label: str) -> str:
    """Say what is wrong with a trimmed label; nothing when it is fine."""
    if not label:
        return "the label is missing; give each row a text and a label."
    control = _CONTROL.search(label)
    if control:
        code = ord(control.group())
        return f"the label holds the control character U+{code:04X}; remove it."
    if not label.isascii() and _SURROGATE.search(label):
        return "the label holds half of a surrogate pair; save the file as UTF-8 again."
    return ""


def _shorten(value: str) -> str:
    """Cut a value that is quoted in a message, and make it printable."""
    shown = value if len(value) <= 40 else f"{value[:40]}…"
    return shown.encode("utf-8", "replace").decode()


class LabelMerges:
    """Finds labels that become one by cutting.

    The ingest adds every row of its first pass, and asks for every row of its second.
    """

    def __init__(self) -> None:
        self._full_labels: dict[str, str] = {}
        self._merged: set[str] = set()

    def add(self, row: Row) -> None:
        """Note the label of a row; costs memory once for each distinct label."""
        known = self._full_labels.setdefault(row.label, row.full_label)
        if known != row.full_label:
            self._merged.add(row.label)

    def find_rejection(self, row: Row) -> Rejection | None:
        """Refuse a row whose label cannot be told from another one once it is cut.

        Args:
            row: any row that was added.

        Returns:
            The rejection; None when the row is fine.
        """
        if row.label not in self._merged:
            return None
        return Rejection(
            row.number,
            f"the label has {len(row.full_label):,} characters and equals another one when cut "
            f"to {MAX_NAME_CHARACTERS}; make the labels differ in their first "
            f"{MAX_NAME_CHARACTERS} characters.",
        )
