"""Interactive form fields on the pages of a PDF. See contract section 6, formFields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.page import FormWidget, Page, ReadPage, Rect
from chalicelib.domain.documents.picture import PixelBox

# Kinds of fields; push buttons have no value and are left out.
FIELD_KINDS: Final = ("text", "checkbox", "radio", "choice", "signature")
# Maximum number of fields of a document, about what an answer of 6 MB can hold.
MAX_FORM_WIDGETS: Final = 10_000
# Widest gap between a key and its tick box, in heights of the key.
_TICK_GAP = 1.5
# The box of a field that is outside its page.
_NOWHERE = PixelBox(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class PlacedWidget:
    """A form field of a PDF on one page, with its box in pixels of the page as displayed."""

    widget: FormWidget
    page_number: int
    """Number of the page, from 1."""
    box: PixelBox
    """Box in pixels as the API returns them; 1, 1, 1, 1 if it is outside of the page."""


def placed_widgets(pages: Sequence[Page]) -> Iterator[PlacedWidget]:
    """Yield the form fields that these pages show, in the order of the PDF."""
    for page in pages:
        for widget in page.widgets:
            box = page.answer_box(widget.rect)
            is_shown = box.max_x > box.min_x and box.max_y > box.min_y
            yield PlacedWidget(widget, page.number, box if is_shown else _NOWHERE)


def tick_box_of(field: FormField, view: ReadPage) -> FormWidget | None:
    """Return the PDF tick box at the value of a field; None if there is no tick box.

    If the field has no value, return the nearest tick box to the left or right of the field's key.
    """
    if view.turns or view.unrolling is not None:
        return None
    boxes = [widget for widget in view.page.widgets if widget.checked is not None]
    if field.value_box is not None:
        x, y = field.value_box.center
        return next((box for box in boxes if _contains(box.rect, x, y)), None)
    key = field.key_box
    if key is None:
        return None
    reach = _TICK_GAP * key.height
    near = [
        (gap, number)
        for number, box in enumerate(boxes)
        if box.rect.min_y <= key.center[1] <= box.rect.max_y
        and (gap := max(box.rect.min_x - key.max_x, key.min_x - box.rect.max_x)) <= reach
    ]
    return boxes[min(near)[1]] if near else None


def _contains(rect: Rect, x: float, y: float) -> bool:
    return rect.min_x <= x <= rect.max_x and rect.min_y <= y <= rect.max_y
