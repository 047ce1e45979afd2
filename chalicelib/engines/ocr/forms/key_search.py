"""Every place on a page where a key of a template may stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from chalicelib.engines.ocr.forms.segments import Segment
from chalicelib.engines.ocr.forms.shortlist import likely_pairs
from chalicelib.engines.ocr.forms.spelling import SHORT_KEY, fold, least_ratio, numbers
from chalicelib.engines.ocr.forms.units import Unit, make_units
from chalicelib.engines.ocr.interface import Check, go_on

_MAX_LOOKS = 20_000
"""Pairs of key and line that are looked at closely, the likeliest first."""
_MAX_WORK = 30_000_000
"""The same by the letters of key times line, which bounds the time for very long ones."""
_MAX_REPEATS = 6
"""Times that one key is looked for in one line."""
_MAX_PLACES = 400
"""Places of one text, the best first."""
_MAX_READINGS = 20_000
"""Places of all keys together."""
_SLACK = 10.0
"""How much worse than its best fit to whole words an alignment may be."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A place that reads like a key."""

    key: int
    """Number of the key."""
    variation: str
    """The text that was looked for."""
    parts: tuple[tuple[int, int, int], ...]
    """For each line of it: segment, first character, one past the last."""
    similarity: float
    """0 to 1; 1 when it is read exactly."""


Wanted = list[tuple[int, str]]
"""Keys that one folded text stands for: number, and the text as the template has it."""
Window = tuple[str, Unit, int, int, float]
"""Folded key, unit, first and last word in it, similarity from 0 to 1."""


def search_keys(
    variations: Sequence[Sequence[str]], segments: Sequence[Segment], check: Check = go_on
) -> list[Reading]:
    """Find every place that reads like one of the keys.

    Args:
        variations: for each key the texts it may have.
        segments: of one page.
        check: see chalicelib/engines/ocr/interface.py.

    Returns:
        Readings in no order; places of different keys may overlap.
    """
    units = make_units(segments)
    wanted: dict[str, Wanted] = {}
    for number, texts in enumerate(variations):
        for text in texts:
            if folded := fold(text):
                wanted.setdefault(folded, []).append((number, text))
    places: dict[str, list[Window]] = {}
    check()
    for window in (*_search_short(wanted, units), *_search_long(wanted, units, check)):
        places.setdefault(window[0], []).append(window)
    found: list[Reading] = []
    for folded, windows in places.items():
        windows.sort(key=lambda each: -each[4])
        for _, unit, first, last, score in windows[:_MAX_PLACES]:
            if len(found) >= _MAX_READINGS:
                return found
            parts = _parts(unit, segments, first, last)
            found += [Reading(number, text, parts, score) for number, text in wanted[folded]]
    return found


def _search_short(wanted: Mapping[str, Wanted], units: Iterable[Unit]) -> Iterator[Window]:
    """Yield the places of keys of a few letters: whole words, exactly."""
    short = {folded for folded in wanted if len(folded) <= SHORT_KEY}
    for unit in units if short else ():
        for first in range(len(unit.words)):
            for last in range(first, min(first + SHORT_KEY, len(unit.words))):
                text = unit.text_between(first, last)
                if len(text) > SHORT_KEY:
                    break
                if text in short and _covers(unit, first, last):
                    yield text, unit, first, last, 1.0


def _search_long(
    wanted: Mapping[str, Wanted], units: Sequence[Unit], check: Check
) -> Iterator[Window]:
    """Yield the places of longer keys, which may be misread here and there."""
    long = [folded for folded in wanted if len(folded) > SHORT_KEY]
    digits: dict[str, frozenset[str]] = {}
    work = 0
    for index, place in likely_pairs(long, units, _MAX_LOOKS):
        check()
        folded, unit = long[index], units[place]
        work += len(folded) * len(unit.folded)
        if work > _MAX_WORK:
            return
        if folded not in digits:
            digits[folded] = numbers(wanted[folded][0][1])
        for first, last, score in _search_unit(folded, unit):
            if _has_numbers(digits[folded], unit, first, last):
                yield folded, unit, first, last, score


def _search_unit(folded: str, unit: Unit) -> Iterator[tuple[int, int, float]]:
    """Yield the places of one key in one unit, at whole words."""
    spans = [(0, len(unit.words) - 1)]
    for _ in range(_MAX_REPEATS):
        if not spans:
            return
        low, high = spans.pop()
        if low > high:
            continue
        window = _best_window(folded, unit, low, high)
        if window is None:
            continue
        first, last, _ = window
        if _covers(unit, first, last):
            yield window
        spans += [(last + 1, high), (low, first - 1)]


def _best_window(folded: str, unit: Unit, low: int, high: int) -> tuple[int, int, float] | None:
    """Return the words between two that read most like the key, None when none do."""
    text = unit.text_between(low, high)
    least = least_ratio(folded)
    if len(text) <= len(folded):
        first, last = low, high
    else:
        found = fuzz.partial_ratio_alignment(folded, text, score_cutoff=least - _SLACK)
        if found is None or found.dest_end <= found.dest_start:
            return None
        begin = unit.begins[low]
        first = unit.word_at(begin + found.dest_start)
        last = unit.word_at(begin + found.dest_end - 1)
    best = max(
        (
            (fuzz.ratio(folded, unit.text_between(start, end)), start, end)
            for start in range(first, min(first + 2, high + 1))
            for end in range(max(start, last - 1), min(last + 1, high) + 1)
        ),
    )
    return (best[1], best[2], best[0] / 100.0) if best[0] >= least else None


def _covers(unit: Unit, first: int, last: int) -> bool:
    """Return whether a place has words of every segment of its unit: else a smaller one has it."""
    return unit.words[first][0] == 0 and unit.words[last][0] == len(unit.segments) - 1


def _has_numbers(wanted: frozenset[str], unit: Unit, first: int, last: int) -> bool:
    """Return whether the numbers of a key are read, and no others."""
    text = unit.text_between(first, last)
    if not all(number in text for number in wanted):
        return False
    read = {word.folded for _, word in unit.words[first : last + 1]}
    others = (word for word in read if any(letter.isdecimal() for letter in word))
    return all(any(word in number or number in word for number in wanted) for word in others)


def _parts(
    unit: Unit, segments: Sequence[Segment], first: int, last: int
) -> tuple[tuple[int, int, int], ...]:
    """Return the characters of a place, segment by segment."""
    bounds: dict[int, tuple[int, int]] = {}
    for place, word in unit.words[first : last + 1]:
        start, _ = bounds.get(place, (word.start, word.end))
        bounds[place] = (start, word.end)
    return tuple(
        (number, start, _with_marks(segments[number].text, end))
        for place, (start, end) in bounds.items()
        for number in (unit.segments[place],)
    )


def _with_marks(text: str, end: int) -> int:
    """Return the end of a key with the marks that belong to its last word."""
    while end < len(text) and text[end] in ".)?'\"" and (text[end] != ")" or "(" in text[:end]):
        end += 1
    return end
