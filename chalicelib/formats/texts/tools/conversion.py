"""Converts exports of known tools to CSV, so that one reader handles all rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from itertools import islice
from typing import BinaryIO, NamedTuple

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES
from chalicelib.domain.datasets.upload_format import (
    ENTITIES_IGNORED,
    LABEL_STUDIO,
    TOOL_KINDS,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.tools.export import EntityCount, ExportFault, ExportFile, ToolExport
from chalicelib.formats.texts.tools.json_tools import find_json_export
from chalicelib.formats.texts.tools.outline_tools import find_outline_export
from chalicelib.formats.texts.tools.table_tools import find_table_export
from chalicelib.formats.texts.tools.yaml_tools import find_yaml_export
from chalicelib.formats.texts.tools.zip_tools import find_zip_export

# Limit of the rows, which are stored in memory.
MAX_ROWS_BYTES = 100 * 1024 * 1024
_CHECK_ROWS = 1_000
# All families of exports; each returns None for a file of another family.
FAMILIES: tuple[Callable[[ExportFile], ToolExport | None], ...] = (
    find_zip_export,
    find_json_export,
    find_yaml_export,
    find_outline_export,
    find_table_export,
)


class ConvertedExport(NamedTuple):
    """An export of another tool, converted to rows of text and label."""

    rows: BinaryIO
    """CSV in UTF-8. Row n has example text n of the export."""
    layout: TextLayout


def convert_export(
    file: BinaryIO, options: ReadingOptions, check: Callable[[], None]
) -> ConvertedExport | None:
    """Convert a file to CSV if it is an export of a known tool.

    Args:
        file: The file, seekable; it is read from its start.
        options: How the caller wants the file to be read.
        check: Called often; may raise an error to stop.

    Returns:
        The converted rows; None if the file is not a known export, or another format is requested.

    Raises:
        InvalidUpload: the export cannot be read, or is not an export of the requested tool.
    """
    asked = options.format
    columns = options.text_column, options.label_column, options.delimiter, options.sheet
    known = asked in ("", LABEL_STUDIO, *TOOL_KINDS)
    if not known or any(columns) or options.header is not None:
        return None
    source = ExportFile(file, check)
    if asked == LABEL_STUDIO:
        # Only the csv is an export here; the reader of JSON reads or refuses the rest.
        table = find_table_export(source)
        return _convert(table, check) if table else None
    export = next((found for find in FAMILIES if (found := find(source))), None)
    if asked and (export is None or export.tool.kind != asked):
        raise InvalidUpload(
            f"'format' is {asked}, and the file is not such an export. Leave 'format' out, or "
            "send another file."
        )
    return _convert(export, check) if export else None


def _convert(export: ToolExport, check: Callable[[], None]) -> ConvertedExport:
    tool, entities = export.tool, EntityCount()
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw, "utf-8", "surrogatepass", newline="")
    writer = csv.writer(text, lineterminator="\n")
    count = 0
    try:
        # One row more than a dataset may have is enough: the row reader then refuses the file.
        found = islice(tool.read(export.document, entities), MAX_DATASET_EXAMPLES + 1)
        while rows := list(islice(found, _CHECK_ROWS)):
            check()
            count += len(rows)
            _check_size(raw.tell() + sum(len(row[1]) for row in rows))
            writer.writerows(rows)
    except ExportFault as fault:
        raise tool.refuse(fault) from None
    text.flush()
    text.detach()
    if not count:
        raise tool.refuse("it has no utterances")
    warnings = (_warn_of_entities(entities.count),) if entities.count else ()
    return ConvertedExport(raw, TextLayout(tool=tool.kind, warnings=warnings))


def _check_size(size_bytes: int) -> None:
    # The name of an intent is repeated for each utterance, so a long name can fill the memory.
    if size_bytes > MAX_ROWS_BYTES:
        raise ExportFault("its texts have more than 100 MB; export a part of it")


def _warn_of_entities(count: int) -> UploadWarning:
    message = (
        f"{count:,} entities of the export were left out; their words stay in the texts. Only "
        "intents and utterances are read."
    )
    return UploadWarning(ENTITIES_IGNORED, message, count)
