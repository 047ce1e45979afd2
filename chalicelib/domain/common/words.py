"""How many words a text has, as the limit on training counts them.

Spec: Limits; contract section 5.
"""

from __future__ import annotations

import re

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

    A word is a run between white space. In Chinese and Japanese every Han or kana character is a
    word, and so is every other run that holds a letter or digit (`iPhone`); punctuation between
    the characters is none, because those languages put no spaces around it. Spec: Limits.

    Args:
        text: any text.
        language: language of the dataset, as `en_US` or `ja`.

    Returns:
        The number of words; 0 for white space only.
    """
    if language not in _LANGUAGES_WITHOUT_SPACES:
        return len(text.split())
    rest, run_count = _HAN_OR_KANA.subn(" ", text)
    character_count = len(text) - (len(rest) - run_count)
    return character_count + _RUN_WITH_A_LETTER.subn("", rest)[1]
