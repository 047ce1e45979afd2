"""Checks of fields that several operations share. See contract section 5."""

from __future__ import annotations

import re

from chalicelib.domain.common.limits import MAX_LABELS, MAX_NAME_CHARACTERS
from chalicelib.domain.datasets.dataset import (
    FAMILY_TYPES,
    LANGUAGE,
    LANGUAGES,
    NO_LANGUAGE,
    SENTIMENTS,
    language_code,
)
from chalicelib.domain.datasets.label_names import INVISIBLE, is_visible, normal_form
from chalicelib.errors import InvalidParameter, MissingParameter

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def checked_name(value: str, parameter: str = "name") -> str:
    """Check the name of a dataset, model or label; return it trimmed.

    Raises:
        InvalidParameter: the name is blank, too long, or contains control characters.
    """
    name = value.strip()
    if not name:
        raise InvalidParameter(parameter, "it is blank; send at least one visible character.")
    if len(name) > MAX_NAME_CHARACTERS:
        raise InvalidParameter(
            parameter,
            f"it has {len(name)} characters, the limit is {MAX_NAME_CHARACTERS}; shorten it.",
        )
    if _CONTROL.search(name):
        raise InvalidParameter(parameter, "it holds a control character; remove it.")
    return name


def checked_type(family: str, value: str | None) -> str:
    """Check a dataset type. The default of vision is `image`; language has no default.

    Raises:
        MissingParameter: no type was sent for a language dataset.
        InvalidParameter: the family does not have this type.
    """
    types = FAMILY_TYPES[family]
    if value is None:
        if family == LANGUAGE:
            raise MissingParameter(
                "type", f"The 'type' parameter is required: {' or '.join(types)}."
            )
        return types[0]
    if value not in types:
        raise InvalidParameter("type", f"{value[:100]!r} is not one of {', '.join(types)}.")
    return value


def checked_language(family: str, value: str | None) -> str:
    """Check the language of a dataset. The default of texts is `en_US`; images have none.

    Raises:
        InvalidParameter: the language is not supported.
    """
    if family != LANGUAGE:
        return NO_LANGUAGE
    code = language_code(value or "en_US")
    if code is None:
        raise InvalidParameter(
            "language", f"{(value or '')[:100]!r} is not one of {', '.join(LANGUAGES)}."
        )
    return code


def checked_label(value: str, dataset_type: str, parameter: str = "label") -> str:
    """Check a label name; return it as it is stored, sentiments in lower case.

    Raises:
        InvalidParameter: datasets of this type cannot have such a label.
    """
    name = normal_form(checked_name(value, parameter))
    if not is_visible(name):
        raise InvalidParameter(parameter, f"{INVISIBLE} Send another one.")
    if dataset_type == "text-sentiment":
        name = name.lower()
        if name not in SENTIMENTS:
            raise InvalidParameter(parameter, f"{value!r} is not one of {', '.join(SENTIMENTS)}.")
    return name


def checked_labels(value: str | None, dataset_type: str) -> tuple[str, ...]:
    """Split a comma-separated list of labels, and check each label.

    Raises:
        InvalidParameter: a label is not allowed or is repeated, or there are too many.
    """
    parts = [part for part in (value or "").split(",") if part.strip()]
    labels = tuple(checked_label(part, dataset_type, "labels") for part in parts)
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InvalidParameter("labels", f"{twice!r} is listed twice; send each label once.")
    if len(labels) > MAX_LABELS:
        raise InvalidParameter(
            "labels", f"there are {len(labels)}, the limit is {MAX_LABELS}; send fewer."
        )
    return labels
