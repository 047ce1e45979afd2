"""Draws learning curves, a confusion matrix and boxes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt
from PIL import Image, ImageDraw, ImageOps

from bench.report import say
from bench.vision_data import class_pictures, read_set
from bench.vision_engine import run_training, vision_data
from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES
from chalicelib.domain.models.prediction import Detection
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.interface import TrainedVision
from chalicelib.formats.pictures.reading import read_picture

SHOWN_SCORE = 0.3
COLOURS = ("red", "yellow", "cyan", "magenta", "lime", "orange")


class Plots:
    """Writes PNG files into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def boxes(self, name: str, model: TrainedVision, files: Sequence[bytes]) -> None:
        """Draw the objects found in images."""
        labels = list(model.labels)
        for number, content in enumerate(files):
            picture = read_picture(content, MAX_PREDICTED_IMAGE_BYTES, model.least_side)
            canvas = ImageOps.exif_transpose(Image.open(io.BytesIO(content))).convert("RGB")
            pen = ImageDraw.Draw(canvas)
            for item in model.predict(picture):
                if isinstance(item, Detection) and item.probability >= SHOWN_SCORE:
                    box, colour = item.box, COLOURS[labels.index(item.label) % len(COLOURS)]
                    corners = (box.min_x, box.min_y, box.max_x, box.max_y)
                    pen.rectangle(corners, outline=colour, width=2)
                    text = f"{item.label} {item.probability:.2f}"
                    pen.text((box.min_x + 3, box.min_y + 2), text, fill=colour)
            canvas.save(self._folder / f"{name}-{number}.png")
        say(f"{len(files)} images with boxes in {self._folder}")

    def training(self, data: Path, backbones: BackbonePool) -> None:
        """Draw the learning curve and the confusion matrix of a training."""
        train = read_set(data, "grocery81_train", "image")
        pictures = class_pictures(train.examples, train.labels)
        given = vision_data(train, pictures, "image", backbones)
        _, _, curve = run_training("image", given, backbones, split_ratio=0.8)
        metrics = [record["metricsData"] for record in curve]
        epochs = [record["epoch"] for record in curve]
        figure, axes = plt.subplots(figsize=(7, 4))
        for name in ("trainingAccuracy", "testAccuracy"):
            axes.plot(epochs, [m[name] for m in metrics], label=name)
        axes.plot(epochs, [m["trainingLoss"] for m in metrics], "--", label="trainingLoss")
        axes.set(xlabel="epoch", title="Grocery, 81 labels: learning curve")
        axes.legend()
        figure.savefig(self._folder / "learning-curve.png", dpi=120)
        figure, axes = plt.subplots(figsize=(7, 7))
        axes.imshow(np.array(metrics[-1]["confusionMatrix"]), cmap="viridis")
        axes.set(xlabel="predicted label", ylabel="expected label", title="Held-out images")
        figure.savefig(self._folder / "confusion-matrix.png", dpi=120)
        plt.close("all")
        say(f"learning curve and confusion matrix in {self._folder}")
