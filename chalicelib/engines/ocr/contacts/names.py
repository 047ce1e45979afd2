"""Person, organisation and titles of a card: which of the lines that are left is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chalicelib.engines.ocr.contacts.clues import Clues
from chalicelib.engines.ocr.contacts.entries import has_amount, key_end
from chalicelib.engines.ocr.contacts.exact import EntityMatch
from chalicelib.engines.ocr.contacts.labels import ORG, OTHER, PERSON, TITLE
from chalicelib.engines.ocr.contacts.layout import Neighbours, is_below, is_beside
from chalicelib.engines.ocr.contacts.piece import CardPiece, joined
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

_PERSON, _ORG, _TITLE = 0.45, 0.45, 0.5
"""What is less sure is no person, organisation, title."""
_CARD_FLOORS = {PERSON: (_PERSON, 0.85), ORG: (_ORG, 0.9)}
"""Scores of the first and of further persons and organisations of a card."""
_PAGE_FLOORS = {PERSON: (0.6, 0.85), ORG: (0.65, 0.9)}
"""The same on a page of many lines: its largest line is no name, and it may name nobody."""
_MOST_OF_CARD = 30
"""Lines that a card has at the most."""
_LARGE = 1.25
"""Letters of a headline are so many times as high as those of most lines."""
_LOGO_SIZE = 1.15
"""Letters of a logo are, at least."""
_SAME_HEIGHT = 1.35
"""Lines of one name differ in height by no more: with and without letters that reach down."""
_LOGO_ALIKE = 1.12
"""Lines of one logo do, in capitals or with the same reach."""
_GAIN = 0.15
"""How much surer several lines together have to be than the best of them."""
_FIT = 0.8
"""A text that fits a domain so well names its owner, by its initials at least."""
_NAMED = 0.75
"""A text with a known given name is so sure to be a person."""
_LONGEST_NAME = 60
"""Characters of an organisation's name in several lines."""
_MOST_LINES = 80
"""Lines of a page that are tried in pairs."""
_JOINERS = ("and", "&", "of", "the", "for", "de", "des", "du", "di", "et", "und", "für")
"""Small words inside names; a line that begins with one goes on with the line above."""
_NAME_WORDS = 4
"""Words of a person's name."""
_LOGO_WORDS = 4
"""Words of a logo."""
_PART_WORDS = 2
"""Words of a name in one of several lines, `Anna Maria` above `Eriksson`."""

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

Group = tuple[CardPiece, ...]
"""One piece, or several that are read as one."""


def name_entities(
    pieces: Sequence[CardPiece], clues: Clues, usual: float, check: CancelCheck = never_cancel
) -> list[EntityMatch]:
    """Tag the pieces that hold no number and no address, every one of them exactly once.

    Args:
        pieces: what is left when numbers and addresses are taken.
        clues: what mail and web addresses tell.
        usual: height of the letters of most lines of the page, in pixels.
        check: see chalicelib/engines/ocr/interface.py.
    """
    if not pieces:
        return []
    judge = _Judge(pieces, clues, usual)
    floors = _CARD_FLOORS if judge.is_card else _PAGE_FLOORS
    groups = [*((piece,) for piece in pieces), *_pairs(pieces)]
    found: list[EntityMatch] = []
    left = groups
    for tag, score in ((PERSON, judge.person), (ORG, judge.organisation)):
        scored = []
        for group in left:
            check()
            scored.append((score(group), group))
        chosen, left = _chosen(tag, scored, floors[tag])
        found += chosen
    if judge.is_card and all(one.tag != ORG for one in found):
        chosen, left = _chosen(ORG, [(judge.logo(group), group) for group in left], (_ORG, 1.0))
        found += chosen
    return found + _rest(left, judge)


def _chosen(
    tag: str, scored: Sequence[tuple[float, Group]], floors: tuple[float, float]
) -> tuple[list[EntityMatch], list[Group]]:
    """Take the group that scores best, then further ones above the second floor."""
    found: list[EntityMatch] = []
    taken: set[CardPiece] = set()
    floor, further = floors
    for best, group in sorted(scored, key=lambda one: -one[0]):
        if best < floor:
            break
        if taken.isdisjoint(group):
            text = " ".join(piece.text for piece in group)
            found.append(EntityMatch(tag, text, min(0.98, best), group))
            taken.update(group)
            floor = further
    return found, [group for _, group in scored if taken.isdisjoint(group)]


def _rest(groups: Sequence[Group], judge: _Judge) -> list[EntityMatch]:
    """Tag what is left as titles and other text; a title may go on in a second line."""
    found: list[EntityMatch] = []
    taken: set[CardPiece] = set()
    for group in sorted(groups, key=lambda one: -len(one)):
        text = " ".join(piece.text for piece in group)
        if taken & set(group) or (len(group) > 1 and not _continues(group)):
            continue
        confidence = 0.0 if _is_printed(text) else title_confidence(text)
        if len(group) > 1 and confidence < _TITLE:
            continue
        taken.update(group)
        tag = TITLE if confidence >= _TITLE else OTHER
        found.append(
            EntityMatch(tag, text, confidence if tag == TITLE else judge.other(group), group)
        )
    return found


def _continues(group: Group) -> bool:
    """Return whether the second line of a title only makes sense with the first."""
    first, second = group[0].text, group[1].text
    opens = first.rstrip().endswith(("&", ",", " of", " and", "-", "/"))
    joins = second.split()[0].lower() in ("of", "and", "&", "for")
    return title_confidence(first) >= _TITLE and (opens or joins)


def _pairs(pieces: Sequence[CardPiece]) -> list[Group]:
    """Return pieces that may be one name: words side by side, or lines of the same size."""
    pairs: list[Group] = []
    if len(pieces) > _MOST_LINES:
        return pairs
    for one in pieces:
        for other in pieces:
            heights = sorted((one.height, other.height))
            if one is other or heights[1] > _SAME_HEIGHT * heights[0]:
                continue
            if is_beside(one, other) or is_below(one, other):
                pairs.append((one, other))
    thirds = [
        (*pair, other)
        for pair in pairs
        for other_pair in pairs
        for other in other_pair[1:]
        if other_pair[0] is pair[1] and other not in pair
    ]
    return pairs + thirds


class _Judge:
    """Scores groups of pieces of one card."""

    def __init__(self, pieces: Sequence[CardPiece], clues: Clues, usual: float) -> None:
        self._clues = clues
        self.is_card = len(pieces) <= _MOST_OF_CARD
        titles = [one for one in pieces if title_confidence(one.text) >= _TITLE]
        self._titles = Neighbours(titles)
        self._usual = usual
        self._tallest = max(piece.height for piece in pieces)

    def person(self, group: Group) -> float:
        """Return how sure a group is to be the person."""
        text = _text(group)
        # Bill Price and Page Street are persons too, on a card.
        named = self.is_card and key_end(text) == 0 and person_confidence(text) >= _NAMED
        if _is_printed(text) and not named:
            return 0.0
        if " " not in text:
            # A reader loses the space between large letters now and then: "DanaReyes".
            text = _INNER_CAPITAL.sub(" ", text)
        confidence = person_confidence(text)
        fit = self._clues.person(text)
        words = folded_words(text)
        if fit and not confidence and 1 < len(words) <= _NAME_WORDS and _is_plain(text):
            confidence = 0.3
        if not confidence:
            return 0.0
        if len(group) > 1:
            return self._joined_person(group, confidence + 0.4 * fit)
        confidence += 0.4 * fit + self._size(group) + 0.2 * self._has_title_below(group[0])
        return confidence - self._against_person(text, words, fit)

    def organisation(self, group: Group) -> float:
        """Return how sure a group is to be the organisation."""
        text = _text(group)
        own = organisation_confidence(text)
        fit = self._clues.organisation(text)
        if text[0] in "@#" or (_is_printed(text) and not has_legal_form(text)):
            return 0.0
        if len(group) > 1:
            return self._joined_organisation(group, max(own, 0.95 * fit))
        title = title_confidence(text)
        if title >= _TITLE and not has_legal_form(text) and fit < _FIT:
            own *= 0.3
        confidence = max(own, 0.95 * fit)
        return confidence + self._size(group) + self._only_logo(group, confidence)

    def logo(self, group: Group) -> float:
        """Return how sure a group is to be a logo that nothing else tells: a few large words."""
        text = _text(group)
        is_other = _is_printed(text) or title_confidence(text) >= _TITLE
        if len(group) > 1 or is_other or group[0].height < _LOGO_SIZE * self._usual:
            return 0.0
        named = text[:1].isupper() and len(text.split()) <= _LOGO_WORDS and _is_plain(text)
        return _ORG + self._size(group) if named else 0.0

    def other(self, group: Group) -> float:
        """Return how sure a group is to be none of the tags."""
        text = _text(group)
        return 1.0 - min(0.6, max(person_confidence(text), organisation_confidence(text)))

    def _joined_organisation(self, group: Group, confidence: float) -> float:
        """Return the score of an organisation in several lines; 0 when one of them is enough.

        They belong together when only all of them fit the domain, when the last one is the legal
        form, or when they are capitalised lines of the same large letters, as a logo has them.
        """
        text = _text(group)
        if len(text) > _LONGEST_NAME or any(_stands_alone(piece) for piece in group[:-1]):
            return 0.0
        parts = max(self._plain_organisation(piece.text) for piece in group)
        goes_on = all(piece.text.split()[0] in _JOINERS for piece in group[1:])
        gains = goes_on or confidence - parts >= _GAIN or has_legal_form(text)
        if not gains and not (confidence >= _ORG and self._is_logo(group)):
            return 0.0
        return max(confidence, parts) + self._size(group) + 0.02 * len(group)

    def _is_logo(self, group: Group) -> bool:
        """Return whether pieces are capitalised lines of the same letters, larger than most."""
        heights = [piece.height for piece in group]
        words = [word for piece in group for word in piece.text.split()]
        capitals = all(word[:1].isupper() or word.lower() in _JOINERS for word in words)
        large = min(heights) >= _LOGO_SIZE * self._usual
        alike = max(heights) <= _LOGO_ALIKE * min(heights)
        plain = all(
            person_confidence(piece.text) < _NAMED and title_confidence(piece.text) < _TITLE
            for piece in group
        )
        return capitals and large and alike and plain

    def _plain_organisation(self, text: str) -> float:
        """Return how sure a text alone is to be the organisation."""
        return max(organisation_confidence(text), 0.95 * self._clues.organisation(text))

    def _joined_person(self, group: Group, confidence: float) -> float:
        """Return the score of a name in several pieces, of which none is a name itself."""
        parts = max(person_confidence(piece.text) if " " in piece.text else 0.0 for piece in group)
        if parts >= _PERSON - 0.1 or any(len(piece.text.split()) > _PART_WORDS for piece in group):
            return 0.0
        text = _text(group)
        against = self._against_person(text, folded_words(text), self._clues.person(text))
        return confidence + self._size(group) - against

    def _against_person(self, text: str, words: list[str], fit: float) -> float:
        """Return what speaks against a person: words of trades and jobs, a legal form."""
        against = 0.0
        if has_legal_form(text):
            against += 0.7
        known = sum(word in INDUSTRY or word in FIELDS or word in HEADS for word in words)
        named = person_confidence(text) >= _NAMED
        # Baker, Banks and Church are surnames too.
        against += 0.45 * min(known, 2) * (0.5 if fit or (named and known == 1) else 1.0)
        # The domain's owner is the organisation, unless the mail address names the person.
        owner = self._clues.organisation(text)
        return against + (0.3 * owner * (0.5 if named else 1.0) if owner > fit else 0.0)

    def _size(self, group: Group) -> float:
        """Return what large letters add on a card."""
        if not self.is_card:
            return 0.0
        height = max(piece.height for piece in group)
        if height >= 0.95 * self._tallest and height >= 1.1 * self._usual:
            return 0.15
        return 0.1 if height >= _LARGE * self._usual else 0.0

    def _has_title_below(self, piece: CardPiece) -> bool:
        """Return whether the next line is a job."""
        return any(is_below(piece, other, 2.0) for other in self._titles.around(piece))

    def _only_logo(self, group: Group, confidence: float) -> float:
        """Return what speaks for a short text in large letters, as a logo is."""
        text = _text(group)
        short = (
            self.is_card
            and len(text.split()) <= _LOGO_WORDS
            and _is_plain(text)
            and text[:1].isupper()
        )
        height = group[0].height
        tall = height >= _LARGE * self._usual and height >= 0.8 * self._tallest
        return 0.25 if short and tall and confidence < _ORG else 0.0


def _text(group: Group) -> str:
    """Return the text of a group."""
    return joined(group).text


def _is_printed(text: str) -> bool:
    """Return whether a text is a key, a key with its value, or words that bills print."""
    return is_heading(text) or key_end(text) > 0 or has_amount(text)


def _stands_alone(piece: CardPiece) -> bool:
    """Return whether no name goes on in the next line: behind a legal form or a job."""
    return has_legal_form(piece.text) or title_confidence(piece.text) >= _TITLE


def _is_plain(text: str) -> bool:
    """Return whether a text has letters and no digits or marks of sentences."""
    return any(map(str.isalpha, text)) and not any(
        char.isdecimal() or char in "!?:;@#%" for char in text
    )
