"""Finds fields that have no caption: any telephone number, address or date of a page.

The contract calls the keys of these fields virtual keys.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from chalicelib.domain.documents.findings import Contact, FormField
from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import ReadPage, Rect
from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.contacts.virtual import VirtualTexts
from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel


def is_printed(key: TemplateKey) -> bool:
    """Return whether a key has a caption that is searched for on the page.

    A key named like a virtual key, such as "Phone", is searched for by its text first. It counts
    as a virtual key only if the page does not contain this text.
    """
    return key.virtual is None or key.variations[0] != key.virtual


def find_virtual_fields(
    keys: Sequence[TemplateKey],
    page: ReadPage,
    used: Sequence[Rect],
    done: Container[int] = (),
    check: CancelCheck = never_cancel,
) -> dict[int, FormField]:
    """Find a text on the page for each virtual key; return the fields by index of the key.

    Printed keys, keys in `done` and keys for which no text is left have no field. `used` has the
    positions of the values of printed keys. Texts at other positions are preferred.
    """
    waiting: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        if key.virtual is not None and number not in done:
            waiting.setdefault(key.virtual, []).append(number)
    fields: dict[int, FormField] = {}
    texts = VirtualTexts(page, check)
    for kind, numbers in waiting.items():
        found = sorted(texts.find(kind), key=lambda one: _is_used(one, used))
        for number, one in zip(numbers, found, strict=False):
            entity, value = keys[number].entity, normalized_address(one.text)
            fields[number] = FormField(entity, "", None, one.text, one.box, one.probability, value)
    return fields


def _is_used(found: Contact, used: Sequence[Rect]) -> bool:
    return any(
        found.box.overlap(place) > settings.SAME_LINE_SHARE * min(found.box.area, place.area)
        for place in used
    )
