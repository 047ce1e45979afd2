"""Multi-label models: an image has several labels, each with its own probability."""

from __future__ import annotations

from random import Random
from statistics import mean

from bench.drawing.fruits import draw_fruits
from tests.flows.client import VISION
from tests.flows.pictures import FRUITS, basket_files, lossless, turned


def test_metrics_are_given_per_label(gallery, baskets_id, baskets_model):
    """Each label, and each epoch, has two F1 scores, accuracies and a 2 x 2 matrix."""
    done = gallery.get(f"{VISION}/train/{baskets_model}").ok
    metrics = gallery.get(f"{VISION}/models/{baskets_model}").ok
    epochs = gallery.items(f"{VISION}/models/{baskets_model}/lc")
    dataset = gallery.get(f"{VISION}/datasets/{baskets_id}").ok
    labels = [item["name"] for item in dataset["labelSummary"]["labels"]]

    assert dataset["totalExamples"] == 16
    assert (done["modelType"], done["epochs"], done["learningRate"]) == (
        "image-multi-label",
        10,
        0.001,
    )
    stats = done["trainStats"]
    assert stats["examples"] == 16
    assert stats["trainSplitSize"] + stats["testSplitSize"] == 12
    assert [record["epoch"] for record in epochs] == list(range(1, 11))
    for record in (metrics, *epochs):
        check_data(record["metricsData"], labels)
    for record in epochs:
        for label, results in record["epochResults"].items():
            sides = {f"{label}_positive", f"{label}_negative"}
            for item in results:
                assert {item["expectedLabel"], item["predictedLabel"]} <= sides
                assert item["exampleName"].endswith(f"-{item['expectedLabel']}")


def check_data(data, labels):
    """Labels, F1, accuracies and matrices have the same order and spelling."""
    assert data["labels"] == labels
    assert [len(pair) for pair in data["f1"]] == [2] * len(labels)
    assert len(data["testAccuracies"]) == len(data["trainingAccuracies"]) == len(labels)
    assert list(data["confusionMatrices"]) == labels
    sizes = {sum(map(sum, matrix)) for matrix in data["confusionMatrices"].values()}
    assert len(sizes) == 1, "every label is judged on every held-out image"


def test_all_labels_are_answered(gallery, baskets_model):
    """Every label has its own probability, whatever numResults requests."""
    files = basket_files()
    answers = {}
    for content in dict.fromkeys(files.values()):
        items = gallery.picture(baskets_model, content, numResults=1).ok["probabilities"]
        values = {item["label"]: item["probability"] for item in items}
        assert set(values) == set(FRUITS)
        assert list(values.values()) == sorted(values.values(), reverse=True)
        answers[content] = values

    for label in FRUITS:
        shown = {content for name, content in files.items() if name.startswith(label)}
        means = [
            mean(values[label] for content, values in answers.items() if (content in shown) is side)
            for side in (True, False)
        ]
        assert means[0] > means[1], label
    sums = [sum(values.values()) for values in answers.values()]
    assert max(sums) - min(sums) > 0.1, "labels do not compete"


def test_turned_picture_is_read_as_displayed(gallery, baskets_model):
    """An image with EXIF orientation is predicted like the upright one."""
    jpeg, _ = draw_fruits(["apple"], Random(78))
    upright = lossless(jpeg)
    content = turned(upright, 6)

    answers = [gallery.picture(baskets_model, sent).ok for sent in (upright, content)]

    for one, other in zip(*(a["probabilities"] for a in answers), strict=True):
        assert one == other


def test_detection_needs_a_detection_model(gallery, baskets_model):
    """A multi-label model accepts predict and refuses detect."""
    jpeg, _ = draw_fruits(["apple"], Random(78))
    refused = gallery.picture(baskets_model, jpeg, call="detect")

    assert refused.status == 400
    assert "image-multi-label" in refused.data["message"]
