"""How true tables are read."""

from __future__ import annotations

import json
from pathlib import Path

from bench.ocr_table_data import html_cells, read_icdar, read_pubtabnet
from bench.ocr_table_metrics import GridText


def test_html_cells_are_placed_next_to_spans_from_above() -> None:
    """A cell below one that covers two rows is in the next free column."""
    tokens = ["<thead>", "<tr>", "<td", ' rowspan="2"', ">", "</td>"]
    tokens += ["<td", ' colspan="2"', ">", "</td>", "</tr>"]
    tokens += ["<tr>", "<td>", "</td>", "<td>", "</td>", "</tr>", "</thead>"]
    tokens += ["<tbody>", "<tr>", "<td>", "</td>", "<td>", "</td>", "<td>", "</td>", "</tr>"]
    assert html_cells([*tokens, "</tbody>"], ["a", "b", "c", "d", "1", "2", ""]) == (
        GridText(0, 0, "a", 2, 1, True),
        GridText(0, 1, "b", 1, 2, True),
        GridText(1, 1, "c", 1, 1, True),
        GridText(1, 2, "d", 1, 1, True),
        GridText(2, 0, "1"),
        GridText(2, 1, "2"),
        GridText(2, 2, ""),
    )


def test_pubtabnet_lines_are_read_without_markup(tmp_path: Path) -> None:
    """Bold letters are letters, and a cell without a box is empty."""
    folder = tmp_path / "ocr" / "pubtabnet"
    folder.mkdir(parents=True)
    (folder / "one.png").write_bytes(b"picture")
    cells = [{"tokens": ["<b>", "N", "o", "</b>"], "bbox": [0, 0, 1, 1]}, {"tokens": []}]
    structure = {"tokens": ["<tbody>", "<tr>", "<td>", "</td>", "<td>", "</td>", "</tr>"]}
    truth = {"filename": "one.png", "html": {"structure": structure, "cells": cells}}
    (folder / "gt.jsonl").write_text(json.dumps(truth) + "\n")
    [(sample, read)] = read_pubtabnet(tmp_path)
    assert sample.content == b"picture"
    assert read == (GridText(0, 0, "No"), GridText(0, 1, ""))


def test_icdar_regions_are_tables_of_their_pages(tmp_path: Path) -> None:
    """A cell without an end covers one row and one column; regions belong to their pages."""
    folder = tmp_path / "ocr" / "icdar2013"
    folder.mkdir(parents=True)
    (folder / "a.pdf").write_bytes(b"file")
    (folder / "a-str.xml").write_text(
        '<document><table id="1"><region id="1" page="2">'
        '<cell id="1" start-row="0" start-col="0" end-col="2"><content>Wide</content></cell>'
        '<cell id="1" start-row="1" start-col="0"><content>x</content></cell>'
        "</region></table></document>"
    )
    [document] = read_icdar(tmp_path)
    assert document.tables == {2: [(GridText(0, 0, "Wide", 1, 3), GridText(1, 0, "x"))]}
