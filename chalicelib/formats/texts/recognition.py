"""Decides once how a text file is read: kind, encoding, delimiter, header and columns.

Whatever had to be guessed is reported as a warning. An ambiguous file that earlier versions did not
accept is refused; the error names both readings and the field that decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.datasets.upload_format import (
    COLUMNS_SWAPPED,
    CSV,
    DELIMITER_GUESSED,
    DELIMITERS,
    ENCODING_GUESSED,
    ENCODING_MIXED,
    HEADER_GUESSED,
    JSON,
    JSONL,
    LABEL_STUDIO,
    MAX_PLACES,
    TSV,
    XLSX,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.column_facts import (
    MAX_ROWS,
    ColumnFacts,
    are_swapped,
    count_columns,
    has_unnamed_header,
)
from chalicelib.formats.texts.column_names import (
    Columns,
    NamedColumns,
    find_column,
    find_documented_columns,
    find_named_columns,
    find_other_column,
)
from chalicelib.formats.texts.delimited import (
    Record,
    drop_empty_end,
    named_delimiter,
    read_records,
    score_separator,
)
from chalicelib.formats.texts.encoding import MIXED, find_encoding, find_stray_lines, open_text
from chalicelib.formats.texts.json_records import looks_like_json, read_values
from chalicelib.formats.texts.json_shapes import find_shape
from chalicelib.formats.texts.layout import DELIMITER_NAMES, TextLayout

_HEAD_CHARACTERS = 4096
_SAMPLE_RECORDS = 500
_FEW, _HALF, _MOST, _NEARLY_ALL = 0.1, 0.5, 0.8, 0.95
# Forms write every answer of a question with several choices with this at its end.
_FORMS_END = ";"
_MOST_TITLES = 20
_FASTTEXT_LABEL = "__label__"
_NOTHING = object()


def recognise(
    file: BinaryIO, options: ReadingOptions, language: str = "", *, is_workbook: bool = False
) -> TextLayout:
    """Decide how a file is read.

    Args:
        file: seekable; read from its start.
        options: How the caller wants it to be read.
        language: language of the dataset, a hint for the encoding.
        is_workbook: Whether the file is a sheet converted to comma-separated text.

    Raises:
        InvalidUpload: it cannot be read as requested, or is ambiguous.
    """
    encoding = find_encoding(file, language)
    layout = TextLayout(kind=XLSX if is_workbook else CSV, encoding=encoding)
    if encoding == MIXED:
        layout = _warn_of_stray_lines(file, layout)
    elif encoding not in ("utf-8-sig", "utf-16"):
        layout = layout.with_warning(
            ENCODING_GUESSED,
            f"The file is not UTF-8; it was read as {encoding}. Look at a text with accents or "
            "other letters, and save the file as UTF-8 when it is wrong.",
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
    return _Delimited(file, layout, options).recognise()


def _warn_of_stray_lines(file: BinaryIO, layout: TextLayout) -> TextLayout:
    lines = find_stray_lines(file)
    warning = UploadWarning(
        ENCODING_MIXED,
        f"{len(lines):,} lines have bytes that are not UTF-8, unlike the rest. They were "
        "read as Windows-1252, or rejected where that has no character. Check them, and "
        "save the file as UTF-8.",
        len(lines),
        tuple(f"line {line}" for line in lines[:MAX_PLACES]),
    )
    return replace(layout, warnings=(*layout.warnings, warning))


def _is_json(file: BinaryIO, encoding: str, asked: str) -> bool:
    """Return whether the file is JSON."""
    if asked:
        return asked in (JSON, JSONL, LABEL_STUDIO)
    with open_text(file, encoding) as stream:
        return looks_like_json(stream.read(_HEAD_CHARACTERS))


def _refuse_fasttext(file: BinaryIO, encoding: str) -> None:
    """Raise if lines are in fastText's format: a comma would make the rest a label.

    Raises:
        InvalidUpload: all of the first lines begin with a label.
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
    """Find the members that contain text and label."""
    with open_text(file, layout.encoding) as stream:
        kind = JSON if stream.read(_HEAD_CHARACTERS).lstrip().startswith("[") else JSONL
    with open_text(file, layout.encoding) as stream:
        first = next(iter(read_values(stream)), _NOTHING)
    if first is _NOTHING:
        return replace(layout, kind=kind)
    shape = find_shape(first, options)
    if options.format == LABEL_STUDIO and shape.kind != LABEL_STUDIO:
        raise InvalidUpload(
            "'format' is labelStudio, and the first object is not a task with 'data' and "
            "'annotations'. Leave 'format' out, or export the tasks as JSON."
        )
    return replace(layout, kind=kind if shape.kind == JSON else shape.kind, shape=shape)


@dataclass(frozen=True)
class _Survey:
    """How a delimiter splits the first records."""

    delimiter: str
    rows: int
    """Number of records that are not blank."""
    width: int
    """Most frequent number of cells above one."""
    share: float
    """Fraction of the records that have this width."""
    labels: list[str]
    """Second cells of the rows of two."""
    is_named: bool
    """Whether the first row names text and label."""
    is_documented: bool
    """Whether it does so by the names of the documentation."""

    @property
    def is_whole(self) -> bool:
        """Return whether nearly every row has the same number of cells, and more than one."""
        return self.width > 1 and self.share >= 0.95

    def holding(self, delimiter: str) -> float:
        """Return the fraction of labels that contain another delimiter."""
        return sum(delimiter in label for label in self.labels) / max(1, len(self.labels))


class _Delimited:
    """Recognises separated text step by step."""

    def __init__(self, file: BinaryIO, layout: TextLayout, options: ReadingOptions) -> None:
        self._file = file
        self._layout = layout
        self._options = options
        self._surveys: dict[str, _Survey] = {}
        self._counted: dict[Columns, list[ColumnFacts]] = {}

    def recognise(self) -> TextLayout:
        """Decide delimiter, header and columns."""
        self._layout = self._find_delimiter()
        self._find_rows()
        return self._find_label_end()

    def _find_rows(self) -> None:
        """Decide header and columns."""
        first = next(self._rows(), None)
        if first is None:
            return
        plain, titles = self._layout, self._find_titles()
        if titles:
            self._layout = replace(plain, skipped=plain.skipped | titles)
            number, cells = next(self._rows())
            self._find_columns(number, [cell.strip() for cell in cells], has_titles=True)
            if self._layout.header:
                return
        self._layout = plain
        number, cells = first
        self._find_columns(number, [cell.strip() for cell in cells])

    def _find_label_end(self) -> TextLayout:
        """Find a character that an export adds to every label."""
        at = self._layout.label_at
        rows = islice(self._rows(), _SAMPLE_RECORDS)
        labels = [cells[at].strip() for _, cells in rows if len(cells) > at]
        ends = sum(label.endswith(_FORMS_END) and len(label) > 1 for label in labels)
        if not labels or ends < len(labels) * _NEARLY_ALL:
            return self._layout
        return replace(self._layout, label_end=_FORMS_END)

    def _find_titles(self) -> frozenset[int]:
        """Find rows of one cell above the column names, as reports begin with."""
        titles: list[int] = []
        if self._options.header is False:
            return frozenset()
        asked = {self._options.text_column, self._options.label_column} - {""}
        for number, cells in islice(self._rows(), _MOST_TITLES + 1):
            names = [cell.strip() for cell in cells]
            if sum(map(bool, names)) < 2:
                titles.append(number)
            elif find_named_columns(names).columns or asked & set(names):
                return frozenset(titles)
            else:
                break
        return frozenset()

    def _records(self, most: int) -> Iterator[Record]:
        """Yield the first records that are not skipped."""
        layout = self._layout
        with open_text(self._file, layout.encoding) as stream:
            for record in islice(read_records(stream, layout.delimiter), most):
                if record.number not in layout.skipped:
                    yield record

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield numbers and cells of the rows that are neither blank, broken nor skipped."""
        for record in self._records(MAX_ROWS):
            cells = drop_empty_end(record.cells)
            if not record.fault and any(map(str.strip, cells)):
                yield record.number, cells

    def _survey(self, delimiter: str) -> _Survey:
        if delimiter not in self._surveys:
            self._surveys[delimiter] = self._make_survey(delimiter)
        return self._surveys[delimiter]

    def _make_survey(self, delimiter: str) -> _Survey:
        self._layout = replace(self._layout, delimiter=delimiter)
        sample = [
            drop_empty_end(record.cells)
            for record in self._records(_SAMPLE_RECORDS)
            if record.fault or any(map(str.strip, record.cells))
        ]
        widths = Counter(len(cells) for cells in sample if len(cells) > 1)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return _Survey(
            delimiter,
            len(sample),
            width,
            count / len(sample) if sample else 0.0,
            [cells[1] for cells in sample if len(cells) == 2],
            bool(sample) and find_named_columns(sample[0]).columns is not None,
            bool(sample) and find_documented_columns(sample[0]) is not None,
        )

    def _find_delimiter(self) -> TextLayout:
        """Find the character between the cells."""
        with open_text(self._file, self._layout.encoding) as stream:
            named = named_delimiter(stream)
        if named:
            self._layout = replace(self._layout, skipped=frozenset({1}))
        if self._layout.kind == XLSX:
            return self._layout
        asked = self._options.delimiter or named or {TSV: "\t"}.get(self._options.format, "")
        if asked:
            return self._with_delimiter(asked)
        old = self._documented_delimiter()
        surveys = {delimiter: self._survey(delimiter) for delimiter in DELIMITERS}
        if surveys[old].is_documented and len(surveys[old].labels) > surveys[old].rows * _HALF:
            return self._with_delimiter(old)  # other delimiters in cells are part of them
        if not surveys[old].labels:
            return self._first_reading(old, list(surveys.values()))
        new = max(
            (surveys[d] for d in (";", "|")), key=lambda s: (s.is_named, s.share, len(s.labels))
        )
        if not new.is_whole or (new.width > 2 and not new.is_named):
            return self._with_delimiter(old)
        return self._second_reading(surveys[old], new)

    def _with_delimiter(self, delimiter: str) -> TextLayout:
        return replace(self._layout, kind=TSV if delimiter == "\t" else CSV, delimiter=delimiter)

    def _documented_delimiter(self) -> str:
        """Choose between the two documented delimiters."""
        scores = {}
        for delimiter in ("\t", ","):
            with open_text(self._file, self._layout.encoding) as stream:
                scores[delimiter] = score_separator(stream, delimiter)
        best = max(scores, key=scores.__getitem__)
        return best if scores[best].pair_count else ","

    def _first_reading(self, old: str, surveys: list[_Survey]) -> TextLayout:
        """Choose the delimiter of a file that the documented ones do not split into examples."""
        fitting = [survey for survey in surveys if survey.is_whole]
        named = [survey for survey in fitting if survey.is_named]
        pairs = [survey for survey in fitting if survey.width == 2]
        for found in (named, pairs, fitting):
            if len(found) == 1:
                return self._with_delimiter(found[0].delimiter)
            if len(found) > 1:
                shown = " or ".join(DELIMITER_NAMES[survey.delimiter] for survey in found)
                raise InvalidUpload(
                    f"The rows can be read in two ways, with {shown} between their cells. Say "
                    "which one with the field 'delimiter'."
                )
        likely = max(surveys, key=lambda survey: survey.share)
        return self._with_delimiter(likely.delimiter if likely.share >= _MOST else old)

    def _second_reading(self, old: _Survey, new: _Survey) -> TextLayout:
        """Choose the delimiter if a documented and another one both split the file into examples.

        With the wrong delimiter, the labels contain the right one.
        """
        holding = old.holding(new.delimiter)
        if holding <= _FEW and not new.is_named:
            return self._with_delimiter(old.delimiter)
        is_sure = holding >= 1 - _FEW and new.holding(old.delimiter) <= _FEW
        is_new = is_sure or (new.is_named and not old.is_named)
        chosen, other = (new, old) if is_new else (old, new)
        name, other_name = (DELIMITER_NAMES[s.delimiter] for s in (chosen, other))
        return self._with_delimiter(chosen.delimiter).with_warning(
            DELIMITER_GUESSED,
            f"Rows were split at each {name}; {len(other.labels):,} of the first {other.rows:,} "
            f"can be split at a {other_name} too. Send 'delimiter' to be sure.",
        )

    def _find_columns(self, number: int, names: list[str], *, has_titles: bool = False) -> None:
        """Find the columns of text and label, and decide whether the first row is a header."""
        options, layout = self._options, self._layout
        named = NamedColumns([], []) if options.header is False else find_named_columns(names)
        asked = self._asked_columns(names, named)
        width = self._width(names, is_wide=bool(asked or named.columns))
        columns = (
            asked
            or named.columns
            or (find_other_column(names) if options.header is not False else None)
        )
        if columns is None and width > 2:
            raise _no_columns(names, named, width)
        is_header = options.header
        if is_header is None:
            is_header = self._is_header(names, columns, width)
        if not is_header:
            columns = asked or Columns(0, 1)
            if width > 2 and not asked:
                raise _no_columns(names, NamedColumns([], []), width)
        self._layout = replace(
            layout,
            text_at=(columns or Columns(0, 1)).text,
            label_at=(columns or Columns(0, 1)).label,
            width=max(width, len(names)) if is_header else width,
            skipped=layout.skipped | ({number} if is_header else frozenset()),
            header=tuple(names) if is_header else (),
        )
        is_sure = bool(asked) or (find_documented_columns(names) is not None and not has_titles)
        if is_header and options.header is None and not is_sure:
            self._warn_of_header(number, names, " Rows above it were left out." * has_titles)
        if width == 2 and not asked and not (is_header and columns):
            self._find_swap(has_header=is_header)

    def _warn_of_header(self, number: int, names: list[str], more: str) -> None:
        self._layout = self._layout.with_warning(
            HEADER_GUESSED,
            f"Row {number} was taken for the names of the columns: {_shown(names)}.{more} Send "
            "header=true to confirm it, header=false when it is an example.",
            f"row {number}",
        )

    def _width(self, names: list[str], *, is_wide: bool) -> int:
        """Return the number of cells of a complete row."""
        survey = self._survey(self._layout.delimiter)
        # Rows of two cells were always accepted; only named columns make them part of wider rows.
        if not is_wide:
            return 2 if survey.labels else max(survey.width, 2)
        return max(survey.width, len(names), 2)

    def _asked_columns(self, names: list[str], named: NamedColumns) -> Columns | None:
        """Find the columns that the caller names."""
        text, label = self._options.text_column, self._options.label_column
        if not text and not label:
            return None
        text_at = self._asked(names, text, "textColumn") if text else None
        label_at = self._asked(names, label, "labelColumn") if label else None
        if text_at is None:
            text_at = _only([at for at in named.texts if at != label_at])
        if label_at is None:
            label_at = _only([at for at in named.labels if at != text_at])
        if len(names) == 2:
            text_at = 1 - label_at if text_at is None and label_at in (0, 1) else text_at
            label_at = 1 - text_at if label_at is None and text_at in (0, 1) else label_at
        if text_at is None or label_at is None:
            raise _no_columns(names, named, len(names))
        if text_at == label_at:
            raise InvalidUpload(
                f"'textColumn' and 'labelColumn' both name column {text_at + 1}. Name two columns."
            )
        return Columns(text_at, label_at)

    def _asked(self, names: list[str], wanted: str, field: str) -> int:
        at = find_column(names, wanted)
        if at is None:
            raise InvalidUpload(
                f"'{field}' is {wanted[:40]!r}, and the first row has no such column: "
                f"{_shown(names)}. Send one of these names, or a position from 1."
            )
        return at

    def _is_header(self, names: list[str], columns: Columns | None, width: int) -> bool:
        """Return whether the first row is a header."""
        asked = (self._options.text_column, self._options.label_column)
        if any(wanted and (wanted in names or not wanted.isdecimal()) for wanted in asked):
            return True
        if find_documented_columns(names):
            return True
        found = find_named_columns(names)
        if width > 2 and found.columns:
            return True
        texts, labels = self._facts(columns or Columns(0, 1))
        if columns is not None and (found.is_sure or has_unnamed_header(texts, labels, 1)):
            return labels.first_is_unlike
        return has_unnamed_header(texts, labels) or (
            columns is None
            and has_unnamed_header(labels, texts)
            and are_swapped(texts, labels, has_header=True)
        )

    def _facts(self, columns: Columns) -> list[ColumnFacts]:
        if columns not in self._counted:
            self._counted[columns] = count_columns((cells for _, cells in self._rows()), *columns)
        return self._counted[columns]

    def _find_swap(self, *, has_header: bool) -> None:
        """Detect whether the columns are in reverse order."""
        if are_swapped(*self._facts(Columns(0, 1)), has_header=has_header):
            self._layout = replace(self._layout, text_at=1, label_at=0).with_warning(
                COLUMNS_SWAPPED,
                "The first column repeats few short values and the second one does not, so the "
                "first was taken for the labels. Send textColumn=2 and labelColumn=1 to confirm "
                "it, textColumn=1 and labelColumn=2 when it is wrong.",
            )


def _no_columns(names: list[str], named: NamedColumns, width: int) -> InvalidUpload:
    """Return the error for a file whose columns cannot be determined."""
    for found, what, parameter in (
        (named.texts, "text", "textColumn"),
        (named.labels, "label", "labelColumn"),
    ):
        if len(found) > 1:
            shown = " or ".join(f"{at + 1}, '{names[at][:40]}'," for at in found).rstrip(",")
            return InvalidUpload(
                f"The {what} can be in the columns {shown}. Say which one with the field "
                f"'{parameter}', by position or name."
            )
    return InvalidUpload(
        f"The rows have {width} columns, and the first row, {_shown(names)}, does not say which "
        "of them holds the text and which the label. Name both with the fields 'textColumn' "
        "and 'labelColumn', by name or position from 1."
    )


def _only(found: list[int]) -> int | None:
    return found[0] if len(found) == 1 else None


def _shown(names: list[str]) -> str:
    """Return the cells of a row as a shortened list."""
    shown = ", ".join(f"'{name.strip()[:40]}'" for name in names[:10])
    return shown + (", …" if len(names) > 10 else "")
