"""Checks of the fields that several operations share."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.fields import (
    checked_label,
    checked_labels,
    checked_language,
    checked_name,
    checked_type,
)
from chalicelib.errors import InvalidParameter, MissingParameter


@pytest.mark.parametrize("name", ["n", " n ", "n" * 180, " " + "n" * 180 + "\n", "żółć 你好 🙂"])
def test_good_names(name: str) -> None:
    """Names are trimmed and may be Unicode, up to 180 characters."""
    assert name.strip() == checked_name(name)


@pytest.mark.parametrize("name", ["", "  ", "n" * 181, "a\tb", "a\x7fb", "a\x85b", "a\ud800b"])
def test_bad_names(name: str) -> None:
    """Blank and long names and control characters are refused, naming the parameter."""
    with pytest.raises(InvalidParameter, match="'title'"):
        checked_name(name, "title")


def test_types_of_a_family() -> None:
    """Images are the default below /vision; below /language the type must be sent."""
    assert checked_type("vision", None) == "image"
    assert checked_type("language", "text-sentiment") == "text-sentiment"
    with pytest.raises(MissingParameter, match="text-intent or text-sentiment"):
        checked_type("language", None)
    for family, value in (("language", "image"), ("vision", "text-intent"), ("vision", "IMAGE")):
        with pytest.raises(InvalidParameter):
            checked_type(family, value)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [(None, "en_US"), ("ENGLISH", "en_US"), ("pt", "pt_PT"), ("ja", "ja"), ("en_GB", "en_GB")],
)
def test_languages(sent: str | None, stored: str) -> None:
    """Older spellings are accepted, and the default is American English."""
    assert stored == checked_language("language", sent)
    assert checked_language("vision", sent) == "N/A"


def test_unknown_language() -> None:
    """A language that is not supported is refused with those that are."""
    with pytest.raises(InvalidParameter, match="zh_TW"):
        checked_language("language", "tlh")


def test_labels() -> None:
    """Labels are split at commas, trimmed, and stand once each."""
    assert checked_labels(" a ,b,, c", "image") == ("a", "b", "c")
    assert checked_labels(None, "image") == ()
    assert checked_label("POSITIVE ", "text-sentiment") == "positive"
    with pytest.raises(InvalidParameter, match="'a' is listed twice"):
        checked_labels("a,b, a", "image")
    with pytest.raises(InvalidParameter, match="there are 1001, the limit is 1000"):
        checked_labels(",".join(map(str, range(1_001))), "image")
    with pytest.raises(InvalidParameter, match="not one of positive, negative, neutral"):
        checked_label("meh", "text-sentiment")
