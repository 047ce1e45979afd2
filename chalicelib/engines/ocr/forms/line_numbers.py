"""Numbers of lines, which tax forms print twice: before a key and again before its value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chalicelib.engines.ocr.forms.keys import FoundKey
from chalicelib.engines.ocr.forms.pieces import Piece, Remains
from chalicelib.engines.ocr.forms.segments import Segment
from chalicelib.engines.ocr.forms.spelling import tokens

_LONGEST = 4
"""Characters of a line's number at the most: 35a, 12d."""


def without_line_numbers(
    keys: Sequence[FoundKey], segments: Sequence[Segment], remains: Remains
) -> Remains:
    """Take the second printing of line numbers out of what may be a value.

    Args:
        keys: keys that were found.
        segments: of the page.
        remains: the page without the keys.

    Returns:
        The same without those numbers.
    """
    numbers = {place: _number(key, segments) for place, key in enumerate(keys)}
    known = {place: number for place, number in numbers.items() if number}
    if not known:
        return remains
    pieces = tuple(_kept(remains.pieces, keys, known))
    return replace(remains, pieces=pieces)


def _number(key: FoundKey, segments: Sequence[Segment]) -> str:
    """Return the number at the beginning of a key's line, folded; empty without one."""
    number, start, end = key.parts[0]
    text = segments[number].text[:end]
    first = next(iter(tokens(text)), None)
    if first is None or first.end - first.start > _LONGEST:
        return ""
    is_letter = first.end - first.start == 1 and first.end <= start
    return first.folded if is_letter or text[first.start].isdecimal() else ""


def _kept(
    pieces: Iterable[Piece], keys: Sequence[FoundKey], numbers: dict[int, str]
) -> Iterator[Piece]:
    """Yield the pieces without numbers that stand before values."""
    for piece in pieces:
        words = tokens(piece.segment.text)
        if piece.owner is None:
            if not _repeats(piece, words[0].folded if len(words) == 1 else "", keys, numbers):
                yield piece
        elif words and words[0].folded == numbers.get(piece.owner):
            rest = piece.segment.part(words[0].end, len(piece.segment.text))
            if len(words) > 1:
                yield replace(piece, segment=rest)
        else:
            yield piece


def _repeats(piece: Piece, word: str, keys: Sequence[FoundKey], numbers: dict[int, str]) -> bool:
    """Return whether a piece is the number of a key on its left, and nothing else."""
    rect = piece.segment.rect
    return bool(word) and any(
        number == word
        and keys[place].rect.max_x <= rect.min_x
        and keys[place].rect.min_y < rect.center[1] < keys[place].rect.max_y
        for place, number in numbers.items()
    )
