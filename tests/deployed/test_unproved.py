"""What the emulator cannot prove stands in the template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.deployed.unproved import UNPROVED


@pytest.mark.parametrize("name", UNPROVED)
def test_template_says_so(package: Path, name: str):
    """The packaged template asks AWS for what this emulator does not do."""
    UNPROVED[name](json.loads((package / "sam.json").read_text("utf-8")))
