"""Interactive form fields on the pages of a PDF. See contract section 6, formFields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.documents.page import FormWidget, Page
from chalicelib.domain.documents.picture import PixelBox

# Kinds of fields; push buttons have no value and are left out.
FIELD_KINDS: Final = ("text", "checkbox", "radio", "choice", "signature")
# Maximum number of fields of a document, about what an answer of 6 MB can hold.
MAX_FORM_WIDGETS: Final = 10_000
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
