"""What README and docs print is run as it is printed."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.flows.guides.__main__ import PICTURES
from tests.flows.guides.desk import ROOT, Desk, blocks, start
from tests.flows.guides.invoice import draw_invoice

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "client").glob("*.md")]
)
PAGES = [page for page in DOCUMENTS if blocks(page)]
PROGRAMS = [page for page in DOCUMENTS if blocks(page, "python")]
LAST_LINES = {"sign-in": r"eyJ[\w-]+\.[\w-]+\.[\w-]+"}
"""What the program of a page prints last, where that is not a predicted label."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, closed_network: None) -> Iterator[Desk]:
    """A desk beside a stack with the models that ship."""
    with start() as stack:
        made = Desk(stack, tmp_path_factory.mktemp("desk"))
        yield made
        made.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_do_what_it_says(desk: Desk, page: Path) -> None:
    """Every command of a page that needs no AWS account succeeds, in the order of the page."""
    place = desk.lay(f"{page.parent.name}-{page.stem}")
    desk.run(place, "\n".join(blocks(page)))
    for drawn in PICTURES.get(page.stem, {}):
        with Image.open(place / drawn) as picture:
            assert picture.format == "PNG"


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.parent.name)
def test_programs_of_a_page_run_as_printed(desk: Desk, page: Path) -> None:
    """Each program has at most ten lines and prints a label, or what its page is about."""
    place = desk.lay(f"program-{page.parent.name}-{page.stem}")
    for program in blocks(page, "python"):
        assert len(program.splitlines()) <= 10
        said = desk.run(place, program, program=sys.executable)
        last = said.splitlines()[-1]
        assert re.fullmatch(LAST_LINES.get(page.stem, "delivery-date"), last), last


def test_invoice_of_the_guide_is_what_is_drawn() -> None:
    """`python -m tests.flows.guides` draws the page that the guide reads."""
    shipped = np.asarray(Image.open(ROOT / "docs" / "guides" / "invoice.png"), np.int16)
    drawn = np.asarray(Image.open(io.BytesIO(draw_invoice())), np.int16)
    assert shipped.shape == drawn.shape
    assert np.mean(np.abs(shipped - drawn) > 64) < 0.0005
