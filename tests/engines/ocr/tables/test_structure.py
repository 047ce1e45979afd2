"""The structure network's tokens become cells."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.engines.ocr.tables.structure import FILES, StructureModel, load_structure
from tests.engines.ocr.tables.drawn import MODELS, SALES, Sheet, draw_rows, structure

TOKENS = ["sos", "<thead>", "</thead>", "<tr>", "</tr>", "<td></td>", "<td", ">", "</td>",
          ' colspan="2"', ' rowspan="2"', ' colspan="99"', "eos"]  # fmt: skip


class Scripted:
    """Returns the tokens that a test sets."""

    def __init__(self, tokens: list[str]) -> None:
        self.numbers = [TOKENS.index(token) for token in tokens]

    def get_outputs(self) -> list[object]:
        return [type("Output", (), {"name": name})() for name in ("boxes", "tokens")]

    def run(self, names: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert inputs["x"].shape == (1, 3, 488, 488)
        tokens = np.zeros((1, len(self.numbers), len(TOKENS)), np.float32)
        tokens[0, range(len(self.numbers)), self.numbers] = 0.9
        return [np.full((1, len(self.numbers), 4), 0.5, np.float32), tokens]


def shape(tokens: list[str]) -> list[tuple[int, int, int, int, bool]]:
    """Return row, column, spans and header flag of the cells that tokens describe."""
    model = StructureModel(Scripted(tokens), TOKENS)
    grid = model.grid(np.zeros((50, 100, 3), np.uint8), (10, 20))
    assert all(slot.box.center == (60, 45) for slot in grid.slots)
    return [(s.row, s.column, s.row_span, s.column_span, s.is_head) for s in grid.slots]


def test_a_drawn_table_is_understood() -> None:
    """The installed network finds header and five rows of a plain table."""
    sheet = Sheet(560, 280)
    edges, _ = draw_rows(sheet, SALES, (20, 20))
    grid = structure().grid(np.asarray(sheet.image))
    assert (grid.row_count, grid.column_count) == (6, 4)
    assert [slot.is_head for slot in grid.slots] == [True] * 4 + [False] * 20
    assert grid.probability > 0.9
    for slot, line in zip(grid.slots, sheet.lines, strict=True):
        assert slot.box.overlap(line.box) > 0
    assert edges[0] == 20


def test_spans_push_cells_aside() -> None:
    """A cell that spans rows keeps its column in the next row."""
    tokens = ["<thead>", "<tr>", "<td", ' rowspan="2"', ">", "</td>", "<td", ' colspan="2"', ">",
              "</td>", "</tr>", "<tr>", "<td></td>", "<td></td>", "</tr>", "</thead>", "<tr>",
              "<td></td>", "</tr>", "eos", "<tr>", "<td></td>"]  # fmt: skip
    assert shape(tokens) == [
        (0, 0, 2, 1, True), (0, 1, 1, 2, True), (1, 1, 1, 1, True), (1, 2, 1, 1, True),
        (2, 0, 1, 1, False),
    ]  # fmt: skip


def test_nonsense_is_bounded() -> None:
    """Cells without a row, spans beyond the table and no tokens do not fail."""
    assert shape(["<td></td>", "<td"]) == []
    assert shape(["<tr>", "<td", ' colspan="99"', ' rowspan="2"']) == [(0, 0, 1, 20, False)]
    assert shape([]) == []


@pytest.mark.parametrize("name", [*FILES, "engine.json"])
def test_damaged_files_are_named(tmp_path: Path, name: str) -> None:
    """A file with an extra byte, or an invalid card, counts as not installed."""
    folder = tmp_path / "slanet"
    shutil.copytree(MODELS / "slanet", folder)
    with (folder / name).open("ab") as file:
        file.write(b"\0")

    with pytest.raises(OcrNotInstalled, match="slanet"):
        load_structure(folder)
