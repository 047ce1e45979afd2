"""Determines how a page writes amounts of money, and corrects misread amounts accordingly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.documents.page import TextLine, around
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.segments import is_level

_COMMAS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
# An amount with points only: all except the last are misread commas.
_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+\.\d\d(?![\d.,])")
_CENTS_BEHIND_COMMA = re.compile(r"\d,\d\d(?!\d|,\d)")
_BROKEN = re.compile(r"[-(]?\$? ?\d{1,3}(?:[., ]\d{3})+(?:\.\d\d)?\)?")
_BREAK = re.compile(r"(?<=\d)[. ](?=\d{3}(?!\d))")
_WITH_CENTS = re.compile(r"(?:\d{1,3}(?:[.,]\d{3})+|\d+)\.\d\d")
_WITHOUT_CENTS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CENTS = re.compile(r"[.,]\d\d$")
_MARKS = "$ ()-+*CDR"
# An amount without a point between dollars and cents: 1,204 50.
_APART = re.compile(r"(?<![\w.,/-])(\d{1,3}(?:,\d{3})*) (\d\d)(?![\w.,/-]| \d)")
_APART_WITH_COMMA = re.compile(_APART.pattern.replace("*) ", "+) "))
_YEAR = re.compile(r"20 [0-4]\d")
_DOLLARS = re.compile(r"\$? ?\d{1,3}(?:,\d{3})*")
_TWO_DIGITS = re.compile(r"\d\d")


@dataclass(frozen=True, slots=True)
class AmountStyle:
    """The notation that the amounts of a page share."""

    has_commas: bool = False
    """Whether amounts have commas between thousands."""
    has_cents: bool | None = None
    """True if nearly all amounts have cents, False if nearly none has; None if unknown."""

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> AmountStyle:
        """Determine the notation of the amounts of a page.

        Engines often read a faint comma as a decimal point, but hardly ever the reverse. So commas
        count as separators of thousands if more of them are before three digits than before cents.
        In an amount such as 1.204.50, the first point counts as a misread comma.
        """
        lines = list(texts)
        commas = sum(len(_COMMAS.findall(text)) + len(_POINTS.findall(text)) for text in lines)
        elsewhere = sum(len(_CENTS_BEHIND_COMMA.findall(text)) for text in lines)
        words = [word.strip(_MARKS) for text in lines for word in text.split()]
        count = sum(bool(_WITH_CENTS.fullmatch(word)) for word in words)
        others = sum(bool(_WITHOUT_CENTS.fullmatch(word)) for word in words)
        fewer, more = sorted((count, others))
        is_known = more >= max(settings.FEWEST_AMOUNTS, settings.USUAL_AMOUNT_TIMES * fewer)
        return cls(commas > elsewhere, count > others if is_known else None)

    def corrected(self, text: str) -> str:
        """Return an amount with commas in place of points or spaces between thousands."""
        return _BREAK.sub(",", text) if self.has_commas and _BROKEN.fullmatch(text) else text

    def is_odd(self, text: str) -> bool:
        """Return whether an amount has cents and the page's other amounts do not, or vice versa."""
        has_cents = bool(_CENTS.search(text.strip(_MARKS)))
        return self.has_cents is not None and has_cents != self.has_cents


def with_points(lines: Sequence[TextLine]) -> Sequence[TextLine]:
    """Return the lines of a page, with a point inserted where a space separates dollars and cents.

    Nothing is changed unless most amounts of the page are printed in this way.
    """
    joined = [*_with_cents(lines)]
    texts = [line.text.strip(_MARKS) for line in joined]
    apart = [match for text in texts if (match := _APART.fullmatch(text))]
    others = sum(bool(_WITH_CENTS.fullmatch(t) or _WITHOUT_CENTS.fullmatch(t)) for t in texts)
    has_thousands = any("," in match[1] for match in apart)
    if len(apart) < max(settings.FEWEST_AMOUNTS, others) or not has_thousands:
        return lines
    return [replace(line, text=_with_point(line.text)) for line in joined]


def _with_point(text: str) -> str:
    # Dates and addresses have numbers side by side too, but without commas.
    is_alone = _APART.fullmatch(text.strip(_MARKS)) and not _YEAR.fullmatch(text)
    return (_APART if is_alone else _APART_WITH_COMMA).sub(r"\1.\2", text)


def _with_cents(lines: Sequence[TextLine]) -> Iterator[TextLine]:
    """Yield the lines of a page; cents that were read separately are joined to their dollars."""
    cents = [line for line in lines if _TWO_DIGITS.fullmatch(line.text)]
    cents = cents if len(cents) <= settings.MOST_ALIKE else []
    found = {id(line): own for line in lines if (own := _own_cents(line, cents)) is not None}
    behind = {id(own) for own in found.values()}
    # Of three numbers in a row, none is known to be the cents.
    pairs = {key: own for key, own in found.items() if key not in behind and id(own) not in found}
    taken = {id(own) for own in pairs.values()}
    for line in lines:
        if id(line) in pairs:
            own = pairs[id(line)]
            box = around((line.box, own.box))
            yield TextLine(f"{line.text} {own.text}", min(line.probability, own.probability), box)
        elif id(line) not in taken:
            yield line


def _own_cents(line: TextLine, cents: Sequence[TextLine]) -> TextLine | None:
    reach = settings.WORD_GAP_HEIGHTS * line.box.height
    near = (
        each
        for each in cents
        if 0 <= each.box.min_x - line.box.max_x < reach and is_level(line.box, each.box)
    )
    return next(near, None) if cents and _DOLLARS.fullmatch(line.text) else None
