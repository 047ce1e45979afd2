"""Cuts the recogniser of PP-OCRv6 to the documented characters; the detector stays as it is.

The published recogniser has 18,710 classes: blank, 18,708 characters, space. The output has one
column for blank and one for each documented character. Keeping only these classes would have two
faults: blank would win where a page shows "é", and probabilities would be too high for text in
another alphabet. So the last layer keeps three groups of columns, without changing a number:

1. Blank and the documented characters.
2. Characters that `to_documented` of the domain replaces with one of these: accented letters,
   full-width forms, look-alikes. After the softmax, their probability is added to the column of
   the replacement.
3. All other characters except ideographs. Their probability is dropped, so that the columns sum to
   less than 1 where the page shows a character without a column. Ideographs, nine tenths of the
   classes, get almost no probability from text in these groups and are removed.

A second output of the same softmax has a column for blank and one for each character of the larger
Latin set, whose accented letters are in group 2. Other characters are dropped.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from chalicelib.domain.common.arrays import Ints, Singles
from chalicelib.domain.documents.characters import (
    CHARACTERS,
    LATIN_CHARACTERS,
    to_documented,
    to_latin,
)
from infra.downloads.errors import BrokenFile

DETECTOR = "detector.onnx"
RECOGNISER = "recogniser.onnx"
ALPHABET = "alphabet.json"
LATIN_ALPHABET = "latin.json"
BLANK, SPACE = "", " "
_WEIGHT, _BIAS = "linear_8.w_0", "linear_8.b_0"  # of the last layer
_FIRST_IDEOGRAPH = 0x3100  # after the kana; emoji come after it too
_FULL_WIDTH = range(0xFF00, 0xFFF0)
_UNFOLDED = "every_class"  # output of the softmax
_LATIN = "latin"  # the second output


@dataclass(frozen=True, eq=False)
class Cut:
    """The character classes to keep, and matrices that sum the probabilities of merged classes."""

    classes: Ints
    """Indexes of the kept classes in the published layer: documented, look-alikes, others."""
    folding: Singles
    """Matrix of 0 and 1 that adds look-alikes to documented characters.

    Its shape is (classes of the first two groups, output columns); the third group is dropped.
    """
    latin: Singles
    """Matrix of 0 and 1 that adds kept classes to the Latin letters, shape (classes, letters)."""


def alphabet() -> list[str]:
    """Return the characters of the output's columns: blank, documented characters, space."""
    return [BLANK, *CHARACTERS]


def latin_alphabet() -> list[str]:
    """Return the characters of the columns of output `latin`: blank, Latin characters, space."""
    return [BLANK, *LATIN_CHARACTERS]


def choose(classes: list[str]) -> Cut:
    """Choose the character classes to keep, and the output column of each class.

    Args:
        classes: the character of each published class; blank first, space last.

    Raises:
        BrokenFile: a documented character is missing.
    """
    columns = alphabet()
    missing = [name for name in latin_alphabet() if name not in classes]
    if missing:
        raise BrokenFile(f"ppocr: the recogniser does not know {' '.join(missing)}.")
    first = [len(classes) - 1 if name == SPACE else classes.index(name) for name in columns]
    chosen = set(first)
    rest = [place for place in range(len(classes)) if place not in chosen]
    second = [place for place in rest if len(to_documented(classes[place])) == 1]
    folded = set(second)
    third = [place for place in rest if place not in folded and not _is_ideograph(classes[place])]
    folding = np.zeros((len(first) + len(second), len(columns)), np.float32)
    targets = [*columns, *(to_documented(classes[place]) for place in second)]
    folding[np.arange(len(targets)), [columns.index(target) for target in targets]] = 1
    kept = [*first, *second, *third]
    return Cut(np.array(kept, np.int64), folding, _latin_folding([classes[at] for at in kept]))


def _latin_folding(names: list[str]) -> Singles:
    """Return the matrix `Cut.latin`, which maps kept classes to columns of output `latin`."""
    columns = {name: place for place, name in enumerate(latin_alphabet())}
    targets = [name if name in (BLANK, SPACE) else to_latin(name) for name in names]
    folding = np.zeros((len(names), len(columns)), np.float32)
    for row, target in enumerate(targets):
        if target in columns and (target or row == 0):
            folding[row, columns[target]] = 1
    return folding


def _is_ideograph(name: str) -> bool:
    """Return whether a class is a Chinese character, a Korean syllable or an emoji."""
    return any(ord(part) >= _FIRST_IDEOGRAPH and ord(part) not in _FULL_WIDTH for part in name)


def classes_of(model: onnx.ModelProto) -> list[str]:
    """Return the character of each class of the published recogniser."""
    listed = {entry.key: entry.value for entry in model.metadata_props}["character"]
    return [BLANK, *listed.split("\n"), SPACE]


def cut_recogniser(model: onnx.ModelProto) -> None:
    """Remove classes from the last layer, and add the two outputs, in place.

    The first output is float32 (n, steps, alphabet): probabilities that sum to at most 1. The
    second output, `latin`, has the same form for the letters of the Latin set.

    Raises:
        BrokenFile: the graph does not end as expected.
    """
    cut = choose(classes_of(model))
    graph = model.graph
    for tensor in graph.initializer:
        if tensor.name in (_WEIGHT, _BIAS):
            values = numpy_helper.to_array(tensor)[..., cut.classes]
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values), tensor.name))
    last, output = graph.node[-1], graph.output[0]
    if last.op_type != "Softmax" or last.output[0] != output.name:
        raise BrokenFile("ppocr: the recogniser does not end with the softmax of its answer.")
    last.output[0] = _UNFOLDED
    _add_folding(graph, cut.folding, output.name)
    _add_latin(graph, cut.latin)
    output.type.tensor_type.shape.dim[2].dim_value = cut.folding.shape[1]
    # The declared shapes and the list of classes describe the published layer, so they are removed.
    del graph.value_info[:], model.metadata_props[:]
    onnx.checker.check_model(model, full_check=True)


def _add_folding(graph: onnx.GraphProto, folding: Singles, output: str) -> None:
    """Add nodes that add look-alikes to documented characters, and drop all other characters."""
    constants: dict[str, npt.NDArray[np.generic]] = {
        "fold_from": np.array([0], np.int64),
        "fold_to": np.array([len(folding)], np.int64),
        "fold_axis": np.array([2], np.int64),
        "folding": folding,
    }
    graph.initializer.extend(
        numpy_helper.from_array(value, name) for name, value in constants.items()
    )
    ends = [_UNFOLDED, "fold_from", "fold_to", "fold_axis"]
    graph.node.append(helper.make_node("Slice", ends, ["answerable"], name="answerable"))
    graph.node.append(helper.make_node("MatMul", ["answerable", "folding"], [output], name="fold"))


def _add_latin(graph: onnx.GraphProto, folding: Singles) -> None:
    graph.initializer.append(numpy_helper.from_array(folding, "latin_folding"))
    ends = [_UNFOLDED, "latin_folding"]
    graph.node.append(helper.make_node("MatMul", ends, [_LATIN], name="latin_fold"))
    second = graph.output.add()
    second.CopyFrom(graph.output[0])
    second.name = _LATIN
    second.type.tensor_type.shape.dim[2].dim_value = folding.shape[1]


def convert(source: Path, target: Path) -> None:
    """Write `detector.onnx`, `recogniser.onnx`, `alphabet.json` and `latin.json`.

    Raises:
        BrokenFile: the recogniser is not the expected one.
    """
    shutil.copyfile(source / DETECTOR, target / DETECTOR)
    model = onnx.load(str(source / RECOGNISER))
    cut_recogniser(model)
    (target / RECOGNISER).write_bytes(model.SerializeToString(deterministic=True))
    for name, columns in ((ALPHABET, alphabet()), (LATIN_ALPHABET, latin_alphabet())):
        text = json.dumps(columns, ensure_ascii=False, indent=1) + "\n"
        (target / name).write_text(text, encoding="utf-8")
