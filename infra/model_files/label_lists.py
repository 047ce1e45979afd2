"""Reads the labels of networks, and the subset of labels that a prebuilt model uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from infra.downloads.errors import BrokenFile

_FOLDER = Path(__file__).with_name("labels")
_IMAGENET_COUNT = 1_000
# Clearer names for labels that share a name in the package, or whose name is ambiguous.
_RENAMED = {
    282: "tiger cat",  # "a cat having a striped coat"
    638: "maillot (tights)",  # "tights for gymnastics, a one-piece leotard, or a sport jersey"
    657: "missile",
    744: "projectile missile",  # "missile", like 657
    836: "sunglass",  # "sunglasses", like 837
    923: "plate of food",  # "plate", in ImageNet the main course
}
# Labels with known indexes, by which a list in another order is noticed.
_PLACES = {
    **{0: "tench", 145: "king penguin", 207: "golden retriever", 281: "tabby cat", 340: "zebra"},
    **{436: "station wagon", 508: "computer keyboard", 665: "moped", 779: "school bus"},
    **{817: "sports car", 954: "banana", 999: "toilet paper"},
}


def _read(name: str) -> Mapping[int, str]:
    """Read a file of labels with their indexes in a network's output; `#` starts a comment."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines if not line.startswith("#"))
    return MappingProxyType({int(place): label for place, label in pairs})


COCO = tuple(_read("coco").values())
FOOD = _read("food")
SCENE = _read("scene")


def imagenet_names(path: Path) -> list[str]:
    """Read the thousand distinct names of ImageNet's labels from a JSON list.

    Raises:
        BrokenFile: the number of names is wrong, two are equal, or the order differs.
    """
    names = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(names, list) or len(names) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} is not a list of {_IMAGENET_COUNT:,} names.")
    plain = [_RENAMED.get(place, str(name)) for place, name in enumerate(names)]
    if len({name.casefold() for name in plain}) != _IMAGENET_COUNT:
        raise BrokenFile(f"{path.name} names two labels alike.")
    moved = [name for place, name in _PLACES.items() if plain[place].casefold() != name]
    if moved:
        raise BrokenFile(f"{path.name} has another order of labels: {', '.join(moved)}.")
    return plain
