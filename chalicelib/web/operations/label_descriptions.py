"""The field `labelDescriptions`, which several calls have. See beyond.md, section 15."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.datasets.label_descriptions import (
    MAX_DESCRIPTION,
    PARAMETER,
    LabelDescription,
    checked_descriptions,
)
from chalicelib.errors import InvalidParameter
from chalicelib.formats.texts.json_limits import is_too_deep
from chalicelib.web.operations.forms import convert


class DescriptionItem(msgspec.Struct):
    """The description of one label."""

    name: str
    # Checked by the domain, for a text that names the place.
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
    sent: list[DescriptionItem] | str | None, family: str, dataset_type: str | None
) -> tuple[LabelDescription, ...]:
    """Return the checked descriptions of a call; () if none were sent.

    Raises:
        InvalidParameter: the descriptions are not allowed.
    """
    if sent is None:
        return ()
    items = _decoded(sent) if isinstance(sent, str) else sent
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
