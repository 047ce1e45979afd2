"""`python -m tests.flows.guides` draws the invoice, runs the guides, and saves their images."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.flows.guides.invoice import draw_invoice
from tests.flows.guides.terminal import ROOT, Terminal, blocks, start

# What each guide draws, and its name below docs/images.
IMAGES = {
    "support-tickets": {"matrix.png": "guide_matrix.png", "curve.png": "guide_curve.png"},
    "find-objects": {"found.png": "guide_boxes.png"},
    "invoices": {"read.png": "guide_invoice.png"},
}


def main() -> None:
    """Run the guides that draw on a new stack, and copy their images."""
    (ROOT / "docs" / "guides" / "invoice.png").write_bytes(draw_invoice())
    with (
        start() as stack,
        tempfile.TemporaryDirectory() as t,
    ):
        terminal = Terminal(stack, Path(t))
        for name, images in IMAGES.items():
            folder = terminal.create_folder(name)
            terminal.run(folder, "\n".join(blocks(ROOT / "docs" / "guides" / f"{name}.md")))
            for drawn, saved in images.items():
                shutil.copy(folder / drawn, ROOT / "docs" / "images" / saved)
        terminal.close()


if __name__ == "__main__":
    main()
