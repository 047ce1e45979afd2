"""Checks a single text, and counts its words. Spec: Limits; contract section 5."""

from __future__ import annotations

import re

from chalicelib.domain.common.limits import MAX_TEXT_CHARACTERS
from chalicelib.errors import InvalidParameter, MissingParameter

# Half of a surrogate pair, which UTF-8 cannot encode.
SURROGATE = re.compile("[\ud800-\udfff]")


def checked_text(document: str, parameter: str = "document") -> str:
    """Check a text; return it unchanged.

    Raises:
        MissingParameter: the text is empty or only white space.
        InvalidParameter: the text is too long, or contains characters that cannot be stored.
    """
    if not document or document.isspace():
        raise MissingParameter(
            parameter, f"The '{parameter}' parameter is required and must hold more than spaces."
        )
    if len(document) > MAX_TEXT_CHARACTERS:
        raise InvalidParameter(
            parameter,
            f"it has {len(document)} characters, the limit is {MAX_TEXT_CHARACTERS}; shorten it.",
        )
    if "\x00" in document:
        raise InvalidParameter(parameter, "it holds a NUL character; remove it.")
    if not document.isascii() and SURROGATE.search(document):
        raise InvalidParameter(parameter, "it holds half of a surrogate pair; send valid UTF-8.")
    return document


_LANGUAGES_WITHOUT_SPACES = frozenset({"zh_CN", "zh_TW", "ja"})

# Han with its iteration and number signs, hiragana and katakana (the middle dot and the double
# hyphen of the katakana block are punctuation), half-width katakana, and the planes beyond 16 bit.
_HAN_OR_KANA = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001afff\U0001b000-\U0001b16f\U00020000-\U000323af]+"
)
_RUN_WITH_A_LETTER = re.compile(r"\w\S*")


def count_words(text: str, language: str) -> int:
    """Count the words of a text.

    A word is a run of characters between white space. In Chinese and Japanese every Han or kana
    character is a word. Any other run that contains a letter or digit, such as `iPhone`, is one
    word too. Punctuation does not count in these languages, because they put no spaces around it.
    Spec: Limits.

    Args:
        text: any text.
        language: language of the dataset, such as `en_US` or `ja`.

    Returns:
        The number of words; 0 for only white space.
    """
    if language not in _LANGUAGES_WITHOUT_SPACES:
        return len(text.split())
    rest, run_count = _HAN_OR_KANA.subn(" ", text)
    character_count = len(text) - (len(rest) - run_count)
    return character_count + _RUN_WITH_A_LETTER.subn("", rest)[1]
