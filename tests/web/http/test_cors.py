"""Allowed origins in the settings, and the CORS headers of answers."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings, SettingsError
from chalicelib.web.http.cors import OPEN_HEADERS, cors_headers


def test_origins_are_read_as_browsers_write_them() -> None:
    """Origins ignore case and a trailing slash; without the variable there are none."""
    given = {"PRESAGE_ALLOW_ORIGINS": "https://Shop.example/, http://localhost:3000,"}

    found = Settings.from_environment(given).allow_origins

    assert found == ("https://shop.example", "http://localhost:3000")
    assert Settings.from_environment({}).allow_origins == ()


@pytest.mark.parametrize("wrong", ["shop.example", "https://shop.example/a", "https://*.example"])
def test_what_is_no_origin_is_refused(wrong: str) -> None:
    """A value that cannot match an origin is refused at start, with the correct form."""
    with pytest.raises(SettingsError, match=r"PRESAGE_ALLOW_ORIGINS .* https://shop\.example, or"):
        Settings.from_environment({"PRESAGE_ALLOW_ORIGINS": wrong})


def test_every_origin() -> None:
    """A star allows every origin with the same answer."""
    assert cors_headers(("*",), "https://any.example") == OPEN_HEADERS
