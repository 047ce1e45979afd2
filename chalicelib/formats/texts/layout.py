"""The settings (layout) with which the rows of a text file are read.

`recognise` decides the layout once, and every pass over the file uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chalicelib.domain.datasets.upload_format import (
    CSV,
    JSON,
    JSONL,
    LABEL_STUDIO,
    XLSX,
    FileFormat,
    UploadWarning,
)
from chalicelib.formats.texts.columns.names import find_named_columns
from chalicelib.formats.texts.encoding import MIXED
from chalicelib.formats.texts.json_shapes import ObjectShape

# Names of the delimiters in the API.
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


@dataclass(frozen=True)
class TextLayout:
    """The settings for reading the rows of a file."""

    kind: str = CSV
    """`csv`, `tsv`, `xlsx`, `json`, `jsonl` or `labelStudio`."""
    tool: str = ""
    """Format of the other tool's export from which the rows were converted; "" for other files."""
    encoding: str = "utf-8-sig"
    """Name of the encoding in Python."""
    delimiter: str = ","
    """The character between cells."""
    skipped: frozenset[int] = frozenset()
    """Numbers of records that are not rows: headers, titles, and a line such as "sep=;"."""
    header: tuple[str, ...] = ()
    """Names of the columns; empty without a header."""
    text_at: int = 0
    """Position of the text column, from 0."""
    texts_at: tuple[int, ...] = ()
    """Positions of several columns whose cells are joined to one text; () for one column."""
    label_at: int = 1
    """Position of the label column, from 0."""
    label_end: str = ""
    """A character that the exporting tool appends to every label; "" for none."""
    width: int = 2
    """Number of cells in a complete row."""
    joins_cells: bool = False
    """Whether extra cells of a row are parts of a split text, and are joined to the text."""
    shape: ObjectShape = field(default_factory=ObjectShape)
    """Which members of JSON objects have the text and the label."""
    warnings: tuple[UploadWarning, ...] = field(default=())
    """Warnings about what had to be guessed."""

    @property
    def is_json(self) -> bool:
        """Return whether the file consists of JSON objects."""
        return self.kind in (JSON, JSONL, LABEL_STUDIO)

    @property
    def positions(self) -> tuple[int, ...]:
        """Return the positions of the columns that are read."""
        return (self.text_at, self.label_at, *self.texts_at)

    @property
    def has_known_names(self) -> bool:
        """Return whether text column and label column have known names."""
        return find_named_columns([str(self._column(at)) for at in self.positions[:2]]).is_sure

    def fits(self, cells: list[str]) -> bool:
        """Return whether a row has at least two cells, and at most as many as the layout allows."""
        return len(cells) >= 2 and (self.joins_cells or len(cells) <= self.width)

    def pick(self, cells: list[str]) -> tuple[str, str]:
        """Return the text and the label of a row. Missing cells count as empty."""
        if self.joins_cells and len(cells) > 2:
            at = 1 if self.label_at == 0 else len(cells) - 1
            parts = self.delimiter.join(cells[:at]), self.delimiter.join(cells[at:])
            cells = list(parts)
        if len(cells) <= max(self.text_at, self.label_at) or self.texts_at:
            cells += [""] * (max(self.positions) + 1 - len(cells))
        text = cells[self.text_at]
        if self.texts_at:
            text = "\n\n".join(cells[at] for at in self.texts_at if cells[at].strip())
        label = cells[self.label_at]
        if self.label_end:
            label = label.strip().removesuffix(self.label_end)
        return text, label

    def with_warning(self, code: str, message: str, *places: str) -> TextLayout:
        """Return a copy of the layout with an additional warning."""
        warning = UploadWarning(code, message, 1, places)
        return replace(self, warnings=(*self.warnings, warning))

    def described(self) -> FileFormat:
        """Return the format of the file, as the API describes it."""
        encoding = {"utf-8-sig": "utf-8", MIXED: "utf-8"}.get(self.encoding, self.encoding)
        if self.tool:
            return FileFormat(self.tool)
        if self.is_json:
            return FileFormat(self.kind, encoding)
        is_text = self.kind != XLSX
        return FileFormat(
            self.kind,
            encoding if is_text else None,
            self.delimiter if is_text else None,
            bool(self.header),
            ", ".join(str(self._column(at)) for at in self.texts_at) or self._column(self.text_at),
            self._column(self.label_at),
        )

    def _column(self, at: int) -> int | str:
        name = self.header[at] if self.header and at < len(self.header) else ""
        return name or at + 1
