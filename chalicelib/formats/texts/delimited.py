"""Reads the records of delimited text. A broken quote affects only one row."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import NamedTuple, TextIO

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.names import find_documented_columns

# Length limit of a record, including line ends; a quote still open then was never closed.
MAX_RECORD_CHARACTERS = 200_000

_MAX_REREAD_RECORDS = 20
_SAMPLE_RECORDS = 500
_LONGEST_QUOTED = 10_000
_NAMED_DELIMITER = re.compile(r"\ufeff?(\"?)sep=([,;|\t])\1\s*", re.IGNORECASE)
# Databases escape quotes and backslashes in this way.
_ESCAPED = re.compile(r'\\(["\\])')

# The csv module has one limit for the process; the limit above must apply first.
csv.field_size_limit(max(csv.field_size_limit(), 2 * MAX_RECORD_CHARACTERS))


class Record(NamedTuple):
    """One record of a file. If it cannot be read, `fault` says why."""

    number: int
    """Number of the row, from 1, as in a spreadsheet: header and blank rows count."""
    cells: list[str]
    """Cells without their quotes; empty for a blank row."""
    fault: str
    """Why the record cannot be read; empty if it can."""


class _TooLong(Exception):
    """A record is longer than the limit."""


class _Lines:
    """Yields the lines of a file to the CSV reader, and can yield the lines of a record again."""

    def __init__(self, stream: TextIO, max_characters: int) -> None:
        self._readline = stream.readline
        self.max_characters = max_characters
        self._waiting: deque[str] = deque()
        self._reread_characters = 0
        self.taken: list[str] = []
        self._taken_characters = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._waiting:
            line = self._waiting.popleft()
        else:
            line = self._readline(self.max_characters + 1)
            if not line:
                raise StopIteration
        self.taken.append(line)
        self._taken_characters += len(line)
        if self._taken_characters > self.max_characters:
            raise _TooLong
        return line

    def start_record(self) -> None:
        self.taken = []
        self._taken_characters = 0

    def push_back(self, number: int) -> None:
        """Put back all lines of the current record except the first, to be read again."""
        self._reread_characters += self._taken_characters - len(self.taken[0])
        if self._reread_characters > _MAX_REREAD_RECORDS * self.max_characters:
            raise InvalidUpload(
                f"Too many quotes are opened and never closed, the last in row {number}. "
                'Close each quoted text, and write a quote inside it twice: "say ""hi""".'
            )
        self._waiting.extendleft(reversed(self.taken[1:]))

    def restart_record(self, number: int) -> None:
        """Begin the current record again with its first line, and put back its other lines."""
        self.push_back(number)
        first = self.taken[0]
        self.start_record()
        self.taken.append(first)
        self._taken_characters = len(first)

    def skip_line(self) -> None:
        while line := self._readline(self.max_characters):
            if line.endswith(("\n", "\r")):
                return


def read_records(
    stream: TextIO, separator: str, max_characters: int = MAX_RECORD_CHARACTERS
) -> Iterator[Record]:
    """Yield the records of a file, including blank records. Only one record is in memory at a time.

    If the quotes of a record are broken and cannot be repaired, its `fault` is set, and it ends
    with its first line. So a quote that is not closed affects only one row.

    Args:
        stream: Text stream as returned by encoding.open_text.
        separator: The delimiter between cells.
        max_characters: Maximum length of a record, including line ends.

    Raises:
        InvalidUpload: the file has too many broken quotes.
    """
    quote = _find_quote(stream, separator)
    lines = _Lines(stream, max_characters)
    reader = csv.reader(lines, delimiter=separator, quotechar=quote, strict=True)
    number = 0
    while True:
        lines.start_record()
        try:
            cells = next(reader, None)
        except (csv.Error, _TooLong) as error:
            number += 1
            yield _recover(lines, number, separator, too_long=isinstance(error, _TooLong))
            continue
        if cells is None:
            return
        number += 1
        yield Record(number, cells, "")


def _find_quote(stream: TextIO, separator: str) -> str:
    """Return `'` if every line consists of two or more cells in `'`; otherwise return `"`.

    The result is also `"` if a line has over 10,000 characters, or a cell contains a line break.
    """
    start = stream.tell()
    cell = "'[^']*(?:''[^']*)*'"
    row = re.compile(f"\ufeff?{cell}(?:{re.escape(separator)}{cell})+\\s*|\\s+")
    # The file is read to its end only as long as all lines fit.
    lines = iter(partial(stream.readline, _LONGEST_QUOTED), "")
    is_single = all(map(row.fullmatch, lines))
    stream.seek(start)
    return "'" if is_single else '"'


def _recover(lines: _Lines, number: int, separator: str, *, too_long: bool) -> Record:
    """Return a broken record, repaired if possible, otherwise with a fault.

    A record that is not repaired ends with its first line. Its other lines are read again.
    """
    first = lines.taken[0]
    if too_long and len(lines.taken) == 1:
        if not first.endswith(("\n", "\r")):
            lines.skip_line()
        return Record(number, [], f"the row is longer than {lines.max_characters:,} characters.")
    if '\\"' in first and (cells := _read_escaped(lines, number, separator)):
        return Record(number, cells, "")
    lines.push_back(number)
    cells = first.rstrip("\r\n").split(separator)
    if separator == "\t" and len(cells) == 2:
        # Many tab-separated files do not use quoting; a quote is then an ordinary character.
        return Record(number, cells, "")
    return Record(
        number,
        [],
        "a quoted cell is not closed, or has text after its closing quote. "
        'Put the whole text in quotes and write a quote inside it twice: "say ""hi""".',
    )


def _read_escaped(lines: _Lines, number: int, separator: str) -> list[str]:
    """Read a broken record again with backslashes as escapes of quotes; return [] if that fails."""
    lines.restart_record(number)
    with suppress(csv.Error, _TooLong):
        return next(csv.reader(_unescaped(lines, separator), delimiter=separator, strict=True))
    return []


def _unescaped(lines: _Lines, separator: str) -> Iterator[str]:
    """Yield the lines of a record. Double each quote that a backslash escapes.

    The iteration ends after the first line that contains a separator. Later lines may be separate
    rows, so a record that continues there stays broken.
    """
    for line in chain(lines.taken[:1], lines):
        yield _ESCAPED.sub(lambda found: '""' if found[1] == '"' else found[1], line)
        if separator in line:
            return


def drop_empty_end(cells: list[str]) -> list[str]:
    """Remove empty cells from the end of a record, but not the first two cells.

    Args:
        cells: cells of one record; shortened in place.

    Returns:
        The same list.
    """
    while len(cells) > 2 and not cells[-1].strip():
        cells.pop()
    return cells


def named_delimiter(stream: TextIO) -> str:
    """Return the delimiter that a first line like "sep=;" names; "" for any other first line."""
    found = _NAMED_DELIMITER.fullmatch(stream.readline(20))
    return found[2] if found else ""


class SeparatorScore(NamedTuple):
    """Counts that show how well a separator fits. Scores are compared field by field, in order."""

    header: bool
    """Whether the first row is a header."""
    sure_count: int
    """Number of rows with two cells in which the other separator, comma or tab, does not occur."""
    likely_count: int
    """Number of rows with two cells in which the label does not look like a part of a text."""
    pair_count: int
    """Number of rows with two cells."""


def score_separator(stream: TextIO, separator: str) -> SeparatorScore:
    """Return the score of a separator on the first 500 records of a file.

    Args:
        stream: positioned at the start of the file.
        separator: "," or tab.
    """
    other = "\t" if separator == "," else ","
    header = False
    sure_count = likely_count = pair_count = 0
    try:
        for number, cells, fault in islice(read_records(stream, separator), _SAMPLE_RECORDS):
            if fault or len(drop_empty_end(cells)) != 2:
                continue
            header = header or (number == 1 and find_documented_columns(cells) is not None)
            text, label = cells
            pair_count += 1
            sure_count += other not in text and other not in label
            # A comma with a space after it is more likely part of a sentence than a separator.
            likely_count += other not in label and not (other in text and label.startswith(" "))
    except InvalidUpload:
        # Quotes that are broken with this separator are evidence against it, not against the file.
        pass
    return SeparatorScore(header, sure_count, likely_count, pair_count)
