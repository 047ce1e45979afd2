"""The stored part of a ranking."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.domain.models.judgement import Judgement
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.ranking.parts import dump_part, load_part
from chalicelib.engines.ranking.vectors import DIMS


def _judgement(label: str | None, uncertainty: float) -> Judgement:
    vector = np.full(DIMS, uncertainty, np.float16)
    return Judgement(
        label, 0.0 if label is None else 1 - uncertainty, uncertainty, -uncertainty, vector
    )


def test_a_part_comes_back_as_it_was_written() -> None:
    """A part is read back as written: lines, suggestions, uncertainties, vectors; equal bytes."""
    found = [(0, _judgement("a", 0.25)), (2, _judgement(None, 0.5)), (3, _judgement("a", 0.125))]
    content = dump_part(found)
    assert content == dump_part(found)
    part = load_part(content)
    assert part.lines.tolist() == [0, 2, 3]
    assert [part.suggestion(at) for at in range(3)] == [("a", 0.75), (None, 0.0), ("a", 0.875)]
    assert part.uncertainties.tolist() == [0.25, 0.5, 0.125]
    assert part.likeness.tolist() == [-0.25, -0.5, -0.125]
    assert part.vectors.shape == (3, DIMS)


def test_a_part_may_hold_nothing() -> None:
    """A part may be empty, if no line could be answered."""
    assert len(load_part(dump_part([])).lines) == 0


def test_other_bytes_are_no_part() -> None:
    """Damaged bytes raise an error."""
    with pytest.raises(ArtifactError):
        load_part(b"PK nothing")
