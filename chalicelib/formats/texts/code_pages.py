"""Guesses the code page of a text by how likely its characters are in each code page.

Each character that is not ASCII has a weight. The score of a code page is the mean weight. A letter
that is frequent in a language of the code page has weight 1. Other letters have less weight. Signs
and capital letters inside words, and words that mix two alphabets, lower the score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from unicodedata import category

# Bytes that are judged; more do not change the decision.
JUDGED_BYTES = 16 * 1024
# Minimum score of another code page, and minimum difference to the score of the default.
_LIKELY, _CLEARLY = 0.5, 0.25
_OTHER, _RARE, _UNLIKELY, _WRONG = 0.25, 0.3, -0.5, -1.0
_NOT_ASCII = re.compile("[^\x00-\x7f]")
# Signs that texts of Windows have around words and in numbers.
_SIGNS = frozenset("‘’‚“”„–—…•«»€£§°©®™·¿¡ºª\xa0")
# A sign in an unlikely place: between two letters (except apostrophes and dashes), or directly
# after a letter although the sign belongs before a word.
_INSIDE = re.compile(
    r"(?<=[^\W\d_])(?:(?:[^\w\s\x00-\x7f\u0e31-\u0e4e‘’·¿–—]|[ºª])(?=[^\W\d_])"
    r"|[„‚•–—](?![^\W\d_]))"
)
# Frequent letters beyond ASCII, for each language of a code page.
_WESTERN = (
    *(frozenset("éèêàâçîôûùëïöäüñáíóú"), frozenset("äöüßé"), frozenset("ñáéíóúü")),
    *(frozenset("ãõáéíóúâêôçà"), frozenset("àèéìòù"), frozenset("åäöæøéü"), frozenset("šž")),
)
_ICELANDIC = frozenset("áðéíóúýþæö")
_CENTRAL = (
    *(frozenset("ąćęłńóśźż"), frozenset("áčďéěíňóřšťúůýžäôľ"), frozenset("áéíóöőúüű")),
    *(frozenset("čćšžđ"), frozenset("ăâîşţ")),
)
_GREEK = (frozenset("αοιετσνηυρπκμλςόίάέήώύ"),)
_BALTIC = (*(frozenset("ąčęėįšųūž"), frozenset("āčēģīķļņšūž"), frozenset("äõöüšž")),)
_TURKISH = (frozenset("çğıöşüâi̇"),)
# With the vowel signs and tones that stand above and below letters.
_THAI = frozenset("กขคงจชดตทนบปพมยรลวสหอะาำแเโไใ") | frozenset(map(chr, range(0x0E31, 0x0E4D)))
_RUSSIAN = (frozenset("оеаинтсрвлкмдпуяыьгзбч"),)
_LETTERS = {
    **dict.fromkeys(("cp437", "cp1252", "mac_roman", "cp860", "cp863"), _WESTERN),
    # In Windows-1252 these letters have the bytes of frequent Turkish ones in Windows-1254.
    **dict.fromkeys(("cp850", "cp861"), (*_WESTERN, _ICELANDIC)),
    **dict.fromkeys(("cp852", "cp1250", "iso8859_2"), _CENTRAL),
    **dict.fromkeys(("cp866", "cp1251", "koi8_r"), _RUSSIAN),
    **dict.fromkeys(("cp857", "cp1254"), _TURKISH),
    **dict.fromkeys(("cp737", "cp1253"), _GREEK),
    **dict.fromkeys(("cp775", "cp1257"), _BALTIC),
    "cp1256": (frozenset("اليمنوترةبدسفعكقحه"),),
    "cp862": (frozenset("אבדהוחילמנפקרשת"),),
    "cp874": (_THAI,),
}
_END_OF_LATIN = "\u0250"
_NOT_LATIN = frozenset(("cp866", "cp1251", "koi8_r", "cp737", "cp1253", "cp1256", "cp862", "cp874"))
# One character that is alone behind a Latin letter or digit, or before a Latin letter.
_LONE = re.compile(
    "(?<![^\x00-\x7f])(?:(?<=[A-Za-z0-9])[^\x00-\x7f]|[^\x00-\x7f](?=[A-Za-z]))(?![^\x00-\x7f])"
)
# For each code page of Japanese, Chinese and Korean: the first and last value that the first byte
# of nearly all characters has; a limit; the weight of characters whose first byte is at most this
# limit; and the weight of the others.
_FREQUENT = {
    "cp932": (0x88, 0x97, 0x97, 0.9, 0.9),
    "euc_jp": (0xB0, 0xCF, 0xCF, 0.7, 0.7),
    # Korean syllables end at C8, so Chinese characters above it are stronger evidence.
    "gb18030": (0xB0, 0xD7, 0xC8, 0.8, 1.1),
    "big5": (0xA4, 0xC6, 0xC6, 0.8, 0.8),
    "cp949": (0xB0, 0xC8, 0xC8, 1.0, 1.0),
}
WIDE = tuple(_FREQUENT)


def rank_code_pages(texts: Iterable[bytes], candidates: Sequence[str]) -> list[str]:
    """Return the code pages that fit the texts clearly better than the default, then the default.

    The code page that fits best is first.

    Args:
        texts: Lines of a text file, or file names in an archive, that are not ASCII.
        candidates: Names of code pages; the first is the default.
    """
    sample = b"\n".join(take_sample(texts))
    scores = {name: score_code_page(sample, name) for name in candidates}
    default = candidates[0]
    least = max(scores[default] + _CLEARLY, _LIKELY)
    better = [name for name in candidates if scores[name] >= least]
    return [*sorted(better, key=scores.__getitem__, reverse=True), default]


def rank_rivals(texts: Iterable[bytes], candidates: Sequence[str]) -> list[str]:
    """Return likely code pages that decode the texts differently from the default, best first.

    The default is the first candidate. Of several candidates that decode the texts in the same way,
    only the first is returned.
    """
    sample = b"\n".join(take_sample(texts))
    readings = {sample.decode(name, "replace"): name for name in reversed(candidates)}
    names = [name for name in candidates[1:] if name in readings.values() and name != candidates[0]]
    scores = {name: score_code_page(sample, name) for name in names}
    return sorted((n for n in names if scores[n] >= _LIKELY), key=scores.__getitem__, reverse=True)


def take_sample(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield texts until they have enough bytes to guess the code page."""
    left = JUDGED_BYTES
    for text in texts:
        # Only whole texts are judged, unless one is very long: half a character is in no code page.
        yield text[:JUDGED_BYTES]
        left -= len(text)
        if left <= 0:
            return


def score_code_page(sample: bytes, name: str) -> float:
    """Return how well the code page `name` fits a sample. A higher score is a better fit."""
    text = sample.decode(name, "replace")
    counts = Counter(_NOT_ASCII.findall(text))
    if not counts:
        return 0.0
    if name in WIDE:
        total = sum(_weigh_wide(char, name) * count for char, count in counts.items())
        total += 2 * _WRONG * len(_LONE.findall(text))
    else:
        total = sum(_weigh_letter(char, name) * count for char, count in counts.items())
        # Most files have one language, and few letters of others.
        spoken = ((counts[c] for c in counts if c.lower() in known) for known in _LETTERS[name])
        total += (1 - _OTHER) * max(map(sum, spoken))
        total += sum(
            _weigh_pair(*pair) * count for pair, count in Counter(pairwise("\n" + text)).items()
        )
        total += 2 * _WRONG * len(_INSIDE.findall(text))
    return total / counts.total()


def _weigh_letter(char: str, name: str) -> float:
    if char in _SIGNS:
        return 1.0
    if any(char.lower() in known for known in _LETTERS[name]):
        return _OTHER
    is_latin = char < _END_OF_LATIN
    if not char.isalpha() or char == "ƒ" or is_latin == (name in _NOT_LATIN):
        return _WRONG
    return 0.0 if is_latin else _RARE


def _weigh_pair(before: str, after: str) -> float:
    """Return how much two adjacent characters change the score; 0 for ASCII and likely pairs."""
    if category(after) == "Mn" and (before < _END_OF_LATIN or before == after):
        return _WRONG  # a mark of Thai or Arabic stands on a letter of its alphabet
    ascii_count = before.isascii() + after.isascii()
    is_latin = before < _END_OF_LATIN and after < _END_OF_LATIN
    if ascii_count == 2 or before.isspace() or after.isspace():
        return 0.0
    if before.isalpha() and after.isalpha():
        is_mixed = (before < _END_OF_LATIN) != (after < _END_OF_LATIN)
        if is_mixed or (before.islower() and after.isupper()):
            return _WRONG
    return _UNLIKELY if is_latin and not ascii_count else 0.0


def _weigh_wide(char: str, name: str) -> float:
    if "\u3040" <= char <= "\u30ff":
        return 1.0 if name in ("cp932", "euc_jp") else _UNLIKELY
    if char == "\ufffd" or not ("\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\uffef"):
        return _WRONG
    if not char.isalpha() or char >= "\uff00":
        return _UNLIKELY if "\uff61" <= char <= "\uff9f" else 0.0
    coded = char.encode(name, "replace")
    first, last, middle, low, high = _FREQUENT[name]
    is_korean = char >= "\uac00"
    if len(coded) != 2 or not first <= coded[0] <= last or is_korean != (name == "cp949"):
        return _UNLIKELY if is_korean else 0.0
    if name == "big5":  # only here many second bytes are ASCII
        return 1.3 if coded[1] < 0x80 else low
    if name != "cp932" and coded[1] < 0xA1:
        return 0.0
    return low if coded[0] <= middle else high
