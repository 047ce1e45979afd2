"""Chooses the text on the page that is the caption of each key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import Rect, around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import REMARK, is_instruction, looks_like_label
from chalicelib.engines.ocr.forms.keys.key_search import KeyMatch, search_keys
from chalicelib.engines.ocr.forms.keys.partial_wordings import search_partial_wordings
from chalicelib.engines.ocr.forms.keys.units import make_units
from chalicelib.engines.ocr.forms.keys.wordings import meanings_of, search_wordings
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.forms.spelling import fold, is_short, similarity, tokens
from chalicelib.engines.ocr.forms.virtual_fields import is_printed
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel
from chalicelib.engines.ocr.kinds.span import WORD_LISTS, word_set

_ENUMERATION = re.compile(r"[(\[]?(?:[\dO]{1,3}[a-z]?|[A-Za-z])[)\].:]*|[^\w]*")
_NUMBER_AT_END = re.compile(r"(?:^|\s)\d{1,2}[a-z]?\s*$")
_NUMBER = ("=number",)
_COLON = re.compile(r"\s*[:：]")
# Words that follow a key in a sentence that mentions it.
_PROSE = word_set(WORD_LISTS["prose"])
# For each segment: first character and end of the parts that belong to keys.
Taken = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key of the template and its position on the page."""

    number: int
    """Index of the key in the template."""
    parts: tuple[tuple[int, int, int], ...]
    """For each line of the key: index of its segment, then start and end in the segment."""
    segments: tuple[LineSegment, ...]
    """The text of each part, as a segment."""
    similarity: float
    """Similarity of the text to the key, 0 to 1."""
    score: float
    """How likely this text is a caption, by its surroundings and similarity, 0 to 1."""
    has_colon: bool
    """Whether a colon ends the key."""
    kind: str = ""
    """Type that the value must have if the caption lacks a word of the key; else empty."""

    @property
    def rect(self) -> Rect:
        """Rectangle of the key on the deskewed page."""
        return around(segment.rect for segment in self.segments)

    @property
    def text(self) -> str:
        """Text of the key as it was read."""
        return " ".join(segment.text for segment in self.segments)

    @property
    def height(self) -> float:
        """Mean height of the key's lines, at least a pixel."""
        return sum(segment.height for segment in self.segments) / len(self.segments)


def find_keys(
    keys: Sequence[TemplateKey], segments: Sequence[LineSegment], check: CancelCheck = never_cancel
) -> list[FoundKey]:
    """Find the texts of a page that are captions of the keys.

    No two captions overlap; the best matches are chosen first. A key may be found at several
    positions. The caller then chooses the position with the most likely value.

    Virtual keys are skipped. If several keys of the template have the same texts, `number` is the
    index of the first of these keys.
    """
    alike = keys_alike(keys)
    units = make_units(segments)
    every = search_keys(list(alike), units, segments, check)
    groups = list(alike.values())
    wordings = search_wordings(dict(enumerate(alike)), units, segments)
    readings = every + list(islice(wordings, settings.MOST_KEY_MATCHES))
    counts = {group: len(numbers) for group, numbers in enumerate(groups)}
    taken: Taken = {}
    found: dict[int, list[FoundKey]] = {group: [] for group in counts}
    for _ in range(settings.KEY_REPEATS):
        check()
        readings = [
            each
            for each in readings
            if len(found[each.key]) < counts[each.key] and _is_free(each.parts, taken)
        ]
        judged = [_judge(each, segments, taken) for each in readings]
        if not _choose(judged, counts, found, taken):
            break
    missing = {group: texts for group, texts in enumerate(alike) if not found[group]}
    partial = search_partial_wordings(dict(enumerate(alike)), missing, units, segments)
    _choose([_judge(each, segments, taken) for each in partial], counts, found, taken)
    spare = [_judge(each, segments, taken) for each in _likeliest(every, taken)]
    more = {group: count + settings.SPARE_KEY_PLACES for group, count in counts.items()}
    _choose([each for each in spare if _is_as_good(each, found[each.number])], more, found, taken)
    places = (replace(one, number=groups[group][0]) for group in found for one in found[group])
    return sorted(places, key=lambda each: (each.number, each.parts))


def keys_alike(keys: Sequence[TemplateKey]) -> dict[tuple[str, ...], list[int]]:
    """Group the indexes of printed keys that have the same texts."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, key in enumerate(keys):
        if is_printed(key):
            alike.setdefault(key.variations, []).append(number)
    return alike


def _likeliest(readings: Iterable[KeyMatch], taken: Taken) -> Iterator[KeyMatch]:
    """Yield the most similar matches of each key, up to a limit; skip overlaps with chosen keys."""
    order = sorted(readings, key=lambda each: (each.key, -each.similarity, each.parts))
    for _, some in groupby(order, key=lambda each: each.key):
        yield from islice(
            (each for each in some if _is_free(each.parts, taken)), 2 * settings.SPARE_KEY_PLACES
        )


def _is_as_good(key: FoundKey, found: Sequence[FoundKey]) -> bool:
    """Return whether a match is almost as good as a match already chosen for its key.

    Its score must be almost as high. In addition, the texts of both matches must be similar, or
    the new match must begin a line or a sentence, as captions do.
    """
    before = key.segments[0].line.text[: key.segments[0].start].rstrip()
    is_first = (key.parts[0][1] == 0 or before.endswith(".")) and key.text[:1].isalpha()
    return any(
        key.score >= settings.FULL_LINE_SHARE * each.score
        and (is_first or similarity(fold(each.text), fold(key.text)) > 0)
        for each in found
    )


def _choose(
    candidates: Iterable[FoundKey],
    counts: Mapping[int, int],
    found: Mapping[int, list[FoundKey]],
    taken: Taken,
) -> int:
    """Add the matches with the highest scores to `found`; return how many were added.

    A key has at most `counts[key]` matches. Of equal scores, the first on the page is chosen. The
    characters of the matches are added to `taken`.
    """
    order = sorted(
        (each for each in candidates if each.score >= settings.KEY_SCORE),
        key=lambda each: (-round(each.score, 2), each.parts, each.number),
    )
    count = 0
    for each in order:
        group = found[each.number]
        if len(group) < counts[each.number] and _is_free(each.parts, taken):
            group.append(each)
            count += 1
            for segment, start, end in each.parts:
                taken.setdefault(segment, []).append((start, end))
    return count


def _is_free(parts: Iterable[tuple[int, int, int]], taken: Taken) -> bool:
    return not any(
        start < other_end and other_start < end
        for segment, start, end in parts
        for other_start, other_end in taken.get(segment, ())
    )


def _judge(reading: KeyMatch, segments: Sequence[LineSegment], taken: Taken) -> FoundKey:
    first, start, _ = reading.parts[0]
    last, _, end = reading.parts[-1]
    begin = max((stop for _, stop in taken.get(first, ()) if stop <= start), default=0)
    limit = min((at for at, _ in taken.get(last, ()) if at >= end), default=None)
    before, after = segments[first].text[begin:start], segments[last].text[end:limit]
    parts = reading.parts
    if before.rstrip().endswith("/"):
        # Text before a slash is the same caption in another language. It belongs to the key.
        parts = ((first, begin, parts[0][2]), *parts[1:])
    has_colon = bool(_COLON.match(after)) or segments[last].text[:end].endswith(":")
    cut = tuple(segments[number].part(at, stop) for number, at, stop in parts)
    read = " ".join(segments[number].text[at:stop] for number, at, stop in reading.parts)
    score = (
        reading.similarity**2
        * _fits_before(before, has_colon, is_short(reading.variation), begin > 0)
        * _fits_after(after, has_colon, segments[last].text[:end].endswith("."))
        * _fits_case(reading.variation, read)
        * settings.KEY_LINE_FACTOR ** (len(cut) - 1)
    )
    length = (
        min(len(reading.variation), settings.LONG_KEY_CHARACTERS) / settings.LONG_KEY_CHARACTERS
    )
    return FoundKey(
        reading.key,
        parts,
        cut,
        reading.similarity,
        score * (1 - settings.LONG_KEY_BONUS + settings.LONG_KEY_BONUS * length),
        has_colon,
        reading.kind,
    )


def _fits_before(before: str, has_colon: bool, few_letters: bool, is_next: bool) -> float:
    """Return a factor, high if the text before a key is empty, a number or another field."""
    stripped = before.strip()
    if is_next and _NUMBER_AT_END.search(before):
        return 1.0
    if _ENUMERATION.fullmatch(stripped) or stripped.endswith((":", "|")):
        return 1.0
    if has_colon or stripped.endswith((".", "/")):
        return settings.KEY_BEHIND_SENTENCE
    is_few = len(stripped.split()) <= settings.FEW_WORDS_AROUND_KEY / 2
    if few_letters:
        return 1.0 if is_next and is_few else settings.KEY_BEHIND_OTHER_TEXT
    return settings.KEY_IN_PROSE if is_few else settings.KEY_BEHIND_MANY_WORDS


def _fits_after(after: str, has_colon: bool, has_stop: bool) -> float:
    """Return a factor, high if the text after a key is empty, a colon or a remark."""
    if has_colon or REMARK.fullmatch(after):
        return 1.0
    if _begins_caption(after):
        return settings.KEY_IN_PROSE
    if not any(letter.isalnum() for letter in after):
        return 1.0
    if has_stop and is_instruction(after.lstrip()):
        return 1.0
    if not _PROSE.isdisjoint(
        word.casefold() for word in after.split()[: settings.FEW_WORDS_AROUND_KEY]
    ):
        return settings.KEY_IN_PROSE
    if ":" in after and not any(letter.isdecimal() for letter in after.split(":")[0]):
        return settings.KEY_IN_SMALL_LETTERS
    is_few = len(after.split()) <= settings.FEW_WORDS_AROUND_KEY
    return settings.KEY_BEFORE_FEW_WORDS if is_few else settings.KEY_IN_SMALL_LETTERS


def _begins_caption(text: str) -> bool:
    """Return whether the next word is a caption's, so that a key before it may be incomplete."""
    return any(
        not text[: word.start].strip()
        and (looks_like_label(text[: word.end]) or meanings_of([(0, word)], [text]) == [_NUMBER])
        for word in tokens(text[: settings.LONG_KEY_CHARACTERS])[:1]
    )


def _fits_case(wanted: str, read: str) -> float:
    if wanted[:1].isupper() and read[:1].islower():
        return settings.KEY_IN_SMALL_LETTERS
    is_same = wanted.rstrip(":") == read or not is_short(wanted)
    return 1.0 if is_same else settings.KEY_BEFORE_FEW_WORDS
