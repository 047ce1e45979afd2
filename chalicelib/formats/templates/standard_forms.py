"""Templates of the forms that callers name by `formType`. Contract section 6.

They lie in chalicelib/assets/forms, in the format that callers send; docs/forms.md lists their
entities.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.errors import InvalidParameter
from chalicelib.formats.templates.form_template import read_template

FORM_TYPES = ("1040", "dl", "passport", "paystub", "permanentResident", "w2")
"""Forms that callers may name."""

_FOLDER = Path(__file__).parents[2] / "assets" / "forms"
_SHOWN_CHARACTERS = 40


def standard_template(form_type: str) -> FormTemplate:
    """Return the template of a form.

    Args:
        form_type: one of FORM_TYPES.

    Raises:
        InvalidParameter: there is no such form; the text names those that there are.
    """
    if form_type not in FORM_TYPES:
        shown = form_type[:_SHOWN_CHARACTERS].encode("utf-8", "backslashreplace").decode()
        raise InvalidParameter(
            "formType",
            f'"{shown}" is not known. Name one of {", ".join(FORM_TYPES)}, or send a template of '
            "your own as formTemplate.",
        )
    return _read(form_type)


@cache
def _read(form_type: str) -> FormTemplate:
    """Read the template of a form that there is."""
    return read_template((_FOLDER / f"{form_type}.json").read_bytes())
