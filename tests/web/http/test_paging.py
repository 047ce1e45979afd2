"""Pages: windows, the 5 MB cap, and the next offset."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.common.limits import MAX_PAGE_BYTES
from chalicelib.domain.common.paging import ListPage
from chalicelib.errors import InvalidParameter
from chalicelib.web.http.paging import Window, list_answer, window

ASKED = Window(0, 100)


@given(st.text(max_size=30), st.text(max_size=30))
def test_window_is_whole_or_refused(offset, count):
    """Whatever is sent, the window lies within the list's bounds or the call is refused."""
    try:
        asked = window({"offset": offset, "count": count}, 25)
    except InvalidParameter:
        return
    assert asked.offset >= 0
    assert 1 <= asked.count <= 25


def test_page_over_5_mb_is_cut():
    """A page that would exceed 5 MB holds fewer records, and the link continues exactly there."""
    items = ("x" * 1_000_000,) * 8

    answer = list_answer(ListPage(items, 16, has_more=False), lambda text: text, ASKED)

    assert (len(answer.record.data), answer.next_offset) == (4, 20)
    assert len(msgspec.json.encode(answer.record)) <= MAX_PAGE_BYTES


def test_page_of_exactly_5_mb_is_whole():
    """The cap is the limit itself, to the byte."""
    wrapper = len(b'{"object":"list","data":[]}')
    first = (MAX_PAGE_BYTES - wrapper) // 2 - 3
    items = ("x" * first, "x" * (MAX_PAGE_BYTES - wrapper - first - 5))

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    assert answer.next_offset is None
    assert len(msgspec.json.encode(answer.record)) == MAX_PAGE_BYTES


def test_page_of_quotes_ends_where_a_function_could_not_return_it():
    """Inside the JSON of a function's result each quote and backslash takes one byte more."""
    items = ('"' * 200_000,) * 20

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    text = msgspec.json.encode(answer.record).decode()
    assert len(json.dumps({"body": text}, ensure_ascii=False)) < 6 * 1024 * 1024
    assert (len(answer.record.data), answer.next_offset) == (7, 7)


def test_one_record_is_always_sent():
    """A single record over the cap is a separate page."""
    items = ("x" * (MAX_PAGE_BYTES + 1), "y")

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    assert (len(answer.record.data), answer.next_offset) == (1, 1)


@pytest.mark.parametrize(("has_more", "following"), [(True, 12), (False, None)])
def test_next_offset(has_more, following):
    """The last page has no next one."""
    answer = list_answer(ListPage(("a", "b"), 10, has_more), lambda text: text, ASKED)

    assert answer.next_offset == following
