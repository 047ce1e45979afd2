"""When two label names are the same, and which a person can see. Contract section 5.

A name may be typed in composed or in decomposed characters, which look alike: an é of one code
point or an e with an accent behind it. New names are stored in Unicode's form C, and every name is
compared in it. Labels of before keep id and name; of two that differ in nothing else, the one in
form C is meant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamesOfLabel:
    """The names of one label."""

    name: str
    former: tuple[str, ...] = ()
    """Names that it, or a label that was merged into it, had before; the latest last."""


# Letters, symbols and marks that show nothing, such as Hangul fillers and variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Categories of characters that show nothing: controls, formats, spaces. Unicode, chapter 4.5.
_HIDDEN = ("Cc", "Cf", "Zs", "Zl", "Zp")

# What is wrong with a label that nobody could find again.
INVISIBLE = "the label has no character that shows."


def normal_form(name: str) -> str:
    """Return a label name as it is compared and stored: trimmed, in Unicode's form C."""
    name = name.strip()
    # By far the most names, and one is asked for with each row of a file.
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def folded(text: str) -> str:
    """Return a text as it is searched: case and the way in which accents are written do not count.

    Args:
        text: a name, or an example's text.
    """
    return normal_form(text).casefold()


def is_visible(name: str) -> bool:
    """Return whether a name has a character that shows."""
    return any(unicodedata.category(shown) not in _HIDDEN for shown in _BLANK.sub("", name))


def ids_by_name(names: Mapping[int, NamesOfLabel]) -> dict[str, int]:
    """Find labels by the normal form of their names; one that a label bears now means that label.

    Args:
        names: names by label id.
    """
    former = [(name, label_id) for label_id, all_of in names.items() for name in all_of.former]
    found = {normal_form(name): label_id for name, label_id in former}
    shown: dict[str, int] = {}
    for label_id, all_of in names.items():
        key = normal_form(all_of.name)
        if key not in shown or key == all_of.name:
            shown[key] = label_id
    return found | shown


def former_names(names: Mapping[int, NamesOfLabel]) -> dict[str, str]:
    """Return the present name for each former one, in normal form, that no label bears now."""
    present = {normal_form(all_of.name) for all_of in names.values()}
    return {
        name: normal_form(names[label_id].name)
        for name, label_id in ids_by_name(names).items()
        if name not in present
    }
