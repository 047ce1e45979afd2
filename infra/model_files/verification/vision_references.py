"""Checks converted backbones against outputs of a plain computation on drawn pictures.

vision_references.json holds evenly spaced values of every output as float16. They come from
tests/infra/model_files/conversion/plain_networks.py, which computes the networks from the sources'
files with numpy alone, in float64 and without folding anything.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from chalicelib.domain.common.arrays import Array, Doubles, Pixels
from infra.model_files.errors import WrongOutputs

FILE = Path(__file__).with_name("vision_references.json")
SIDES = {"lite2": 320, "nanodet": 416}
"""Side of the drawn pictures in pixels."""
_SAMPLES = 400  # values of each output
_TOLERANCE = 2e-3  # of an output's greatest value; float16 takes a quarter of it
_DISCS = (((30, 35), 22, (220, 40, 30)), ((70, 60), 18, (40, 160, 60)))
"""Centre (row, column) and radius in hundredths of the side, and colour."""


def draw(side: int) -> Pixels:
    """Draw the two pictures of the check: a shaded chequerboard with two discs, and its mirror.

    Args:
        side: width and height in pixels.

    Returns:
        uint8, shape (2, side, side, 3), RGB.
    """
    rows, columns = np.mgrid[:side, :side]
    squares = (rows * 13 // side + columns * 13 // side) % 2 * 90
    planes = [rows * 200 // side, columns * 200 // side, squares + 80]
    picture = np.stack(planes, axis=-1).astype(np.uint8)
    for (row, column), radius, colour in _DISCS:
        square = (100 * rows - row * side) ** 2 + (100 * columns - column * side) ** 2
        picture[square < (radius * side) ** 2] = colour
    return np.stack([picture, picture[:, ::-1]])


def sample(output: Array) -> Doubles:
    """Return evenly spaced values of an output, float64, at most 400."""
    flat = output.reshape(-1)
    places = np.linspace(0, flat.size - 1, min(_SAMPLES, flat.size)).round().astype(np.int64)
    return flat[places].astype(np.float64)


def pack(outputs: Mapping[str, Array]) -> dict[str, str]:
    """Return the samples of outputs as text, as the file holds them."""
    return {
        name: base64.b64encode(sample(output).astype("<f2").tobytes()).decode()
        for name, output in outputs.items()
    }


def unpack(packed: Mapping[str, str]) -> dict[str, Doubles]:
    """Return packed samples, float64, by output."""
    return {
        output: np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64)
        for output, text in packed.items()
    }


def reference_samples(name: str) -> dict[str, Doubles]:
    """Return the reference samples of a backbone's outputs, float64, by output."""
    return unpack(json.loads(FILE.read_text(encoding="utf-8"))[name])


def check_outputs(name: str, outputs: Mapping[str, Array]) -> None:
    """Compare outputs for the drawn pictures with the references.

    Raises:
        WrongOutputs: a value differs by more than the tolerance, or is not a number.
    """
    compare(name, reference_samples(name), outputs)


def compare(name: str, references: Mapping[str, Doubles], outputs: Mapping[str, Array]) -> None:
    """Compare evenly spaced values of outputs with reference samples.

    Raises:
        WrongOutputs: a value differs by more than the tolerance, or is not a number.
    """
    for output, reference in references.items():
        allowed = _TOLERANCE * np.abs(reference).max()
        given = sample(outputs[output])
        worst = float(np.abs(given - reference).max()) if len(given) == len(reference) else np.inf
        if not worst <= allowed:
            raise WrongOutputs(
                f"The converted network {name} gives other numbers than it should ({output}: off "
                f"by {worst:.4g}, allowed {allowed:.4g}). Check that the packages installed are "
                "those of requirements.txt and requirements-dev.txt."
            )


def check_model(path: Path, name: str) -> None:
    """Run a converted graph on the drawn pictures and compare it with the references.

    Raises:
        WrongOutputs: it gives other numbers.
    """
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    values = session.run(names, {"pixels": draw(SIDES[name])})
    check_outputs(name, dict(zip(names, values, strict=True)))
