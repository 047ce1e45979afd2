"""The size of an answer inside a function's result."""

from __future__ import annotations

import json

import msgspec
import pytest

from chalicelib.web.http.paging import wire_bytes

TEXTS = ("", "plain", '"' * 9, "\\" * 9, "a\nb\t\x01", "Zürich 猫", "\x7f")


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_what_json_makes_of_it(text):
    """The computed size equals that of the answer encoded as JSON within JSON."""
    encoded = msgspec.json.encode({"text": text})

    inside = json.dumps(encoded.decode(), ensure_ascii=False).encode()

    assert wire_bytes(encoded) + len(b'""') == len(inside)
