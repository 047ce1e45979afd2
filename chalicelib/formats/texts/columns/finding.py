"""Finds the header of a table, its text column and its label column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile

from chalicelib.domain.datasets.label_names import is_missing_mark
from chalicelib.domain.datasets.upload_format import (
    COLUMNS_GUESSED,
    COLUMNS_SWAPPED,
    HEADER_GUESSED,
    XLSX,
    ReadingOptions,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.facts import (
    MAX_ROWS,
    are_swapped,
    has_known_header,
    has_unnamed_header,
)
from chalicelib.formats.texts.columns.joining import join_cells
from chalicelib.formats.texts.columns.names import (
    Columns,
    NamedColumns,
    find_column,
    find_documented_columns,
    find_named_columns,
    find_other_column,
    split_columns,
)
from chalicelib.formats.texts.columns.predicting import MAX_COMPARED, find_predicted
from chalicelib.formats.texts.columns.ranking import (
    ColumnProfile,
    are_numbered,
    describe_columns,
    find_likely,
    is_code,
    is_group_row,
    looks_like_names,
)
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.text_table import SAMPLE_RECORDS, TextTable

_HALF, _MOST, _NEARLY_ALL = 0.5, 0.8, 0.95
_MOST_TITLES = 20
_MOST_SHOWN = 10
_ROWS_BELOW = 50
# Maximum number of further header rows, and minimum numbers of columns of codes and of rows below
# to detect them.
_MOST_HEADERS, _LEAST_CODED, _LEAST_BELOW = 2, 1, 10
# Forms and scripts write one of these after every label of a list, also after the last.
_LABEL_ENDS = ";,|"


class ColumnFinder:
    """Decides step by step which columns of a table have the texts and the labels."""

    def __init__(self, table: TextTable, options: ReadingOptions) -> None:
        self._table = table
        # If `header` is a number, it is that of the header row. The rows above are not examples.
        header = options.header
        self._header_row = 0 if header is None or isinstance(header, bool) else header
        self._options = replace(options, header=True) if self._header_row else options
        self._is_guessed = False
        """Whether a column was chosen by its content."""
        self._names: list[str] = []
        """Cells of the first row that a request can name."""
        self._texts_at: tuple[int, ...] = ()
        """Positions of the columns whose cells are joined to one text, as the caller requested."""

    @property
    def _layout(self) -> TextLayout:
        return self._table.layout

    @_layout.setter
    def _layout(self, layout: TextLayout) -> None:
        self._table.layout = layout

    def find(self) -> TextLayout:
        """Return the layout of the table, including header and columns.

        Raises:
            InvalidUpload: it is not clear which columns to use.
        """
        if self._header_row:
            above = frozenset(range(1, self._header_row))
            self._layout = replace(self._layout, skipped=self._layout.skipped | above)
        self._find_rows()
        return self._find_label_end()

    def _find_rows(self) -> None:
        """Decide which rows are titles or headers, and which columns to use."""
        first = next(self._table.rows(), None)
        if first is None:
            if self._table.has_rows_below():
                raise InvalidUpload(
                    f"The first {MAX_ROWS:,} rows have no cell. Delete the empty rows above the "
                    "first text."
                )
            return
        plain, titles = self._layout, self._find_titles()
        if titles:
            self._layout = replace(plain, skipped=plain.skipped | titles)
            number, cells = next(self._table.rows())
            self._find_columns(number, [cell.strip() for cell in cells], has_titles=True)
            if self._layout.header:
                return
        self._layout = plain
        number, cells = first
        self._find_columns(number, [cell.strip() for cell in cells])

    def _find_label_end(self) -> TextLayout:
        """Return the layout; set `label_end` if nearly all labels end with a sign such as `;`."""
        at = self._layout.label_at
        rows = islice(self._table.rows(), SAMPLE_RECORDS)
        cells = (self._layout.pick(cells)[1].strip() for _, cells in rows if len(cells) > at)
        labels = [label for label in cells if label and not is_missing_mark(label)]
        ends = Counter(label[-1] for label in labels if len(label) > 1 and label[-1] in _LABEL_ENDS)
        end, count = next(iter(ends.most_common(1)), ("", 0))
        is_end = count and count >= len(labels) * _NEARLY_ALL
        return replace(self._layout, label_end=end) if is_end else self._layout

    def _find_titles(self) -> frozenset[int]:
        """Return the numbers of title rows, which have few cells and precede the column names."""
        titles: list[int] = []
        if self._options.header is False or self._header_row:
            return frozenset()
        asked = {self._options.text_column, self._options.label_column} - {""}
        survey = self._table.survey(self._layout.delimiter)
        least = survey.width // 2 + 1 if survey.share >= _HALF else 2
        rows = [(number, [cell.strip() for cell in cells]) for number, cells in self._first_rows()]
        if above := _count_above_names([cells for _, cells in rows]):
            return frozenset(number for number, _ in rows[:above])
        for at, (number, names) in enumerate(rows[:_MOST_TITLES]):
            if sum(map(bool, names)) < 2:
                titles.append(number)
            elif find_named_columns(names).columns or asked & set(names):
                return frozenset(titles)
            elif sum(map(bool, names)) < least:
                titles.append(number)
            elif (titles or len(names) > 2) and is_group_row(names, [c for _, c in rows[at + 1 :]]):
                return frozenset({*titles, number})
            else:
                # A row below titles may name the columns; find_columns decides. In a csv with two
                # columns, a row with only `text` is not a title: it is a header or an example.
                is_name = len(names) == 2 and any(
                    find_other_column(cells) for _, cells in rows[:at]
                )
                is_clear = self._layout.kind == XLSX or not is_name
                return frozenset(titles if is_clear or find_other_column(names) else ())
        return frozenset()

    def _first_rows(self) -> Iterator[tuple[int, list[str]]]:
        return islice(self._table.rows(), _MOST_TITLES + _ROWS_BELOW)

    def _find_columns(self, number: int, names: list[str], *, has_titles: bool = False) -> None:
        """Decide which columns to use, and whether the row `number` is a header."""
        options, layout = self._options, self._layout
        self._is_guessed, self._texts_at = False, ()
        self._names = self._table.find_names(names, self._options)
        named = NamedColumns([], []) if options.header is False else self._find_named(names)
        asked = self._asked_columns(names, named)
        width = self._width(names, is_wide=bool(asked or named.columns))
        columns = self._choose_columns(names, named, asked, width)
        is_header = None if options.header is None else bool(options.header)
        if is_header is None:
            is_header = self._is_header(names, columns, width)
        if not is_header and not self._is_guessed:
            columns = asked or Columns(0, 1)
            if width > 2 and not asked:
                columns = self._guess_columns(names, NamedColumns([], []))
        self._layout = replace(
            layout,
            text_at=(columns or Columns(0, 1)).text,
            texts_at=self._texts_at,
            label_at=(columns or Columns(0, 1)).label,
            width=max(width, len(names)) if is_header else width,
            skipped=layout.skipped | ({number} if is_header else frozenset()),
            header=tuple(names) if is_header else (),
        )
        self._skip_second_header(names)
        if self._is_guessed:
            self._warn_of_columns(number, names)
        elif is_header and options.header is None and not asked:
            self._warn_of_header(number, names, has_titles=has_titles)
        self._warn_of_longer_texts(names)
        self._warn_of_equal_names()
        if is_header and len(names) == 2 > max(self._layout.positions):
            self._layout = join_cells(self._table)
        if width == 2 and not asked and not (is_header and columns):
            self._find_swap(has_header=is_header)

    def _skip_second_header(self, names: list[str]) -> None:
        """Skip additional header rows that survey tools write below the header.

        Below such a row, some columns have only numbers, dates or addresses. The row itself has
        other content in these columns, or identifiers that number the columns, such as QID1.
        """
        are_numbers = are_numbered(*names)
        # A column behind the last name has no profile.
        if not self._layout.header or max(self._layout.positions) >= len(names):
            return
        if len(names) == 2 and not are_numbers:
            return
        profiles, label_at = self._table.profiles(names), self._layout.label_at
        rows = max(profile.rows for profile in profiles)
        coded = [at for at, found in enumerate(profiles) if found.are_codes(rows - _MOST_HEADERS)]
        labels = profiles[label_at].values

        def is_second(row: tuple[int, list[str]]) -> bool:
            cells = [cell.strip() for cell in row[1]]
            named = ["".join(cells[at : at + 1]) for at in self._layout.positions]
            return labels["".join(cells[label_at : label_at + 1])] <= 1 and not any(
                is_code(cells[at]) and not are_numbered(cells[at], *named)
                for at in coded
                if at < len(cells)
            )

        below = islice(self._table.rows(), _MOST_HEADERS)
        found = [number for number, _ in takewhile(is_second, below)]
        # In a small table, it proves nothing that the first rows have no number. Below names such
        # as Q1, the first rows are names, too, if all labels of other rows repeat.
        are_alone = are_numbers and sum(count == 1 for count in labels.values()) <= len(found)
        is_proved = are_alone or len(coded) >= _LEAST_CODED
        if rows >= _LEAST_BELOW and is_proved and found:
            self._layout = replace(
                self._layout, skipped=self._layout.skipped.union(found)
            ).with_warning(
                HEADER_GUESSED,
                f"Rows {found[0]} to {found[-1]} were left out as further names of the columns: "
                "they differ from all rows below.",
                *(f"row {number}" for number in found),
            )

    def _find_named(self, names: list[str]) -> NamedColumns:
        """Find text and label columns by name; skip text columns with codes or very few values."""
        named = find_named_columns(names)
        if len(names) == 2:
            return named
        profiles = self._table.profiles(names)
        texts = [at for at in named.texts if not profiles[at].has_codes]
        # A subject that is the same in nearly all rows is not the text if another column can be.
        return named._replace(texts=[at for at in texts if not profiles[at].is_constant])

    def _choose_columns(
        self, names: list[str], named: NamedColumns, requested: Columns | None, width: int
    ) -> Columns | None:
        """Choose the columns by the request, or else by name, or else by content.

        Return None if the first two columns are to be used.
        """
        columns = requested or named.columns
        if columns is None and self._options.header is not False:
            columns = find_other_column(names)
        if columns is not None or width <= 2:
            return columns
        try:
            return self._guess_columns(names, named)
        except InvalidUpload:
            # With two names, the label is last, and the other cells of an unquoted text are joined.
            if self._options.header and len(names) == 2 and self._layout.kind != XLSX:
                self._is_guessed = False
                return Columns(0, 1)
            raise

    def _guess_columns(
        self, names: list[str], named: NamedColumns, text_at: int | None = None,
        label_at: int | None = None,
    ) -> Columns:  # fmt: skip
        """Choose the columns by their content. A name such as `text` makes a column more likely.

        Raises:
            InvalidUpload: several columns are equally likely.
        """
        profiles = self._table.profiles(names)
        rows = max(profile.rows for profile in profiles)
        unknown: dict[str, list[int]] = {}
        if text_at is None:
            scores = [profile.score_text(rows) for profile in profiles]
            likely = find_likely(scores, label_at)
            text_at = self._choose(named.texts, likely, label_at)
            unknown |= {"text": likely} if text_at is None else {}
        if label_at is None:
            scores = [profile.score_label(rows) for profile in profiles]
            likely = find_likely(scores, text_at)
            label_at = self._choose(named.labels, likely, text_at)
            if label_at is None and text_at is not None:
                label_at = self._find_predicted(text_at, likely)
            unknown |= {"label": likely} if label_at is None else {}
        if text_at is None or label_at is None:
            raise _no_columns(names, unknown, profiles)
        return Columns(text_at, label_at)

    def _find_predicted(self, text_at: int, likely: list[int]) -> int | None:
        """Return the column of `likely` that is predicted clearly best from the texts, or None."""
        rows = [cells for _, cells in islice(self._table.rows(), 1, MAX_COMPARED + 1)]
        read = [
            ["".join(cells[at : at + 1]).strip() for cells in rows] for at in (text_at, *likely)
        ]
        found = find_predicted(read[0], read[1:])
        return None if found is None else likely[found]

    def _choose(self, named: list[int], likely: list[int], used_at: int | None) -> int | None:
        self._is_guessed = True
        return likely[0] if len(likely) == 1 else _only([at for at in named if at != used_at])

    def _warn_of_columns(self, number: int, names: list[str]) -> None:
        layout = self._layout
        text, label = (
            f"column {at + 1}" + (f", '{names[at][:40]}'," if at < len(layout.header) else "")
            for at in (layout.text_at, layout.label_at)
        )
        header = f"; row {number} names the columns" if layout.header else ""
        self._layout = layout.with_warning(
            COLUMNS_GUESSED,
            f"The texts were taken from {text} and the labels from {label} by what they hold"
            f"{header}. "
            "Send 'textColumn' and 'labelColumn' to be sure.",
        )

    def _warn_of_longer_texts(self, names: list[str]) -> None:
        """Warn if the text column was chosen by name, and another column has longer texts."""
        is_by_name = self._layout.header and not (self._options.text_column or self._is_guessed)
        if not is_by_name or len(names) == 2:
            return
        profiles, at = self._table.profiles(names), self._layout.text_at
        rows = max(profile.rows for profile in profiles)
        likely = find_likely([profile.score_text(rows) for profile in profiles])
        if len(likely) != 1 or likely == [at]:
            return
        self._layout = self._layout.with_warning(
            COLUMNS_GUESSED,
            f"The texts were taken from column {at + 1}, '{names[at][:40]}', by its name; column "
            f"{likely[0] + 1}, '{names[likely[0]][:40]}', has longer ones. Send 'textColumn' with "
            f"the right one; {at + 1},{likely[0] + 1} joins both.",
        )

    def _warn_of_equal_names(self) -> None:
        """Add a warning if several columns have a requested name. The first of them is read."""
        for wanted in (
            *split_columns(self._names, self._options.text_column),
            self._options.label_column,
        ):
            if wanted and self._names.count(wanted) > 1:
                found = [str(at) for at, name in enumerate(self._names, 1) if name == wanted]
                self._layout = self._layout.with_warning(
                    COLUMNS_GUESSED,
                    f"The columns {', '.join(found)} are named '{wanted[:40]}', and the first of "
                    "them was read. Send a position to be sure.",
                )

    def _warn_of_header(self, number: int, names: list[str], *, has_titles: bool) -> None:
        if find_documented_columns(names) and not has_titles:
            return
        more = " Rows above it were left out." if has_titles else ""
        self._layout = self._layout.with_warning(
            HEADER_GUESSED,
            f"Row {number} was taken for the names of the columns: {_shown(names)}.{more} Send "
            "header=true to confirm it, header=false when it is an example.",
            f"row {number}",
        )

    def _width(self, names: list[str], *, is_wide: bool) -> int:
        """Return how many cells a complete row has."""
        survey = self._table.survey(self._layout.delimiter)
        # Commas without quotes also make wide rows, but of different widths; sheets have none.
        is_even = self._layout.kind == XLSX or survey.share >= _MOST
        # Rows of two cells were always accepted; they are part of wider rows only if columns are
        # named, or if most rows are equally wide.
        if not is_wide and not (survey.wide >= _MOST and is_even):
            return 2 if survey.labels else max(survey.width, 2)
        return max(survey.width, len(names), 2)

    def _asked_columns(self, names: list[str], named: NamedColumns) -> Columns | None:
        text, label = self._options.text_column, self._options.label_column
        if not text and not label:
            return None
        texts_at = [
            self._asked(names, one, "textColumn")
            for one in split_columns(self._names, text)
            if text
        ]
        self._texts_at = tuple(texts_at) if len(texts_at) > 1 else ()
        text_at = texts_at[0] if texts_at else None
        label_at = self._asked(names, label, "labelColumn") if label else None
        if text_at is None:
            text_at = _only([at for at in named.texts if at != label_at])
        if label_at is None:
            label_at = _only([at for at in named.labels if at != text_at])
        if len(names) == 2:
            text_at = 1 - label_at if text_at is None and label_at in (0, 1) else text_at
            label_at = 1 - text_at if label_at is None and text_at in (0, 1) else label_at
        if text_at is None or label_at is None:
            text_at, label_at = self._guess_columns(names, named, text_at, label_at)
        if label_at == text_at or label_at in self._texts_at:
            raise InvalidUpload(
                f"'textColumn' and 'labelColumn' both name column {label_at + 1}. Name two columns."
            )
        return Columns(text_at, label_at)

    def _asked(self, names: list[str], column: str, field: str) -> int:
        # A position may be behind the last name, where the rows have more cells than the header.
        width = self._table.survey(self._layout.delimiter).width
        at = find_column([*self._names, *[""] * (width - len(names))], column)
        if at is None:
            raise InvalidUpload(
                f"'{field}' is {column[:40]!r}, and the first row has no such column: "
                f"{_shown(names)}. Send one of these names, or a position from 1."
            )
        return at

    def _is_header(self, names: list[str], columns: Columns | None, width: int) -> bool:
        asked = [
            *split_columns(self._names, self._options.text_column),
            *split_columns(self._names, self._options.label_column),
        ]
        if any(wanted and (wanted in self._names or not wanted.isdecimal()) for wanted in asked):
            return True
        if find_documented_columns(names):
            return True
        if self._is_guessed and columns:
            return looks_like_names(self._table.profiles(names), *columns)
        found = find_named_columns(names)
        if width > 2 and found.columns:
            return True
        texts, labels = self._table.facts(columns or Columns(0, 1))
        if columns is not None and (found.is_sure or has_unnamed_header(texts, labels, 1)):
            return labels.first_is_unlike
        if has_known_header(names, texts, labels):
            return True
        return has_unnamed_header(texts, labels) or (
            columns is None
            and has_unnamed_header(labels, texts)
            and are_swapped(texts, labels, has_header=True)
        )

    def _find_swap(self, *, has_header: bool) -> None:
        """If the second of two columns has the texts, swap the columns and add a warning."""
        if are_swapped(*self._table.facts(Columns(0, 1)), has_header=has_header):
            self._layout = replace(self._layout, text_at=1, label_at=0).with_warning(
                COLUMNS_SWAPPED,
                "The first column repeats few short values and the second one does not, so the "
                "first was taken for the labels. Send textColumn=2 and labelColumn=1 to confirm "
                "it, textColumn=1 and labelColumn=2 when it is wrong.",
            )


def _count_above_names(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows are above the row with the column names.

    Return 0 if a cell of the rows above is repeated, because these rows may be examples.
    """
    judged = max(0, len(rows) - _LEAST_BELOW)
    for at, names in enumerate(rows[: min(_MOST_TITLES, judged)]):
        found = find_named_columns(names)
        if columns := found.columns if found.is_sure else find_other_column(names):
            parts = [{(k, cell) for k in columns for cell in cells[k : k + 1]} for cells in rows]
            counts = Counter(part for row in parts for part in row if part[1])
            return at if all(counts[part] < 2 for row in parts[: at + 1] for part in row) else 0
    return 0


def _no_columns(
    names: list[str], unknown: dict[str, list[int]], profiles: list[ColumnProfile]
) -> InvalidUpload:
    """Return the error for a table with unclear columns. Its `detail` describes all columns."""
    what = " and ".join(f"the {role}s" for role in unknown)
    fields = " and ".join(f"'{role}Column'" for role in unknown)
    message = (
        f"The rows have {len(names)} columns, and neither the first row, {_shown(names)}, nor the "
        f"cells below it show which of them holds {what}. Name it with {fields}, by name or "
        "position from 1."
    )
    for role, found in unknown.items():
        if len(found) > 1:
            shown = " or ".join(f"{at + 1}, '{names[at][:40]}'," for at in found[:_MOST_SHOWN])
            shown = shown.rstrip(",") + (" or others" if len(found) > _MOST_SHOWN else "")
            message = (
                f"The {role} can be in the columns {shown}. Choose one with the field "
                f"'{role}Column', by position or name."
            )
            break
    error = InvalidUpload(message)
    error.detail = describe_columns(profiles)
    return error


def _only(positions: list[int]) -> int | None:
    return positions[0] if len(positions) == 1 else None


def _shown(names: list[str]) -> str:
    shown = ", ".join(f"'{name.strip()[:40]}'" for name in names[:10])
    return shown + (", …" if len(names) > 10 else "")
