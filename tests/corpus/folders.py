"""Archives whose folders are parts of a dataset, and label tables next to images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chalicelib.domain.datasets.upload_format import ReadingOptions
from tests.corpus.case import UploadCase
from tests.pictures import draw, make_zip

_SIX = {"cat": 6, "dog": 6}
_SPLIT = frozenset({"splitFolders"})
_MULTI = "image-multi-label"


def _images(*paths: str) -> dict[str, bytes]:
    return {path: draw(salt=at) for at, path in enumerate(paths, 1)}


def _numbered(*folders: str, first: int = 0) -> dict[str, bytes]:
    """Return three images a folder, numbered alike in each."""
    return _images(*(f"{folder}/{n}.png" for folder in folders for n in range(first, first + 3)))


def _table(rows: Iterable[str], header: str) -> bytes:
    return "\n".join((header, *rows)).encode()


def _ok(name: str, files: dict[str, bytes], **more: Any) -> UploadCase:
    facts = {"labels": _SIX, "type": "image", "warnings": _SPLIT, "kind": "zipFolders", **more}
    return UploadCase(name, make_zip(files), **facts)


def _no(name: str, files: dict[str, bytes], refusal: str, **more: Any) -> UploadCase:
    return UploadCase(name, make_zip(files), refusal=refusal, **{"type": "image", **more})


_OUTER = _numbered("train/cat", "train/dog", "valid/cat", "valid/dog")
_INNER = _numbered("pets/cat/train", "pets/cat/test", "pets/dog/train", "pets/dog/test")
_LOOSE = _numbered("train", "valid")
_ONE_HOT = {
    **_numbered("train", "valid"),
    "train/_classes.csv": _table(["0.png, 0, 1", "1.png, 1, 0", "2.png, 1, 1"], "filename, a, b"),
    "valid/_classes.csv": _table(["0.png,0,1", "1.png,1,0", "2.png,0,0"], "filename,a,b"),
}
_ONE = {
    **_numbered("train", "test"),
    "train.csv": _table(["0,cat", "1,dog", "2,cat"], "id,breed"),
    "test.csv": _table(["0.png;dog", "1.png;dog", "2.png;cat"], "file;label"),
}
_CELLS = {
    **_numbered("data/train"),
    "data/train.csv": _table(["0.png,a;b", "1.png,b;c", "2.png,c"], "image,tags"),
}
FOLDERS = [
    _ok("splits of the same classes", _OUTER),
    _ok("splits of classes with images to predict", {**_OUTER, **_images("test/9.png")},
        rejected=1),
    _ok("images to predict next to the only split of classes", {
        **_numbered("train/cat", "train/dog", first=1), **_numbered("test")},
        labels={"cat": 3, "dog": 3, "test": 3}, warnings=_SPLIT | {"fewExamples"}),
    _ok("classes of splits", _INNER),
    _ok("one class folder without splits is read as before",
        {**_numbered("cat", "dog/train", "dog/test")},
        labels={"cat": 3, "test": 3, "train": 3}, warnings=frozenset({"fewExamples"})),
    _ok("labels below other folders of equal names, with a warning",
        _numbered("cat/2024/may", "cat/2024/june", "dog/2024/may", "dog/2024/june"),
        labels={"may": 6, "june": 6}),
    _ok("one label below two folders with other labels, with a warning",
        _numbered("rosa/alba", "rosa/rubra", "tulipa/rubra"), labels={"alba": 3, "rubra": 6},
        warnings=_SPLIT | {"fewExamples"}),
    _ok("images without a label in any folder, with a warning",
        {**_numbered("photos"), "labels.txt": b"0.png cat"}, labels={"photos": 3}, rejected=1,
        warnings=_SPLIT | {"fewExamples"}),
    _ok("a table next to a folder of images",
        {**_images(*(f"data/images/{n}.png" for n in range(12))), "data/train.csv": _table(
            [f"{n},{('cat', 'dog')[n % 2]}" for n in range(12)], "id,kind")}),
    _ok("a table of another name next to a folder of images",
        {**_numbered("images"), "labels.csv": _table(["0,cat", "1,dog", "2,cat"], "id,kind")},
        labels={"cat": 2, "dog": 1}, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table of another name next to a folder of photos",
        {**_numbered("photos"), "labels.csv": _table(["0,cat", "1,dog", "2,cat"], "id,kind")},
        labels={"cat": 2, "dog": 1}, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table of another name next to images without a folder",
        {**_images("0.png", "1.png", "2.png"),
         "my pictures.csv": _table(["0.png;cat", "1.png;dog", "2.png;cat"], "file;Kategorie")},
        labels={"cat": 2, "dog": 1}, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table next to folders named after splits and images",
        {**_numbered("train_images", "test-images"),
         "train.csv": _table(["0.png,cat", "1.png,dog", "2.png,cat"], "image_id,label"),
         "train_images.csv": _table(["0.png"], "file")},
        labels={"cat": 2, "dog": 1}, rejected=4, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table that holds no labels next to a folder of images, with a warning",
        {**_numbered("images"), "sizes.csv": _table(["0,3,4", "1,4,4"], "id,width,height")},
        labels={"images": 3}, rejected=1, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table of something else in its second column, with a warning",
        {**_numbered("images"), "authors.csv": _table(["0,Anna", "1,Ben"], "id,author")},
        labels={"images": 3}, rejected=1, warnings=_SPLIT | {"fewExamples"}),
    _ok("a table of other images, whose rows are not reported",
        {**_numbered("images"), "labels.csv": _table(["7,cat", "8,dog", "9,cat"], "id,kind")},
        labels={"images": 3}, rejected=1, warnings=_SPLIT | {"fewExamples"}),
    _ok("tables of another name in two splits",
        {**_numbered("data/train", "data/test"),
         "data/train/metadata.csv": _table(["0.png,cat", "1.png,dog"], "file_name,label"),
         "data/test/metadata.csv": _table(["0.png,cat", "1.png,dog"], "file_name,label")},
        labels={"cat": 2, "dog": 2}, rejected=2, warnings=_SPLIT | {"fewExamples"}),
    _ok("tables about splits next to their folders",
        {**_numbered("train", "test"),
         "train_labels.csv": _table(["0.png,cat", "1.png,dog"], "image,label"),
         "test_labels.csv": _table(["1.png,cat", "2.png,dog"], "image,label")},
        labels={"cat": 2, "dog": 2}, rejected=2, warnings=_SPLIT | {"fewExamples"}),
    _ok("JSON lines as a table in a split",
        {**_numbered("train"), "train/metadata.jsonl": _table(
            ['{"file_name": "1.png", "label": "cat"}', '{"label": "dog", "file_name": "2.png"}'],
            '{"file_name": "0.png", "label": "dog"}')},
        labels={"cat": 1, "dog": 2}, warnings=_SPLIT | {"fewExamples"}),
    *(_ok(f"JSON lines with missing labels and lists, {kind}",
        {**_numbered("train"), "train/metadata.jsonl": _table(
            ['{"file": "1.png", "label": ["cat"], "box": {}}', '{"file": "2.png", "label": {}}'],
            '{"file": "0.png", "label": null}')},
        type=kind, labels={"cat": 1}, rejected=4, warnings=_SPLIT | {"fewExamples"})
        for kind in ("image", _MULTI)),
    _ok("JSON lines with several labels", {**_numbered("train"), "train/metadata.jsonl": _table(
        ['{"file": "1.png", "label": ["cat", "a dog"]}', '{"file": "2.png", "label": [["x"]]}'],
        '{"file": "0.png", "label": ["cat"]}')},
        type=_MULTI, labels={"cat": 2, "a dog": 1}, rejected=2,
        warnings=_SPLIT | {"fewExamples"}),
    _ok("splits alone are labels, with a warning", _numbered("a/train", "a/test"),
        labels={"train": 3, "test": 3}, warnings=_SPLIT | {"fewExamples"}),
    _no("splits of the same classes, strict", _OUTER, "are parts of the dataset",
        options=ReadingOptions(strict=True)),
    _ok("one-hot tables of splits", _ONE_HOT, type=_MULTI, labels={"a": 3, "b": 3}, rejected=2,
        warnings=_SPLIT | {"fewExamples"}),
    _ok("one-hot tables for one label", _ONE_HOT, labels={"a": 2, "b": 2}, rejected=3,
        warnings=_SPLIT | {"fewExamples"}),
    _ok("tables of a label with equal names in splits", _ONE, labels={"cat": 3, "dog": 3},
        warnings=_SPLIT | {"fewExamples"}),
    _ok("cells of several labels", _CELLS, type=_MULTI, labels={"a;b": 1, "b;c": 1, "c": 1},
        warnings=_SPLIT | {"fewExamples", "severalLabels"}),
    _ok("cells split at a separator", _CELLS, type=_MULTI, labels={"a": 1, "b": 2, "c": 2},
        warnings=_SPLIT | {"fewExamples"}, options=ReadingOptions(label_separator=";")),
    _no("a separator for one label", _CELLS, "'labelSeparator' parameter is not valid",
        options=ReadingOptions(label_separator=";")),
    _no("a separator without a table", _OUTER, "Add _classes.csv", type=_MULTI,
        options=ReadingOptions(label_separator=";")),
    _no("a table without labels", {**_LOOSE, "train.csv": b"id,width,height\n0,3,4\n1,4,4\n"},
        "may hold the label"),
    _no("an empty table", {**_LOOSE, "train.csv": b"id,label\n"}, "has no rows"),
]  # fmt: skip
