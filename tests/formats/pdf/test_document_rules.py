"""Document limits and their error messages."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadRequest
from chalicelib.formats.documents import document_kind
from chalicelib.formats.pdf.document import refused, require_pages, too_slow


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"%PDF-", "png"),
        (b"\xff\xd8\xff\xe0 %PDF-", "jpeg"),
        (b"%PDF-1.4", "pdf"),
        (bytes(1019) + b"%PDF-", "pdf"),
    ],
)
def test_kinds_by_content(data, kind):
    """The first bytes decide the type, even if an image contains a PDF signature."""
    assert document_kind(data) == kind


def test_pages_are_counted():
    """A document with exactly the allowed number of pages is accepted."""
    require_pages(8, 8)
    for count in (-1, 0, 9):
        with pytest.raises(BadRequest):
            require_pages(count, 8)


@pytest.mark.parametrize("error", ["password", "security", "format", "something else"])
def test_refusals_name_a_remedy(error):
    """Each refusal has a remedy."""
    assert "send" in refused(error).message.lower()


def test_slow_pages_name_the_time():
    """The error for a slow page has the configured time."""
    assert "within 0.5 seconds" in too_slow("Page 3 of the PDF", 0.5).message
