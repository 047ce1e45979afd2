"""Decides whether two label names are equal, and whether a name is visible. See contract section 5.

A name can be typed in composed or decomposed characters, which look alike: one code point for é, or
an e followed by an accent. New names are stored and compared in Unicode normalization form C.
Labels created before this rule keep their id and name. If two stored names differ only
in the form, a sent name refers to the label with the stored name in form C.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class NamesOfLabel:
    """The names of one label."""

    name: str
    former: tuple[str, ...] = ()
    """Former names of this label and of the labels merged into it, the latest name last."""


# Letters, symbols and marks without ink, such as Hangul fillers and variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Invisible Unicode categories: controls, formats and spaces. Unicode, chapter 4.5.
_HIDDEN = ("Cc", "Cf", "Zs", "Zl", "Zp")

# Invisible labels are refused, because they could not be found or selected again.
INVISIBLE = "the label has no character that shows."


def normal_form(name: str) -> str:
    """Return a label name as it is stored: trimmed, in Unicode normalization form C."""
    name = name.strip()
    # Most names are ASCII, and this runs for every row of a file.
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def folded(text: str) -> str:
    """Return a text in Unicode form C and case-folded, so that searches ignore case."""
    return normal_form(text).casefold()


def is_visible(name: str) -> bool:
    """Return whether a name has a visible character."""
    return any(unicodedata.category(shown) not in _HIDDEN for shown in _BLANK.sub("", name))


def ids_by_name(names: Mapping[int, NamesOfLabel]) -> dict[str, int]:
    """Map the present and former names of all labels, in normal form, to label ids.

    A present name takes precedence over an equal former name of another label.
    """
    former = [(name, label_id) for label_id, all_of in names.items() for name in all_of.former]
    found = {normal_form(name): label_id for name, label_id in former}
    shown: dict[str, int] = {}
    for label_id, all_of in names.items():
        key = normal_form(all_of.name)
        if key not in shown or key == all_of.name:
            shown[key] = label_id
    # The current name of a label takes precedence over an equal former name of another label.
    return found | shown


def former_names(names: Mapping[int, NamesOfLabel]) -> dict[str, str]:
    """Map each former name of a label to the label's current name, both in normal form.

    A former name is left out if it is now the name of any label.
    """
    present = {normal_form(all_of.name) for all_of in names.values()}
    return {
        name: normal_form(names[label_id].name)
        for name, label_id in ids_by_name(names).items()
        if name not in present
    }


# What spreadsheets, databases and programs write for a missing value.
_MISSING_MARKS = frozenset({"#n/a", "nan", "\\n", "<na>"})
# Brackets, dots and spaces, as in `(none)` and `n. a.`.
_AROUND = re.compile(r"[\s.()\[\]<>]+")
# Spreadsheets write #N/A and failed formulas in the language of the program.
_CELL_ERRORS = frozenset(
    (
        *("#nv", "#n/d", "#n/b", "#н/д", "#ref!", "#bezug!", "#¡ref!", "#value!", "#wert!"),
        *("#valeur!", "#valore!", "#valor!", "#¡valor!", "#name?", "#nom?", "#nome?", "#¿nombre?"),
        *("#div/0!", "#¡div/0!", "#num!", "#zahl!", "#nombre!", "#¡num!", "#null!"),
    )
)
# Marks that people also use as a label, such as "None" for "none of these".
_POSSIBLE_LABELS = frozenset(
    (
        *("none", "null", "n/a", "na", "n/d", "#nv", "undefined", "unassigned", "tbd", "notset"),
        *("notapplicable", "-", "--", "---", "–", "—", "?", "keineangabe", "k.a.", "k. a."),
        *("aucun", "nonrenseigné", "sansobjet", "ninguno", "sinasignar", "sinespecificar"),
        *("unknown", "unbekannt", "inconnu", "desconocido", "sconosciuto", "desconhecido"),
        *("nessuno", "nonspecificato", "nenhum", "nãoinformado", "geen", "brak", "niepodano"),
        *("なし", "無し", "未入力", "未設定", "未選択", "无", "無", "未填写", "未选择", "未填寫"),
        *("不明", "未知"),
    )
)
# Words that are marks only in brackets, as pivot tables write them.
_IN_BRACKETS = frozenset(
    ("blank", "empty", "leer", "vide", "vacío", "vuoto", "vazio", "leeg", "puste", "空白", "空")
)
# Length of the longest mark with brackets, dots and spaces around it.
LONGEST_MARK = 24
# Written by databases; as a label people write it in small letters.
_DATABASE_NULL = "NULL"


@lru_cache(maxsize=1024)  # it is asked for each row
def is_missing_mark(label: str) -> bool:
    """Return whether a label stands for a missing value, as `#N/A` does."""
    mark = label.casefold()
    return mark in _MISSING_MARKS or mark in _CELL_ERRORS or _is_possible(mark)


@lru_cache(maxsize=1024)
def may_be_missing(label: str) -> bool:
    """Return whether a label such as `none` can be a real label or stand for a missing value."""
    return _is_possible(label.casefold()) and label != _DATABASE_NULL


def _is_possible(mark: str) -> bool:
    if mark in _MISSING_MARKS:
        return False
    plain = _AROUND.sub("", mark)
    is_bracketed = mark.startswith(("(", "[", "<"))
    return not _POSSIBLE_LABELS.isdisjoint((mark, plain)) or (
        is_bracketed and plain in _IN_BRACKETS
    )
