"""Reads the form fields of a PDF page: names, values, ticks and boxes. Runs in the child process.

Source: PDF 32000-1:2008, section 12.7, interactive forms; PDFium's fpdf_annot.h. Scripts of the
form are never run, and XFA forms are ignored.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chalicelib.formats.pdf.geometry import PageView

_WIDGET = 20
_CHECKBOX, _RADIO, _COMBO, _LIST = 2, 3, 4, 5
_KINDS = {2: "checkbox", 3: "radio", 4: "choice", 5: "choice", 6: "text", 7: "signature"}
# Longest name and value that are returned, in characters; the rest is cut off.
_MOST_NAME, _MOST_VALUE = 1_000, 32_767
# Size of the zero that ends a text.
_ZERO_BYTES = 2
# Maximum number of options of a list that are read.
_MOST_OPTIONS = 1_000


def read_widgets(pdfium: Any, forms: Any, page: Any, view: PageView, limit: int) -> list[list[Any]]:
    """Return up to `limit` form fields of a page.

    Returns:
        For each field: name, kind, value, whether it is ticked (None for fields that cannot be
        ticked), and the box on the raster (smallest x, smallest y, largest x, largest y).
    """
    found: list[list[Any]] = []
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        if len(found) >= limit:
            break
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        if pdfium.FPDFAnnot_GetSubtype(annotation) == _WIDGET:
            kind = pdfium.FPDFAnnot_GetFormFieldType(forms, annotation)
            if kind in _KINDS:
                found.append(_widget(pdfium, forms, annotation, kind, view))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return found


def _widget(pdfium: Any, forms: Any, annotation: Any, kind: int, view: PageView) -> list[Any]:
    """Return a form field: name, kind, value, whether it is ticked, and the sides of its box."""
    name = _text(lambda *to: pdfium.FPDFAnnot_GetFormFieldName(forms, annotation, *to))
    is_ticked = kind in (_CHECKBOX, _RADIO) and bool(pdfium.FPDFAnnot_IsChecked(forms, annotation))
    value = _value(pdfium, forms, annotation, kind, is_ticked)
    checked = is_ticked if kind in (_CHECKBOX, _RADIO) else None
    box = _box(pdfium, annotation, view)
    return [name[:_MOST_NAME], _KINDS[kind], value[:_MOST_VALUE], checked, *box]


def _value(pdfium: Any, forms: Any, annotation: Any, kind: int, is_ticked: bool) -> str:
    """Return the value of a form field: text, export value of a ticked box, or selected options."""
    if kind in (_CHECKBOX, _RADIO):
        export = pdfium.FPDFAnnot_GetFormFieldExportValue
        return _text(lambda *to: export(forms, annotation, *to)) if is_ticked else ""
    if kind in (_COMBO, _LIST) and (chosen := list(_chosen(pdfium, forms, annotation))):
        return "\n".join(chosen)
    return _text(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(forms, annotation, *to))


def _chosen(pdfium: Any, forms: Any, annotation: Any) -> Iterator[str]:
    label = pdfium.FPDFAnnot_GetOptionLabel
    count = min(_MOST_OPTIONS, pdfium.FPDFAnnot_GetOptionCount(forms, annotation))
    for number in range(count):
        if pdfium.FPDFAnnot_IsOptionSelected(forms, annotation, number):
            yield _text(partial(label, forms, annotation, number))


def _text(read: Callable[..., int]) -> str:
    """Return the text that the PDFium function `read` writes into a buffer as UTF-16."""
    size = read(None, 0)
    if size <= _ZERO_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = buffer.raw[: size - _ZERO_BYTES].decode("utf-16-le", errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join("".join(filter(str.isprintable, line)) for line in lines)


def _box(pdfium: Any, annotation: Any, view: PageView) -> tuple[float, float, float, float]:
    """Return the box of a form field on the raster; an empty box if it has no rectangle."""
    rect = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(rect)):
        return (0.0, 0.0, 0.0, 0.0)
    corners = [view.point(rect.left, rect.bottom), view.point(rect.right, rect.top)]
    across, down = zip(*corners, strict=True)
    return min(across), min(down), max(across), max(down)
