"""Pages: windows, the 5 MB limit, and the next offset."""

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
    """Any offset and count give a window within bounds or a 400."""
    try:
        asked = window({"offset": offset, "count": count}, 25)
    except InvalidParameter:
        return
    assert asked.offset >= 0
    assert 1 <= asked.count <= 25


def test_page_over_5_mb_is_cut():
    """A page over 5 MB is shortened, and the link continues exactly after it."""
    items = ("x" * 1_000_000,) * 8

    answer = list_answer(ListPage(items, 16, has_more=False), lambda text: text, ASKED)

    assert (len(answer.record.data), answer.next_offset) == (4, 20)
    assert len(msgspec.json.encode(answer.record)) <= MAX_PAGE_BYTES


def test_page_of_exactly_5_mb_is_whole():
    """A page of exactly 5 MB is not shortened."""
    wrapper = len(b'{"object":"list","data":[]}')
    first = (MAX_PAGE_BYTES - wrapper) // 2 - 3
    items = ("x" * first, "x" * (MAX_PAGE_BYTES - wrapper - first - 5))

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    assert answer.next_offset is None
    assert len(msgspec.json.encode(answer.record)) == MAX_PAGE_BYTES


def test_page_of_quotes_ends_where_a_function_could_not_return_it():
    """The limit counts escaped quotes and backslashes in the function's JSON result."""
    items = ('"' * 200_000,) * 20

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    text = msgspec.json.encode(answer.record).decode()
    assert len(json.dumps({"body": text}, ensure_ascii=False)) < 6 * 1024 * 1024
    assert (len(answer.record.data), answer.next_offset) == (7, 7)


def test_one_record_is_always_sent():
    """A single record over the limit is a page of its own."""
    items = ("x" * (MAX_PAGE_BYTES + 1), "y")

    answer = list_answer(ListPage(items, 0, has_more=False), lambda text: text, ASKED)

    assert (len(answer.record.data), answer.next_offset) == (1, 1)


@pytest.mark.parametrize(("has_more", "following"), [(True, 12), (False, None)])
def test_next_offset(has_more, following):
    """The last page has no next offset."""
    answer = list_answer(ListPage(("a", "b"), 10, has_more), lambda text: text, ASKED)

    assert answer.next_offset == following
