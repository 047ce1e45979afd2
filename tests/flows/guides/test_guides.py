"""What README and docs print is run as it is printed."""

from __future__ import annotations

import io
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
    """From a file to a prediction in at most ten lines, which print a label."""
    place = desk.lay(f"program-{page.parent.name}-{page.stem}")
    for program in blocks(page, "python"):
        assert len(program.splitlines()) <= 10
        said = desk.run(place, program, program=sys.executable)
        assert said.splitlines()[-1] == "delivery-date"


def test_invoice_of_the_guide_is_what_is_drawn() -> None:
    """`python -m tests.flows.guides` draws the page that the guide reads."""
    shipped = np.asarray(Image.open(ROOT / "docs" / "guides" / "invoice.png"), np.int16)
    drawn = np.asarray(Image.open(io.BytesIO(draw_invoice())), np.int16)
    assert shipped.shape == drawn.shape
    assert np.mean(np.abs(shipped - drawn) > 64) < 0.0005
