"""Builds the folders of the transformer encoders: graph, tokeniser, facts, each checked twice."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import onnx

from chalicelib.engines.text.encoding.encoders import FACTS_FILE, load_encoder
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import (
    convert_bge,
    convert_e5,
    convert_minilm,
    convert_mpnet,
    convert_use,
)
from infra.model_files.installed import model_facts, write_facts
from infra.model_files.manifest import InstallableModel, Progress
from infra.model_files.verification import text_references


class Conversion(Protocol):
    """What a module that converts one encoder offers."""

    def build(self, source: Path) -> onnx.ModelProto:
        """Author the graph in full precision from the sources' files."""

    def write_tokenizer(self, source: Path, target: Path) -> None:
        """Write `tokenizer.json`."""

    def write_quantised(self, model: onnx.ModelProto, target: Path) -> None:
        """Round the graph to 8 bits and write `model.onnx`."""


def build(
    model: InstallableModel, conversion: Conversion, source: Path, result: Path, progress: Progress
) -> None:
    """Write `model.onnx`, `tokenizer.json` and `encoder.json`.

    Args:
        model: the manifest's entry.
        conversion: of this encoder.
        source: folder with the sources' files; they are removed once read.
        result: existing folder to write to.
        progress: takes lines for the user.

    Raises:
        BrokenFile: a source's file is not what it should be.
        WrongVectors: the graph gives other vectors than the references, before or after it was
            rounded.
    """
    # Loaded like an encoder, the graph in full precision needs a folder of the encoder's name.
    exact = source.with_name("exact") / model.name
    exact.mkdir(parents=True)
    graph = conversion.build(source)
    conversion.write_tokenizer(source, exact)
    for path in source.iterdir():
        path.unlink()
    onnx.save(graph, str(exact / "model.onnx"))
    write_encoder_facts(model, exact)
    progress(f"{model.name}: comparing the graph in full precision")
    text_references.check_vectors(load(exact), model.name, text_references.EXACT)
    (exact / "model.onnx").unlink()
    progress(f"{model.name}: rounding to 8 bits")
    conversion.write_quantised(graph, result)
    (exact / "tokenizer.json").rename(result / "tokenizer.json")
    write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference vectors")
    text_references.check_vectors(load(result), model.name, text_references.QUANTISED)


_CONVERSIONS: dict[str, Conversion] = {
    "bge": convert_bge,
    "mpnet": convert_mpnet,
    "e5": convert_e5,
}


def build_transformer(
    model: InstallableModel, source: Path, result: Path, progress: Progress
) -> None:
    """Write the files of an encoder whose graph is authored here; see `build`."""
    build(model, _CONVERSIONS[model.name], source, result, progress)


def build_use(model: InstallableModel, source: Path, result: Path, progress: Progress) -> None:
    """Convert the Universal Sentence Encoder and compare it with its reference vectors."""
    convert_use.convert(source, result)
    write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference vectors")
    text_references.check_vectors(load(result), model.name, text_references.EXACT)


def build_minilm(model: InstallableModel, source: Path, result: Path, progress: Progress) -> None:
    """Check all-MiniLM-L6-v2 as it came, quantise it, check it again."""
    # Loaded like an encoder, the source needs the folder's name and a facts file of its own.
    original = source.rename(source.with_name("original"))
    named = original / model.name
    named.mkdir()
    for name in model.source.members:
        (original / name).rename(named / name)
    write_encoder_facts(model, named)
    text_references.check_vectors(load(named), model.name, text_references.EXACT)
    convert_minilm.convert(named, result)
    write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference vectors")
    text_references.check_vectors(load(result), model.name, text_references.QUANTISED)


def write_encoder_facts(model: InstallableModel, folder: Path) -> None:
    """Write the facts file of a converted encoder."""
    facts = model_facts(model, folder, FACTS_FILE) | {"dimensions": model.dimensions}
    write_facts(folder, FACTS_FILE, facts)


def load(folder: Path) -> Encoder:
    """Load the encoder of a folder that bears its name."""
    return load_encoder(folder.parent, folder.name)
