"""What a caller says about a file, what was recognised in it, and what looks odd. beyond.md 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from chalicelib.domain.datasets.dataset import DETECTION, LANGUAGE, VISION
from chalicelib.errors import InvalidParameter

CSV, TSV, XLSX, JSON, JSONL, LABEL_STUDIO = "csv", "tsv", "xlsx", "json", "jsonl", "labelStudio"
ZIP_FOLDERS, ANNOTATIONS, COCO, YOLO, VOC = "zipFolders", "annotations", "coco", "yolo", "voc"
# Kinds of files of texts.
TEXT_KINDS = (CSV, TSV, XLSX, JSON, JSONL, LABEL_STUDIO)
# Kinds of archives of pictures with boxes.
BOX_KINDS = (ANNOTATIONS, COCO, YOLO, VOC)
# Kinds of archives.
PICTURE_KINDS = (ZIP_FOLDERS, *BOX_KINDS)
# Kinds of files by family.
FAMILY_KINDS = {LANGUAGE: TEXT_KINDS, VISION: PICTURE_KINDS}

HEADER_GUESSED = "headerGuessed"
COLUMNS_SWAPPED = "columnsSwapped"
DELIMITER_GUESSED = "delimiterGuessed"
SHEET_GUESSED = "sheetGuessed"
ENCODING_GUESSED = "encodingGuessed"
LABELS_ALMOST_EQUAL = "labelsAlmostEqual"
LABEL_PER_TEXT = "labelPerText"
TINY_BOXES = "tinyBoxes"
BOXES_CUT = "boxesCut"
ROTATED_IMAGES = "rotatedImages"
FORMAT_GUESSED = "formatGuessed"
MANY_DUPLICATES = "manyDuplicates"
FEW_EXAMPLES = "fewExamples"
CONTRADICTING_TEXTS = "contradictingTexts"
# Places that a warning names.
MAX_PLACES = 20
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
# What may stand between the cells of a row.
DELIMITERS = (",", ";", "\t", "|")
_LONGEST_NAME = 1_000


@dataclass(frozen=True)
class UploadWarning:
    """Something that looks odd in a file that can be read."""

    code: str
    """Stable name of what is odd."""
    message: str
    """For a person: what it is, and what to do."""
    count: int = 1
    """How often it was met."""
    places: tuple[str, ...] = ()
    """The first places, such as rows or labels."""


@dataclass(frozen=True)
class FileFormat:
    """How a file was read."""

    kind: str
    """csv, tsv, xlsx, json, jsonl, labelStudio, zipFolders, annotations, coco, yolo or voc."""
    encoding: str | None = None
    """Encoding of texts; None where a file of the kind has none."""
    delimiter: str | None = None
    """What stands between cells; None where a file of the kind has none."""
    header: bool | None = None
    """Whether a row names the columns; None where a file of the kind has no columns."""
    text_column: int | str | None = None
    """Name of the column or member of the texts, or its position from 1."""
    label_column: int | str | None = None
    """The same of the labels."""


@dataclass(frozen=True)
class ReadingOptions:
    """What a caller says about a file; all of it may be left out."""

    format: str = ""
    """Kind of the file; empty to recognise it."""
    delimiter: str = ""
    """What stands between cells; empty to recognise it."""
    text_column: str = ""
    """Name or position of the column of texts; empty to recognise it."""
    label_column: str = ""
    """The same of the labels."""
    header: bool | None = None
    """Whether a row names the columns; None to recognise it."""
    sheet: str = ""
    """Name or position of the sheet of a workbook; empty for the first one."""
    strict: bool = False
    """A warning is a refusal."""
    shrink: bool = False
    """Pictures over the limit are scaled down instead of rejected."""

    def to_json(self) -> dict[str, str | bool | None]:
        """Return what was said, for the row of an upload."""
        default = asdict(RECOGNISED)
        return {name: value for name, value in asdict(self).items() if value != default[name]}


# Of a file about which a caller says nothing.
RECOGNISED = ReadingOptions()


def checked_format(value: str | None, kinds: Iterable[str]) -> str:
    """Return the kind of file that a caller names; empty when none is named.

    Raises:
        InvalidParameter: the family has no such kind.
    """
    if not value:
        return ""
    found = {kind.casefold(): kind for kind in kinds}
    if value.casefold() not in found:
        raise InvalidParameter("format", f"{value[:40]!r} is none of {', '.join(found.values())}.")
    return found[value.casefold()]


def check_kind(dataset_type: str, kind: str) -> None:
    """Refuse a kind of archive that datasets of a type are not made of.

    Args:
        dataset_type: type of the dataset.
        kind: as the caller names it; empty when it is to be recognised.

    Raises:
        InvalidParameter: boxes for folders of labels, or the other way round.
    """
    if kind in PICTURE_KINDS and (kind in BOX_KINDS) != (dataset_type == DETECTION):
        raise InvalidParameter(
            "format",
            f"{kind!r} does not fit the type {dataset_type}: {DETECTION} takes one of "
            f"{', '.join(BOX_KINDS)}, the other types of pictures take {ZIP_FOLDERS}.",
        )


def checked_delimiter(value: str | None) -> str:
    """Return the delimiter that a caller names; empty when none is named.

    Raises:
        InvalidParameter: rows cannot be separated by it.
    """
    if not value:
        return ""
    delimiter = _DELIMITERS.get(value.casefold(), value)
    if delimiter not in DELIMITERS:
        raise InvalidParameter(
            "delimiter", f"{value[:40]!r} is none of ',', ';', '|' and 'tab'; send one of them."
        )
    return delimiter


def checked_column(value: int | str | None, parameter: str) -> str:
    """Return the column that a caller names; empty when none is named.

    Raises:
        InvalidParameter: it is too long, or a position below 1.
    """
    column = "" if value is None else str(value).strip()
    if len(column) > _LONGEST_NAME:
        raise InvalidParameter(
            parameter, f"it has {len(column):,} characters, the limit is {_LONGEST_NAME:,}."
        )
    if column.isdecimal() and int(column) < 1:
        raise InvalidParameter(parameter, "positions count from 1.")
    return column
