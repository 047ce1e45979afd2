"""Splits the text of a page into keys, unknown labels, and texts that may be values."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import REMARK, is_instruction, looks_like_label
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.segments import LineSegment, is_level
from chalicelib.engines.ocr.forms.tick_boxes.boxes import FoundBox
from chalicelib.engines.ocr.grouping import grouped
from chalicelib.engines.ocr.kinds.address import address_confidence
from chalicelib.engines.ocr.kinds.amounts import CURRENCY_CODES, CURRENCY_SIGNS

# Marks between a key and its value, as recognised: colons, underlines, dots, arrows, ° of n°.
_FILLER = " \t:：_.…·•=|~¯—–-*▶►▸➤°º"
# Before a number: its sign or decimal point, or asterisks in place of hidden digits. After a sign,
# there may be a space at the beginning of the text or after a colon.
# The bound keeps the search linear in long rows of asterisks.
_LEAD = re.compile(
    r"(?:[*•]{2}[*•\s-]{0,40}|[*•]|(?<![^ :])[.–-]|(?:^|(?<=[:：])|(?<=[:：] ))[–-] )$"
)
_FIGURE = re.compile(rf"(?:{CURRENCY_CODES}|{CURRENCY_SIGNS})? ?[.(]?\d")
_TRAILING = " \t_…|~¯"
_LABEL = re.compile(r"(?:[(\d]{0,4}[.)]?\s?|[a-z]\s)[A-Z](?:[^:.]|\.(?!\s)){0,40}:(?=\s|$)")
_LED = re.compile(r".+?\s?(?:[.…·_] ?){4,}")
_CONTINUATION = re.compile(
    r"\s*(?:/|,\s[a-z])"
    r"|\s+(?:of|de|du|des|del|di|da|der|van)\s[^A-Z\d]*(?:\(\w*\))?$"
    r"|\s[^A-Z\d(:][^\d(:]*\(\d{1,2}\)$"
)
# The number of a note; it may also be a negative number.
_NOTE = re.compile(r"\s*\(\d{1,2}\)\s*")
_REST_OF_LABEL = re.compile(r"\s+[A-Za-z(/&][^:\d]{0,40}:(?=\s|$)")
_LONGEST_NUMBER = "12a. "
_NUMBERED_CAPTION = re.compile(r"(?:\d{1,2}[a-z]?|[a-z])\.? [A-Z][a-z]{2}")
# Last word of a value, if a label that is not in the template follows, and then a number.
_NEXT_LABEL = re.compile(r"(?<=\w) \S+(?= [A-Z][a-z]+:\s+[^\s\d]*\d\S*(?:$| [A-Z][a-z]+:))")
# A caption in two languages or more.
_TWO_LANGUAGES = re.compile(r"[^\d/]{2,60}(?: ?/ ?[^\d/]{2,60}){1,3}")
_NEXT_NUMBER = re.compile(r"\s\d{1,2}[a-z]?$")
_ENUMERATION = re.compile(r"[(\[]?(?:[\dO]{1,3}[a-z]?|[A-Za-z])[)\].]*")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is ticked in a list of options."""

    box: FoundBox
    """The first ticked box; without one, the first box."""
    ticked: tuple[tuple[LineSegment, ...], ...]
    """The lines of each ticked option."""


@dataclass(frozen=True, slots=True)
class FormFragment:
    """A text that may be a value."""

    segment: LineSegment
    """Position and characters of the text."""
    owner: int | None = None
    """Index of the key directly before this text in the same line; None if there is none."""
    is_labelled: bool = False
    """Whether the text begins with a label that is not in the template."""
    choice: Choice | None = None
    """The ticked options, if the text stands for a list of options with tick boxes."""


@dataclass(frozen=True, slots=True)
class UnmatchedText:
    """The text of a page without the keys: possible values, and other labels."""

    fragments: tuple[FormFragment, ...]
    """Texts that may be values."""
    labels: tuple[LineSegment, ...]
    """Labels that are not in the template. They are never values."""


def separate_keys(keys: Sequence[FoundKey], segments: Sequence[LineSegment]) -> UnmatchedText:
    """Split the lines of a page into keys and other text."""
    spans: dict[int, list[tuple[int, int, int | None]]] = {}
    for place, key in enumerate(keys):
        for number, start, end in key.parts:
            is_last = number == key.parts[-1][0]
            spans.setdefault(number, []).append((start, end, place if is_last else None))
    fragments: list[FormFragment] = []
    labels: list[LineSegment] = []
    captions = set(_captions_alike(segments, spans))
    other = _instructions(segments, spans) | _upright_words(segments)
    free = [segment for number, segment in enumerate(segments) if number not in spans]
    for number, segment in enumerate(segments):
        if number in spans:
            fragments += _between_keys(segment, sorted(spans[number]), free)
        elif number in captions or _is_label(segment.text):
            labels += [segment] if any(map(str.isalnum, segment.text)) else []
        elif (
            number not in other
            and not _is_hint(segment, keys, free)
            and (fragment := _bare(segment, 0, len(segment.text)))
        ):
            fragments.append(FormFragment(fragment, None, _begins_with_label(segment.text)))
    kept = (each for each in fragments if not _is_letter_of_line(each, keys))
    return UnmatchedText(tuple(kept), tuple(labels))


def _is_hint(segment: LineSegment, keys: Sequence[FoundKey], free: Sequence[LineSegment]) -> bool:
    rect, reach = segment.rect, segment.height
    is_note = _NOTE.fullmatch(segment.text)
    if not REMARK.fullmatch(segment.text) or (is_note and not _has_text_beyond(segment, free)):
        return False
    return any(
        (is_level(last, rect) and 0 <= rect.min_x - last.max_x < settings.WORD_GAP_HEIGHTS * reach)
        or (
            not is_note
            and abs(last.min_x - rect.min_x) < reach
            and abs(rect.min_y - last.max_y) < settings.LINE_GAP_HEIGHTS * reach
        )
        for key in keys
        for last in [key.segments[-1].rect]
        if not (is_note and key.has_colon)
    )


def _has_text_beyond(segment: LineSegment, free: Sequence[LineSegment]) -> bool:
    """Return whether a text in `free` is directly below a segment, or to its right on its line."""
    rect, reach = segment.rect, segment.height
    return any(
        (is_level(rect, other) and rect.max_x <= other.min_x)
        or (abs(other.min_x - rect.min_x) < reach and 0 < other.min_y - rect.center[1] < 2 * reach)
        for other in (each.rect for each in free)
    )


def _is_letter_of_line(fragment: FormFragment, keys: Sequence[FoundKey]) -> bool:
    text, rect = fragment.segment.text, fragment.segment.rect
    reach = settings.WORD_GAP_HEIGHTS * fragment.segment.height
    return (
        len(text) == 1
        and text.islower()
        and any(
            -reach < key.segments[0].rect.min_x - rect.max_x < reach
            and is_level(rect, key.segments[0].rect)
            for key in keys
        )
    )


def is_numbered_caption(text: str) -> bool:
    """Return whether a text begins with the number of a caption; house numbers do not count."""
    return (
        _NUMBERED_CAPTION.match(text) is not None
        and address_confidence(text) < settings.STREET_CERTAINTY
    )


def is_enumeration(text: str) -> bool:
    """Return whether a text is only a number or letter, as forms print before a caption."""
    return _ENUMERATION.fullmatch(text) is not None


def _is_label(text: str) -> bool:
    """Return whether a line is only a label: it ends with a colon or a row of dots."""
    return bool(_LED.fullmatch(text)) or text.rstrip(_TRAILING).endswith((":", "："))


def _begins_with_label(text: str) -> bool:
    label = _LABEL.match(text)
    return label is not None and len(label.group().split()) <= settings.FEW_WORDS_AROUND_KEY


def _captions_alike(
    segments: Sequence[LineSegment], spans: Mapping[int, Sequence[tuple[int, int, int | None]]]
) -> Iterator[int]:
    """Yield the indexes of captions that have a number or are in two languages.

    Each of these two kinds is yielded only if several keys have captions of this kind.
    """
    count = sum(
        bool(_NUMBERED_CAPTION.match(segments[number].line.text))
        and places[0][0] <= len(_LONGEST_NUMBER)
        for number, places in spans.items()
    )
    if count >= settings.FEWEST_CAPTIONS:
        for number, segment in enumerate(segments):
            if is_numbered_caption(segment.line.text):
                yield number
    double = [number for number, one in enumerate(segments) if _TWO_LANGUAGES.fullmatch(one.text)]
    if sum(number in spans for number in double) >= settings.FEWEST_CAPTIONS:
        yield from double


def _instructions(segments: Sequence[LineSegment], keyed: Container[int]) -> set[int]:
    """Return the indexes of segments that begin or continue an instruction."""
    found = {
        number
        for number, segment in enumerate(segments)
        if number not in keyed and is_instruction(segment.text)
    }
    for number in sorted(found) if len(found) <= settings.MOST_ALIKE else ():
        last = segments[number]
        for _ in range(settings.KEY_LINES):
            below = [
                other
                for other, segment in enumerate(segments)
                if other not in found and other not in keyed and _continues_below(last, segment)
            ]
            if not below:
                break
            found.add(below[0])
            last = segments[below[0]]
    return found


def _upright_words(segments: Sequence[LineSegment]) -> set[int]:
    """Return the indexes of single letters that, read downwards, spell a caption."""
    alone = [place for place, each in enumerate(segments) if re.fullmatch(r"[^\W\d_]", each.text)]
    words = grouped(
        sorted(alone[: settings.MOST_ALIKE], key=lambda one: segments[one].rect.min_y),
        lambda word, number: _continues_below(segments[word[-1]], segments[number]),
    )
    texts = ("".join(segments[number].text for number in word) for word in words)
    return set(chain.from_iterable(compress(words, map(looks_like_label, texts))))


def _continues_below(upper: LineSegment, lower: LineSegment) -> bool:
    """Return whether the lower line continues the sentence of the upper one."""
    gap = (lower.rect.min_y - upper.rect.max_y) / upper.height
    return (
        -settings.OVERLAP_HEIGHTS <= gap <= settings.LINE_GAP_HEIGHTS
        and abs(lower.rect.min_x - upper.rect.min_x) < upper.height / 2
        and not upper.text.rstrip().endswith((".", ")"))
    )


def _between_keys(
    segment: LineSegment,
    spans: Sequence[tuple[int, int, int | None]],
    free: Sequence[LineSegment],
) -> Iterator[FormFragment]:
    head = _bare(segment, 0, spans[0][0])
    if head and not (is_enumeration(head.text) or is_instruction(head.text)):
        yield FormFragment(head, None, _is_label(segment.text[: spans[0][0]]))
    ends = [start for start, _, _ in spans[1:]] + [len(segment.text)]
    first = segment.text[spans[0][0]]
    is_numbered = first.isdecimal() or (head and is_enumeration(head.text))
    for (_, end, owner), stop in zip(spans, ends, strict=True):
        start = _past_hint(segment, end, stop, free)
        rest = _bare(segment, start, stop)
        if rest and is_numbered and stop < len(segment.text):
            number = _NEXT_NUMBER.search(rest.text)
            rest = rest.part(0, number.start()) if number else rest
        if rest and (label := _NEXT_LABEL.search(rest.text)):
            rest = rest.part(0, label.end())
        is_caption = rest and is_numbered and is_numbered_caption(rest.text)
        if rest and not is_caption and not is_instruction(rest.text):
            yield FormFragment(rest, owner)


def _past_hint(segment: LineSegment, start: int, stop: int, free: Sequence[LineSegment]) -> int:
    """Return the index at which a value may begin after a key.

    The rest of the caption is skipped: with the key "Name" in "Name of applicant: …" the value
    begins after the colon, and with "Date" in "Date (MM/DD/YYYY)" after the brackets.
    """
    text, end = segment.text, start
    if _NOTE.fullmatch(text, start, stop) and not _has_text_beyond(segment, free):
        return start
    while remark := REMARK.match(text, end, stop):
        end = remark.end()
    if _CONTINUATION.match(text, end, stop):
        # After the colon of a longer caption, as in "Sex / Sexe: M".
        return text.find(":", end, stop) + 1 or stop
    label = _REST_OF_LABEL.match(text, start, stop)
    if label is not None and len(label.group().split()) <= settings.FEW_WORDS_AROUND_KEY:
        return label.end()
    rest = text[end:stop]
    is_whole = not rest.strip(_FILLER) or rest.lstrip().startswith((":", "："))
    return end if is_whole else start


def _bare(segment: LineSegment, start: int, end: int) -> LineSegment | None:
    """Return part of a segment without punctuation at its ends; None if nothing is left."""
    text = segment.text
    begin = start
    while begin < end and (text[begin] in _FILLER or text.startswith("# ", begin, end)):
        begin += 1
    end = begin + len(text[begin:end].rstrip(_TRAILING))
    if _FIGURE.match(text, begin, end) and (lead := _LEAD.search(text, start, begin)):
        begin = lead.start()
    if begin >= end or not any(letter.isalnum() for letter in text[begin:end]):
        return None
    return segment.part(begin, end)
