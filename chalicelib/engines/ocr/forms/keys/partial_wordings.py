"""Finds captions that lack the word date or name of a key: Arrival for Arrival date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.keys.key_search import KeyMatch, parts_of
from chalicelib.engines.ocr.forms.keys.units import Unit
from chalicelib.engines.ocr.forms.keys.wordings import ARTICLES, keys_by_meanings, meanings_of
from chalicelib.engines.ocr.forms.segments import LineSegment

# Types that values must have if the caption lacks these words. Captions that lack other words were
# often captions of other fields.
_TYPES = {"=date": "DATE", "=name": "NAME"}


def search_partial_wordings(
    variations: Mapping[int, Sequence[str]],
    missing: Collection[int],
    units: Iterable[Unit],
    segments: Sequence[LineSegment],
) -> Iterator[KeyMatch]:
    """Yield captions that lack a word of a key in `missing`; `variations` has texts by key.

    Captions that lack a word of several keys are skipped, and keys with several such captions.
    """
    shorter = _shorter_keys(variations) if missing else {}
    found: dict[int, dict[frozenset[str], list[KeyMatch]]] = {}
    for unit in units if any(shorter.values()) else ():
        texts = [segments[number].text for number in unit.segments]
        last, has_mark = _caption_end(unit, texts)
        if not unit.covers(0, last) or last > settings.FEW_WORDS_AROUND_KEY:
            continue
        meanings = frozenset(chain(*meanings_of(unit.words[: last + 1], texts))) - ARTICLES
        keys = shorter.get(meanings, {})
        for (number, kind), text in keys.items() if len(keys) == 1 else ():
            is_whole = has_mark or kind == "DATE" or last + 1 == len(unit.words)
            if number in missing and is_whole:
                parts = parts_of(unit, segments, 0, last)
                match = KeyMatch(number, text, parts, settings.KEY_BEFORE_FEW_WORDS**2, kind)
                found.setdefault(number, {}).setdefault(meanings, []).append(match)
    yield from chain(*(one for each in found.values() if len(each) == 1 for one in each.values()))


def _shorter_keys(
    variations: Mapping[int, Sequence[str]],
) -> dict[frozenset[str], dict[tuple[int, str], str]]:
    """Return texts of keys by key and type of value, by the meanings that a caption then has."""
    keys = keys_by_meanings(variations)
    shorter: dict[frozenset[str], dict[tuple[int, str], str]] = {}
    for meanings, texts in keys.items():
        for word in meanings & _TYPES.keys() if len(meanings) > 1 else ():
            for number, text, _ in texts:
                shorter.setdefault(meanings - {word}, {})[number, _TYPES[word]] = text
    return shorter | {meanings: {} for meanings in keys}


def _caption_end(unit: Unit, texts: Sequence[str]) -> tuple[int, bool]:
    """Return the last word before a mark or a number, and whether it is a mark such as a colon."""
    for place, (number, word) in enumerate(unit.words):
        if place and texts[number][word.start].isdecimal():
            return place - 1, False
        if texts[number][word.end : word.end + 2].lstrip()[:1] in {":", "：", "("}:
            return place, True
    return len(unit.words) - 1, False
