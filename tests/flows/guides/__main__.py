"""`python -m tests.flows.guides` draws the invoice, runs the guides, and keeps their pictures."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.flows.guides.desk import ROOT, Desk, blocks, start
from tests.flows.guides.invoice import draw_invoice

PICTURES = {
    "support-tickets": {"matrix.png": "guide_matrix.png", "curve.png": "guide_curve.png"},
    "find-objects": {"found.png": "guide_boxes.png"},
    "invoices": {"read.png": "guide_invoice.png"},
}
"""What each guide draws, and its name among the images of the documents."""


def main() -> None:
    """Start a stack, run the guides that draw, copy what they drew."""
    (ROOT / "docs" / "guides" / "invoice.png").write_bytes(draw_invoice())
    with (
        start() as stack,
        tempfile.TemporaryDirectory() as t,
    ):
        desk = Desk(stack, Path(t))
        for name, pictures in PICTURES.items():
            place = desk.lay(name)
            desk.run(place, "\n".join(blocks(ROOT / "docs" / "guides" / f"{name}.md")))
            for drawn, kept in pictures.items():
                shutil.copy(place / drawn, ROOT / "docs" / "images" / kept)
        desk.close()


if __name__ == "__main__":
    main()
