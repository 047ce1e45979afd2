"""The template states what the emulator cannot prove."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.deployed.unproved import UNPROVED


@pytest.mark.parametrize("name", UNPROVED)
def test_template_says_so(package: Path, name: str):
    """The packaged templates have the settings that this emulator ignores."""
    data, service = (
        json.loads((package / n).read_text("utf-8")) for n in ("data.json", "sam.json")
    )
    UNPROVED[name]({"Resources": {**data["Resources"], **service["Resources"]}})
