"""Pages that benchmarks draw."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from bench.drawn_pages import SENTENCES, columns_page, font, language_page, wrapped


@pytest.mark.parametrize("columns", [2, 3])
def test_pages_in_columns_are_drawn_the_same_every_time(columns: int) -> None:
    """A seed gives the same picture and the same text; another seed gives another."""
    page, again, other = (columns_page(columns, number) for number in (4, 4, 5))

    assert page == again
    assert page.content != other.content
    assert Image.open(io.BytesIO(page.content)).size == (1240, 1754)
    assert len(page.texts) > 8


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_fit_their_pages(language: str) -> None:
    """Each language has enough of them, and a page is as high as its lines need."""
    assert language == "en" or len(set(SENTENCES[language])) == 12
    page = language_page(language, 0) if language != "en" else columns_page(2, 0)
    assert page.content.startswith(b"\x89PNG")


def test_lines_are_as_wide_as_they_may_be() -> None:
    """Words stay whole and in order; one that is too wide has a separate line."""
    face = font("DejaVuSans.ttf", 20)

    lines = wrapped("one two three incomprehensibilities four", face, 90)

    assert lines == ["one two", "three", "incomprehensibilities", "four"]
