"""Types of request fields that several operations use.

Rules in `extra_json_schema` are only documentation. chalicelib/domain checks them, with better
error texts.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.domain.common.limits import (
    EPOCHS_RANGE,
    LEARNING_RATE_RANGE,
    MAX_LABELS,
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
from chalicelib.domain.datasets.label_descriptions import (
    MAX_DESCRIPTION,
    PARAMETER,
    LabelDescription,
    checked_descriptions,
)
from chalicelib.domain.datasets.upload_format import PICTURE_KINDS, TEXT_KINDS
from chalicelib.domain.documents.form_template import ENTITY_TYPES, LAYOUTS, VERSIONS, VIRTUAL_KEYS
from chalicelib.domain.models.model import ALGORITHM_ALIASES, ALGORITHMS
from chalicelib.domain.models.model_version import LARGEST_VERSION
from chalicelib.errors import InvalidParameter
from chalicelib.formats.texts.json_limits import is_too_deep
from chalicelib.web.operations.forms import convert

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
# `extra_json_schema`, so that a longer text is refused with a remedy.
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


class DescriptionItem(msgspec.Struct):
    """The description of one label."""

    name: str
    # Checked by the domain, whose error names the place.
    description: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MAX_DESCRIPTION})] = ""


class DescriptionsText(msgspec.Struct, rename="camel"):
    """Descriptions that were sent as JSON text."""

    label_descriptions: list[DescriptionItem]


DescriptionList = Annotated[
    list[DescriptionItem],
    msgspec.Meta(extra_json_schema={"minItems": 1, "maxItems": MAX_LABELS}),
]
# A form has no lists, so it sends JSON text.
DescriptionsField = Annotated[
    DescriptionList
    | Annotated[str, msgspec.Meta(extra_json_schema={"contentMediaType": "application/json"})]
    | None,
    msgspec.Meta(
        description="What labels mean, for trainings with few examples; language only. Labels "
        "that do not exist are added without examples. An empty description removes one.",
        examples=[[{"name": "late_parcel", "description": "A parcel has not arrived in time."}]],
    ),
]


def sent_descriptions(
    value: list[DescriptionItem] | str | None, family: str, dataset_type: str | None
) -> tuple[LabelDescription, ...]:
    """Return the checked descriptions of a call; () if none were sent.

    Raises:
        InvalidParameter: the descriptions are not allowed.
    """
    if value is None:
        return ()
    items = _decoded(value) if isinstance(value, str) else value
    found = [LabelDescription(item.name, item.description) for item in items]
    return checked_descriptions(found, family, dataset_type)


def _decoded(text: str) -> list[DescriptionItem]:
    # The decoder recurses, so deep nesting would exhaust the stack.
    if is_too_deep(text):
        raise InvalidParameter(PARAMETER, "the JSON text is nested too deeply.")
    try:
        found: Any = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        raise InvalidParameter(PARAMETER, "it is not valid JSON text.") from problem
    return convert({PARAMETER: found}, DescriptionsText).label_descriptions


_TEXT = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": VISIBLE}
_KEY = {
    "type": "object",
    "required": ["entity", "keyVariations"],
    "properties": {
        "entity": {**_TEXT, "description": "Name of what is found, unique in the template."},
        "keyVariations": {
            "type": "array",
            "minItems": 1,
            "items": _TEXT,
            "description": "Texts that the key may have on the page, or one of "
            f"{', '.join(VIRTUAL_KEYS)}, which need no key.",
        },
        "entityTypes": {
            "type": "array",
            "items": {"type": "string", "examples": [*ENTITY_TYPES]},
            "description": "What is taken as the value; TEXT by default.",
        },
    },
}
_HEADER_CELL = {
    "type": "object",
    "required": ["entity", "text"],
    "properties": {
        "entity": _TEXT,
        "text": _TEXT,
        "tableName": _TEXT,
        "variations": {"type": "array", "items": _TEXT},
    },
}
# The recommended form; chalicelib/formats/templates/form_template.py accepts more names and shapes.
# Without `type`, because the declaration of the field adds it.
FORM_TEMPLATE: dict[str, Any] = {
    "title": "FormTemplate",
    "description": "What to look for in a form; for task form only.",
    "required": ["keys", "version", "tableRecognition"],
    "properties": {
        "version": {"type": "string", "enum": [*VERSIONS]},
        "keys": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": ["key"], "properties": {"key": _KEY}},
        },
        "headerCells": {"type": "array", "items": _HEADER_CELL},
        "tableRecognition": {
            "type": "boolean",
            "description": "Whether tables are returned too.",
        },
        "layout": {
            "type": "array",
            "items": {"type": "string", "enum": [*LAYOUTS]},
            "description": "How the form is laid out: line numbers before its captions, columns of "
            "a pay statement, captions in two languages.",
        },
    },
}
