"""Booleans: true or false in JSON, and as text in forms; nothing else."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.errors import InvalidParameter
from chalicelib.routes.models.training import TrainParams
from chalicelib.web.operations.forms import convert


class Item(msgspec.Struct):
    """An element of a list."""

    remove: bool = False
    number: int | None = None


class Body(msgspec.Struct):
    """Fields of every kind that accepts a boolean."""

    strict: bool | None = None
    header: bool | int | None = None
    items: list[Item] | None = None
    names: list[str] | None = None


@pytest.mark.parametrize(
    ("sent", "read"),
    [(True, True), (False, False), ("true", True), ("False", False), ("1", True), ("0", False)],
)
def test_booleans_are_read_from_json_and_forms(sent: object, read: object) -> None:
    """Booleans are read from JSON and forms, in fields, `trainParams` and list elements."""
    assert convert({"strict": sent}, Body).strict is read
    assert convert({"skipSmallLabels": sent}, TrainParams).skip_small_labels is read
    assert convert({"items": [{"remove": sent, "number": "2.0"}]}, Body).items == [
        Item(bool(read), 2)
    ]


@pytest.mark.parametrize("sent", [1, 0, 1.0, 2, "2", "yes", [True]])
def test_other_values_are_refused_everywhere(sent: object) -> None:
    """Other values are refused with place, expected and received value."""
    problems = []
    for values, form in (
        ({"strict": sent}, Body),
        ({"withFeedback": sent}, TrainParams),
        ({"items": [{}, {"remove": sent}]}, Body),
    ):
        with pytest.raises(InvalidParameter, match="expected true or false, got") as refused:
            convert(values, form)
        problems.append(str(refused.value))
    assert [text.split("'")[1] for text in problems] == [
        "strict",
        "withFeedback",
        "items[1].remove",
    ]


def test_numbers_stay_where_a_field_takes_both() -> None:
    """`header` accepts a boolean or a row number; a text in a list is not read as a number."""
    assert convert({"header": 1}, Body).header == 1
    assert convert({"header": True}, Body).header is True
    with pytest.raises(InvalidParameter, match="got '3'"):
        convert({"names": "3"}, Body)
