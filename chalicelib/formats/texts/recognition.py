"""Decides how a text file is read: kind, encoding, delimiter, header and columns.

Every guess is reported as a warning. A file that can be read in two ways is refused, unless earlier
versions of the service accepted it. The error names both ways, and the request field by which the
caller can choose.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.datasets.upload_format import (
    COLUMNS_GUESSED,
    CSV,
    ENCODING_GUESSED,
    ENCODING_MIXED,
    JSON,
    JSONL,
    LABEL_STUDIO,
    MAX_PLACES,
    XLSX,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.finding import ColumnFinder
from chalicelib.formats.texts.delimiters import find_delimiter
from chalicelib.formats.texts.encoding import (
    MIXED,
    check_encoding,
    find_encoding,
    find_stray_lines,
    open_text,
)
from chalicelib.formats.texts.json_records import looks_like_json, read_values
from chalicelib.formats.texts.json_shapes import find_shape
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.preview import preview_json, preview_table
from chalicelib.formats.texts.text_table import TextTable

_HEAD_CHARACTERS = 4096
_FASTTEXT_LABEL = "__label__"
# Values by which the members of JSON objects are found.
_HEAD_VALUES = 20


def recognise(
    file: BinaryIO, options: ReadingOptions, language: str = "", *, is_workbook: bool = False
) -> TextLayout:
    """Decide how a file is read.

    Args:
        file: the file, seekable; it is read from its start.
        options: How the caller wants the file to be read.
        language: language of the dataset, a hint for the encoding.
        is_workbook: Whether the file is a sheet of a workbook that was converted to CSV.

    Raises:
        InvalidUpload: the file cannot be read as requested, or could be read in several ways.
    """
    is_asked = bool(options.encoding) and not is_workbook
    encoding = check_encoding(file, options.encoding) if is_asked else find_encoding(file, language)
    layout = TextLayout(kind=XLSX if is_workbook else CSV, encoding=encoding)
    if encoding == MIXED:
        layout = _warn_of_stray_lines(file, layout)
    elif not is_asked and encoding not in ("utf-8-sig", "utf-16"):
        layout = layout.with_warning(
            ENCODING_GUESSED,
            f"The file is not UTF-8; it was read as {encoding}. Check a text with accents or "
            "other letters, and save the file as UTF-8 if it is wrong.",
            encoding,
        )
    if not is_workbook and _is_json(file, encoding, options.format):
        return _recognise_json(file, layout, options)
    if not (is_workbook or options.format or options.delimiter):
        _refuse_fasttext(file, encoding)
    if is_workbook != (options.format == XLSX) and options.format:
        raise InvalidUpload(
            f"'format' is {options.format}, and the file is {'a' if is_workbook else 'no'} "
            "workbook. Leave 'format' out, or send another file."
        )
    table = TextTable(file, layout)
    try:
        find_delimiter(table, options)
        return ColumnFinder(table, options).find()
    except InvalidUpload as refusal:
        # The first row may name the columns, as the message says.
        with suppress(InvalidUpload):  # too many quotes are broken
            first = next((cells for _, cells in table.rows()), [])
            refusal.preview = preview_table(table, [] if options.header is False else first)
        raise


def _warn_of_stray_lines(file: BinaryIO, layout: TextLayout) -> TextLayout:
    lines = find_stray_lines(file)
    warning = UploadWarning(
        ENCODING_MIXED,
        f"The file is UTF-8 except for bytes in lines such as {lines[0]}. They were read as "
        "Windows-1252, or rejected where that has no character. Check them, and save the "
        "file as UTF-8.",
        len(lines),
        tuple(f"line {line}" for line in lines[:MAX_PLACES]),
    )
    return replace(layout, warnings=(*layout.warnings, warning))


def _is_json(file: BinaryIO, encoding: str, requested_format: str) -> bool:
    """Return whether a file is JSON, judged by the requested format or else by the content."""
    if requested_format and requested_format != LABEL_STUDIO:
        return requested_format in (JSON, JSONL)
    with open_text(file, encoding) as stream:
        head = stream.read(_HEAD_CHARACTERS)
    # Label Studio's CSV was converted before this point, so any other CSV is not its export.
    if requested_format and head.strip() and not head.lstrip().startswith(("[", "{")):
        raise InvalidUpload(
            "'format' is labelStudio, and the file is not its JSON, or its csv with one column of "
            "texts and one of labels. Leave 'format' out, or name 'textColumn' and 'labelColumn' "
            "without it."
        )
    return bool(requested_format) or looks_like_json(head)


def _refuse_fasttext(file: BinaryIO, encoding: str) -> None:
    """Raise an error if the file is in fastText's format.

    A file in this format has no columns. Reading it as CSV would split its texts at commas.
    """
    with open_text(file, encoding) as stream:
        lines = [line for line in stream.read(_HEAD_CHARACTERS).splitlines() if line.strip()]
    if lines and all(line.startswith(_FASTTEXT_LABEL) for line in lines):
        raise InvalidUpload(
            f"The lines begin with {_FASTTEXT_LABEL}, as fastText writes them. Write text and "
            f"label into two columns, the label without {_FASTTEXT_LABEL}; or send 'delimiter' "
            "if each line is a text that begins so, with its label behind."
        )


def _recognise_json(file: BinaryIO, layout: TextLayout, options: ReadingOptions) -> TextLayout:
    """Find the members of JSON objects that contain text and label; add them to the layout."""
    with open_text(file, layout.encoding) as stream:
        kind = JSON if stream.read(_HEAD_CHARACTERS).lstrip().startswith("[") else JSONL
    with open_text(file, layout.encoding) as stream:
        head = _read_head(read_values(stream))
    if not head:
        return replace(layout, kind=kind)
    layout = replace(layout, kind=kind)
    try:
        shape = find_shape(head[0], options, head[1:])
    except InvalidUpload as refusal:
        with suppress(InvalidUpload):  # a later value is broken
            refusal.preview = preview_json(file, layout, {})
        raise
    if options.format == LABEL_STUDIO and shape.kind != LABEL_STUDIO:
        raise InvalidUpload(
            "'format' is labelStudio, and the first object is not a task with 'data' and "
            "'annotations'. Leave 'format' out, or export the tasks as JSON."
        )
    if shape.is_guessed:
        layout = layout.with_warning(
            COLUMNS_GUESSED,
            f"The texts were taken from the member '{shape.text_keys[-1][:40]}', the only one that "
            "is a text. Send 'textColumn' to be sure.",
        )
    return replace(layout, kind=kind if shape.kind == JSON else shape.kind, shape=shape)


def _read_head(values: Iterator[object]) -> list[object]:
    """Return the first JSON values of a file; raise InvalidUpload if the very first is broken."""
    head = list(islice(values, 1))
    with suppress(InvalidUpload):
        for value in islice(values, _HEAD_VALUES - 1):
            head += [value]
    return head
