"""Origins as they are set, and what an answer says of them."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings, SettingsError
from chalicelib.web.http.cors import OPEN_HEADERS, cors_headers


def test_origins_are_read_as_browsers_write_them() -> None:
    """Case and a slash at the end make no difference; without the variable there is none."""
    given = {"PRESAGE_ALLOW_ORIGINS": "https://Shop.example/, http://localhost:3000,"}

    found = Settings.from_environment(given).allow_origins

    assert found == ("https://shop.example", "http://localhost:3000")
    assert Settings.from_environment({}).allow_origins == ()


@pytest.mark.parametrize("wrong", ["shop.example", "https://shop.example/a", "https://*.example"])
def test_what_is_no_origin_is_refused(wrong: str) -> None:
    """What would never match an origin is named at the start, with the way to write it."""
    with pytest.raises(SettingsError, match=r"PRESAGE_ALLOW_ORIGINS .* https://shop\.example, or"):
        Settings.from_environment({"PRESAGE_ALLOW_ORIGINS": wrong})


def test_every_origin() -> None:
    """A star allows every page, and the answer is the same for all."""
    assert cors_headers(("*",), "https://any.example") == OPEN_HEADERS
