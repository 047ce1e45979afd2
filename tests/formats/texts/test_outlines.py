"""Outlines of headings and list items, whatever their lines contain."""

from __future__ import annotations

import io
import time

from chalicelib.formats.texts.tools.export import EntityCount, ExportFile
from chalicelib.formats.texts.tools.outline_tools import find_outline_export

_OPEN_BRACE = "{" + "a" * 200_000


def test_a_brace_that_is_not_closed_costs_linear_time() -> None:
    """A long text with an unclosed brace is read in linear time."""
    short = "# order\n- where is {what=it} {@day}\n- again\n- now\n- here\n# open\n"
    content = f"{short}- {_OPEN_BRACE}\n- so\n".encode()
    began = time.process_time()
    found = find_outline_export(ExportFile(io.BytesIO(content), lambda: None))

    assert found is not None
    rows = list(found.tool.read(found.document, EntityCount()))
    assert rows[0] == ("where is it ", "order")
    assert rows[-2:] == [(_OPEN_BRACE, "open"), ("so", "open")]
    assert time.process_time() - began < 20
