"""Ids are digits below 2^63 or short words; anything else is not found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import DatasetNotFound, InvalidParameter, ModelNotFound
from chalicelib.routes.models.training import TrainForm
from chalicelib.web.operations import locate
from chalicelib.web.operations.forms import convert


@pytest.mark.parametrize("number", [0, 7, 2**31, 2**63 - 1])
def test_numbers_are_read(number):
    """Every possible numeric id is read from path and body."""
    assert locate.number_id(str(number), DatasetNotFound) == number
    for sent in (number, str(number)):
        assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) == number


WRITTEN = [
    12,
    12.0,
    "12",
    "12.0",
    "1.2e1",
    "1.2E+1",
    "120e-1",
    "0012",
    "12.000",
    "12" + "0" * 9 + "e-9",
]
NO_NUMBERS = [1.5, "1.5", "12e-1", "1e-999999999", float("nan"), float("inf"), "NaN", "Infinity"]
NO_NUMBERS += ["+1", " 1", "1.", ".5", "1e", "0x10", "1_000", "٣", "1" + "0" * 32]
TOO_LARGE = ["1e999999999", "1e19", 1e19, 1e300, "9" * 30, "-1e999999999"]


@pytest.mark.parametrize("sent", WRITTEN)
def test_whole_numbers_are_read_however_they_are_written(sent):
    """Path, query, form and JSON read the same number, also written as a decimal."""
    assert locate.number_id(sent, DatasetNotFound) == 12
    assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) == 12
    assert convert({"datasetId": sent, "name": "x"}, TrainForm).dataset_id == 12


@pytest.mark.parametrize("sent", [*NO_NUMBERS, *TOO_LARGE])
def test_locating_and_validation_agree_on_what_is_no_id(sent):
    """A value that is not a number is a 400 in the body and a 404 in a path; too large is a 404."""
    with pytest.raises(DatasetNotFound):
        locate.number_id(sent, DatasetNotFound)
    if sent in TOO_LARGE:
        with pytest.raises(DatasetNotFound):
            locate.sent_number_id({"id": sent}, "id", DatasetNotFound)
        return
    assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) is None
    with pytest.raises(InvalidParameter, match="whole number"):
        convert({"datasetId": sent, "name": "x"}, TrainForm)


@given(st.text(max_size=150))
def test_any_segment_is_an_id_or_not_found(segment):
    """Any path segment is an id or a 404 that repeats at most 100 characters of it."""
    for read, unknown in (
        (locate.number_id, DatasetNotFound),
        (locate.text_id, ModelNotFound),
    ):
        try:
            found = read(segment, unknown)
        except (DatasetNotFound, ModelNotFound) as error:
            message = error.message
        else:
            message = f"found {found}"
        assert len(message) <= 130


@pytest.mark.parametrize("sent", [None, True, 1.5, "x", "", [], {}, "1.5"])
def test_what_is_no_number_is_left_to_validation(sent):
    """Only whole numbers can be unknown ids; other values have the wrong type."""
    assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) is None


@pytest.mark.parametrize("sent", [-1, "-1", 2**63, str(2**70), 10**300])
def test_numbers_out_of_range_are_unknown(sent):
    """A whole number out of range is an unknown id."""
    with pytest.raises(DatasetNotFound):
        locate.sent_number_id({"id": sent}, "id", DatasetNotFound)
