"""Ids: digits below 2^63 or short words, anything else is not found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import DatasetNotFound, ModelNotFound
from chalicelib.web.operations import locate


@pytest.mark.parametrize("number", [0, 7, 2**31, 2**63 - 1])
def test_numbers_are_read(number):
    """Every id that may exist is read, from path and body."""
    assert locate.number_id(str(number), DatasetNotFound) == number
    for sent in (number, str(number)):
        assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) == number


@given(st.text(max_size=150))
def test_any_segment_is_an_id_or_not_found(segment):
    """Whatever stands in a path, the answer is an id or a 404 that repeats at most 100 of it."""
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


@pytest.mark.parametrize("sent", [None, True, 1.0, "x", "", [], {}, "1.0"])
def test_what_is_no_number_is_left_to_validation(sent):
    """Only whole numbers can be unknown ids; the rest is a wrong type."""
    assert locate.sent_number_id({"id": sent}, "id", DatasetNotFound) is None


@pytest.mark.parametrize("sent", [-1, "-1", 2**63, str(2**70), 10**300])
def test_numbers_out_of_range_are_unknown(sent):
    """A whole number that can be no id answers like an unknown one."""
    with pytest.raises(DatasetNotFound):
        locate.sent_number_id({"id": sent}, "id", DatasetNotFound)
