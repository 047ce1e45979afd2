"""Options for reading a file, the recognised format, and warnings. See beyond.md, section 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from encodings import normalize_encoding
from encodings.aliases import aliases

from chalicelib.domain.datasets.dataset import DETECTION, LANGUAGE, MULTI_LABEL, VISION
from chalicelib.errors import InvalidParameter

CSV, TSV, XLSX, JSON, JSONL, LABEL_STUDIO = "csv", "tsv", "xlsx", "json", "jsonl", "labelStudio"
ZIP_FOLDERS, ANNOTATIONS, COCO, YOLO, VOC = "zipFolders", "annotations", "coco", "yolo", "voc"
RASA, SNIPS, LUIS, CLU, DIALOGFLOW = "rasa", "snips", "luis", "clu", "dialogflow"
CUSTOM_TEXT, WATSON = "customTextClassification", "watson"
# Exports of tools, which are converted to rows of text and label.
TOOL_KINDS = (RASA, SNIPS, LUIS, CLU, CUSTOM_TEXT, DIALOGFLOW, WATSON)
CREATE_ML, LABEL_ME, CVAT, TENSORFLOW = "createml", "labelme", "cvat", "tensorflow"
VOTT = "vott"
# Formats of text files.
TEXT_KINDS = (CSV, TSV, XLSX, JSON, JSONL, LABEL_STUDIO, *TOOL_KINDS)
# Formats of archives of images with boxes.
BOX_KINDS = (ANNOTATIONS, COCO, YOLO, VOC, CREATE_ML, LABEL_ME, CVAT, TENSORFLOW, VOTT)
# Formats of archives.
PICTURE_KINDS = (ZIP_FOLDERS, *BOX_KINDS)
# Formats by dataset family.
FAMILY_KINDS = {LANGUAGE: TEXT_KINDS, VISION: PICTURE_KINDS}

HEADER_GUESSED = "headerGuessed"
COLUMNS_SWAPPED = "columnsSwapped"
COLUMNS_GUESSED = "columnsGuessed"
CELLS_JOINED = "cellsJoined"
DELIMITER_GUESSED = "delimiterGuessed"
SHEET_GUESSED = "sheetGuessed"
ENCODING_GUESSED = "encodingGuessed"
ENCODING_MIXED = "encodingMixed"
LABELS_ALMOST_EQUAL = "labelsAlmostEqual"
LABEL_PER_TEXT = "labelPerText"
SEVERAL_LABELS = "severalLabels"
MISSING_LABEL = "missingLabel"
MISSING_TEXT = "missingText"
TINY_BOXES = "tinyBoxes"
BOXES_CUT = "boxesCut"
ROTATED_IMAGES = "rotatedImages"
FORMAT_GUESSED = "formatGuessed"
MANY_DUPLICATES = "manyDuplicates"
TEXTS_CUT = "textsCut"
FEW_EXAMPLES = "fewExamples"
CONTRADICTING_TEXTS = "contradictingTexts"
SPLIT_FOLDERS = "splitFolders"
ENTITIES_IGNORED = "entitiesIgnored"
# Maximum number of places that a warning lists.
MAX_PLACES = 20
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
# Allowed separators of cells.
DELIMITERS = (",", ";", "\t", "|")
# Encodings of texts that a caller may name; the aliases that Python knows mean the same.
ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be"),
    *(f"windows-{page}" for page in range(1250, 1259)),
    *(f"iso-8859-{part}" for part in range(1, 17) if part != 12),
    *("shift_jis", "cp932", "euc_jp", "iso2022_jp", "gb2312", "gbk", "gb18030", "big5"),
    *("big5hkscs", "euc_kr", "cp949", "koi8-r", "koi8-u"),
    *(f"cp{page}" for page in (437, 737, 775, 850, 852, 857, *range(860, 864), 866, 874)),
    *("mac-roman", "mac-cyrillic", "mac-greek", "mac-turkish", "mac-latin2"),
)
_LONGEST_NAME = 1_000
_LAST_HEADER_ROW = 100
_LONGEST_SEPARATOR = 3


@dataclass(frozen=True)
class UploadWarning:
    """A warning about something unusual in a file that can still be read."""

    code: str
    message: str
    """Text for people, which names the problem and what to do."""
    count: int = 1
    places: tuple[str, ...] = ()
    """The first places with the problem, such as rows or labels."""


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, and how its cells were interpreted."""

    kind: str
    """One of TEXT_KINDS or PICTURE_KINDS."""
    encoding: str | None = None
    """Text encoding of the file; None for formats without one."""
    delimiter: str | None = None
    """Separator of cells; None for formats without cells."""
    header: bool | None = None
    """Whether a row names the columns; None for formats without columns."""
    text_column: int | str | None = None
    """Name of the text column, or of the member in JSON; position from 1 if columns lack names."""
    label_column: int | str | None = None


@dataclass(frozen=True)
class ReadingOptions:
    """Options that a caller sends for reading a file. All of them are optional."""

    format: str = ""
    """Format of the file; empty to recognise it."""
    delimiter: str = ""
    """Separator of cells; empty to recognise it."""
    text_column: str = ""
    """Name or position of the text column; empty to recognise it."""
    label_column: str = ""
    header: bool | int | None = None
    """Whether a row names the columns, or the number of that row from 1; None to recognise it."""
    sheet: str = ""
    """Name or position of a workbook's sheet; empty for the first one."""
    strict: bool = False
    encoding: str = ""
    """Encoding of texts, or of names in an archive, from ENCODINGS; empty to recognise it."""
    shrink: bool = False
    """Whether images over the limit are scaled down instead of rejected."""
    label_separator: str = ""
    """Text that separates several labels in one cell; empty if each cell is one label."""

    def to_json(self) -> dict[str, str | bool | int | None]:
        """Return the options that differ from the defaults, as the dataset's row stores them."""
        default = asdict(RECOGNISED)
        return {name: value for name, value in asdict(self).items() if value != default[name]}


# For a file without options: everything is recognised.
RECOGNISED = ReadingOptions()


def checked_format(value: str | None, kinds: Iterable[str]) -> str:
    """Check the file format in a request; return it, or "" if there is none.

    Raises:
        InvalidParameter: the format is not one of `kinds`.
    """
    if not value:
        return ""
    found = {kind.casefold(): kind for kind in kinds}
    if value.casefold() not in found:
        known = ", ".join(found.values())
        raise InvalidParameter("format", f"{value[:40]!r} is not one of {known}.")
    return found[value.casefold()]


def check_options(dataset_type: str, options: ReadingOptions) -> None:
    """Raise an error if the options do not fit the dataset type.

    Raises:
        InvalidParameter: only one of the format and the dataset type has boxes. Also raised if a
            label separator was sent for a type other than `image-multi-label`.
    """
    kind = options.format
    if kind in PICTURE_KINDS and (kind in BOX_KINDS) != (dataset_type == DETECTION):
        raise InvalidParameter(
            "format",
            f"{kind!r} does not fit the type {dataset_type}: {DETECTION} takes one of "
            f"{', '.join(BOX_KINDS)}, the other image types take {ZIP_FOLDERS}.",
        )
    if options.label_separator and dataset_type != MULTI_LABEL:
        raise InvalidParameter(
            "labelSeparator",
            f"it splits cells of label tables of the type {MULTI_LABEL}, and the type is "
            f"{dataset_type}. Leave it out, or use the type {MULTI_LABEL}.",
        )


def checked_separator(value: str | None) -> str:
    """Check the label separator in a request; return it, or "" if there is none.

    Raises:
        InvalidParameter: the separator is too long.
    """
    if not value:
        return ""
    if len(value) > _LONGEST_SEPARATOR:
        raise InvalidParameter(
            "labelSeparator",
            f"{value[:40]!r} has {len(value):,} characters; send 1 to {_LONGEST_SEPARATOR}.",
        )
    return value


def checked_delimiter(value: str | None) -> str:
    """Check the delimiter in a request; return it, or "" if there is none.

    Raises:
        InvalidParameter: the delimiter is not one of DELIMITERS.
    """
    if not value:
        return ""
    delimiter = _DELIMITERS.get(value.casefold(), value)
    if delimiter not in DELIMITERS:
        raise InvalidParameter(
            "delimiter", f"{value[:40]!r} is not one of ',', ';', '|' and 'tab'; send one of them."
        )
    return delimiter


def checked_encoding(value: str | None) -> str:
    """Check the text encoding in a request.

    Returns:
        The encoding as ENCODINGS spells it; "" if there is none.

    Raises:
        InvalidParameter: the encoding is not one of ENCODINGS.
    """
    if not value:
        return ""
    known = {_codec_of(name): name for name in ENCODINGS}
    # Only Python's table of aliases is used: a search for codecs would import a module by this
    # name.
    found = known.get(_codec_of(value)) if value.isascii() else None
    if found is None:
        raise InvalidParameter("encoding", f"{value[:40]!r} is not one of {', '.join(ENCODINGS)}.")
    return found


def _codec_of(name: str) -> str:
    """Return the name of the Python codec for an encoding, given its name or an alias."""
    folded = normalize_encoding(name.strip().lower()).replace(".", "_")
    codec = aliases.get(folded, folded)
    return "utf_8" if codec == "utf_8_sig" else codec


def checked_header(value: bool | int | None) -> bool | int | None:
    """Check the `header` option; return it unchanged.

    Args:
        value: whether the file has a row of column names, or this row's number; None if not sent.

    Raises:
        InvalidParameter: the row number is not between 1 and 100.
    """
    if value is None or isinstance(value, bool) or 1 <= value <= _LAST_HEADER_ROW:
        return value
    if value == 0:  # a form writes false as 0 too
        return False
    raise InvalidParameter(
        "header", f"{value} is not a row from 1 to {_LAST_HEADER_ROW}, and neither true nor false."
    )


def checked_column(value: int | str | None, parameter: str) -> str:
    """Check a column that a request names; return its name or position as text, "" for None.

    Raises:
        InvalidParameter: the name is too long, or the position is below 1.
    """
    column = "" if value is None else str(value).strip()
    if len(column) > _LONGEST_NAME:
        raise InvalidParameter(
            parameter, f"it has {len(column):,} characters, the limit is {_LONGEST_NAME:,}."
        )
    if column.isdecimal() and int(column) < 1:
        raise InvalidParameter(parameter, "positions count from 1.")
    return column
