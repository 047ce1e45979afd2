"""Checks converted backbones on drawn images against a separate computation.

vision_references.json has evenly spaced values of every output as float16. They were computed by
tests/infra/model_files/conversion/plain_networks.py, which runs the networks from the package's
files with numpy alone, in float64 and without folding.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from chalicelib.domain.common.arrays import Array, Doubles, Pixels
from infra.model_files.description import WrongOutputs

FILE = Path(__file__).with_name("vision_references.json")
SIDES = {"lite2": 320, "nanodet": 416}  # of the drawn images, in pixels
_SAMPLES = 400  # values of each output
_TOLERANCE = 2e-3  # of an output's greatest value; float16 takes a quarter of it
# Centre (row, column) and radius in hundredths of the side, and colour.
_DISCS = (((30, 35), 22, (220, 40, 30)), ((70, 60), 18, (40, 160, 60)))


def draw(side: int) -> Pixels:
    """Draw a shaded chequerboard with two discs, and its mirror image: uint8 (2, side, side, 3)."""
    rows, columns = np.mgrid[:side, :side]
    squares = (rows * 13 // side + columns * 13 // side) % 2 * 90
    planes = [rows * 200 // side, columns * 200 // side, squares + 80]
    image = np.stack(planes, axis=-1).astype(np.uint8)
    for (row, column), radius, colour in _DISCS:
        square = (100 * rows - row * side) ** 2 + (100 * columns - column * side) ** 2
        image[square < (radius * side) ** 2] = colour
    return np.stack([image, image[:, ::-1]])


def sample(output: Array) -> Doubles:
    """Return evenly spaced values of an output, float64, at most 400."""
    flat = output.reshape(-1)
    places = np.linspace(0, flat.size - 1, min(_SAMPLES, flat.size)).round().astype(np.int64)
    return flat[places].astype(np.float64)


def pack(outputs: Mapping[str, Array]) -> dict[str, str]:
    """Encode evenly spaced values of each output in the format of the file of references."""
    return {
        name: base64.b64encode(sample(output).astype("<f2").tobytes()).decode()
        for name, output in outputs.items()
    }


def unpack(packed: Mapping[str, str]) -> dict[str, Doubles]:
    """Return the samples of packed outputs, float64, by output."""
    return {
        output: np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64)
        for output, text in packed.items()
    }


def reference_samples(name: str) -> dict[str, Doubles]:
    """Return the reference samples of a backbone's outputs, float64, by output."""
    return unpack(json.loads(FILE.read_text(encoding="utf-8"))[name])


def check_outputs(name: str, outputs: Mapping[str, Array]) -> None:
    """Compare the outputs for the drawn images with the references; see `compare`."""
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
    """Run a converted graph on the drawn images and compare it with the references.

    Raises:
        WrongOutputs: a value differs by more than the tolerance, or is not a number.
    """
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    values = session.run(names, {"pixels": draw(SIDES[name])})
    check_outputs(name, dict(zip(names, values, strict=True)))
