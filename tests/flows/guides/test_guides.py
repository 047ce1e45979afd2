"""Commands and programs of the README and docs run as printed."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.flows.guides.__main__ import IMAGES
from tests.flows.guides.invoice import draw_invoice
from tests.flows.guides.terminal import ROOT, Terminal, blocks
from tests.local_stack import LocalStack

DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "client").glob("*.md")]
)
PAGES = [page for page in DOCUMENTS if blocks(page)]
PROGRAMS = [page for page in DOCUMENTS if blocks(page, "python")]
# The last line that the program of a page prints, unless it is a predicted label.
LAST_LINES = {"sign-in": r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "client": r"delivery-date|\$?[\d,.]+"}


@pytest.fixture(scope="module")
def terminal(
    tmp_path_factory: pytest.TempPathFactory, shipped_stack: LocalStack
) -> Iterator[Terminal]:
    """A terminal connected to the stack with the prebuilt models."""
    made = Terminal(shipped_stack, tmp_path_factory.mktemp("terminal"), is_quick=True)
    yield made
    made.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_succeed(terminal: Terminal, page: Path) -> None:
    """Every command on a page that needs no AWS account succeeds, in page order."""
    folder = terminal.create_folder(f"{page.parent.name}-{page.stem}")
    terminal.run(folder, "\n".join(blocks(page)))
    for drawn in IMAGES.get(page.stem, {}):
        with Image.open(folder / drawn) as image:
            assert image.format == "PNG"


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.parent.name)
def test_programs_of_a_page_run_as_printed(terminal: Terminal, page: Path) -> None:
    """Each program has at most ten lines, and its output ends with the expected label or word."""
    folder = terminal.create_folder(f"program-{page.parent.name}-{page.stem}")
    for program in blocks(page, "python"):
        assert len(program.splitlines()) <= 10
        output = terminal.run(folder, program, program=sys.executable)
        last = output.splitlines()[-1]
        assert re.fullmatch(LAST_LINES.get(page.stem, "delivery-date"), last), last


def test_invoice_of_the_guide_is_up_to_date() -> None:
    """The invoice in the guide is the one that `python -m tests.flows.guides` draws."""
    shipped = np.asarray(Image.open(ROOT / "docs" / "guides" / "invoice.png"), np.int16)
    drawn = np.asarray(Image.open(io.BytesIO(draw_invoice())), np.int16)
    assert shipped.shape == drawn.shape
    assert np.mean(np.abs(shipped - drawn) > 64) < 0.0005
