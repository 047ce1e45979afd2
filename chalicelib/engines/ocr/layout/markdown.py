"""Writes blocks of text as Markdown: headings, paragraphs, list items and tables.

Characters of the page are escaped where Markdown would interpret them, including HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from chalicelib.domain.documents.findings import COLUMN_HEADER, Table
from chalicelib.domain.documents.layout import WrittenBlock
from chalicelib.engines.ocr.layout.marks import Mark, Value, find_mark, listed_values

# Characters that are interpreted anywhere. Emphasis needs an end, which is not after a space, and
# not within a word if it is an underscore. Links need the character after the bracket.
_SPECIAL = re.compile(
    r"(?<=[^\W_])_+(?=[^\W_])|(?<![^ ])(?:\*+|_+|~+)"
    r"|([\\`*_~]|\](?=[(:])|<(?=[A-Za-z/!?])|&(?=#?\w+;))"
)
# Marks that are interpreted at the beginning of a line: of lists, headings, quotes, code, boxes of
# tasks, and lines that consist of rules. A number is escaped after its digits.
_START = re.compile(
    r"[*_]+(?=[*_ ]*$)|[-+*](?= |$)|~{3,}|#(?=#{0,5}(?: |$))|>|=(?==*$)|[-:|](?=[-:| ]*$)"
    r"|\[(?=[ xX]\])|([0-9]{1,9})(?=[.)](?: |$))"
)
# Ends a heading.
_CLOSING = re.compile(r"(?<= )#+$")
# Ends a line within a paragraph.
_BREAK = "\\\n"
# End of a line with a hyphenated word. A compound has a hyphen also within a line.
_DIVIDED = re.compile(r"[^\W\d_]-$")
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]+")
# Text that begins this much further to the right than the mark of an item belongs to the item, in
# heights; text that begins even further to the right is in another column.
_INDENT, _DEEP = 0.75, 4.0
# Styles of numbers that Markdown has.
_STYLES = ("1.", "1)")


@dataclass(slots=True)
class _Part:
    """A paragraph or list item."""

    mark: Mark | None
    left: float
    height: float
    """Height of one line, in the unit of `left`."""
    lines: list[str]
    """Lines without the mark; wrapped lines are joined."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A list item that may be continued."""

    left: float
    column: int
    """Column of its text in Markdown."""
    value: Value | None
    """Number of the item, in a style that Markdown has; None for other marks."""
    is_counted: bool
    """Whether the number is written as the mark of the item."""


def write_markdown(blocks: Sequence[WrittenBlock], levels: Sequence[int]) -> str:
    """Write blocks as Markdown; `levels` has the heading level of each block, 0 for others."""
    pairs = list(zip(blocks, levels, strict=True))
    text = [line for block, level in pairs if not level for line in block.lines]
    compounds = {word for block in blocks for word in _COMPOUND.findall(" ".join(block.lines))}
    writer = _MarkdownWriter(listed_values(text), compounds)
    for block, level in pairs:
        if block.table is not None:
            writer.add(_table(block.table))
        elif level:
            writer.add(f"{'#' * level} {_heading(block, compounds)}")
        elif block.cells:
            writer.add(_grid(block.cells, has_header=False))
        else:
            writer.add_text(block)
    return "".join(writer.written)


class _MarkdownWriter:
    """Writes paragraphs and lists."""

    def __init__(self, values: frozenset[Value], compounds: Set[str]) -> None:
        """Create a writer.

        Args:
            values: only numbers and letters with these values are marks of items.
            compounds: words that keep their hyphen at the end of a line.
        """
        self.written: list[str] = []
        self._values, self._compounds = values, compounds
        self._open: list[_Item] = []

    def add(self, text: str) -> None:
        """Write something that ends all lists."""
        self._open = []
        self._add(text, "\n\n")

    def add_text(self, block: WrittenBlock) -> None:
        """Write a block of text as paragraphs and list items."""
        for part in self._parts(block):
            if part.mark is not None:
                self._add_item(part, part.mark)
                continue
            self._close(part)
            column = self._open[-1].column if self._open else 0
            self._add(_indented(" " * column, part.lines), "\n\n")

    def _parts(self, block: WrittenBlock) -> list[_Part]:
        """Split a block into list items and paragraphs."""
        parts: list[_Part] = []
        lefts = block.lefts or (0.0,) * len(block.lines)
        for line, left, flows_on in zip(block.lines, lefts, (False, *block.flows_on), strict=True):
            last = parts[-1] if parts else _Part(None, 0.0, 0.0, [])
            hangs = left - last.left >= _INDENT * block.height
            mark = self._mark(line, last, flows_on=flows_on)
            if mark is not None:
                parts.append(_Part(mark, left, block.height, [line[mark.length :]]))
            elif not parts or (last.mark and not flows_on and not hangs):
                parts.append(_Part(None, left, block.height, [line]))
            elif flows_on:
                last.lines[-1] = _joined(last.lines[-1], line, self._compounds)
            else:
                last.lines.append(line)
        return parts

    def _mark(self, line: str, last: _Part, *, flows_on: bool) -> Mark | None:
        """Return the mark of a line that begins a list item.

        A wrapped line of a paragraph may begin with a hyphen or a number.
        """
        mark = find_mark(line)
        if mark is None or not mark.is_weak:
            return mark
        if mark.values and not mark.values & self._values:
            return None
        is_in_list = last.mark is not None or bool(self._open and not flows_on)
        return mark if is_in_list or not (flows_on or mark.text.isalpha()) else None

    def _add_item(self, part: _Part, mark: Mark) -> None:
        separator = "\n" if self._open else "\n\n"
        before = self._close(part)
        value = next((value for value in mark.values if value[0] in _STYLES), None)
        is_nested = before is None and bool(self._open)
        is_counted = value is not None and _is_next(value, before, is_nested=is_nested)
        if not (mark.is_bullet or is_counted):
            part.lines[0] = f"{mark.text} {part.lines[0]}"
        indent = " " * (self._open[-1].column if self._open else 0)
        prefix = f"{indent}{mark.text if is_counted else '-'} "
        self._add(_indented(prefix, part.lines), separator)
        self._open.append(_Item(part.left, len(prefix), value, is_counted))

    def _close(self, part: _Part) -> _Item | None:
        """End the items to which a part does not belong, and return the outermost of them."""
        closed = None
        height = max(1.0, part.height)
        while self._open and not _INDENT < (part.left - self._open[-1].left) / height < _DEEP:
            closed = self._open.pop()
        return closed

    def _add(self, text: str, separator: str) -> None:
        if self.written:
            self.written.append(separator)
        self.written.append(text)


def _is_next(value: Value, before: _Item | None, *, is_nested: bool) -> bool:
    """Return whether Markdown displays a number as it is: it counts the items of a list."""
    style, number = value
    if before is not None and before.value is not None and before.value[0] == style:
        return before.is_counted and number == before.value[1] + 1
    return number == 1 or not is_nested


def _indented(prefix: str, lines: Iterable[str]) -> str:
    """Return escaped lines after a prefix; further lines are indented by its length."""
    return prefix + f"{_BREAK}{' ' * len(prefix)}".join(map(_escaped, lines))


def _joined(line: str, follower: str, compounds: Set[str]) -> str:
    """Join a line to the next, and a word that was hyphenated at the line end."""
    if not (_DIVIDED.search(line) and follower[:1].islower()):
        return f"{line} {follower}"
    word = _COMPOUND.search(line.split(" ")[-1] + follower.split(" ")[0])
    is_compound = word is not None and word[0] in compounds
    return (line if is_compound else line[:-1]) + follower


def _heading(block: WrittenBlock, compounds: Set[str]) -> str:
    text = block.lines[0]
    for line, flows_on in zip(block.lines[1:], block.flows_on, strict=True):
        text = _joined(text, line, compounds) if flows_on else f"{text} {line}"
    return _CLOSING.sub(r"\\\g<0>", _escaped_inside(text))


def _escaped_inside(text: str) -> str:
    """Escape the characters that Markdown would interpret anywhere."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}" if found[1] else found[0], text)


def _escaped(text: str) -> str:
    """Escape the characters that Markdown would interpret in a paragraph."""
    escaped = _escaped_inside(text)
    start = _START.match(escaped)
    if start is None:
        return escaped
    mark = f"{start[1]}\\" if start[1] else "".join(f"\\{letter}" for letter in start[0])
    return mark + escaped[start.end() :]


def _table(table: Table) -> str:
    columns = max(cell.column + cell.column_span - 1 for cell in table.cells)
    rows: dict[int, list[str]] = {}
    for cell in table.cells:
        rows.setdefault(cell.row, [""] * columns)[cell.column - 1] = cell.text
    has_header = any(cell.kind == COLUMN_HEADER for cell in table.cells if cell.row == min(rows))
    return _grid([row for _, row in sorted(rows.items())], has_header=has_header)


def _grid(rows: Sequence[Sequence[str]], *, has_header: bool) -> str:
    """Write cells as a table, with an empty header row if there is no header."""
    columns = len(rows[0])
    lines = ["|" + " --- |" * columns, *map(_row, rows)]
    lines.insert(0, lines.pop(1) if has_header else _row([""] * columns))
    return "\n".join(lines)


def _row(texts: Iterable[str]) -> str:
    cells = [_escaped_inside(text).replace("|", "\\|") for text in texts]
    return "| " + " | ".join(cells) + " |"
