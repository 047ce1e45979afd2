"""The fields of a PDF's own form, as its pages show them. Contract section 6, formFields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from chalicelib.domain.documents.page import FormWidget, Page
from chalicelib.domain.documents.picture import PixelBox

# Kinds of fields; push buttons have no value and are left out.
FIELD_KINDS: Final = ("text", "checkbox", "radio", "choice", "signature")
# Most fields of a document: an answer of 6 MB holds about as many.
MAX_FORM_WIDGETS: Final = 10_000
# The box of a field that is outside its page.
_NOWHERE = PixelBox(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class PlacedWidget:
    """A widget as an answer describes it."""

    widget: FormWidget
    page_number: int
    """From 1."""
    box: PixelBox
    """In pixels of the answer; 1, 1, 1, 1 outside the page."""


def placed_widgets(pages: Sequence[Page]) -> Iterator[PlacedWidget]:
    """Yield the fields of some pages in the order of the PDF."""
    for page in pages:
        for widget in page.widgets:
            box = page.answer_box(widget.rect)
            is_shown = box.max_x > box.min_x and box.max_y > box.min_y
            yield PlacedWidget(widget, page.number, box if is_shown else _NOWHERE)
