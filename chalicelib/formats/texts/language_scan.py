"""Decides which rows of a text upload become examples, before anything is stored.

An upload reads a file twice: first to decide, then to store examples. Both passes accept the same
rows. See numOfDuplicates and Limits in the specification, and contract section 5.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from chalicelib.domain.common.limits import MAX_NAME_CHARACTERS, MIN_EXAMPLES_PER_LABEL
from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.fields import count_words
from chalicelib.domain.datasets.growth import check_bytes, check_examples, check_labels
from chalicelib.domain.datasets.label_names import LONGEST_MARK, is_missing_mark, may_be_missing
from chalicelib.domain.datasets.preview import PREVIEW_ROWS, Preview, SheetSummary
from chalicelib.domain.datasets.receipt import RejectedItem, UploadScan
from chalicelib.domain.datasets.upload_format import (
    MAX_PLACES,
    RECOGNISED,
    SHEET_GUESSED,
    ReadingOptions,
)
from chalicelib.domain.datasets.upload_warnings import (
    refuse_warnings,
    warn_of_contradictions,
    warn_of_counts,
    warn_of_cut_texts,
    warn_of_labels,
    warn_of_missing_labels,
    warn_of_missing_texts,
    warn_of_several_labels,
)
from chalicelib.domain.datasets.windows import is_cut
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.ranking import is_code
from chalicelib.formats.texts.columns.totals import MAX_TOTALS, find_totals
from chalicelib.formats.texts.language_file import LabelMerges, RejectedRow, TextRow, read_rows
from chalicelib.formats.texts.layout import TextLayout
from chalicelib.formats.texts.preview import preview_file
from chalicelib.formats.texts.recognition import recognise
from chalicelib.formats.texts.tools.conversion import convert_export
from chalicelib.formats.texts.workbook import convert_sheet, is_workbook

# Sheets that are tried if the first one is a cover page.
_MOST_SHEETS = 5


@dataclass(frozen=True)
class ScanRules:
    """The rules for the rows of a file. The dataset and the request determine them."""

    language: str
    """Language of the dataset, for the word count."""
    is_sentiment: bool
    """Whether only `positive`, `negative` and `neutral` are valid labels."""
    known: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    """Digests of the dataset's texts, by label."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Current name of each renamed label, by its former name."""
    examples: int = 0
    """Number of examples in the dataset."""
    bytes: int = 0
    """Size of the texts in the dataset, in bytes."""
    options: ReadingOptions = RECOGNISED
    """How the caller wants the file to be read."""
    lists_sheets: bool = False
    """Whether to count the rows of all sheets in a workbook."""


@dataclass
class TextScan(UploadScan):
    """The result of a scan: how many rows are examples, duplicates or rejected, and why."""

    layout: TextLayout = field(default_factory=TextLayout)
    """How the rows of the file are read."""
    rows_file: BinaryIO | None = None
    """The rows as CSV if the upload, such as a workbook, was converted; otherwise None."""
    other_sheets: str = ""
    """Message about further sheets of a workbook; "" if there are none."""
    sheets: tuple[SheetSummary, ...] = ()
    """Sheets of a workbook, if `ScanRules.lists_sheets` is set."""
    merges: LabelMerges | None = None
    """Finds labels with equal first 180 characters; None if the file needs no such check."""
    marks: Mapping[str, int] | None = None
    """Number of rows of each label that may mean a missing value; None if not counted."""
    totals: frozenset[int] = frozenset()
    """Row numbers of the totals below the table, which are not examples."""
    last_rows: deque[TextRow] = field(default_factory=lambda: deque(maxlen=MAX_TOTALS + 1))
    """The last rows that were accepted."""
    missing: int = 0
    """Number of rows rejected because their label stands for a missing value."""
    missing_texts: Counter[str] = field(default_factory=Counter)
    """For each text that may stand for a missing value, the number of accepted rows with it."""
    cut: int = 0
    """Number of texts with more words than models read."""


def scan(
    file: BinaryIO,
    rules: ScanRules,
    begin: Callable[[UploadScan], object] = lambda _: None,
    check: Callable[[], None] = lambda: None,
) -> TextScan:
    """Read a file, and decide which rows become examples.

    Args:
        file: the upload, seekable; it is read from its start.
        rules: the rules of the dataset to which the file is added.
        begin: Called with the result that receives the counts, before the first row is read. So the
            caller has the counts even if the scan fails. A scan that starts again calls `begin`
            with a new result.
        check: Called often; may raise an error to stop.

    Returns:
        The counts, and how the rows are to be read in the second pass.

    Raises:
        InvalidUpload: the file cannot be read, has no usable row, exceeds a limit of the dataset,
            or has warnings although `strict` is set.
    """
    result = TextScan()
    begin(result)
    _recognise(file, rules, result, check)
    while True:
        try:
            texts = _count_all(file, rules, result, check)
            totals = find_totals(result.last_rows, result.kept_by_label, rules.known)
            if not totals:
                break
            result = _begin_again(result, totals=result.totals | totals)
        except _NeedsAllLabels:
            merges, marks = _survey_labels(file, rules, result, check)
            result = _begin_again(result, merges=merges, marks=marks)
        begin(result)
    _check(result, rules)
    _warn(result, rules, texts)
    if rules.options.strict:
        refuse_warnings(result.warnings)
    return result


def _begin_again(result: TextScan, **facts: object) -> TextScan:
    """Return a new scan with counts of 0, the file's properties from `result`, and `facts`."""
    names = ("layout", "format", "rows_file", "sheets", "merges", "marks", "totals")
    return TextScan(**{name: getattr(result, name) for name in names} | facts)


def kept_rows(file: BinaryIO, rules: ScanRules, decision: TextScan) -> Iterator[TextRow]:
    """Read a scanned file again; yield the rows that become examples, in order."""
    for outcome in _outcomes(file, rules, decision, _Texts()):
        if isinstance(outcome, TextRow):
            yield outcome


class _NeedsAllLabels(Exception):
    """The scan must count all labels of the file, and then start again.

    Raised for a label above the maximum length, because two labels may be equal when they are cut.
    Also raised for a new label that may mean a missing value, such as n/a.
    """


class _Texts:
    """The labels of each text in a file, by digest of the text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._labels: dict[bytes, int | frozenset[int]] = {}
        self.contradictions = 0
        self.places: list[str] = []

    def add(self, digest: bytes, row: TextRow) -> bool:
        """Record the text of a row; return False if it occurred before with the same label."""
        label = self._numbers.setdefault(row.label, len(self._numbers))
        known = self._labels.get(digest)
        if known is None:
            self._labels[digest] = label
            return True
        labels = known if isinstance(known, frozenset) else frozenset((known,))
        if label in labels:
            return False
        self._labels[digest] = labels | {label}
        self.contradictions += len(labels) == 1
        if len(self.places) < MAX_PLACES:
            self.places.append(f"row {row.number}")
        return True


def _recognise(
    file: BinaryIO, rules: ScanRules, result: TextScan, check: Callable[[], None]
) -> None:
    # Sheets and exports are converted to text first, so that one reader handles all formats.
    if is_workbook(file):
        _read_workbook(file, rules, result, check)
    elif export := convert_export(file, rules.options, check):
        result.rows_file, result.layout = export
    elif rules.options.sheet:
        raise InvalidUpload("'sheet' names a sheet, and the file is not a workbook. Leave it out.")
    else:
        result.layout = recognise(file, rules.options, rules.language)
    if result.other_sheets:
        result.layout = result.layout.with_warning(SHEET_GUESSED, result.other_sheets)
    result.format = result.layout.described()


def _read_workbook(
    file: BinaryIO, rules: ScanRules, result: TextScan, check: Callable[[], None]
) -> None:
    """Read the first sheet of a workbook, or another sheet if the first looks like a cover page."""
    options = rules.options
    sheet = convert_sheet(file, options.sheet, check, lists_all=rules.lists_sheets)
    result.sheets = sheet.sheets
    layout = refusal = None
    try:
        layout = recognise(sheet.rows, options, rules.language, is_workbook=True)
    except InvalidUpload as problem:
        refusal = problem
    if layout is None or _is_cover(sheet.rows, layout):
        for name in sheet.other_names[:_MOST_SHEETS]:
            with suppress(InvalidUpload):
                other = convert_sheet(file, name, check)
                found = recognise(other.rows, options, rules.language, is_workbook=True)
                if found.header and not _is_short(other.rows):
                    names = (sheet.name, *(n for n in sheet.other_names if n != name))
                    sheet, layout = other._replace(other_names=names), found
                    break
    if layout is None:
        raise refusal or AssertionError
    result.rows_file, result.layout, result.other_sheets = sheet.rows, layout, sheet.other_sheets


def _is_cover(rows: BinaryIO, layout: TextLayout) -> bool:
    """Return whether a sheet looks like a cover page or a summary: few rows, no label repeats."""
    if layout.has_known_names or not _is_short(rows):
        return False
    read = [row.label for row in read_rows(rows, layout=layout) if isinstance(row, TextRow)]
    # The numbers of a summary may repeat, below a name.
    return len({*read}) == len(read) or sum(map(is_code, read)) >= len(read) - 1


def _is_short(rows: BinaryIO) -> bool:
    """Return whether a sheet has too few rows to train a model."""
    rows.seek(0)
    filled = filter(bytes.strip, rows)
    return next(islice(filled, 2 * MIN_EXAMPLES_PER_LABEL, None), None) is None


def _survey_labels(
    file: BinaryIO, rules: ScanRules, decision: TextScan, check: Callable[[], None]
) -> tuple[LabelMerges, Mapping[str, int]]:
    """Read all labels; return `LabelMerges`, and counts of labels that may mean a missing value."""
    merges, marks = LabelMerges(), Counter[str]()
    for row in _rows(file, rules, decision, check):
        if isinstance(row, TextRow):
            merges.add(row)
            if may_be_missing(row.label):
                marks[row.label] += 1
    return merges, marks


def _count_all(
    file: BinaryIO, rules: ScanRules, result: TextScan, check: Callable[[], None]
) -> _Texts:
    texts = _Texts()
    for outcome in _outcomes(file, rules, result, texts, check):
        _count(result, outcome, rules)
    return texts


def _rows(
    file: BinaryIO, rules: ScanRules, decision: TextScan, check: Callable[[], None]
) -> Iterator[TextRow | RejectedRow]:
    check()
    return read_rows(
        decision.rows_file or file,
        sentiment=rules.is_sentiment,
        layout=decision.layout,
        check=check,
    )


def _outcomes(
    file: BinaryIO,
    rules: ScanRules,
    decision: TextScan,
    texts: _Texts,
    check: Callable[[], None] = lambda: None,
) -> Iterator[TextRow | RejectedRow | None]:
    nothing: frozenset[bytes] = frozenset()
    merges = decision.merges
    for row in _rows(file, rules, decision, check):
        if isinstance(row, RejectedRow):
            yield row
            continue
        if merges is None and _needs_all_labels(row, rules):
            raise _NeedsAllLabels
        refusal = _find_refusal(row, rules, decision)
        if refusal is not None:
            yield refusal
            continue
        if row.label in rules.renames:
            row = row._replace(label=rules.renames[row.label])
        digest = text_digest(row.text)
        is_known = digest in rules.known.get(row.label, nothing)
        yield row if not is_known and texts.add(digest, row) else None


def preview_scan(file: BinaryIO, rules: ScanRules, decision: TextScan) -> Preview:
    """Return the first rows, the sheets and the columns of a scanned file.

    `decision` may come from a failed scan that had recognised the format before it failed.
    """
    reasons: dict[int, str | None] = {}
    for row in islice(_rows(file, rules, decision, lambda: None), PREVIEW_ROWS):
        if isinstance(row, RejectedRow):
            reasons[row.row] = row.reason
        else:
            refusal = _find_refusal(row, rules, decision)
            reasons[row.number] = refusal.reason if refusal else None
    preview = preview_file(decision.rows_file or file, decision.layout, reasons)
    return replace(preview, sheets=decision.sheets)


def _find_refusal(row: TextRow, rules: ScanRules, decision: TextScan) -> RejectedRow | None:
    """Return a rejection if a row is a total, or if its label is unusable; otherwise None.

    A label is unusable if it means a missing value, or if another label has the same first 180
    characters.
    """
    if row.number in decision.totals:
        return RejectedRow(
            row.number,
            "the row is below the table and looks like a total; remove it, or give it a label "
            "that other rows have.",
        )
    refusal = decision.merges.find_rejection(row) if decision.merges else None
    return refusal or _find_missing(row, rules, decision)


def _needs_all_labels(row: TextRow, rules: ScanRules) -> bool:
    is_open = may_be_missing(row.label) and row.label not in rules.known
    return len(row.full_label) > MAX_NAME_CHARACTERS or is_open


def _find_missing(row: TextRow, rules: ScanRules, decision: TextScan) -> RejectedRow | None:
    if not is_missing_mark(row.label) or row.label in rules.known or row.label in rules.renames:
        return None
    rows = (decision.marks or {}).get(row.label, 0)
    if may_be_missing(row.label) and rows >= MIN_EXAMPLES_PER_LABEL:
        return None
    return RejectedRow(
        row.number,
        f'the label "{row.label}" means a missing value; give each row a label.',
        is_missing=True,
    )


def _count(result: TextScan, outcome: TextRow | RejectedRow | None, rules: ScanRules) -> None:
    if outcome is None:
        result.duplicates += 1
    elif isinstance(outcome, RejectedRow):
        result.reject(RejectedItem(outcome.reason, row=outcome.row))
        result.missing += outcome.is_missing
    else:
        result.kept += 1
        result.last_rows.append(outcome)
        if outcome.label not in result.kept_by_label:
            result.kept_by_label[outcome.label] = 0
            if outcome.label not in rules.known:
                result.new_labels.append(outcome.label)
        result.kept_by_label[outcome.label] += 1
        result.words += count_words(outcome.text, rules.language)
        result.cut += is_cut(outcome.text)
        if len(outcome.text) <= LONGEST_MARK and is_missing_mark(outcome.text.strip()):
            result.missing_texts[outcome.text.strip()] += 1
        result.bytes += len(outcome.text.encode("utf-8", "surrogatepass"))


def _check(result: TextScan, rules: ScanRules) -> None:
    if result.kept + result.duplicates == 0:
        first = result.rejections[0]
        raise InvalidUpload(
            f"None of the {result.rejected:,} rows can be used. Row {first.row}: {first.reason} "
            f"{result.other_sheets}".rstrip()
        )
    labels = len(rules.known) + len(result.new_labels)
    check_labels(labels, "text and label are not swapped")
    check_examples(rules.examples + result.kept)
    check_bytes(rules.bytes + result.bytes)


def _warn(result: TextScan, rules: ScanRules, texts: _Texts) -> None:
    counts = {label: len(digests) for label, digests in rules.known.items()}
    for label, kept in result.kept_by_label.items():
        counts[label] = counts.get(label, 0) + kept
    result.warnings += [
        *result.layout.warnings,
        *warn_of_labels(counts),
        *warn_of_missing_labels(result.missing, _kept_marks(result)),
        *warn_of_missing_texts(result.missing_texts),
        *warn_of_several_labels(result.kept_by_label),
        *warn_of_counts(result.kept_by_label, result.duplicates, is_text=True),
        *warn_of_cut_texts(result.cut),
        *warn_of_contradictions(texts.contradictions, texts.places),
    ]


def _kept_marks(result: TextScan) -> list[str]:
    return [label for label in result.new_labels if may_be_missing(label)]
