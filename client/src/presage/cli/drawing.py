"""Draws curves, confusion matrices and boxes. PNG files need the extra `plots`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from presage.cli.output import note, say, table
from presage.errors import PresageError

# Characters of the longest bar on a terminal.
BAR = 40


def show_curve(epochs: Sequence[tuple[int, Mapping[str, Any]]], file: Path | None) -> None:
    """Show accuracy and loss by epoch, on the terminal or in a PNG file."""
    if file is None:
        for epoch, figures in epochs:
            accuracy = _accuracy(figures)
            say(f"{epoch:>5}  {accuracy:6.1%}  {'#' * round(accuracy * BAR)}")
        return
    figure, axes = _axes()
    numbers = [epoch for epoch, _ in epochs]
    axes.plot(numbers, [_accuracy(figures) for _, figures in epochs], label="right", marker=".")
    for name in ("trainingAccuracy", "trainingLoss", "testLoss"):
        if values := [figures.get(name) for _, figures in epochs if figures.get(name) is not None]:
            axes.plot(
                numbers[: len(values)], values, label=name, marker="." if len(values) < 9 else None
            )
    axes.set_xlabel("epoch")
    axes.legend()
    _save(figure, file)


def _accuracy(figures: Mapping[str, Any]) -> float:
    """Return the accuracy, else the mean accuracy over labels, else the mean average precision."""
    if accuracies := figures.get("testAccuracies"):
        return float(sum(accuracies) / len(accuracies))
    whole = figures.get("modelMetrics") or {}
    return float(figures.get("testAccuracy") or whole.get("meanAveragePrecision") or 0.0)


def show_matrix(metrics: Mapping[str, Any], file: Path | None) -> None:
    """Show a confusion matrix: each row is a true label, each column a predicted label."""
    labels, matrix = metrics.get("labels"), metrics.get("confusionMatrix")
    if matrices := metrics.get("confusionMatrices"):
        _show_label_counts(matrices)
        return
    if not labels or not matrix:
        raise PresageError(
            "This model has no confusion matrix: it detects objects, or has no test set. "
            "`presage models card` shows its metrics."
        )
    if file is None:
        heads = ["TRUE", *(str(number) for number in range(1, len(labels) + 1)), ""]
        rows = [
            [f"{number} {label}", *row, ""]
            for number, (label, row) in enumerate(zip(labels, matrix, strict=False), 1)
        ]
        for line in table(heads, rows):
            say(line.rstrip())
        return
    figure, axes = _axes()
    axes.imshow(matrix, cmap="Blues")
    darkest = max(map(max, matrix))
    axes.set_xticks(range(len(labels)), labels, rotation=90)
    axes.set_yticks(range(len(labels)), labels)
    for row, counts in enumerate(matrix):
        for column, count in enumerate(counts):
            if count:
                ink = "white" if count > darkest / 2 else "black"
                axes.text(column, row, count, ha="center", va="center", color=ink)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    _save(figure, file)


def _show_label_counts(matrices: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Show, for each label of a multi-label model, the correct, missed and wrong predictions."""
    rows = [(label, there[1], there[0], absent[1]) for label, (absent, there) in matrices.items()]
    for line in table(("LABEL", "RIGHT", "MISSED", "WRONG"), rows):
        say(line)


def draw_boxes(picture: Path, boxes: Iterable[tuple[str, Mapping[str, int]]], file: Path) -> None:
    """Rotate an image upright, draw boxes with their labels on it, and write it to `file`."""
    try:
        image, draw, fonts = (
            importlib.import_module(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont")
        )
        transpose = importlib.import_module("PIL.ImageOps").exif_transpose
    except ImportError as error:
        raise PresageError(_missing("plots")) from error
    try:
        with image.open(picture) as opened:
            page = transpose(opened).convert("RGB")
    except OSError as error:
        raise PresageError(
            f"Boxes can be drawn on images only; {picture} is not an image."
        ) from error
    pen = draw.Draw(page)
    width = max(2, page.width // 400)
    size = max(11, page.width // 60)
    font = fonts.load_default(size)
    for name, box in boxes:
        corners = (box["minX"], box["minY"], box["maxX"], box["maxY"])
        pen.rectangle(corners, outline=(230, 85, 13), width=width)
        place = (corners[0], max(0, corners[1] - round(1.3 * size)))
        if name:
            pen.rectangle(pen.textbbox(place, name, font), fill=(255, 255, 255))
            pen.text(place, name, (8, 81, 156), font)
    try:
        page.save(file, "PNG")
    except OSError as error:
        raise PresageError(f"{file} cannot be written: {error.strerror or error}.") from error
    note(f"wrote {file}")


def _axes() -> tuple[Any, Any]:
    try:
        importlib.import_module("matplotlib").use("Agg")
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise PresageError(_missing("plots")) from error
    figure, axes = pyplot.subplots(layout="constrained")
    return figure, axes


def _save(figure: Any, file: Path) -> None:
    try:
        figure.savefig(file, dpi=144, format="png")
    except OSError as error:
        raise PresageError(f"{file} cannot be written: {error.strerror}.") from error
    note(f"wrote {file}")


def _missing(extra: str) -> str:
    return f"Drawing needs more packages: pip install 'presage-client[{extra}]'"
