"""Types of request fields that several operations use.

Rules in `extra_json_schema` are only documentation. chalicelib/domain checks them, with better
error texts.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.domain.common.limits import (
    EPOCHS_RANGE,
    LEARNING_RATE_RANGE,
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
)
from chalicelib.domain.datasets.dataset import (
    FAMILY_TYPES,
    LANGUAGE,
    LANGUAGE_ALIASES,
    LANGUAGES,
    VISION,
)
from chalicelib.domain.datasets.upload_format import PICTURE_KINDS, TEXT_KINDS
from chalicelib.domain.models.model import ALGORITHM_ALIASES, ALGORITHMS
from chalicelib.domain.models.model_version import LARGEST_VERSION

_CONTROL = r"\x00-\x1f\x7f-\x9f"
# Pattern of a text without control characters that is not blank.
VISIBLE = rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"

# `extra_json_schema` instead of `max_length`, so that the domain refuses a long name, with a
# remedy.
Name = Annotated[
    str,
    Meta(extra_json_schema={"maxLength": MAX_NAME_CHARACTERS, "minLength": 1, "pattern": VISIBLE}),
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
ModelVersionNumber = Annotated[
    int,
    Meta(ge=1, le=LARGEST_VERSION, examples=[2]),
]
Language = Annotated[str, Meta(extra_json_schema={"enum": [*LANGUAGES, *LANGUAGE_ALIASES]})]
Filled = Annotated[str, Meta(extra_json_schema={"minLength": 1, "pattern": VISIBLE})]
Algorithm = Annotated[
    str,
    Meta(
        extra_json_schema={
            "enum": [name for names in (*ALGORITHMS.values(), ALGORITHM_ALIASES) for name in names]
        }
    ),
]
NamePart = Annotated[
    str,
    Meta(
        description="Part of the name, in any case.",
        extra_json_schema={"examples": ["tickets"]},
    ),
]
Base64 = Annotated[
    str, Meta(description="The file's bytes.", extra_json_schema={"contentEncoding": "base64"})
]
Url = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
AnyType = Annotated[
    str,
    Meta(extra_json_schema={"enum": [kind for kinds in FAMILY_TYPES.values() for kind in kinds]}),
]
TextType = Annotated[str, Meta(extra_json_schema={"enum": [*FAMILY_TYPES[LANGUAGE]]})]
PictureType = Annotated[str, Meta(extra_json_schema={"enum": [*FAMILY_TYPES[VISION]]})]
TextKind = Annotated[str, Meta(extra_json_schema={"enum": [*TEXT_KINDS]})]
PictureKind = Annotated[str, Meta(extra_json_schema={"enum": [*PICTURE_KINDS]})]
AnyKind = Annotated[str, Meta(extra_json_schema={"enum": [*TEXT_KINDS, *PICTURE_KINDS]})]
Delimiter = Annotated[str, Meta(extra_json_schema={"enum": [",", ";", "|", "tab"]})]
Encoding = Annotated[str, Meta(extra_json_schema={"examples": ["windows-1252", "shift_jis"]})]
# Longer ones get a 400 that says so, and a schema has no remedy.
Separator = Annotated[str, Meta(extra_json_schema={"maxLength": 3, "examples": [";"]})]
# A column is a header or a number from 1.
Column = Annotated[int | str, Meta(extra_json_schema={"examples": ["Subject", 2]})]
Count = Annotated[int, Meta(ge=1)]
Explain = Annotated[
    bool,
    Meta(
        description="Whether to return in `explanation` the words, or regions of an image, that "
        "the first label is based on. It counts as one prediction and takes the time of up to 64.",
        examples=[True],
    ),
]
Epochs = Annotated[int, Meta(ge=EPOCHS_RANGE[0], le=EPOCHS_RANGE[1])]
LearningRate = Annotated[float, Meta(ge=LEARNING_RATE_RANGE[0], le=LEARNING_RATE_RANGE[1])]
Share = Annotated[float, Meta(gt=0, lt=1)]
