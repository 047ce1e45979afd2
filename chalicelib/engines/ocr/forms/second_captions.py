"""Finds captions in a second language, printed next to or below the template's captions.

A text next to a key can also be the value of the key. Second captions differ from values: they are
next to nearly every key, have no digits, and are themselves followed by the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from chalicelib.domain.documents.page import around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.fragments import UnmatchedText
from chalicelib.engines.ocr.forms.keys.keys import FoundKey
from chalicelib.engines.ocr.forms.values.candidates import as_array, below_gaps, right_gaps


def without_second_captions(keys: Sequence[FoundKey], unmatched: UnmatchedText) -> UnmatchedText:
    """Remove captions in a second language from the possible values."""
    # If a key was found at several places, use the one with the highest score.
    best = {key.number: at for at, key in sorted(enumerate(keys), key=lambda one: one[1].score)}
    plain = [at for at in sorted(best.values()) if not keys[at].has_colon and not keys[at].kind]
    for every in (_behind(plain, unmatched), list(_below(plain, keys, unmatched))):
        # Texts with digits are values. Some keys have no second caption, because a word that is the
        # same in both languages is printed only once.
        pairs = [(key, fragment) for key, fragment in every if not _has_digit(unmatched, fragment)]
        is_enough = (
            3 * len(pairs) >= 2 * len(plain)
            and len(pairs) >= settings.FEWEST_CAPTIONS
            and len(pairs) >= settings.SECOND_CAPTION_SHARE * len(every)
        )
        if is_enough and _are_captions(pairs, keys, unmatched):
            second = {fragment for _, fragment in pairs}
            rest = (each for number, each in enumerate(unmatched.fragments) if number not in second)
            return replace(unmatched, fragments=tuple(rest))
    return unmatched


def _behind(plain: Sequence[int], unmatched: UnmatchedText) -> list[tuple[int, int]]:
    owners = {fragment.owner: number for number, fragment in enumerate(unmatched.fragments)}
    return [(number, owners[number]) for number in plain if number in owners]


def _below(
    plain: Sequence[int], keys: Sequence[FoundKey], unmatched: UnmatchedText
) -> Iterator[tuple[int, int]]:
    rects = as_array([fragment.segment.rect for fragment in unmatched.fragments])
    for number in plain if len(rects) else ():
        key = keys[number]
        gaps = below_gaps(rects, key.rect, key.height)
        gaps[np.abs(rects[:, 0] - key.rect.min_x) > key.height] = np.inf
        nearest = int(gaps.argmin())
        if gaps[nearest] < settings.LINE_GAP_HEIGHTS:
            yield number, nearest


def _are_captions(
    pairs: Sequence[tuple[int, int]], keys: Sequence[FoundKey], unmatched: UnmatchedText
) -> bool:
    """Return whether texts next to keys are captions, not values.

    They are captions if at least a third of them are followed by a text with a digit.
    """
    fragments = as_array([fragment.segment.rect for fragment in unmatched.fragments])
    labels = as_array([segment.rect for segment in unmatched.labels])
    followed = 0
    for number, fragment in pairs:
        key = keys[number]
        both = around((key.rect, unmatched.fragments[fragment].segment.rect))
        gaps, others = (
            np.minimum(below_gaps(rects, both, key.height), right_gaps(rects, both, key.height))
            for rects in (fragments, labels)
        )
        gaps[fragment] = np.inf
        is_next = gaps.min() < others.min(initial=np.inf)
        followed += is_next and _has_digit(unmatched, int(gaps.argmin()))
    return 3 * followed >= len(pairs)


def _has_digit(unmatched: UnmatchedText, fragment: int) -> bool:
    return any(map(str.isdecimal, unmatched.fragments[fragment].segment.text))
