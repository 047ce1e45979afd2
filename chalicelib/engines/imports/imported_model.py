"""Loads the head of an imported model, combines it with installed networks, and tests it.

Graphs in the imported archive are never opened. The head lists the digests of its networks, and
only installed networks with these digests are used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.commands import MODELS_COMMAND
from chalicelib.domain.datasets.dataset import DETECTION, FAMILY_TYPES, IMAGE, LANGUAGE, MULTI_LABEL
from chalicelib.domain.models.prediction import Detection, Probability, as_json
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.imports.foreign_head import copy_head
from chalicelib.engines.vision.registry import DETECTION_KIND, IMAGE_KIND, MULTI_LABEL_KIND

if TYPE_CHECKING:
    from chalicelib.domain.documents.picture import Picture
    from chalicelib.engines.text.encoding.pool import EncoderPool
    from chalicelib.engines.vision.backbone.pool import BackbonePool

    Items = Sequence[Probability | Detection]
    Answer = Callable[[Any], Items]

# Largest accepted difference of a probability: quantized networks differ between processors.
MAX_DIFFERENCE = 0.02
# Objects below this probability may differ between processors.
_SURE = 0.3
_MAX_BOX_PIXELS = 8
_MAX_LOOKS, _MAX_SIDE = 16, 1024
_NETWORK = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_KINDS = {IMAGE_KIND: IMAGE, MULTI_LABEL_KIND: MULTI_LABEL, DETECTION_KIND: DETECTION}
_TEXT_KIND = "text-linear"


@dataclass(frozen=True)
class ImportedHead:
    """A head that can predict with the installed networks."""

    artifact: bytes
    """The bytes of the artifact to publish."""
    engine: Mapping[str, Any]
    """Kind, version and networks of the model, for the model card."""
    predict: Answer
    """Returns the prediction for a text or a decoded image."""
    least_side: int | None
    """Minimum length of a decoded image's shorter side, in pixels; None for texts."""


def load_imported(
    content: bytes,
    manifest: Mapping[str, Any],
    pools: tuple[EncoderPool, BackbonePool],
    check: Callable[[], None],
) -> ImportedHead:
    """Load a head that was exported elsewhere.

    Args:
        content: bytes of `head.npz`.
        manifest: content of `model.json`, with a checked type and checked labels.
        pools: the installed networks.
        check: called between steps; may raise an error to stop.

    Raises:
        ArtifactError: the head is damaged, does not fit the manifest, or needs a network that is
            not installed.
    """
    header, artifact = copy_head(content, check)
    kind, is_text = header.get("kind"), manifest["type"] in FAMILY_TYPES[LANGUAGE]
    if kind != _TEXT_KIND if is_text else _KINDS.get(str(kind)) != manifest["type"]:
        raise ArtifactError(f"The head is of kind {str(kind)[:100]!r}, not {manifest['type']}.")
    if header.get("labels") != manifest["labels"]:
        raise ArtifactError("The labels of the head are not those of model.json.")
    engine = {"name": kind, "version": header.get("version")}
    if is_text:
        from chalicelib.engines.text.classifier import answer_texts, load

        encoders, text_head = pools[0], load(artifact)
        for use in text_head.encoders:
            _check_network("encoder", use.name, use.sha256, encoders)
        engine["encoders"] = [
            {"name": use.name, "sha256": use.sha256} for use in text_head.encoders
        ]
        return ImportedHead(
            artifact, engine, lambda text: answer_texts(text_head, encoders, [text])[0], None
        )
    from chalicelib.engines.vision.registry import load as load_vision

    _check_looks(header)
    head = load_vision(artifact, pools[1])
    for backbone in head.backbones:
        _check_network("backbone", backbone.name, backbone.sha256, pools[1])
    engine["backbones"] = [{"name": one.name, "sha256": one.sha256} for one in head.backbones]
    return ImportedHead(artifact, engine, head.predict, head.least_side)


def _check_network(noun: str, name: str, sha256: str, pool: EncoderPool | BackbonePool) -> None:
    # The name becomes part of a path, so a name with slashes is rejected first.
    is_here = _NETWORK.fullmatch(name) is not None and pool.is_installed(name)
    if not is_here or pool.sha256(name) != sha256:
        raise ArtifactError(
            f"The model needs the {noun} {name[:64]!r} with the digest {sha256[:64]}, which is "
            f"not installed here. Install it with: {MODELS_COMMAND} install"
        )


def _check_looks(header: Mapping[str, Any]) -> None:
    """Raise ArtifactError if a model uses more or larger parts of an image than allowed."""
    preprocessing = header.get("preprocessing")
    looks = preprocessing.get("looks") if isinstance(preprocessing, dict) else None
    if looks is None:
        return
    is_list = isinstance(looks, list) and len(looks) <= _MAX_LOOKS
    if not is_list or not all(_is_look(one) for one in looks):
        raise ArtifactError("The head sees an image in more or larger crops than are allowed.")


def _is_look(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(part, int | float) and 0 < part <= _MAX_SIDE for part in value)


def compare_golden(
    head: ImportedHead,
    golden: Sequence[tuple[str | Picture, object]],
    check: Callable[[], None],
) -> float:
    """Return the largest difference between predictions of a head and the expected predictions.

    It is a difference of probabilities, 0 to 1.

    Args:
        head: the loaded head.
        golden: inputs with the predictions of the service that exported the model.
        check: called before each input; may raise an error to stop.

    Raises:
        ArtifactError: a prediction differs by more than `MAX_DIFFERENCE`, or fails.
    """
    largest = 0.0
    for number, (sample, expected) in enumerate(golden, 1):
        check()
        try:
            difference = _difference(head.predict(sample), expected)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError) as cause:
            raise ArtifactError(f"The head cannot answer golden input {number}.") from cause
        if not difference <= MAX_DIFFERENCE:
            raise ArtifactError(
                f"The answer to golden input {number} is not that of the service that exported "
                "the model. Export the model again."
            )
        largest = max(largest, difference)
    return largest


def _difference(items: Items, expected: Any) -> float:
    """Return the largest difference of probabilities; infinity if labels or objects differ."""
    if [as_json(one) for one in items] == expected:
        return 0.0
    if any("box" in one for one in expected) or any(isinstance(one, Detection) for one in items):
        return _box_difference([as_json(one) for one in items], expected)
    # The order of labels with nearly equal probabilities may differ.
    shares = {one.label: one.probability for one in items}
    if shares.keys() != {one["label"] for one in expected}:
        return math.inf
    return max(
        (abs(shares[one["label"]] - float(one["probability"])) for one in expected), default=0.0
    )


def _box_difference(boxes: list[dict[str, Any]], expected: list[dict[str, Any]]) -> float:
    """Return the largest difference of probabilities between two lists of detected objects.

    Objects with the same label and nearly the same box match and are compared. The difference
    is infinite if an object with a probability of at least _SURE has no match.
    """
    largest = 0.0
    for these, others in ((boxes, expected), (expected, boxes)):
        for one in these:
            if one["probability"] < _SURE:
                continue
            near = [
                abs(one["probability"] - other["probability"])
                for other in others
                if other["label"] == one["label"] and _is_near(one["box"], other["box"])
            ]
            largest = max(largest, min(near, default=math.inf))
    return largest


def _is_near(first: Sequence[float], second: Sequence[float]) -> bool:
    pairs = zip(first, second, strict=True)
    return all(abs(one - other) <= _MAX_BOX_PIXELS for one, other in pairs)
