"""Finds the delimiter between the cells of a table."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.domain.datasets.upload_format import (
    DELIMITER_GUESSED,
    DELIMITERS,
    TSV,
    XLSX,
    ReadingOptions,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.delimited import named_delimiter, score_separator
from chalicelib.formats.texts.encoding import open_text
from chalicelib.formats.texts.layout import DELIMITER_NAMES
from chalicelib.formats.texts.text_table import Survey, TextTable

_FEW, _HALF, _MOST = 0.1, 0.5, 0.8
_LEAST_ROWS = 3


def find_delimiter(table: TextTable, options: ReadingOptions) -> None:
    """Find the delimiter of a table, and set it in the table's layout.

    Raises:
        InvalidUpload: two delimiters are equally likely.
    """
    with open_text(table.file, table.layout.encoding) as stream:
        named = named_delimiter(stream)
    if named:
        table.layout = replace(table.layout, skipped=frozenset({1}))
    if table.layout.kind == XLSX:
        return
    asked = options.delimiter or named or {TSV: "\t"}.get(options.format, "")
    if asked:
        table.split_at(asked)
        return
    old = _find_documented(table)
    surveys = {delimiter: table.survey(delimiter) for delimiter in DELIMITERS}
    if surveys[old].is_documented and len(surveys[old].labels) > surveys[old].rows * _HALF:
        table.split_at(old)  # other delimiters in cells are part of them
    elif not surveys[old].labels or surveys[old].ends_cells:
        table.split_at(_choose_first(table, old, list(surveys.values())))
    elif wide := _find_wide(surveys[old], list(surveys.values())):
        _split_wide(table, surveys[old], wide)
    else:
        new = max(
            (surveys[d] for d in (";", "|")), key=lambda s: (s.is_named, s.share, len(s.labels))
        )
        if not new.is_regular or (new.width > 2 and not new.is_named):
            table.split_at(old)
        else:
            _choose_second(table, surveys[old], new)


def _find_documented(table: TextTable) -> str:
    """Return the documented delimiter (comma or tab) that fits better."""
    scores = {}
    for delimiter in ("\t", ","):
        with open_text(table.file, table.layout.encoding) as stream:
            scores[delimiter] = score_separator(stream, delimiter)
    best = max(scores, key=scores.__getitem__)
    return best if scores[best].pair_count else ","


def _choose_first(table: TextTable, old: str, surveys: list[Survey]) -> str:
    """Choose the delimiter if neither comma nor tab separates texts from labels."""
    fitting = [survey for survey in surveys if survey.is_regular]
    named = [survey for survey in fitting if survey.is_named]
    # A delimiter that does not split the column names is probably a part of texts in other rows.
    headed = [survey for survey in fitting if survey.first_width > 1] or fitting
    pairs = [survey for survey in headed if survey.width == 2]
    for found in (named, pairs, fitting):
        if len(found) == 1:
            return found[0].delimiter
        if len(found) > 1:
            # Even if every text has the same number of commas, the column names have none.
            best, second = sorted(found, key=lambda survey: survey.share)[:-3:-1]
            if best.share > second.share:
                _choose(table, best, second)
                return best.delimiter
            table.split_at(found[0].delimiter)  # for the preview of the refusal
            shown = " or ".join(DELIMITER_NAMES[survey.delimiter] for survey in found)
            raise InvalidUpload(
                f"The rows can be read in two ways, with {shown} between their cells. Say "
                "which one with the field 'delimiter'."
            )
    # Unquoted texts that contain the delimiter make rows differ; the header still shows it.
    headed = [survey for survey in surveys if survey.is_named]
    if len(headed) == 1:
        return headed[0].delimiter
    likely = max(surveys, key=lambda survey: survey.share)
    return likely.delimiter if likely.share >= _MOST else old


def _find_wide(old: Survey, surveys: list[Survey]) -> Survey | None:
    """Find the only delimiter that splits nearly all rows into the same number of cells, 3 or more.

    Return None unless `old` (comma or tab) is wrong. It is wrong if it splits rows into different
    numbers of cells, or splits numbers such as 4,50. It is also wrong if only the delimiter that
    was found splits the row of column names.
    """
    wide = [new for new in surveys if new is not old and new.is_regular and new.width > 2]
    if len(wide) != 1 or wide[0].rows < _LEAST_ROWS:
        return None
    numbers = sum(label.split(wide[0].delimiter)[0].strip().isdecimal() for label in old.labels)
    is_cut = numbers >= len(old.labels) * _MOST
    is_only_below = old.first_width < 2 and wide[0].first_width == wide[0].width
    return wide[0] if is_cut or is_only_below or not old.is_regular else None


def _split_wide(table: TextTable, old: Survey, wide: Survey) -> None:
    names = DELIMITER_NAMES
    table.split_at(wide.delimiter)
    table.layout = table.layout.with_warning(
        DELIMITER_GUESSED,
        f"Rows were split at each {names[wide.delimiter]} into {wide.width:,} cells; "
        f"{len(old.labels):,} of the first {old.rows:,} can be split at a {names[old.delimiter]} "
        "into two. Send 'delimiter' to be sure.",
    )


def _choose_second(table: TextTable, old: Survey, new: Survey) -> None:
    """Choose between two delimiters that split rows into texts and labels; warn if it is unclear.

    A delimiter is probably wrong if the labels that it yields contain the other delimiter.
    """
    holding = old.holding(new.delimiter)
    rejects_most = len(old.labels) < old.rows * _HALF
    if holding <= _FEW and not (new.is_named or rejects_most):
        table.split_at(old.delimiter)
        return
    is_sure = holding >= 1 - _FEW and new.holding(old.delimiter) <= _FEW
    is_new = rejects_most or is_sure or (new.is_named and not old.is_named)
    _choose(table, *((new, old) if is_new else (old, new)))


def _choose(table: TextTable, chosen: Survey, other: Survey) -> None:
    """Set the chosen delimiter in the layout, with a warning that names the other delimiter."""
    name, other_name = (DELIMITER_NAMES[s.delimiter] for s in (chosen, other))
    count = len(other.labels) or round(other.share * other.rows)
    table.split_at(chosen.delimiter)
    table.layout = table.layout.with_warning(
        DELIMITER_GUESSED,
        f"Rows were split at each {name}; {count:,} of the first {other.rows:,} "
        f"can be split at a {other_name} too. Send 'delimiter' to be sure.",
    )
