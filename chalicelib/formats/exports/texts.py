"""Labelled texts as csv or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable
from typing import BinaryIO

LABEL_COLUMNS = ("label", "intent", "sentiment")
"""Names of the column of labels; readers know all of them."""


def write_csv(file: BinaryIO, rows: Iterable[tuple[str, str]], labels: Collection[str] = ()) -> int:
    """Write texts and labels, as they are: also those that a spreadsheet takes for a formula.

    Args:
        file: takes UTF-8; stays open.
        rows: texts and labels.
        labels: every label that may come.

    Returns:
        How many there were.
    """
    count = 0
    text = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    folded = {label.casefold() for label in labels}
    # Always, or an example may be taken for a header; and one that no row repeats.
    column = next((name for name in LABEL_COLUMNS if name not in folded), LABEL_COLUMNS[0])
    writer.writerow(("text", column))
    for row in rows:
        writer.writerow((_as_read(row[0]), row[1]))
        count += 1
    text.flush()
    text.detach()
    return count


def write_jsonl(
    file: BinaryIO, rows: Iterable[tuple[str, str]], labels: Collection[str] = ()
) -> int:
    """Write an object of `text` and `label` a line; takes and returns what `write_csv` does."""
    del labels
    count = 0
    for text, label in rows:
        line = json.dumps({"text": _as_read(text), "label": label}, ensure_ascii=False)
        file.write(line.encode() + b"\n")
        count += 1
    return count


def _as_read(text: str) -> str:
    """Return what reading makes this text of: a carriage return at its end is taken off there."""
    return f"{text}\r" if text.endswith("\r") else text
