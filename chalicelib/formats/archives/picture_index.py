"""Finds the image whose path or file name an annotation contains. See contract section 5."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

_SEVERAL = -1
# Names of folders that are parts of a dataset.
SPLITS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing"})
_BETWEEN = re.compile(r"[\W_\d]+")


class ImageIndex:
    """An index of an archive's files by path and by file name. 100,000 files take about 60 MB."""

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._by_split: dict[tuple[str, str], set[int]] | None = None
        self._folded: tuple[dict[str, int], dict[str, int]] | None = None

    def add(self, index: int, path: str) -> None:
        """Add a file to the index.

        Args:
            index: Index of the file in the archive's directory.
            path: Path of the file in the archive, as returned by `clean_path`.
        """
        _note(self._paths, path, index)
        _note(self._names, path.rpartition("/")[2], index)

    def find(self, cell: str, folder: str, split: frozenset[str] = frozenset()) -> int | str:
        """Find an image by its path, by its path relative to annotations.csv, or by its file name.

        If no image is found, the search is repeated and ignores case.

        Args:
            cell: Path or file name as written in an annotation. Backslashes and paths of other
                tools are accepted.
            folder: Folder of annotations.csv with a "/" at its end, or empty.
            split: Words for splits, such as `train`. If several images have the file name, the
                image in a folder with one of these words is returned.

        Returns:
            The index of the file, or the reason why it was not found.
        """
        path = as_path(cell)
        found = self.find_first((path, folder + path))
        return self._find_in_split(path.rpartition("/")[2], split, found) if split else found

    def _find_in_split(self, name: str, split: frozenset[str], result: int | str) -> int | str:
        """Return `result`, unless several images have the name and exactly one is in the split.

        In this case, return the index of the image in the split.
        """
        if isinstance(result, int) or self._names.get(name) != _SEVERAL:
            return result
        if self._by_split is None:
            self._by_split = self._list_by_split()
        places = set[int]().union(*(self._by_split.get((word, name), ()) for word in split))
        return places.pop() if len(places) == 1 else result

    def _list_by_split(self) -> dict[tuple[str, str], set[int]]:
        """Return, for each split and file name, up to two image indexes in the split's folders."""
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for path, index in self._paths.items():
            folder, _, name = path.rpartition("/")
            for word in split_words(folder):
                # Two show that the name is not unique in the split.
                if len(found[word, name]) < 2:
                    found[word, name].add(index)
        return found

    def find_first(self, paths: Sequence[str]) -> int | str:
        """Find an image by the first path that exists, otherwise by its file name.

        If no image is found, the search is repeated and ignores case.

        Args:
            paths: Paths in the archive. The search by name uses the file name of the first path.

        Returns:
            The index of the file, or the reason why it was not found.
        """
        name = paths[0].rpartition("/")[2]
        found = _first(self._paths, self._names, paths, name)
        if found is None:
            if self._folded is None:
                self._folded = _fold_all(self._paths), _fold_all(self._names)
            found = _first(*self._folded, [_fold(path) for path in paths], _fold(name))
        if found is None:
            return "the archive has no image of this name; add it, or correct the name."
        if found == _SEVERAL:
            return "the archive has several images of this name; write the path in the archive."
        return found


def split_words(path: str) -> frozenset[str]:
    """Return the words in a path that are names of splits, such as `train` and `val`."""
    return SPLITS.intersection(_BETWEEN.split(path.casefold()))


def as_path(text: str) -> str:
    """Convert a path that another tool wrote to the form of paths in archives."""
    return text.strip().replace("\\", "/").removeprefix("./")


def _first(
    indexes: dict[str, int], names: dict[str, int], paths: Sequence[str], name: str
) -> int | None:
    for path in paths:
        if path in indexes:
            return indexes[path]
    return names.get(name)


def _note(places: dict[str, int], key: str, index: int) -> None:
    if places.setdefault(key, index) != index:
        places[key] = _SEVERAL


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _fold_all(places: dict[str, int]) -> dict[str, int]:
    folded: dict[str, int] = {}
    for key, index in places.items():
        _note(folded, _fold(key), index)
    return folded
