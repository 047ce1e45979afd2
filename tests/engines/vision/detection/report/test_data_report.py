"""The data report in the card of a detection model."""

import numpy as np

from chalicelib.domain.datasets.example import box_digest
from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.suspects import SuspectExample
from chalicelib.domain.models.training_pictures import LabelledBox, LabelledPicture
from chalicelib.engines.data_report import LabelNames
from chalicelib.engines.vision.detection.inference.decoding import DetectedObjects
from chalicelib.engines.vision.detection.report.data_report import (
    CLOSE_OVERLAP,
    EQUAL_OVERLAP,
    MOST_ENTRIES,
    Reviewed,
    agree,
    data_report,
    suspect_examples,
    suspicions_of,
)


def image(name: str, digest: int, *boxes: tuple[int, Box]) -> LabelledPicture:
    """Return an image with boxes whose example ids count from the digest times ten."""
    known = [LabelledBox(label, box, digest * 10 + at) for at, (label, box) in enumerate(boxes)]
    return LabelledPicture(1, digest.to_bytes(16, "little"), name, boxes=tuple(known))


def reviewed(shown: LabelledPicture, *, is_tested: bool = False, size: int = 100) -> Reviewed:
    """Return a square image that was reviewed."""
    return Reviewed(shown, (size, size), is_tested)


def answers(*items: tuple[tuple[float, float, float, float], int, float]) -> DetectedObjects:
    """Return answers as box, label and score."""
    return DetectedObjects(
        np.array([box for box, _, _ in items], float).reshape(-1, 4),
        np.array([label for _, label, _ in items], int),
        np.array([score for _, _, score in items], float),
    )


ONE = Box(0, 0, 10, 10)
OTHER = Box(50, 50, 10, 10)


def test_equal_files_with_other_boxes_are_named():
    """Equal files with different boxes are a conflict, and listed if the split separates them."""
    pictures = [
        image("a.jpg", 1, (0, ONE)),
        image("b.jpg", 1, (0, OTHER)),
        image("c.jpg", 2, (0, ONE)),
    ]

    known = [reviewed(each, is_tested=place == 0) for place, each in enumerate(pictures)]
    report = data_report(known, np.eye(3, 8, dtype=np.float32), [])

    pair = {
        "examples": [{"ids": [10], "name": "a.jpg"}, {"ids": [10], "name": "b.jpg"}],
        "similarity": 1.0,
    }
    assert report["conflictingNearDuplicates"] == [pair]
    assert report["duplicatesAcrossSplit"] == 1
    assert report["pairsAcrossSplit"] == [pair]


def test_near_equal_pictures_are_found_by_their_features():
    """Similar files that agree are no conflict, but are listed if the split separates them."""
    pictures = [image(f"{place}.jpg", place, (0, ONE)) for place in range(6)]
    pooled = np.random.default_rng(0).normal(size=(6, 40)).astype(np.float32)
    pooled[5] = pooled[0] + 0.01

    known = [reviewed(each, is_tested=place == 0) for place, each in enumerate(pictures)]
    report = data_report(known, pooled, [])

    (pair,) = report["pairsAcrossSplit"]
    assert [each["name"] for each in pair["examples"]] == ["0.jpg", "5.jpg"]
    assert 0.9 < pair["similarity"] < 1.0
    assert report["conflictingNearDuplicates"] == []


def test_boxes_agree_by_place_label_and_number():
    """Boxes agree if each has a partner with its label."""
    base = reviewed(image("a", 1, (0, ONE)))

    def agrees(*boxes: tuple[int, Box]) -> bool:
        return agree(base, reviewed(image("b", 2, *boxes)), CLOSE_OVERLAP)

    assert agrees((0, Box(1, 1, 10, 10)))
    assert not agrees((1, ONE))
    assert not agrees((0, ONE), (0, OTHER))
    assert not agrees((0, OTHER))
    assert agree(reviewed(image("a", 1)), reviewed(image("b", 2)), CLOSE_OVERLAP)


def test_two_annotations_of_one_file_have_to_agree_closely():
    """In equal files a box a tenth larger is a conflict, in similar files it is not."""
    base = reviewed(image("a", 1, (0, ONE)))
    larger = reviewed(image("b", 1, (0, Box(0, 0, 11, 10))))

    assert agree(base, larger, CLOSE_OVERLAP)
    assert not agree(base, larger, EQUAL_OVERLAP)


def test_pictures_of_two_sizes_are_compared_by_shares():
    """Boxes of similar images of different sizes are compared as fractions."""
    base = reviewed(image("a", 1, (0, OTHER)))
    double = reviewed(image("b", 2, (0, Box(100, 100, 20, 20))), size=200)

    assert agree(base, double, CLOSE_OVERLAP)


def test_a_box_found_with_another_label_is_suspicious():
    """A box found with another label is listed with file, example, labels, score and place."""
    shown = image("a.jpg", 1, (0, ONE))

    (entry,) = suspicions_of(shown, answers(((0, 0, 10, 10), 1, 0.9)), ["cat", "dog"])

    assert entry == {
        "id": 10,
        "label": "cat",
        "name": "a.jpg",
        "suggestion": "dog",
        "confidence": 0.9,
        "boundingBox": {"minX": 0, "minY": 0, "maxX": 10, "maxY": 10},
    }


def test_suspect_boxes_are_named_whole():
    """A contradicted box is listed with ids and digest; others and global datasets' are not."""
    shown, foreign = image("a.jpg", 1, (0, ONE)), image("b.jpg", 2, (0, OTHER))
    contradicted = answers(((0, 0, 10, 10), 1, 0.9), ((70, 70, 80, 80), 1, 0.9))
    names = ["cat", "dog"]
    suspicions = suspicions_of(shown, contradicted, names)

    found = suspect_examples([shown], LabelNames(names, [7, 8]), suspicions)

    digest = box_digest(shown.digest, ONE).hex()
    assert found == [SuspectExample(10, digest, 7, "cat", 8, "dog", 0.9, "otherLabel")]
    assert len(suspicions) == 2
    assert suspect_examples([foreign], LabelNames(names, [7, 8]), suspicions) == []


def test_an_object_without_a_box_is_suspicious():
    """An object found with certainty without a box is listed."""
    shown = image("a.jpg", 1, (0, ONE))

    (entry,) = suspicions_of(shown, answers(((50, 50, 60, 60), 0, 0.8)), ["cat"])

    assert entry["label"] is entry["id"] is None
    assert entry["suggestion"] == "cat"


def test_confirmed_and_uncertain_boxes_are_not_suspicious():
    """A box also found with its own label, or with a low score, is not listed."""
    shown = image("a.jpg", 1, (0, ONE))
    confirmed = answers(((0, 0, 10, 10), 1, 0.9), ((0, 0, 10, 10), 0, 0.3))
    uncertain = answers(((0, 0, 10, 10), 1, 0.4), ((50, 50, 60, 60), 0, 0.4))

    assert suspicions_of(shown, confirmed, ["cat", "dog"]) == []
    assert suspicions_of(shown, uncertain, ["cat", "dog"]) == []


def test_each_list_is_bounded():
    """Each list in the report has a maximum length."""
    pictures = [image(f"{place}", 1, (0, Box(place * 20, 0, 10, 10))) for place in range(40)]
    suspicions = [
        {"confidence": place / 300, "label": "cat" if place % 2 else None} for place in range(300)
    ]

    known = [reviewed(each, is_tested=place < 20) for place, each in enumerate(pictures)]
    report = data_report(known, np.ones((40, 8), np.float32), suspicions)

    assert len(report["conflictingNearDuplicates"]) == MOST_ENTRIES
    assert report["duplicatesAcrossSplit"] == 400
    assert len(report["pairsAcrossSplit"]) == MOST_ENTRIES
    assert report["likelyLabelErrors"][0]["confidence"] == 299 / 300
    assert report["likelyMissingBoxes"][0]["confidence"] == 298 / 300
    assert len(report["likelyLabelErrors"]) == len(report["likelyMissingBoxes"]) == MOST_ENTRIES


def test_no_pictures_give_an_empty_report():
    """Without reviewed images the report is empty."""
    report = data_report([], np.empty((0, 8), np.float32), [])

    assert report["conflictingNearDuplicates"] == []


def test_very_many_near_duplicates_hide_no_conflict_between_equal_files():
    """Among very many near-duplicates all split pairs count, and equal files are listed first."""
    count = 320
    known = [
        reviewed(image(f"{at}.jpg", at + 1, (0, ONE)), is_tested=at >= count - 2)
        for at in range(count - 1)
    ]
    known.append(reviewed(image("last.jpg", count - 1, (0, OTHER)), is_tested=True))
    sides = np.repeat([[1.0, 0.0], [0.0, 1.0]], count // 2, axis=0)
    pooled = (sides + 0.001 * np.arange(count)[:, None] / count).astype(np.float32)

    report = data_report(known, pooled, [])

    assert report["duplicatesAcrossSplit"] == 2 * (count // 2 - 2)
    assert report["conflictingNearDuplicates"][0]["examples"][1]["name"] == "last.jpg"
    assert report["conflictingNearDuplicates"][0]["similarity"] == 1.0
