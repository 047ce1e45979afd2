"""Builds the folders of the text encoders: graph, tokeniser and facts.

Every encoder is compared with its reference vectors before and after it is rounded to 8 bits.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

import onnx

from chalicelib.engines.text.encoding.encoders import FACTS_FILE, load_encoder
from chalicelib.engines.text.encoding.interface import Encoder
from infra.model_files.conversion import convert_bge, convert_e5, convert_mpnet, convert_use
from infra.model_files.conversion.quantise import quantise
from infra.model_files.description import Conversion, ModelDescription
from infra.model_files.installed import model_facts, write_facts
from infra.model_files.verification import text_references
from infra.model_files.verification.text_references import EXACT, QUANTISED, Floor

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


class GraphConverter(Protocol):
    """The interface of modules that build the graph of one encoder."""

    def build(self, source: Path) -> onnx.ModelProto:
        """Build the graph in full precision from the source files."""

    def write_tokenizer(self, source: Path, target: Path) -> None:
        """Write `tokenizer.json`."""

    def write_quantised(self, model: onnx.ModelProto, target: Path) -> None:
        """Round the graph to 8 bits and write `model.onnx`."""


_GRAPH_CONVERTERS: dict[str, GraphConverter] = {
    "bge": convert_bge,
    "mpnet": convert_mpnet,
    "e5": convert_e5,
}


def build_transformer(job: Conversion) -> None:
    """Write the files of an encoder whose graph is built by transformer_graph.py."""
    build(job, _GRAPH_CONVERTERS[job.model.name])


def build(job: Conversion, converter: GraphConverter) -> None:
    """Write `model.onnx`, `tokenizer.json` and `encoder.json`; remove the source files.

    Raises:
        BrokenFile: a source file is not as expected.
        WrongVectors: the graph, exact or rounded, does not give the reference vectors.
    """
    name = job.model.name
    # The graph in full precision is loaded as an encoder, which needs a folder of that name.
    exact = job.source.with_name("exact") / name
    exact.mkdir(parents=True)
    graph = converter.build(job.source)
    converter.write_tokenizer(job.source, exact)
    # The sources and both graphs together would need more space than the manifest allows.
    for path in job.source.iterdir():
        path.unlink()
    onnx.save(graph, str(exact / MODEL_FILE))
    _check(job, exact, EXACT, "comparing the graph in full precision")
    (exact / MODEL_FILE).unlink()
    job.progress(f"{name}: rounding to 8 bits")
    converter.write_quantised(graph, job.result)
    (exact / TOKENIZER_FILE).rename(job.result / TOKENIZER_FILE)
    _check(job, job.result, QUANTISED)


def build_use(job: Conversion) -> None:
    """Convert the Universal Sentence Encoder and compare it with its reference vectors."""
    convert_use.convert(job.source, job.result)
    _check(job, job.result, EXACT)


def build_minilm(job: Conversion) -> None:
    """Check the published all-MiniLM-L6-v2 against its references, quantise it, and check again."""
    # Loaded as an encoder, the published graph needs a folder of that name.
    exact = job.source.rename(job.source.with_name("original")) / job.model.name
    exact.mkdir()
    for path in list(exact.parent.iterdir()):
        if path.is_file():
            path.rename(exact / path.name)
    write_encoder_facts(job.model, exact)
    text_references.check_vectors(load(exact), job.model.name, EXACT)
    quantise_published(exact, job.result)
    _check(job, job.result, QUANTISED)


def quantise_published(source: Path, target: Path) -> None:
    """Write `model.onnx` with 8-bit weights and a scale per channel, and `tokenizer.json`."""
    model = onnx.load(str(source / MODEL_FILE), load_external_data=True)
    quantise(model, target / MODEL_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)


def _check(
    job: Conversion,
    folder: Path,
    floor: Floor,
    step: str = "checking against the reference vectors",
) -> None:
    """Write `encoder.json`, and compare the encoder's vectors with its reference vectors."""
    write_encoder_facts(job.model, folder)
    job.progress(f"{job.model.name}: {step}")
    text_references.check_vectors(load(folder), job.model.name, floor)


def write_encoder_facts(model: ModelDescription, folder: Path) -> None:
    """Write `encoder.json`, the file of facts (such as licence and digests) of an encoder."""
    facts = model_facts(model, folder, FACTS_FILE) | {"dimensions": model.dimensions}
    write_facts(folder, FACTS_FILE, facts)


def load(folder: Path) -> Encoder:
    """Load the encoder in a folder that has the encoder's name."""
    return load_encoder(folder.parent, folder.name)
