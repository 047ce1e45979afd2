"""Types and checks of request fields that several operations share.

Rules that stand in a schema only, for the document, are enforced by chalicelib/domain/fields.py.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.domain.limits import (
    EPOCHS_RANGE,
    LEARNING_RATE_RANGE,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
)
from chalicelib.errors import InvalidParameter

NO_CONTROLS = r"^[^\u0000-\u001f\u007f-\u009f]*$"

Name = Annotated[
    str,
    Meta(extra_json_schema={"maxLength": MAX_NAME_CHARACTERS, "minLength": 1, "pattern": r"\S"}),
]
Document = Annotated[
    str,
    Meta(
        description="The text; never trimmed.",
        extra_json_schema={"maxLength": MAX_TEXT_CHARACTERS, "minLength": 1, "pattern": r"\S"},
    ),
]
ModelId = Annotated[str, Meta(description="Id of a model.")]
Count = Annotated[int, Meta(ge=1)]
Epochs = Annotated[int, Meta(ge=EPOCHS_RANGE[0], le=EPOCHS_RANGE[1])]
LearningRate = Annotated[float, Meta(ge=LEARNING_RATE_RANGE[0], le=LEARNING_RATE_RANGE[1])]
Share = Annotated[float, Meta(gt=0, lt=1)]


def check_document(text: str) -> None:
    """Refuse a text that is blank or too long.

    Raises:
        InvalidParameter: it is.
    """
    if not text.strip():
        raise InvalidParameter("document", "it is only white space; send a text.")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise InvalidParameter(
            "document",
            f"it has {len(text)} characters, the limit is {MAX_TEXT_CHARACTERS}; shorten it.",
        )
