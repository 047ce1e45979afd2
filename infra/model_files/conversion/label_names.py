"""Names of the labels that the backbones know, in the order of their outputs.

ImageNet's come with a package; a few are made plainer or distinct here. COCO's are the standard
eighty.
"""

from __future__ import annotations

import json
from pathlib import Path

from infra.model_files.errors import BrokenFile

_IMAGENET_COUNT = 1_000
_PLAINER = {
    282: "tiger cat",  # "a cat having a striped coat"
    638: "maillot (tights)",  # "tights for gymnastics, a one-piece leotard, or a sport jersey"
    657: "missile",
    744: "projectile missile",  # "missile", like 657
    836: "sunglass",  # "sunglasses", like 837
    923: "plate of food",  # "plate", in ImageNet the main course
}
_KNOWN = {
    0: "tench",
    145: "king penguin",
    207: "golden retriever",
    281: "tabby cat",
    340: "zebra",
    436: "station wagon",
    508: "computer keyboard",
    665: "moped",
    779: "school bus",
    817: "sports car",
    954: "banana",
    999: "toilet paper",
}
"""Labels of ImageNet whose places are known from elsewhere: another order would move them."""

COCO = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"),
    *("traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat"),
    *("dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "backpack"),
    *("umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball"),
    *("kite", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket"),
    *("bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple"),
    *("sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair"),
    *("couch", "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse"),
    *("remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink"),
    *("refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier"),
    "toothbrush",
)
"""The eighty labels of COCO in the order of their identifiers."""


def imagenet_names(path: Path) -> list[str]:
    """Read the thousand names of ImageNet's labels, each of them once.

    Args:
        path: JSON file with a list of names in the order of the labels.

    Raises:
        BrokenFile: there are fewer or more, two are equal, or the order is another.
    """
    names = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(names, list) or len(names) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} is no list of {_IMAGENET_COUNT:,} names.")
    plain = [_PLAINER.get(place, str(name)) for place, name in enumerate(names)]
    if len({name.casefold() for name in plain}) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} names two labels alike.")
    moved = [name for place, name in _KNOWN.items() if plain[place].casefold() != name]
    if moved:
        raise BrokenFile(f"{path.name} has another order of labels: {', '.join(moved)}.")
    return plain
