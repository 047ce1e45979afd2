"""Descriptions in which callers explain the meaning of labels. See beyond.md, section 15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.common.limits import MAX_LABELS
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.fields import checked_label
from chalicelib.errors import InvalidParameter

PARAMETER = "labelDescriptions"
# Longest description, in characters.
MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class LabelDescription:
    """The name of a label and the description of its meaning."""

    name: str
    description: str
    """The description; in a request, empty to remove it."""
    examples: int = 0
    """Number of examples of the label; only set in answers."""


def checked_descriptions(
    items: Sequence[LabelDescription], family: str, dataset_type: str | None
) -> tuple[LabelDescription, ...]:
    """Check the label descriptions in a request; return them as they are stored.

    Raises:
        InvalidParameter: the family has no label descriptions, the list is empty or too long, or
            a description is not allowed.
    """
    if family != LANGUAGE:
        raise InvalidParameter(PARAMETER, "only language datasets have descriptions; omit it.")
    if not items:
        raise InvalidParameter(PARAMETER, "the list is empty; name at least one label.")
    if len(items) > MAX_LABELS:
        raise InvalidParameter(
            PARAMETER, f"there are {len(items):,}, the limit is {MAX_LABELS:,}; send fewer."
        )
    found = tuple(
        _checked(place, one, dataset_type or "text-intent") for place, one in enumerate(items)
    )
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameter(PARAMETER, f"{twice!r} is listed twice; send each label once.")
    return found


def _checked(place: int, item: LabelDescription, dataset_type: str) -> LabelDescription:
    name = checked_label(item.name, dataset_type, f"{PARAMETER}[{place}].name")
    description = " ".join(item.description.split())
    if len(description) > MAX_DESCRIPTION:
        raise InvalidParameter(
            f"{PARAMETER}[{place}].description",
            f"it has {len(description)} characters, the limit is {MAX_DESCRIPTION}; shorten it.",
        )
    return LabelDescription(name, description)
