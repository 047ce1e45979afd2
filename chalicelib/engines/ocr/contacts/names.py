"""Finds the person, organisation and titles on a card, in lines without other contacts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.contacts.clues import Clues
from chalicelib.engines.ocr.contacts.entries import has_amount, key_end
from chalicelib.engines.ocr.contacts.exact import EntityMatch
from chalicelib.engines.ocr.contacts.labels import ORG, OTHER, PERSON, TITLE
from chalicelib.engines.ocr.contacts.layout import Neighbours, is_below, is_next_to
from chalicelib.engines.ocr.contacts.piece import CardPiece, join_text
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel
from chalicelib.engines.ocr.kinds.headings import is_heading
from chalicelib.engines.ocr.kinds.organisation import (
    INDUSTRY,
    has_legal_form,
    organisation_confidence,
)
from chalicelib.engines.ocr.kinds.person import person_confidence
from chalicelib.engines.ocr.kinds.span import folded_words
from chalicelib.engines.ocr.kinds.title import FIELDS, HEADS, title_confidence

# Small words inside names; a line that begins with one continues the line above.
_JOINERS = ("and", "&", "of", "the", "for", "de", "des", "du", "di", "et", "und", "für")

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# One piece, or several pieces that are one text.
Group = tuple[CardPiece, ...]


def name_entities(
    pieces: Sequence[CardPiece], clues: Clues, usual: float, check: CancelCheck = never_cancel
) -> list[EntityMatch]:
    """Tag each piece, or group of pieces, as person, organisation, title or other text.

    The pieces must not contain phone numbers or addresses. `usual` is the usual height of letters
    on the page, in pixels.
    """
    if not pieces:
        return []
    judge = _Judge(pieces, clues, usual)
    # On a page of many lines the largest line is not a name, and there may be no person.
    floor = settings.KIND_CERTAINTY if judge.is_card else settings.SURE_KIND
    groups = [*((piece,) for piece in pieces), *_pairs(pieces)]
    found: list[EntityMatch] = []
    left = groups
    for tag, score in ((PERSON, judge.person), (ORG, judge.organisation)):
        scored = []
        for group in left:
            check()
            scored.append((score(group), group))
        chosen, left = _chosen(tag, scored, (floor, settings.FURTHER_CERTAINTY))
        found += chosen
    if judge.is_card and all(one.tag != ORG for one in found):
        chosen, left = _chosen(
            ORG, [(judge.logo(group), group) for group in left], (settings.KIND_CERTAINTY, 1.0)
        )
        found += chosen
    return found + _rest(left, judge)


def _chosen(
    tag: str, scored: Sequence[tuple[float, Group]], floors: tuple[float, float]
) -> tuple[list[EntityMatch], list[Group]]:
    """Choose groups with high scores as entities; return them and the remaining groups.

    Groups that share a piece with a chosen group are neither chosen nor returned.
    """
    found: list[EntityMatch] = []
    taken: set[CardPiece] = set()
    floor, further = floors
    for best, group in sorted(scored, key=lambda one: -one[0]):
        if best < floor:
            break
        if taken.isdisjoint(group):
            text = join_text(group)
            found.append(EntityMatch(tag, text, min(settings.SUREST, best), group))
            taken.update(group)
            floor = further
    return found, [group for _, group in scored if taken.isdisjoint(group)]


def _rest(groups: Sequence[Group], judge: _Judge) -> list[EntityMatch]:
    """Tag the remaining groups as titles or other text; a group of two lines may be one title."""
    found: list[EntityMatch] = []
    taken: set[CardPiece] = set()
    for group in sorted(groups, key=lambda one: -len(one)):
        text = join_text(group)
        if taken & set(group) or (len(group) > 1 and not _continues(group)):
            continue
        confidence = 0.0 if _is_printed(text) else title_confidence(text)
        if len(group) > 1 and confidence < settings.KIND_CERTAINTY:
            continue
        taken.update(group)
        tag = TITLE if confidence >= settings.KIND_CERTAINTY else OTHER
        found.append(
            EntityMatch(tag, text, confidence if tag == TITLE else judge.other(group), group)
        )
    return found


def _continues(group: Group) -> bool:
    """Return whether the first line of a title is incomplete without the second line."""
    first, second = group[0].text, group[1].text
    opens = first.rstrip().endswith(("&", ",", " of", " and", "-", "/"))
    joins = second.split()[0].lower() in ("of", "and", "&", "for")
    return title_confidence(first) >= settings.KIND_CERTAINTY and (opens or joins)


def _pairs(pieces: Sequence[CardPiece]) -> list[Group]:
    """Return groups of two or three adjacent pieces with letters of one size; they may be names."""
    if len(pieces) > settings.PAIRED_LINES:
        return []
    times = settings.SAME_SIZE_TIMES
    pairs = [
        (one, other)
        for one, other in permutations(pieces, 2)
        if max(one.height, other.height) <= times * min(one.height, other.height)
        and (is_next_to(one, other) or is_below(one, other))
    ]
    thirds = [
        (*pair, other)
        for pair in pairs
        for first, other in pairs
        if first is pair[1] and other not in pair
    ]
    return [*pairs, *thirds]


class _Judge:
    def __init__(self, pieces: Sequence[CardPiece], clues: Clues, usual: float) -> None:
        self._clues = clues
        self.is_card = len(pieces) <= settings.CARD_LINES
        titles = [one for one in pieces if title_confidence(one.text) >= settings.KIND_CERTAINTY]
        self._titles = Neighbours(titles)
        self._usual = usual
        self._tallest = max(piece.height for piece in pieces)

    def person(self, group: Group) -> float:
        """Return the confidence that a group is the name of a person."""
        text = join_text(group)
        # On a card, Bill Price and Page Street are persons, too.
        named = (
            self.is_card and key_end(text) == 0 and person_confidence(text) >= settings.SURE_KIND
        )
        if _is_printed(text) and not named:
            return 0.0
        if " " not in text:
            # Engines sometimes miss the space between large letters: "DanaReyes".
            text = _INNER_CAPITAL.sub(" ", text)
        confidence = person_confidence(text)
        fit = self._clues.person(text)
        words = folded_words(text)
        if fit and not confidence and 1 < len(words) <= settings.NAME_WORDS and _is_plain(text):
            confidence = settings.NAME_OF_MAIL
        if not confidence:
            return 0.0
        if len(group) > 1:
            return self._joined_person(group, confidence + settings.MAIL_BONUS * fit)
        confidence += settings.MAIL_BONUS * fit + self._size(group)
        below = (is_below(group[0], other, 2.0) for other in self._titles.around(group[0]))
        confidence += settings.TITLE_BELOW_BONUS * any(below)
        return confidence - self._against_person(text, words, fit)

    def organisation(self, group: Group) -> float:
        """Return the confidence that a group is the name of an organisation."""
        text = join_text(group)
        own = organisation_confidence(text)
        fit = self._clues.organisation(text)
        if text[0] in "@#" or (_is_printed(text) and not has_legal_form(text)):
            return 0.0
        if len(group) > 1:
            return self._joined_organisation(group, max(own, fit))
        title = title_confidence(text)
        if (
            title >= settings.KIND_CERTAINTY
            and not has_legal_form(text)
            and fit < settings.PART_FITS
        ):
            own = 0.0
        confidence = max(own, fit)
        return confidence + self._size(group) + self._only_logo(group, confidence)

    def logo(self, group: Group) -> float:
        """Return the confidence that a group is a logo: a few words in large letters."""
        text = join_text(group)
        is_other = _is_printed(text) or title_confidence(text) >= settings.KIND_CERTAINTY
        if len(group) > 1 or is_other or not self._is_large_name(group[0]):
            return 0.0
        return settings.KIND_CERTAINTY + self._size(group)

    def other(self, group: Group) -> float:
        """Return the confidence that a group is none of the known kinds of text."""
        text = join_text(group)
        return 1.0 - min(
            settings.MOST_UNCERTAINTY, max(person_confidence(text), organisation_confidence(text))
        )

    def _joined_organisation(self, group: Group, confidence: float) -> float:
        """Return the score of an organisation name over several lines; 0 if one line is enough.

        Several lines are needed in four cases: each further line begins with a word such as `and`,
        the lines contain a legal form, together they match the domain clearly better than one line,
        or they look like a logo. Field names with values are excluded.
        """
        text = join_text(group)
        is_labelled = any(
            _is_printed(piece.text) and not has_legal_form(piece.text) for piece in group
        )
        if (
            len(text) > settings.LONGEST_ORGANISATION
            or is_labelled
            or any(_ends_name(piece) for piece in group[:-1])
        ):
            return 0.0
        parts = max(
            max(organisation_confidence(piece.text), self._clues.organisation(piece.text))
            for piece in group
        )
        goes_on = all(piece.text.split()[0] in _JOINERS for piece in group[1:])
        gains = goes_on or confidence - parts >= settings.LARGEST_BONUS or has_legal_form(text)
        if not gains and not (confidence >= settings.KIND_CERTAINTY and self._is_logo(group)):
            return 0.0
        return max(confidence, parts) + self._size(group) + settings.LINE_BONUS * len(group)

    def _is_logo(self, group: Group) -> bool:
        heights = [piece.height for piece in group]
        words = [word for piece in group for word in piece.text.split()]
        capitals = all(word[:1].isupper() or word.lower() in _JOINERS for word in words)
        large = min(heights) >= settings.LARGE_TIMES * self._usual
        plain = all(
            person_confidence(piece.text) < settings.SURE_KIND
            and title_confidence(piece.text) < settings.KIND_CERTAINTY
            for piece in group
        )
        return capitals and large and plain

    def _joined_person(self, group: Group, confidence: float) -> float:
        """Return the score of a person's name in several pieces; 0 if one piece is a full name."""
        parts = max(person_confidence(piece.text) if " " in piece.text else 0.0 for piece in group)
        if parts >= settings.KIND_CERTAINTY or any(
            len(piece.text.split()) > settings.NAME_PART_WORDS for piece in group
        ):
            return 0.0
        text = join_text(group)
        against = self._against_person(text, folded_words(text), self._clues.person(text))
        return confidence + self._size(group) - against

    def _against_person(self, text: str, words: list[str], fit: float) -> float:
        """Return the penalty for signs that a text is not a person: trades, jobs, a legal form."""
        against = 0.0
        if has_legal_form(text):
            against += settings.AGAINST_LEGAL_FORM
        known = sum(word in INDUSTRY or word in FIELDS or word in HEADS for word in words)
        named = person_confidence(text) >= settings.SURE_KIND
        # Baker, Banks and Church are surnames too.
        is_half = bool(fit) or (named and known == 1)
        against += (
            settings.AGAINST_TRADE * min(known, 2) * (settings.HALF_AGAINST if is_half else 1.0)
        )
        # The domain's owner is the organisation, unless the mail address names the person.
        owner = self._clues.organisation(text)
        if owner > fit:
            against += settings.AGAINST_OWNER * owner * (settings.HALF_AGAINST if named else 1.0)
        return against

    def _size(self, group: Group) -> float:
        """Return a bonus for large letters; 0 if the page is not a card."""
        if not self.is_card:
            return 0.0
        height = max(piece.height for piece in group)
        if (
            height >= settings.TALLEST_SHARE * self._tallest
            and height >= settings.TALLEST_TIMES * self._usual
        ):
            return settings.LARGEST_BONUS
        return settings.LARGE_BONUS if height >= settings.LARGE_TIMES * self._usual else 0.0

    def _only_logo(self, group: Group, confidence: float) -> float:
        """Return a bonus for a short text in large letters on a card, if its kind is uncertain."""
        is_logo = (
            self.is_card
            and confidence < settings.KIND_CERTAINTY
            and self._is_large_name(group[0])
            and group[0].height >= settings.LOGO_TALL_SHARE * self._tallest
        )
        return settings.LOGO_BONUS if is_logo else 0.0

    def _is_large_name(self, piece: CardPiece) -> bool:
        """Return whether a text is short, in large letters, and begins with a capital."""
        text = piece.text
        is_short = len(text.split()) <= settings.NAME_WORDS and _is_plain(text)
        return (
            text[:1].isupper() and is_short and piece.height >= settings.LARGE_TIMES * self._usual
        )


def _is_printed(text: str) -> bool:
    return is_heading(text) or key_end(text) > 0 or has_amount(text)


def _ends_name(piece: CardPiece) -> bool:
    """Return whether a name must end with this line, because of a legal form or a job title."""
    return has_legal_form(piece.text) or title_confidence(piece.text) >= settings.KIND_CERTAINTY


def _is_plain(text: str) -> bool:
    return any(map(str.isalpha, text)) and not any(
        char.isdecimal() or char in "!?:;@#%" for char in text
    )
