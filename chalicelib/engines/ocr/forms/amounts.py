"""Determines how a page writes amounts of money, and corrects misread amounts accordingly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.engines.ocr.forms import settings

_COMMAS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
# An amount with points only: all except the last are misread commas.
_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+\.\d\d(?![\d.,])")
_CENTS_BEHIND_COMMA = re.compile(r"\d,\d\d(?!\d)")
_BROKEN = re.compile(r"[-(]?\$? ?\d{1,3}(?:[., ]\d{3})+(?:\.\d\d)?\)?")
_BREAK = re.compile(r"(?<=\d)[. ](?=\d{3}(?!\d))")
_WITH_CENTS = re.compile(r"(?:\d{1,3}(?:[.,]\d{3})+|\d+)\.\d\d")
_WITHOUT_CENTS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CENTS = re.compile(r"[.,]\d\d$")
_MARKS = "$ ()-*"


@dataclass(frozen=True, slots=True)
class AmountStyle:
    """The notation that the amounts of a page share."""

    has_commas: bool = False
    """Whether amounts have commas between thousands."""
    has_cents: bool | None = None
    """Whether nearly all amounts have cents, or nearly none; None if unknown."""

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> AmountStyle:
        """Determine the notation of the amounts of a page.

        Engines often read a faint comma as a decimal point, but hardly ever the reverse. So one
        comma between thousands outweighs any number of points. A comma before exactly two final
        digits separates cents in some countries, so it counts against commas between thousands.
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
        """Return whether an amount has cents although the others have none, or vice versa."""
        has_cents = bool(_CENTS.search(text.strip(_MARKS)))
        return self.has_cents is not None and has_cents != self.has_cents
