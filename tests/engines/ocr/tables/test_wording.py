"""Telling prose from captions."""

from __future__ import annotations

from chalicelib.engines.ocr.tables.heading import is_wordy


def test_lines_of_prose_are_wordy_and_cells_are_not() -> None:
    """Long texts of letters are prose; rows of figures and short texts are not."""
    assert is_wordy("the committee met in spring and heard the reports")
    assert not is_wordy("Notebook, ruled")
    assert not is_wordy("12 14 16 18 20 22 24 26 28 30 32 34 36 38 40")
