"""Finds captions that are worded differently than in the template: Kunden-Nr. for Kundennummer.

The words of both captions must have the same meanings, in any order. Articles do not count.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.keys.key_search import KeyMatch, parts_of
from chalicelib.engines.ocr.forms.keys.units import Unit
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.spelling import Token, fold, tokens
from chalicelib.engines.ocr.kinds.span import WORD_LISTS

# Normalised words with the name of their list. Endings of compounds begin with a hyphen.
_MEANINGS = {
    "-" * word.startswith("-") + fold(word): name
    for name, words in WORD_LISTS.items()
    if name[0] in "=+"
    for word in words.split()
}
_OWNERS = frozenset(("+your", "+our"))
ARTICLES = _OWNERS | {"+article"}
# After these, a plural is another word: the number of invoices is not the number of an invoice.
_COUNTS = frozenset(("=number", "=name", "=total"))
_ENDINGS = [word[1:] for word in sorted(_MEANINGS) if word[0] == "-"]
# Keys by their meanings without articles: index, text, and the meanings such as "+your" in it.
KeysByMeanings = dict[frozenset[str], list[tuple[int, str, frozenset[str]]]]


def search_wordings(
    variations: Mapping[int, Sequence[str]], units: Iterable[Unit], segments: Sequence[LineSegment]
) -> Iterator[KeyMatch]:
    """Yield texts of a page that may be keys in another wording; `variations` has texts by key."""
    wanted = keys_by_meanings(variations)
    known = ARTICLES.union(*wanted)
    for unit in units if wanted else ():
        texts = [segments[number].text for number in unit.segments]
        for first, last, meanings in _parts(meanings_of(unit.words, texts), known):
            found = wanted.get(frozenset(meanings) - ARTICLES, ())
            is_caption = found and unit.covers(first, last) and _is_whole(unit, texts, first, last)
            parts = parts_of(unit, segments, first, last) if is_caption else ()
            for number, text, owners in found if parts else ():
                if len(owners.union(meanings) & _OWNERS) < 2:
                    yield KeyMatch(number, text, parts, settings.KEY_BEFORE_FEW_WORDS)


def keys_by_meanings(variations: Mapping[int, Sequence[str]]) -> KeysByMeanings:
    """Group the texts of keys by the meanings of their words; `variations` has texts by key."""
    keys: KeysByMeanings = {}
    for number, text in ((number, text) for number, some in variations.items() for text in some):
        words = frozenset(chain(*meanings_of([(0, token) for token in tokens(text)], [text])))
        if (meanings := words - ARTICLES) and meanings != {"=number"}:
            keys.setdefault(meanings, []).append((number, text, words & _OWNERS))
    return keys


def _parts(
    meanings: Sequence[Sequence[str]], known: Container[str]
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the first and last word of parts of a text that have only known words, and these."""
    for first in range(len(meanings)):
        found: list[str] = []
        is_inside = first and meanings[first - 1][0] in ARTICLES
        end = first if is_inside else first + 2 * settings.FEW_WORDS_AROUND_KEY
        for last in range(first, min(end, len(meanings))):
            if any(each not in known for each in meanings[last]):
                break
            found += meanings[last]
            if meanings[last][0] not in ARTICLES:
                yield first, last, found


def _is_whole(unit: Unit, texts: Sequence[str], first: int, last: int) -> bool:
    """Return whether words are one caption; a single word must be the only one of its line."""
    (upper, start), (lower, end) = unit.words[first], unit.words[last]
    after = texts[lower][end.end :].lstrip(" .)")
    is_alone = not first and (not after or after[0] in ":：(+/" or after[0].isdecimal())
    is_one = upper != lower or ":" not in texts[upper][start.start : end.end]
    return is_one if last > first else is_alone


def meanings_of(words: Iterable[tuple[int, Token]], texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the meanings of words, of which a compound may have two; articles are included."""
    found: list[tuple[str, ...]] = []
    is_counted = False
    for place, word in words:
        is_number = word.folded == "n" and texts[place][word.end : word.end + 1] in {"°", "."}
        found.append(("=number",) if is_number else _meanings_of(word.folded, is_counted))
        is_counted |= not _COUNTS.isdisjoint(found[-1])
    return found


@lru_cache(maxsize=settings.MOST_KEY_MATCHES)
def _meanings_of(folded: str, is_counted: bool) -> tuple[str, ...]:
    ending = next((e for e in _ENDINGS if folded.endswith(e)), "")
    is_whole = folded in _MEANINGS or len(folded) - len(ending) <= settings.EXACT_KEY_CHARACTERS
    head = folded if is_whole else folded.removesuffix(ending)
    bare = head if is_counted else head.removesuffix("s")
    meaning = _MEANINGS.get(head, _MEANINGS.get(bare, bare))
    return (meaning,) if head == folded else (meaning, _MEANINGS["-" + ending])
