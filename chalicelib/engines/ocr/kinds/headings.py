"""Recognises headings of bills and forms, which look like personal names but are not."""

from __future__ import annotations

from chalicelib.engines.ocr.kinds.span import folded_words, word_set

_WORDS = word_set(
    """
    invoice receipt bill statement quotation quote order purchase delivery shipping shipment
    billing payment payments amount balance total totals subtotal sub gross net tax taxes gst
    vat sst hst cash change card credit debit charge charges discount rounding price unit item
    items qty quantity description summary number no nos num ref reference code id date dates
    time period page form application type name names first last middle full given family
    company employer organisation organization customer client patient applicant employee
    student recipient sender contact position title job occupation department dept attn
    attention address addresses mailing home ship sold deliver delivered remit location
    residence permanent current present previous street city town state zip postal postcode
    country county province nationality gender sex age birth place signature signed remarks
    remark notes note comments comment details information method mode status due paid issued
    issue expiry expires registration reg account simplified original copy duplicate rm usd eur
    sr zr zrl to from of for the by and or & your our incl excl inclusive exclusive included
    served table counter terminal phone telephone fax email mail website f.o.b fob point shipped via
    terms requisitioner
    """
)
# A text that ends with one of these words is a field name, whatever its other words are.
_ENDS = word_set("number numbers name names date amount total subtotal signature summary address")
_LONGEST = 6


def is_heading(text: str) -> bool:
    """Return whether a text is a heading of bills or forms, or ends like the name of a field.

    Args:
        text: a line, or the field name before a colon.
    """
    words = folded_words(text)
    if not 0 < len(words) <= _LONGEST:
        return False
    return words[-1] in _ENDS or all(word.strip("#%$.") in _WORDS for word in words)
