"""Finds folders whose names are splits of a dataset, such as `train`, and not labels.

By section 5 of the contract, folder names are labels. Section 1 of beyond.md has the exceptions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from chalicelib.formats.archives.picture_index import SPLITS

# Other names of splits, with the name that `split_of` returns for them.
_SAME = {"training": "train", "val": "valid", "validation": "valid", "testing": "test"}
# Folders of these names hold images of any label.
IMAGES = frozenset(("images", "image", "imgs", "img", "pictures", "photos", "pics", "jpegimages"))
_BETWEEN = re.compile(r"[\W_]+")


def split_of(folder: str) -> str:
    """Return the split that a folder name means, such as `train`; "" for other folder names.

    The folder name may also contain a word for images, as in `train_images`.
    """
    words = filter(None, _BETWEEN.split(folder.rpartition("/")[2].casefold()))
    name = " ".join(word for word in words if word not in IMAGES)
    return _SAME.get(name, name) if name in SPLITS else ""


class SplitFolders:
    """Finds the folders that are splits. They can be above or inside the folders of labels."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Find the folders that are splits.

        Args:
            folders: Paths of all folders that contain images.
        """
        holding = set(folders)
        self.outer = _find_outer(holding)
        """Paths of splits that contain the class folders, such as `train` above `train/cat`."""
        self.inner = _find_inner(holding)
        """Paths of splits inside of the class folders, such as `cat/train`."""
        self.repeating = frozenset() if self.outer or self.inner else _find_repeating(holding)
        """Paths of several folders that contain class folders of the same name."""
        above = {folder.rpartition("/")[0] for folder in holding - self.outer - self.inner}
        bases = {path.rpartition("/")[0] for path in filter(split_of, above)}
        self.loose = frozenset() if self.outer else _find_loose(holding, bases)
        """Paths of splits that are labels, next to a split with class folders."""
        names = {folder.rpartition("/")[2] for folder in holding}
        self.are_labels = len(names) > 1 and all(map(split_of, names)) and not self.inner
        """Whether folders with names of splits are labels, because there are no other folders."""


def _find_outer(folders: set[str]) -> frozenset[str]:
    classes: Mapping[str, dict[str, set[str]]] = defaultdict(dict)
    for folder in folders:
        above, _, name = folder.rpartition("/")
        if above and split_of(above) and not split_of(name):
            base = above.rpartition("/")[0]
            classes[base].setdefault(above, set()).add(name)
    found: set[str] = set()
    for by_split in classes.values():
        # A test folder may lack rare classes, but splits of one dataset have some in common.
        if len(by_split) > 1 and set.intersection(*by_split.values()):
            found |= by_split.keys()
    bases = {split.rpartition("/")[0] for split in found}
    # Images without a class folder, often those to predict, do not make the split a label.
    return _find_loose(folders, bases) | found


def _find_loose(folders: set[str], bases: set[str]) -> frozenset[str]:
    return frozenset(f for f in folders if split_of(f) and f.rpartition("/")[0] in bases)


def _find_inner(folders: set[str]) -> frozenset[str]:
    above = {folder.rpartition("/")[0] for folder in folders}
    if len(above) < 2 or not all(above) or any(map(split_of, above)):
        return frozenset()
    # Classes are siblings; splits at different depths belong to several datasets.
    if len({path.rpartition("/")[0] for path in above}) > 1:
        return frozenset()
    return frozenset(folders) if all(map(split_of, folders)) else frozenset()


def _find_repeating(folders: set[str]) -> frozenset[str]:
    above: Mapping[str, set[str]] = defaultdict(set)
    for folder in folders:
        parent, _, name = folder.rpartition("/")
        above[name].add(parent)
    repeated = (parents for parents in above.values() if len(parents) > 1 and all(parents))
    return frozenset[str]().union(*repeated)
