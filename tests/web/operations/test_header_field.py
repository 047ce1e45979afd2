"""The field `header` of uploads: true, false or a row number, in forms and in JSON."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.upload_format import checked_header
from chalicelib.errors import BadRequest
from chalicelib.routes.datasets.uploads import UploadForm
from chalicelib.web.operations.forms import convert


@pytest.mark.parametrize(
    ("sent", "header"),
    [
        ("true", True),
        ("false", False),
        ("2", 2),
        ("1", 1),
        ("0", False),
        (True, True),
        (False, False),
        (3, 3),
        (None, None),
    ],
)
def test_header_is_a_choice_or_a_row(sent: object, header: object) -> None:
    """Texts of forms and JSON values are read alike."""
    found = checked_header(convert({"header": sent}, UploadForm).header)

    assert (found, type(found)) == (header, type(header))


@pytest.mark.parametrize("sent", ["yes, please", "-1", "101", 101])
def test_other_headers_are_refused(sent: object) -> None:
    """Invalid values are refused with the field's name."""
    with pytest.raises(BadRequest, match="'header'"):
        checked_header(convert({"header": sent}, UploadForm).header)
