"""Converts label names to phrases that an encoder understands.

If a label has few examples, the training uses the vector of its phrase as one more example.
"""

from __future__ import annotations

import re
import unicodedata

_SEPARATORS = re.compile(r"[\s_\-./:|+&#,;()\[\]]+")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LATIN_WORD = re.compile(r"^[^\W\d_]{3,}$")
_VOWEL = re.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ]", re.IGNORECASE)
_DENSE_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
_MEANINGLESS = frozenset(
    ("label", "class", "category", "intent", "topic", "type", "group", "cluster")
) | frozenset(("code", "test", "none", "null", "nan", "unknown"))


def label_phrase(name: str) -> str | None:
    """Return the words of a label's name: `card payment` for `card_payment` or `cardPayment`.

    Returns:
        The words; None if the name is a code or a number, because it does not help as an example.
    """
    plain = unicodedata.normalize("NFKC", name)
    words = [word for part in _SEPARATORS.split(plain) for word in _CAMEL.split(part) if word]
    return " ".join(words) if any(_has_meaning(word) for word in words) else None


def _has_meaning(word: str) -> bool:
    if _DENSE_SCRIPT.search(word):
        return True
    # A code has no vowel. Words such as `class` could describe every label.
    is_word = _LATIN_WORD.match(word) is not None and _VOWEL.search(word) is not None
    return is_word and word.lower() not in _MEANINGLESS
