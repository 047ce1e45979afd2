"""Reads exports of headings and list items, which are Rasa's older Markdown and LUIS's LU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from chalicelib.domain.datasets.upload_format import LUIS, RASA
from chalicelib.formats.texts.tools.export import EntityCount, ExportFile, Pair, Tool, ToolExport

_SHORT = 1_000
_LEAST_ITEMS = 2  # for each heading
# Every line of such a file is a heading, an item, a comment, or declares an entity.
_LINE = re.compile(r"\s*(?:[#\-*+>@$!]|<!--).*|\s*")
_ITEM = re.compile(r"\s*[-*+]\s+(.*)")
_RASA_HEADING = re.compile(r"##\s*(?:(intent)|synonym|regex|lookup)\s*:\s*(.+)")
_LU_HEADING = re.compile(r"(#)\s*([^#\s].*)")
_CELLS = re.compile(r"[,;\t|]")
_RASA_ENTITY = re.compile(r"\[([^\[\]\n]+)\]\([^()\n]*\)")
# {@city}, {city=Berlin} and {@city=Berlin}; in linear time, even if many braces are not closed
_LU_ENTITY = re.compile(r"\{[^{}=\n]*(?:=([^{}\n]*))?\}")


def find_outline_export(source: ExportFile) -> ToolExport | None:
    """Return the export in a file of headings and list items; None if no known tool made it."""
    # The last line of a longer file may be cut.
    lines = source.head.splitlines()[: None if len(source.head) < _SHORT else -1]
    if not all(map(_LINE.fullmatch, lines)):
        return None
    items = [bool(_ITEM.match(line)) for line in lines]
    for tool, heading in zip(OUTLINE_TOOLS, (_RASA_HEADING, _LU_HEADING), strict=True):
        headings = [bool(heading.match(line)) for line in lines]
        # A table whose cells begin with such signs has no heading above several items.
        if sum(items) >= _LEAST_ITEMS * sum(headings) > 0 and items.index(True) > headings.index(
            True
        ):
            is_table = heading is _LU_HEADING and _may_be_table(source.text.splitlines())
            return None if is_table else ToolExport(tool, source.text)
    return None


def _may_be_table(lines: list[str]) -> bool:
    """Return whether lines look like a table whose first line begins with `#`."""
    headings = [at for at, line in enumerate(lines) if _LU_HEADING.match(line)]
    has_cells = any(_CELLS.search(lines[at]) for at in headings)
    # Below the items of an intent, another intent begins.
    return has_cells or not any(map(_ITEM.match, lines[: headings[-1]]))


def _read(
    heading: re.Pattern[str], entity: re.Pattern[str], text: str, entities: EntityCount
) -> Iterator[Pair]:
    label = ""
    for line in text.removeprefix("\ufeff").splitlines():
        if found := heading.match(line):
            label = found[2].strip() if found[1] else ""
        elif line.startswith(("#", "@", "$")):
            label = ""  # the items below are not utterances of an intent
        elif label and (item := _ITEM.match(line)):
            plain, count = entity.subn(r"\1", item[1].strip())
            entities.count += count
            yield plain, label


OUTLINE_TOOLS = (
    Tool(RASA, "Rasa", (), lambda _: True, partial(_read, _RASA_HEADING, _RASA_ENTITY)),
    Tool(LUIS, "LUIS", (), lambda _: True, partial(_read, _LU_HEADING, _LU_ENTITY)),
)
