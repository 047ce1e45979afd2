"""Runs the frozen networks once per input, for tests that repeat inputs and do not test networks.

A frozen network gives equal outputs for equal inputs, see the tests of engines. Each process keeps
what it computed, but not the large maps of object detection.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from chalicelib.engines.ocr.ppocr.detector import Detector
from chalicelib.engines.ocr.ppocr.recogniser import Recogniser
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.vision.backbone.pool import Backbone

if TYPE_CHECKING:
    from PIL import Image

    from chalicelib.domain.common.arrays import Pixels
    from chalicelib.engines.text.encoding.interface import Encoder

_MOST_BYTES = 100_000
"""Largest outputs of a backbone that are kept."""


def keep_outputs() -> None:
    """Patch all networks in this process, and in those that it forks."""
    owners: dict[tuple[Any, str], Callable[..., Hashable]] = {
        (Backbone, "run"): name_pixels,
        (Detector, "find"): lambda _, image: _name_image(image),
        (Recogniser, "_read_batch"): _name_crops,
    }
    for (owner, method), name_input in owners.items():
        setattr(owner, method, once_per_input(getattr(owner, method), name_input, _MOST_BYTES))
    _keep_vectors()


def once_per_input(
    compute: Callable[..., Any], name_input: Callable[..., Hashable], most_bytes: float = math.inf
) -> Callable[..., Any]:
    """Return a method that gives copies of what it computed for the same input.

    Args:
        compute: the method; it returns a list.
        name_input: returns a key of an input, given the arguments of the method.
        most_bytes: largest sum of arrays that are kept.
    """
    known: dict[Hashable, Any] = {}

    def look_up(*inputs: Any) -> Any:
        key = name_input(*inputs)
        if key in known:
            return deepcopy(known[key])
        found = compute(*inputs)
        if sum(getattr(output, "nbytes", 0) for output in found) <= most_bytes:
            known[key] = deepcopy(found)
        return found

    return look_up


def _keep_vectors() -> None:
    """Give each encoder that is loaded a memory of texts; `encode` copies the vectors."""
    load: Callable[[EncoderPool, str], Any] = EncoderPool._load

    def load_once(pool: EncoderPool, name: str) -> Encoder:
        made = load(pool, name)
        if hasattr(made, "encode_one"):
            made.encode_one = cache(made.encode_one)
        return made

    EncoderPool._load = load_once


def name_pixels(backbone: Backbone, pixels: Pixels, outputs: Sequence[str]) -> Hashable:
    """Return a key of the arguments of `Backbone.run`."""
    return backbone.facts.name, pixels.shape, _digest(pixels.tobytes()), *outputs


def _name_crops(recogniser: Recogniser, crops: list[Image.Image]) -> Hashable:
    return recogniser._output, *map(_name_image, crops)


def _name_image(image: Image.Image) -> Hashable:
    return image.size, _digest(image.tobytes())


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content).digest()
