"""Follow the training of a text model through the source and count the returns between files.

Run: python -m tests.structure.training_trip. It lists the functions below `chalicelib` in the order
of their first call, which is the order in which one reads them. Lambdas and comprehensions do not
count. A *stop* is a run of functions of one file. A *return* is a stop in a file that an earlier
stop was in: there the reader has to turn back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import chalicelib
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text.fit import fit
from chalicelib.engines.text.head import neighbours
from tests.engines.text.clusters import a_training_set, with_background

ROOT = Path(chalicelib.__file__).parent


@dataclass(frozen=True)
class TrainingTrip:
    """The functions that a training calls, in the order of their first calls."""

    functions: Sequence[tuple[str, str]]
    """File below `chalicelib`, and function."""

    @property
    def stops(self) -> list[tuple[str, list[str]]]:
        """Sequences of functions in one file."""
        runs = groupby(self.functions, key=lambda function: function[0])
        return [(file, [name for _, name in run]) for file, run in runs]

    @property
    def returns(self) -> int:
        """Stops in a file that an earlier stop was in."""
        files = [file for file, _ in self.stops]
        return len(files) - len(set(files))

    def __str__(self) -> str:
        lines = [f"{file}: {', '.join(names)}" for file, names in self.stops]
        return "\n".join([*lines, "", f"{len(self.stops)} stops, {self.returns} returns"])


def record_training() -> TrainingTrip:
    """Fit a model with background texts, rejections and nearest texts."""
    found: dict[tuple[str, str, int], None] = {}

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{ROOT}/"):
            file = str(Path(code.co_filename).relative_to(ROOT))
            found.setdefault((file, code.co_name, code.co_firstlineno))

    examples = with_background(a_training_set([30] * 4, spread=1.0))
    choose_weight = neighbours.choose_weight
    # Nearest texts are otherwise used only where they pay.
    neighbours.choose_weight = lambda loss_with, texts: 4.0
    sys.setprofile(note_call)
    try:
        fit(examples, TextFitOptions(out_of_domain_rate=0.05), lambda epoch: None)
    finally:
        sys.setprofile(None)
        neighbours.choose_weight = choose_weight
    return TrainingTrip([(file, name) for file, name, _ in found if not name.startswith("<")])


def main() -> None:
    """Print the trip."""
    sys.stdout.write(f"{record_training()}\n")


if __name__ == "__main__":
    main()
