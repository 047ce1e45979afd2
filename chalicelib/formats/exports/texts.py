"""Writes labelled texts as CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable
from typing import BinaryIO

# Possible names of the label column; the upload recognises all of them.
LABEL_COLUMNS = ("label", "intent", "sentiment")


def write_csv(file: BinaryIO, rows: Iterable[tuple[str, str]], labels: Collection[str] = ()) -> int:
    """Write texts and labels as CSV. Texts are not changed, even if they look like formulas.

    Args:
        file: Binary file that receives UTF-8; stays open.
        rows: Texts and labels.
        labels: All labels that can occur. The label column gets a name that is not a label.

    Returns:
        The number of rows.
    """
    count = 0
    text = io.TextIOWrapper(file, "utf-8", newline="")
    writer = csv.writer(text)
    folded = {label.casefold() for label in labels}
    # A header is always written, or an example could be taken for one; its name must not be a
    # label.
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
    """Write each text with its label as a JSON object on one line.

    Args:
        file: Binary file that receives UTF-8; stays open.
        rows: Texts and labels.
        labels: Not used. `write_csv` has the same parameters.

    Returns:
        The number of rows.
    """
    del labels
    count = 0
    for text, label in rows:
        line = json.dumps({"text": _as_read(text), "label": label}, ensure_ascii=False)
        file.write(line.encode() + b"\n")
        count += 1
    return count


def _as_read(text: str) -> str:
    # An upload drops a carriage return at the end of a text.
    return f"{text}\r" if text.endswith("\r") else text
