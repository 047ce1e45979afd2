"""Finds the text columns of a table that is sent as a batch. Such tables have no labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.datasets.upload_format import (
    COLUMNS_GUESSED,
    DELIMITERS,
    XLSX,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.names import find_column, find_named_columns, split_columns
from chalicelib.formats.texts.columns.ranking import (
    describe_columns,
    find_likely,
    looks_like_names,
)
from chalicelib.formats.texts.delimited import named_delimiter, read_records
from chalicelib.formats.texts.delimiters import find_delimiter
from chalicelib.formats.texts.encoding import open_text
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.text_table import TextTable

TEXT, ID = "text", "id"
SHOWN = 20
_FIRST_ROWS = 20


@dataclass(frozen=True)
class BatchColumns:
    """The columns of a table that contain the texts and the ids of a batch."""

    delimiter: str
    texts_at: tuple[int, ...]
    """Positions of the text columns, from 0. The joined texts have empty lines between them."""
    id_at: int | None
    first_row: int
    """Number, from 1, of the first record that is a line of the batch."""
    header: tuple[str, ...] = ()
    """Names of the columns; empty without a header."""
    warnings: tuple[UploadWarning, ...] = ()

    def text(self, cells: Sequence[str]) -> str:
        """Return the text of a row, joined from its cells in the text columns."""
        found = [cells[at] if at < len(cells) else "" for at in self.texts_at]
        return found[0] if len(found) == 1 else "\n\n".join(one for one in found if one.strip())


def find_batch_columns(
    file: BinaryIO, layout: TextLayout, options: ReadingOptions, *, guesses_header: bool
) -> BatchColumns:
    """Find the text and id columns of a table by the request, or else by name, or else by content.

    Args:
        file: the table, as a file; it is read from its start.
        layout: kind and encoding of the file.
        options: how the caller wants the file to be read.
        guesses_header: Whether to detect a header if `options` gives the text column by position,
            but does not say whether there is a header. If False, no header is assumed.

    Raises:
        InvalidUpload: a requested column does not exist, or several columns are equally likely.
    """
    with open_text(file, layout.encoding) as stream:
        named = named_delimiter(stream)
    asked = options.delimiter or named
    header_row = options.header if type(options.header) is int else 1 + bool(named)
    delimiters = [asked] if asked else [","] if layout.kind == XLSX else list(DELIMITERS)
    rows = {one: _read_row(file, layout, one, header_row) for one in delimiters}
    wanted = options.text_column
    is_position = wanted.isdecimal() and int(wanted) > 0
    if is_position and options.header in (None, False) and not guesses_header:
        widest = max(rows, key=lambda delimiter: len(rows[delimiter]))
        return BatchColumns(widest, (int(wanted) - 1,), None, header_row)
    if options.header is not False and not wanted.isdecimal():
        for delimiter, cells in rows.items():
            at = _find_name(cells, wanted or TEXT)
            if at is not None:
                return _named(delimiter, cells, (at,), header_row)
    above = frozenset(range(1, header_row))
    table = TextTable(file, replace(layout, skipped=above))
    find_delimiter(table, options)
    table.layout = replace(table.layout, skipped=table.layout.skipped | above)
    return _find_in(table, options)


def _read_row(file: BinaryIO, layout: TextLayout, delimiter: str, number: int) -> list[str]:
    with open_text(file, layout.encoding) as stream:
        found = islice(read_records(stream, delimiter), number - 1, number)
        return [cell.strip() for _, cells, _ in found for cell in cells]


def _find_name(cells: Sequence[str], name: str) -> int | None:
    """Return the position of `name` in `cells`, ignoring case if necessary; None if missing."""
    if name in cells:
        return list(cells).index(name)
    folded = [cell.casefold() for cell in cells]
    return folded.index(name.casefold()) if name.casefold() in folded else None


def _named(
    delimiter: str, cells: Sequence[str], texts_at: tuple[int, ...], header_row: int
) -> BatchColumns:
    id_at = _find_name(cells, ID)
    if id_at in texts_at:
        id_at = None
    return BatchColumns(delimiter, texts_at, id_at, header_row + 1, tuple(cells))


def _find_in(table: TextTable, options: ReadingOptions) -> BatchColumns:
    """Find the text and id columns of a table whose delimiter is known."""
    _skip_titles(table, options)
    first_rows = list(islice(table.rows(), _FIRST_ROWS)) or [(1, [])]
    number, names = first_rows[0][0], [cell.strip() for cell in first_rows[0][1]]
    # Empty cells at the end of the first row are columns too, if rows below it have them.
    names += [""] * (max(len(cells) for _, cells in first_rows) - len(names))
    nameable = table.find_names(names, options)
    texts_at = _find_asked(nameable, options.text_column)
    is_guessed = not texts_at
    if is_guessed:
        texts_at = (_guess(table, names, options),)
    is_header = options.header
    if is_header is None:
        is_named = _names_column(nameable, options.text_column)
        is_header = is_named or _is_header(table, names, texts_at)
    delimiter = table.layout.delimiter
    if not is_header:
        found = BatchColumns(delimiter, texts_at, None, number)
    else:
        found = _named(delimiter, names, texts_at, number)
    return replace(found, warnings=(_warn(found, names),)) if is_guessed else found


def _skip_titles(table: TextTable, options: ReadingOptions) -> None:
    """Skip title rows: rows of one cell before the row with the column names."""
    if options.header is not None:
        return
    titles: list[int] = []
    for number, cells in islice(table.rows(), _FIRST_ROWS):
        names = [cell.strip() for cell in cells]
        if sum(map(bool, names)) < 2:
            titles.append(number)
            continue
        asked = split_columns(names, options.text_column) if options.text_column else []
        if not {*asked}.isdisjoint(names) or find_named_columns(names).texts:
            skipped = table.layout.skipped | {*titles}
            table.layout = replace(table.layout, skipped=skipped)
        return


def _find_asked(names: Sequence[str], text: str) -> tuple[int, ...]:
    """Return the positions of the requested columns; () if none are requested.

    Raises:
        InvalidUpload: a requested column does not exist.
    """
    columns = split_columns(names, text) if text else []
    found = [find_column(names, column) for column in columns]
    if None in found:
        raise InvalidUpload(
            f"The first row names no column '{columns[found.index(None)][:40]}', but "
            f"{show_names(names)}. Name the column of the texts by 'textColumn', or by its "
            "position from 1 where no row names the columns."
        )
    return tuple(at for at in found if at is not None)


def _guess(table: TextTable, names: list[str], options: ReadingOptions) -> int:
    """Find the text column by its name, otherwise by its content; return its position."""
    candidates = [] if options.header is False else find_named_columns(names).texts
    if len(candidates) != 1:
        _refuse_split_texts(table)
    profiles = table.profiles(names)
    rows = max((profile.rows for profile in profiles), default=0)
    scores = [profile.score_text(rows) for profile in profiles]
    likely = find_likely(scores)
    found = likely if len(likely) == 1 else candidates
    if len(found) == 1:
        return found[0]
    error = InvalidUpload(
        f"The first row names no column '{TEXT}', but {show_names(names)}, and the cells below it "
        "do not show which column holds the texts. Name the column of the texts by 'textColumn', "
        "or by its position from 1 where no row names the columns."
    )
    error.detail = describe_columns(profiles)
    raise error


def _refuse_split_texts(table: TextTable) -> None:
    """Raise an error if most rows have one cell, and some rows have more.

    The texts of rows with more cells probably contain the delimiter.
    """
    widths = [(number, len(cells)) for number, cells in table.rows()]
    wide = [(number, width) for number, width in widths if width > 1]
    if wide and len(wide) * 2 < len(widths):
        number, width = wide[0]
        raise InvalidUpload(
            f"Most rows have one cell, and row {number} has {width}. Put each text that holds a "
            "comma in double quotes, or name the column of the texts by 'textColumn'."
        )


def _names_column(names: list[str], text: str) -> bool:
    """Return whether the request gives at least one column by name, not only by position."""
    return any(one in names or not one.isdecimal() for one in split_columns(names, text) if text)


def _is_header(table: TextTable, names: list[str], texts_at: tuple[int, ...]) -> bool:
    """Return whether the first row seems to have column names, by its cells and the rows below."""
    if find_named_columns(names).texts:
        return True
    # With a single column, nothing shows whether its first row is a name or a text.
    return len(names) > 1 and looks_like_names(table.profiles(names), *texts_at)


def _warn(columns: BatchColumns, names: Sequence[str]) -> UploadWarning:
    at = columns.texts_at[0]
    name = f", '{names[at][:40]}'," if columns.header else ""
    header = f"; row {columns.first_row - 1} names the columns" if columns.header else ""
    return UploadWarning(
        COLUMNS_GUESSED,
        f"The texts were taken from column {at + 1}{name} by its name or what it holds{header}. "
        "Send 'textColumn' to be sure.",
    )


def warn_of_member(name: str) -> UploadWarning:
    """Return the warning that texts are read from the member `name`, which was only guessed."""
    return UploadWarning(
        COLUMNS_GUESSED,
        f"The texts were taken from the member '{name[:40]}' by its name. Send 'textColumn' to be "
        "sure.",
    )


def show_names(names: Sequence[str]) -> str:
    """Return column names as one text for messages; shorten it if it is long."""
    return ", ".join(f"'{name[:40]}'" for name in names[:SHOWN]) or "none"
