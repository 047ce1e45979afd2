"""Samples that come as text."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.documents.sample import decode_base64
from chalicelib.errors import InvalidParameter


@given(st.binary(max_size=300))
def test_every_spelling_of_base64(content: bytes) -> None:
    """Line breaks, missing padding, the alphabet of URLs and a data URL all give the bytes."""
    text = base64.b64encode(content).decode()
    spellings = [
        text,
        text.rstrip("="),
        base64.encodebytes(content).decode(),
        base64.urlsafe_b64encode(content).decode(),
        f"data:image/png;base64,{text}",
        f" data:image/jpeg;charset=utf-8;base64,{text}\r\n",
    ]
    assert [decode_base64(spelling) for spelling in spellings] == [content] * len(spellings)


@pytest.mark.parametrize("text", ["a", "é" * 4, "AAAA!AAA", "data:image/png,AAAA", "%41"])
def test_what_is_no_base64(text: str) -> None:
    """Anything else is refused with the remedy."""
    with pytest.raises(InvalidParameter, match="Encode the file's bytes as base64"):
        decode_base64(text)
