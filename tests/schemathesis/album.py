"""Pictures, datasets and models that generated calls below /vision may name."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.formats.drawn import encoded
from tests.papers import paper
from tests.pictures import detection_files, draw, label_folders, make_zip
from tests.tricks import ARCHIVE, PICTURE

if TYPE_CHECKING:
    from tests.live import Caller, Live

VISION = "/v2/vision"
PAGE = encoded(paper(["Order 17", "Total: 42.50"]), "PNG")
"""A page with something to find for every task."""
TEMPLATE = json.dumps(
    {
        "version": "1.0",
        "keys": [{"key": {"entity": "total", "keyVariations": ["Total"]}}],
        "tableRecognition": False,
    }
)
"""A template that finds it."""
SYNC = f"{VISION}/datasets/upload/sync"
SHAPES = make_zip(label_folders({"circle": 3, "square": 3}))
"""An archive of pictures of two labels."""
Values = dict[str, Callable[[], object]]


@dataclass
class Album:
    """What the account of the generated calls has below /vision."""

    live: Live
    shapes: dict[str, Any]
    """A dataset of type image that has models."""
    spare: dict[str, Any]
    """A dataset of type image that is added to."""
    classifier: str
    """A model of shapes."""
    finder: str
    """A detection model."""
    scenes: bytes
    """An archive of boxes."""
    pick: random.Random = field(default_factory=lambda: random.Random(1))

    @classmethod
    def of(cls, live: Live, caller: Caller) -> Album:
        """Upload and train as little as serves."""
        shapes, spare = (
            caller.upload(SHAPES, "image", name, SYNC).ok() for name in ("shapes.zip", "spare.zip")
        )
        scenes = make_zip(detection_files(2))
        tables = caller.upload(scenes, "image-detection", "tables.zip", SYNC).ok()
        models = []
        for dataset in (shapes, tables):
            fields = {"name": "m", "datasetId": dataset["id"], "epochs": 1}
            models.append(caller.json("POST", f"{VISION}/train", fields).ok()["modelId"])
        assert [caller.trained(model)["status"] for model in models] == ["SUCCEEDED"] * 2
        return cls(live, shapes, spare, *models, make_zip(detection_files(2, salt=9)))

    @property
    def labels(self) -> list[dict[str, Any]]:
        """Labels of the dataset that has models."""
        return list(self.shapes["labelSummary"]["labels"])

    def path_values(self, path: str) -> Values:
        """Return how to get a real value of each variable of a path that is read or added to."""
        is_added_to = path.endswith(("/upload", "{dataset_id}/examples"))
        dataset = self.spare if is_added_to else self.shapes
        return {
            "dataset_id": lambda: dataset["id"],
            "label_id": lambda: self.pick.choice(self.labels)["id"],
            "model_id": lambda: self.pick.choice([self.classifier, self.finder]),
        }

    def body_values(self, path: str) -> Values:
        """Return how to get a real value of the fields that must name something, or be a file."""
        return {
            "modelId": lambda: self._model(path),
            "datasetId": lambda: self.shapes["id"],
            "labelId": lambda: self.pick.choice(self.spare["labelSummary"]["labels"])["id"],
            "expectedLabel": lambda: self.pick.choice(self.labels)["name"],
            "epochs": lambda: self.pick.choice([1, 2]),
            "path": lambda: self.live.tricks.url("/archive.zip"),
            "data": lambda: self._file(path),
            "sampleContent": lambda: PAGE if path.endswith("/ocr") else self._picture(),
            "sampleLocation": lambda: self.live.tricks.url("/picture.png"),
            "sampleBase64Content": lambda: base64.b64encode(PICTURE).decode(),
            "formTemplate": lambda: TEMPLATE,
        }

    def _model(self, path: str) -> str:
        """Pick a model of the type that a call needs."""
        if path.endswith("/ocr"):
            return self.pick.choice(["OCRModel", "tabulatev2"])
        if path.endswith("/predict"):
            return self.pick.choice([self.classifier, "SceneClassifier"])
        is_of_boxes = path.endswith(("/detect", "/bulkfeedback"))
        return self.finder if is_of_boxes else self.classifier

    def _file(self, path: str) -> bytes:
        """Make the file that a call takes as `data`."""
        if path.endswith("/bulkfeedback"):
            return self.scenes
        return ARCHIVE if path.endswith(("/upload", "/sync")) else self._picture()

    def _picture(self) -> bytes:
        """Draw a picture that differs from most others."""
        return draw(salt=self.pick.randrange(2000))
