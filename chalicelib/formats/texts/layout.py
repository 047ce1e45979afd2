"""How the rows of a text file are read: what `recognition` decides once, and every pass uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chalicelib.domain.datasets.upload_format import CSV, JSON, FileFormat, UploadWarning

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
"""Words for what stands between cells."""


@dataclass(frozen=True)
class TextLayout:
    """How the rows of a file are read."""

    kind: str = CSV
    """csv, tsv, json or jsonl."""
    encoding: str = "utf-8-sig"
    """Name of the encoding, as Python knows it."""
    delimiter: str = ","
    """What stands between cells."""
    skipped: frozenset[int] = frozenset()
    """Numbers of the records that are no examples: the header, and a line that names the
    delimiter."""
    header: tuple[str, ...] = ()
    """Names of the columns; empty without a header."""
    text_at: int = 0
    """Position of the texts, from 0."""
    label_at: int = 1
    """Position of the labels, from 0."""
    width: int = 2
    """Cells of a whole row."""
    warnings: tuple[UploadWarning, ...] = field(default=())
    """What was guessed."""

    @property
    def is_json(self) -> bool:
        """True when the file holds objects."""
        return self.kind not in (CSV, "tsv")

    def with_warning(self, code: str, message: str, *places: str) -> TextLayout:
        """Return the same layout with a guess more."""
        warning = UploadWarning(code, message, 1, places)
        return replace(self, warnings=(*self.warnings, warning))

    def described(self) -> FileFormat:
        """Tell a caller how the file is read."""
        if self.kind in (JSON, "jsonl", "labelStudio"):
            return FileFormat(self.kind, self.encoding)
        return FileFormat(
            self.kind,
            "utf-8" if self.encoding == "utf-8-sig" else self.encoding,
            self.delimiter,
            bool(self.header),
            self._column(self.text_at),
            self._column(self.label_at),
        )

    def _column(self, at: int) -> int | str:
        return self.header[at] if self.header and self.header[at] else at + 1
