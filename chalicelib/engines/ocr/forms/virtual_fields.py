"""Finds fields without a printed key: any telephone number, address or date of a page.

Spec: Form template, virtual key.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from chalicelib.domain.documents.findings import Contact, FormField
from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.domain.documents.page import ReadPage, Rect
from chalicelib.engines.ocr.addresses import normalized_address
from chalicelib.engines.ocr.contacts.virtual import VirtualTexts
from chalicelib.engines.ocr.forms import measures
from chalicelib.engines.ocr.interface import CancelCheck, never_cancel


def is_printed(key: TemplateKey) -> bool:
    """Return whether a key is looked for on the page by its text.

    A name of a virtual key that is not in small letters, "Phone", may be the text of a printed
    key; it counts as a virtual key only when the page does not have it.
    """
    return key.virtual is None or key.variations[0] != key.virtual


def find_virtual_fields(
    keys: Sequence[TemplateKey],
    page: ReadPage,
    used: Sequence[Rect],
    done: Container[int] = (),
    check: CancelCheck = never_cancel,
) -> dict[int, FormField]:
    """Find what is on a page for each virtual key.

    Args:
        keys: keys of the template; printed ones are passed over.
        page: the page as read.
        used: places of the values of printed keys; they are taken last.
        done: numbers of keys that have a field already.
        check: see chalicelib/engines/ocr/interface.py.

    Returns:
        Fields by the number of the key; several keys of one kind get different texts, and those
        for which none is left get no field.
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
            fields[number] = _field(keys[number].entity, one)
    return fields


def _is_used(found: Contact, used: Sequence[Rect]) -> bool:
    """Return whether a text is the value of a printed key already."""
    return any(
        found.box.overlap(place) > measures.PRINTED_PLACE_SHARE * min(found.box.area, place.area)
        for place in used
    )


def _field(entity: str, found: Contact) -> FormField:
    """Describe a text as the value of a virtual key."""
    return FormField(
        entity,
        "",
        None,
        found.text,
        found.box,
        found.probability,
        normalized_address(found.text),
    )
