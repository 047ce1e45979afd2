"""Reads CSV exports of Label Studio, without the columns that the tool adds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from chalicelib.domain.datasets.upload_format import LABEL_STUDIO
from chalicelib.formats.texts.columns.names import find_named_columns
from chalicelib.formats.texts.tools.export import (
    EntityCount,
    ExportFault,
    ExportFile,
    Pair,
    Tool,
    ToolExport,
)

# Columns that Label Studio adds to every export; they do not come from the tasks.
_SIGNS = frozenset(("annotation_id", "lead_time"))
_ADDED = _SIGNS | {"id", "annotator", "annotators", "created_at", "updated_at", "sentiment_score"}


def find_table_export(source: ExportFile) -> ToolExport | None:
    """Return the export in a CSV file of Label Studio; None for other files or unclear columns."""
    first = next(iter(source.head.splitlines()), "")
    if not all(sign in first for sign in _SIGNS):
        return None
    names = next(csv.reader([first]), [])
    if not set(names) >= _SIGNS:
        return None
    own = [at for at, name in enumerate(names) if name not in _ADDED]
    texts = find_named_columns([names[at] for at in own]).texts
    text_at = own[texts[0]] if len(texts) == 1 else None
    labels = [at for at in own if at != text_at]
    # Otherwise the general search for columns decides, with its warnings and refusals.
    if text_at is None or len(labels) != 1:
        return None
    return ToolExport(TABLE_TOOLS[0], (source, text_at, labels[0]))


def _read_tasks(document: Any, entities: EntityCount) -> Iterator[Pair]:
    source, text_at, label_at = document
    rows = csv.reader(io.StringIO(source.text, newline=""))
    next(rows, None)
    try:
        for row in rows:
            if row:
                cells = row + [""] * (max(text_at, label_at) + 1 - len(row))
                yield cells[text_at], _label_of(cells[label_at])
    except csv.Error as problem:
        raise ExportFault(f"line {rows.line_num}: {problem}") from None


def _label_of(cell: str) -> str:
    """Return the label in a cell. If the cell has several choices, they are joined to one label."""
    if not cell.startswith(("{", "[")):
        return cell
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    choices = value.get("choices") if isinstance(value, dict) else value
    if not isinstance(choices, list) or not all(isinstance(one, str) for one in choices):
        return cell
    return "|".join(choices)


TABLE_TOOLS = (Tool(LABEL_STUDIO, "Label Studio", (), lambda _: True, _read_tasks),)
