"""Finds every text on a page that may be a key of the template."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import fuzz

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import is_another_caption
from chalicelib.engines.ocr.forms.keys.units import Unit
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.spelling import fold, least_ratio, numbers, tokens
from chalicelib.engines.ocr.interface import CancelCheck

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.domain.common.arrays import Pixels, Singles

    Parts = tuple[tuple[int, int, int], ...]
    Chains = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]


_LETTERS = 37
_RARE = 36
_CHUNK = 4_000_000


def likely_pairs(keys: Sequence[str], units: Sequence[Unit], limit: int) -> list[tuple[int, int]]:
    """Return the indexes of keys and units that are similar enough for a closer comparison.

    Keys are normalised and have two letters or more. Units of a single segment come first. At most
    `limit` pairs are returned: those that share the most letters, most similar first.
    """
    if not keys or not units:
        return []
    singles = [unit for unit in units if len(unit.segments) == 1]
    if len(keys) * len(units) > settings.MOST_KEYS_TIMES_UNITS:
        units = singles
    columns = {unit.segments[0]: column for column, unit in enumerate(singles)}
    chains = _by_length([[columns[number] for number in unit.segments] for unit in units])
    presence = np.zeros((_LETTERS * _LETTERS, len(singles)), dtype=np.uint8)
    for column, unit in enumerate(singles):
        presence[_pairs(unit.folded), column] = 1
    pairs = [_pairs(key) for key in keys]
    step = max(1, _CHUNK // (len(singles) * max(len(each) for each in pairs)))
    found = []
    for begin in range(0, len(keys), step):
        shares = _shares(pairs[begin : begin + step], presence)
        found.append(_best(_of_chains(shares, chains, len(units)), begin, limit))
    every, rows, places = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(-every, kind="stable")[:limit]
    return list(zip(rows[order].tolist(), places[order].tolist(), strict=True))


def _by_length(chains: Sequence[Sequence[int]]) -> Chains:
    """Group units (texts to search) by their number of segments.

    Returns:
        A pair for each group: the indexes of its units, and the indexes of their segments, shape
        (units, segments).
    """
    lengths = np.array([len(each) for each in chains])
    groups = []
    for length in sorted(set(lengths.tolist())):
        places = np.flatnonzero(lengths == length)
        groups.append(
            (places, np.array([chains[place] for place in places.tolist()], dtype=np.intp))
        )
    return groups


def _of_chains(shares: Singles, chains: Chains, count: int) -> Singles:
    """Return the fraction of each key's letter pairs that each unit contains, shape (keys, units).

    `shares` has the fraction for each segment, shape (keys, segments). The fraction for a unit is
    the sum over its segments, at most 1. A unit of several segments gets 0 if a segment has no
    letter pair of the key, or if a segment alone contains nearly the whole key.
    """
    joined = np.zeros((len(shares), count), dtype=np.float32)
    for places, columns in chains:
        parts = [shares[:, column] for column in columns.T]
        total = np.minimum(sum(parts[1:], start=parts[0]), 1.0)
        for part in parts if len(parts) > 1 else ():
            total[(part <= 0.0) | (part >= settings.WHOLE_KEY_SHARE)] = 0.0
        joined[:, places] = total
    return joined


def _best(
    shares: Singles, begin: int, limit: int
) -> tuple[Singles, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the `limit` largest values of a block of keys, with the indexes of key and unit.

    Small values are left out. `shares` has the shape (keys, units). `begin` is the index of the
    block's first key.
    """
    rows, columns = np.nonzero(shares >= settings.LETTER_PAIRS_SHARE)
    values = shares[rows, columns]
    order = np.argsort(-values, kind="stable")[:limit]
    return values[order], rows[order] + begin, columns[order]


def _shares(pairs: Sequence[npt.NDArray[np.intp]], presence: Pixels) -> Singles:
    """Return the fraction of each key's letter pairs that each text contains, shape (keys, texts).

    `presence` is 1 if a text contains a letter pair, else 0; shape (letter pairs, texts).
    """
    sizes = np.array([len(each) for each in pairs])
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    counts = np.add.reduceat(presence[np.concatenate(pairs)], begins, axis=0, dtype=np.uint16)
    shares: Singles = np.divide(counts, sizes[:, None], dtype=np.float32)
    return shares


def _pairs(text: str) -> npt.NDArray[np.intp]:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.where(points < len(_CODES), _CODES[np.minimum(points, len(_CODES) - 1)], _RARE)
    return np.unique(codes[:-1] * _LETTERS + codes[1:])


_CODES = np.full(128, _RARE, dtype=np.intp)
_CODES[ord("a") : ord("z") + 1] = np.arange(26)
_CODES[ord("0") : ord("9") + 1] = np.arange(26, 36)

_BETWEEN = re.compile(r"\d (?:to|through) [A-Z\d]")
_NUMBER_BEFORE, _NUMBER_BEHIND = re.compile(r"\w[-/.,]$"), re.compile(r"'|[-/.,]\w")


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A text on the page that may be a key."""

    key: int
    """Index of the key."""
    variation: str
    """Caption text that was searched for; a key may have several."""
    parts: tuple[tuple[int, int, int], ...]
    """For each line of the match: index of its segment, then start and end in the segment."""
    similarity: float
    """Similarity, 0 to 1; 1 if the texts are equal."""
    kind: str = ""
    """Type that the value must have if the caption lacks a word of the key; else empty."""


# Keys with the same normalised text: index, and text in the template.
Wanted = list[tuple[int, str]]
# Normalised key, unit (searched text), its first and last word that match, similarity 0 to 1.
Window = tuple[str, Unit, int, int, float]


def search_keys(
    variations: Sequence[Sequence[str]],
    units: Sequence[Unit],
    segments: Sequence[LineSegment],
    check: CancelCheck,
) -> list[KeyMatch]:
    """Return all texts on a page that may be keys, in no particular order; they may overlap.

    `variations` has the possible texts of each key, and `units` the texts to search.
    """
    wanted: dict[str, Wanted] = {}
    for number, texts in enumerate(variations):
        for text in texts:
            if folded := fold(text):
                wanted.setdefault(folded, []).append((number, text))
    places: dict[str, list[Window]] = {}
    check()
    for window in (*_search_short(wanted, units), *_search_long(wanted, units, check)):
        places.setdefault(window[0], []).append(window)
    return _matches(places, wanted, segments)


def _matches(
    places: Mapping[str, list[Window]],
    wanted: Mapping[str, Wanted],
    segments: Sequence[LineSegment],
) -> list[KeyMatch]:
    """Return the best matches of each key text, limited in number."""
    found: list[KeyMatch] = []
    for folded, windows in places.items():
        windows.sort(key=lambda each: -each[4])
        for _, unit, first, last, score in windows[: settings.MOST_ALIKE]:
            if len(found) >= settings.MOST_KEY_MATCHES:
                return found
            parts = parts_of(unit, segments, first, last)
            if not _is_in_value(segments, parts):
                found += [KeyMatch(number, text, parts, score) for number, text in wanted[folded]]
    return found


def _search_short(wanted: Mapping[str, Wanted], units: Iterable[Unit]) -> Iterator[Window]:
    """Yield the positions of short keys, which must equal whole words exactly."""
    short = {folded for folded in wanted if len(folded) <= settings.EXACT_KEY_CHARACTERS}
    for unit in units if short else ():
        for first in range(len(unit.words)):
            for last in range(first, min(first + settings.EXACT_KEY_CHARACTERS, len(unit.words))):
                text = unit.text_between(first, last)
                if len(text) > settings.EXACT_KEY_CHARACTERS:
                    break
                if text in short and unit.covers(first, last):
                    yield text, unit, first, last, 1.0


def _is_in_value(segments: Sequence[LineSegment], parts: Parts) -> bool:
    number, start, end = parts[0]
    text = segments[number].text
    if "from" not in text[:start].lower() and _BETWEEN.fullmatch(text[max(0, start - 2) : end + 2]):
        return True
    digits = text[start:end].rstrip("'")
    return digits.isdecimal() and bool(
        _NUMBER_BEFORE.search(text[:start]) or _NUMBER_BEHIND.match(text[start + len(digits) :])
    )


def _search_long(
    wanted: Mapping[str, Wanted], units: Sequence[Unit], check: CancelCheck
) -> Iterator[Window]:
    long = [folded for folded in wanted if len(folded) > settings.EXACT_KEY_CHARACTERS]
    digits: dict[str, frozenset[str]] = {}
    words: dict[str, frozenset[str]] = {}
    work = 0
    for index, place in likely_pairs(long, units, settings.MOST_KEY_MATCHES):
        check()
        folded, unit = long[index], units[place]
        work += len(folded) * len(unit.folded)
        # The likeliest pairs come first, so what is left out is hardly ever a key.
        if work > settings.MOST_LETTERS_LOOKED_AT:
            return
        if folded not in digits:
            digits[folded] = numbers(wanted[folded][0][1])
            words[folded] = frozenset(word.folded for word in tokens(wanted[folded][0][1]))
        for first, last, score in _search_unit(folded, unit):
            read = [word.folded for _, word in unit.words[first : last + 1]]
            is_other = score < 1.0 and is_another_caption(words[folded], read)
            if not is_other and _has_numbers(digits[folded], unit, first, last):
                yield folded, unit, first, last, score


def _search_unit(folded: str, unit: Unit) -> Iterator[tuple[int, int, float]]:
    """Yield each part of a unit that matches a key: first word, last word and similarity."""
    spans = [(0, len(unit.words) - 1)]
    for _ in range(settings.KEY_REPEATS):
        if not spans:
            return
        low, high = spans.pop()
        if low > high:
            continue
        window = _best_window(folded, unit, low, high)
        if window is None:
            continue
        first, last, _ = window
        if unit.covers(first, last):
            yield window
        spans += [(last + 1, high), (low, first - 1)]


def _best_window(folded: str, unit: Unit, low: int, high: int) -> tuple[int, int, float] | None:
    """Return the range of words most similar to a key, and the similarity; None if none fits."""
    text = unit.text_between(low, high)
    least = least_ratio(folded, unit.legibility)
    if len(text) <= len(folded):
        first, last = low, high
    else:
        found = fuzz.partial_ratio_alignment(
            folded, text, score_cutoff=least - settings.ALIGNMENT_SLACK
        )
        if found is None or found.dest_end <= found.dest_start:
            return None
        begin = unit.begins[low]
        # Index of the word that contains a character.
        first = bisect_right(unit.begins, begin + found.dest_start) - 1
        last = bisect_right(unit.begins, begin + found.dest_end - 1) - 1
    best = max(
        (fuzz.ratio(folded, unit.text_between(start, end)), start, end)
        # An alignment may cut a word, so whole words on either side are tried, too.
        for start in range(first, min(first + 2, high + 1))
        for end in range(max(start, last - 1), min(last + 1, high) + 1)
    )
    return (best[1], best[2], best[0] / 100.0) if best[0] >= least else None


def _has_numbers(wanted: frozenset[str], unit: Unit, first: int, last: int) -> bool:
    text = unit.text_between(first, last)
    if not all(number in text for number in wanted):
        return False
    read = {word.folded for _, word in unit.words[first : last + 1]}
    others = (word for word in read if any(letter.isdecimal() for letter in word))
    return all(any(word in number or number in word for number in wanted) for word in others)


def parts_of(
    unit: Unit, segments: Sequence[LineSegment], first: int, last: int
) -> tuple[tuple[int, int, int], ...]:
    """Return, for each segment in a match, its index and the match's start and end in it."""
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
    while end < len(text) and text[end] in ".)?'\"" and (text[end] != ")" or "(" in text[:end]):
        end += 1
    return end
