"""New examples: sizes, words and names."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD
from chalicelib.domain.datasets.example import PictureFile, new_picture, new_text

DIGEST = "2cf24dba5fb0a30e26e83b2ac5b9e29e"
"""The first 16 bytes of the SHA-256 of `hello`."""


def test_text() -> None:
    """A text counts its bytes in UTF-8, and its words in its language."""
    new = new_text("wo ist es, Möwe", "de", FEEDBACK, "birds", 7)

    assert (new.name, new.label, new.label_id, new.source) == (
        "wo ist es, Möwe",
        "birds",
        7,
        FEEDBACK,
    )
    assert (new.size_bytes, new.words, new.picture) == (16, 4, "")
    assert new_text("你好", "zh_CN", UPLOAD, "x").words == 2


@pytest.mark.parametrize(
    ("file_name", "name", "expected"),
    [
        ("a.png", "", "a.png"),
        ("a.png", "b", "b"),
        ("a.png", "   ", "a.png"),
        ("", "", f"{DIGEST}.png"),
        ("x" * 151, "", "x" * 150),
        ("🙂" * 151, "", "🙂" * 150),
        ("x" * 149 + " y", "", "x" * 149),
    ],
)
def test_picture(file_name: str, name: str, expected: str) -> None:
    """An image is identified by its bytes; its name is cut and never empty."""
    new = new_picture(PictureFile(b"hello", file_name, name), "image/png", UPLOAD, "cat")

    assert (new.name, new.picture, new.content, new.size_bytes) == (expected, DIGEST, b"hello", 5)
    assert "hello" not in repr(new)
