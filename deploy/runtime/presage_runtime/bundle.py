"""An exported model: reads its folder, predicts, and compares with the stored answers."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES
from chalicelib.domain.models.prediction import Detection, Probability, as_json
from chalicelib.engines.artifact import ArtifactError
from chalicelib.engines.text.classifier import answer_texts
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.errors import ServiceError

_TEXT = "language"
# Size limit of an unpacked zip archive; the largest network has 110 MB.
_MOST_BYTES = 2_000_000_000


class BundleError(Exception):
    """The file is not a complete exported model, or the input cannot be read."""


@dataclass(frozen=True)
class Verified:
    """The result of comparing answers with those of the service."""

    inputs: int
    is_equal: bool
    """Whether all answers are equal to the last bit."""
    largest_difference: float
    """Largest difference between two probabilities; infinity if labels or boxes differ."""


class Model:
    """An exported model."""

    def __init__(self, folder: Path) -> None:
        """Read a model; its networks are loaded by the first prediction.

        Raises:
            BundleError: the folder is not a complete exported model.
        """
        self._folder = folder
        self.facts: Mapping[str, Any] = _read_facts(folder)
        """Content of `model.json`: type, labels, networks, versions."""
        self.labels: Sequence[str] = self.facts["labels"]
        head = (folder / "head.npz").read_bytes()
        try:
            self._head = self._load(head)
        except ArtifactError as cause:
            raise BundleError(f"head.npz cannot be read: {cause}") from cause

    def _load(self, head: bytes) -> Any:
        if self.facts["family"] == _TEXT:
            from chalicelib.engines.text.classifier import load as load_text

            self._encoders = EncoderPool(self._folder / "encoders")
            return load_text(head)
        # These import Pillow, which texts do not need.
        from chalicelib.engines.vision.backbone.pool import BackbonePool
        from chalicelib.engines.vision.registry import load as load_vision

        return load_vision(head, BackbonePool(self._folder / "backbones"))

    def predict(
        self, sample: str | bytes | Path, count: int | None = None
    ) -> Sequence[Probability | Detection]:
        """Return labels by probability, or the objects in an image.

        Args:
            sample: a text; for models of images, the bytes of a PNG or JPEG file, or its path.
            count: number of labels; None for all.

        Returns:
            Items with `label` and `probability`; objects also have a `box`. Empty if a text is
            out of the model's domain.

        Raises:
            BundleError: the image cannot be read.
        """
        if self.facts["family"] == _TEXT:
            if not isinstance(sample, str):
                raise BundleError("This model predicts texts: pass a str.")
            return answer_texts(self._head, self._encoders, [sample], count)[0]
        content = sample if isinstance(sample, bytes) else Path(sample).read_bytes()
        return self._head.predict(self._picture(content))[:count]

    def _picture(self, content: bytes) -> Any:
        from chalicelib.formats.pictures.png_exif import standardize_orientation
        from chalicelib.formats.pictures.reading import read_picture

        try:
            upright = standardize_orientation(content)
            return read_picture(upright, MAX_PREDICTED_IMAGE_BYTES, self._head.least_side)
        except ServiceError as refusal:
            raise BundleError(str(refusal)) from refusal

    def verify(self) -> Verified:
        """Compare the answers to the golden inputs with those that the service gave.

        Raises:
            BundleError: a file is missing or changed.
        """
        for name, facts in self.facts["files"].items():
            with _inside(self._folder, name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != facts["sha256"]:
                    raise BundleError(f"{name} was changed after the export.")
        golden = json.loads((self._folder / "golden" / "golden.json").read_text("utf-8"))
        differences = [self._difference(one) for one in golden]
        largest = max(differences, default=0.0)
        return Verified(len(golden), largest == 0.0, largest)

    def _difference(self, golden: Mapping[str, Any]) -> float:
        sample = golden.get("text")
        if sample is None:
            sample = _inside(self._folder, f"golden/{golden['file']}")
        found, expected = [as_json(one) for one in self.predict(sample)], golden["answer"]
        if found == expected:
            return 0.0
        # The order of labels with nearly equal probabilities may differ.
        shares = {one["label"]: one["probability"] for one in found}
        if any("box" in one for one in expected) or shares.keys() != {
            one["label"] for one in expected
        }:
            return float("inf")
        return max(abs(shares[one["label"]] - one["probability"]) for one in expected)


def load(path: str | Path) -> Model:
    """Read an exported model from its folder, or from the zip archive.

    An archive is unpacked into a temporary folder first, so a folder loads faster.

    Raises:
        BundleError: the file is not a complete exported model.
    """
    path = Path(path)
    if not path.is_file():
        return Model(path)
    folder = tempfile.mkdtemp(prefix="presage-")
    try:
        _unpack(path, Path(folder))
        model = Model(Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
    return model


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST_BYTES:
                raise BundleError(f"{path} unpacks to more than {_MOST_BYTES} bytes.")
            for one in archive.infolist():
                target = _inside(folder, one.filename)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(one) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
    except (zipfile.BadZipFile, OSError) as cause:
        raise BundleError(f"{path} is not a complete zip archive: {cause}") from cause


def _inside(folder: Path, name: str) -> Path:
    """Return a path below a folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BundleError(f"{name} is outside of the model's folder.")
    return path


def _read_facts(folder: Path) -> Mapping[str, Any]:
    try:
        facts = json.loads((folder / "model.json").read_text("utf-8"))
        missing = [name for name in facts["files"] if not _inside(folder, name).is_file()]
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise BundleError(f"{folder} holds no exported model: {cause}") from cause
    if missing:
        raise BundleError(f"{folder} lacks {missing[0]}. Unpack the whole archive.")
    if facts.get("format") != "presage-model" or facts.get("version") != 1:
        raise BundleError(
            f"{folder} is no bundle that this version reads. Export the model with the format "
            "'bundle', or update presage-runtime."
        )
    return facts
