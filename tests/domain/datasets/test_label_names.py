"""Label names are normalized, and must be visible."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.fields import checked_label
from chalicelib.domain.datasets.label_names import (
    NamesOfLabel,
    ids_by_name,
    is_visible,
    normal_form,
)
from chalicelib.errors import InvalidParameter

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_composed_and_decomposed_names_are_one() -> None:
    """What looks the same is stored in one form."""
    assert normal_form(f" {DECOMPOSED} ") == normal_form(COMPOSED) == COMPOSED
    assert checked_label(DECOMPOSED, "text-intent") == COMPOSED


def test_labels_of_before_keep_their_ids() -> None:
    """A stored name is found in both spellings; of two the composed one wins."""
    composed, decomposed = NamesOfLabel(COMPOSED), NamesOfLabel(DECOMPOSED)
    assert ids_by_name({7: decomposed}) == {COMPOSED: 7}
    assert ids_by_name({7: decomposed, 8: composed}) == {COMPOSED: 8}
    assert ids_by_name({8: composed, 9: decomposed}) == {COMPOSED: 8}


@pytest.mark.parametrize("name", ["\u200b", "\u2060\ufeff", "\u3164", "\u2800 \u200d", "\ufe0f"])
def test_name_that_shows_nothing_is_refused(name: str) -> None:
    """Labels of invisible characters could not be distinguished."""
    assert not is_visible(name)
    with pytest.raises(InvalidParameter, match="no character that shows"):
        checked_label(name, "text-intent")


@pytest.mark.parametrize("name", ["a", "\u4e2d", "\U0001f34e", "\u0ca0", "-", "a\u200b", "\u0301"])
def test_name_that_shows_something_is_taken(name: str) -> None:
    """Letters of any script, symbols and emojis are names."""
    assert is_visible(name)
