"""Words and sentences that are printed on forms, and are therefore rarely values."""

from __future__ import annotations

import re
from collections.abc import Collection

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.spelling import fold, tokens
from chalicelib.engines.ocr.kinds.span import WORD_LISTS

_WORDS = frozenset(map(fold, WORD_LISTS["captions"].split()))
# Caption words that alone are also common as handwritten values.
_ALSO_VALUES = frozenset(map(fold, WORD_LISTS["values"].split()))

# A remark in brackets after a caption, or the number of a note.
REMARK = re.compile(
    r"\s{0,9}\((?:\d{1,2}|(?=[^A-Za-z]{0,20}[A-Za-z])[^()]{0,120})\)\s{0,9}"
    r"(?:[:：]\s{0,9}(?=\([^()]{0,120}\)\s{0,9}/))?"
)
_INSTRUCTION = re.compile(
    r"(?:\W?\d{1,2}[a-z]?\W? )?"
    r"(?:If|Enter|Attach|Check|See|Go to|Add|Subtract|Multiply|Complete|Do not)"
    r"(?: [\w'’().,/-]+){3}"
    r"|(?:Check|Tick|Mark|Select|Choose) (?:one|only|all|any|each)\b"
    r"|\(?[Ss]ee (?:page|instructions?|notes?|reverse|back|below|line)\b"
)


def looks_like_label(text: str) -> bool:
    """Return whether a short text consists only of words that forms print as captions."""
    words = {word.folded for word in tokens(text)}
    return (
        0 < len(words) <= settings.FEW_WORDS_AROUND_KEY
        and words <= _WORDS
        and not words <= _ALSO_VALUES
    )


def is_another_caption(wanted: Collection[str], read: Collection[str]) -> bool:
    """Return whether the words `read` are another caption, and not a misread key.

    `wanted` has the words of the key. "First name" differs from "Firm's name" by only two letters.
    Singular and plural count as the same word.
    """
    missing = set(wanted) - set(read)
    return bool(missing) and any(
        word in _WORDS
        and word not in wanted
        and not any(word.rstrip("s") == other.rstrip("s") for other in missing)
        for word in read
    )


def is_instruction(text: str) -> bool:
    """Return whether a text begins like an instruction on a form."""
    return _INSTRUCTION.match(text) is not None
