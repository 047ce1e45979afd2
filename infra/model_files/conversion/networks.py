"""Builds the folders of the networks that recognise images, text and tables.

Converters write the graphs, and the lists of labels or characters. Then the graphs are compared
with reference outputs. Finally a file of facts (title, licence, digests) is written, which cards
and artifacts quote.
"""

from __future__ import annotations

from infra.downloads.fetch import file_sha256
from infra.model_files.conversion import (
    convert_lite2,
    convert_nanodet,
    convert_ppocr,
    convert_slanet,
)
from infra.model_files.description import Conversion
from infra.model_files.installed import describe_origin, model_facts, write_facts, write_json
from infra.model_files.label_lists import COCO, imagenet_names
from infra.model_files.verification import ocr_references, vision_references

MODEL_FILE = "model.onnx"
LABELS_FILE = "labels.json"
BACKBONE_FACTS = "backbone.json"
OCR_FACTS = "engine.json"
_CONVERTERS = {
    "lite2": convert_lite2.convert,
    "nanodet": convert_nanodet.convert,
    "ppocr": convert_ppocr.convert,
    "slanet": convert_slanet.convert,
}
_CHECKING = "{}: checking against the reference outputs"


def build_backbone(job: Conversion) -> None:
    """Write `model.onnx`, `labels.json` and `backbone.json` of a network that recognises images.

    Raises:
        BrokenFile: a source file is not as expected.
        WrongOutputs: the graph does not give the reference outputs.
    """
    name = job.model.name
    _CONVERTERS[name](job.source, job.result)
    labels = COCO if name == "nanodet" else imagenet_names(job.source / "names.json")
    write_json(job.result / LABELS_FILE, labels)
    job.progress(_CHECKING.format(name))
    vision_references.check_model(job.result / MODEL_FILE, name)
    digest = file_sha256(job.result / MODEL_FILE)
    facts = {"name": name, "title": job.model.title, "sha256": digest}
    write_json(job.result / BACKBONE_FACTS, facts | describe_origin(job.model))


def build_ocr(job: Conversion) -> None:
    """Write the graphs, the lists of characters or tokens, and `engine.json` of an OCR network.

    Raises:
        BrokenFile: a source file is not as expected.
        WrongOutputs: a graph does not give the reference outputs.
    """
    name = job.model.name
    _CONVERTERS[name](job.source, job.result)
    job.progress(_CHECKING.format(name))
    if name == "ppocr":
        ocr_references.check_cut(
            job.source / convert_ppocr.RECOGNISER, job.result / convert_ppocr.RECOGNISER
        )
    for graph in sorted(job.result.glob("*.onnx")):
        ocr_references.check_model(graph, f"{name}/{graph.name}")
    write_facts(job.result, OCR_FACTS, model_facts(job.model, job.result, OCR_FACTS))
