"""Types of request fields that several operations share.

Rules that stand in `extra_json_schema` are enforced by chalicelib/domain, whose texts are better.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.domain.dataset import FAMILY_TYPES, LANGUAGE, LANGUAGE_ALIASES, LANGUAGES
from chalicelib.domain.limits import (
    EPOCHS_RANGE,
    LEARNING_RATE_RANGE,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
)

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
ModelId = Annotated[
    str,
    Meta(description="Id of a model.", extra_json_schema={"pattern": "^[A-Za-z0-9]{1,64}$"}),
]
Language = Annotated[str, Meta(extra_json_schema={"enum": [*LANGUAGES, *LANGUAGE_ALIASES]})]
Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
AnyType = Annotated[
    str,
    Meta(extra_json_schema={"enum": [kind for kinds in FAMILY_TYPES.values() for kind in kinds]}),
]
TextType = Annotated[str, Meta(extra_json_schema={"enum": [*FAMILY_TYPES[LANGUAGE]]})]
Count = Annotated[int, Meta(ge=1)]
Epochs = Annotated[int, Meta(ge=EPOCHS_RANGE[0], le=EPOCHS_RANGE[1])]
LearningRate = Annotated[float, Meta(ge=LEARNING_RATE_RANGE[0], le=LEARNING_RATE_RANGE[1])]
Share = Annotated[float, Meta(gt=0, lt=1)]
