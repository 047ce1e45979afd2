"""Label names as phrases that an encoder understands.

The caller embeds the phrases; few-shot training takes each as one more example.
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
    """Turn a label's name into words.

    Args:
        name: the label as the dataset spells it, such as `card_payment` or `cardPayment`.

    Returns:
        The words, such as `card payment`; None when the name is a code or a number and would
        teach nothing.
    """
    plain = unicodedata.normalize("NFKC", name)
    words = [word for part in _SEPARATORS.split(plain) for word in _CAMEL.split(part) if word]
    return " ".join(words) if any(_has_meaning(word) for word in words) else None


def _has_meaning(word: str) -> bool:
    """Return whether a word is more than a code: letters, a vowel, not a bare category word."""
    if _DENSE_SCRIPT.search(word):
        return True
    is_word = _LATIN_WORD.match(word) is not None and _VOWEL.search(word) is not None
    return is_word and word.lower() not in _MEANINGLESS
