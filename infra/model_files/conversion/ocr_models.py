"""Builds the folders of the networks that read text and tables: graphs, alphabets, facts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from infra.model_files.conversion import convert_ppocr, convert_slanet
from infra.model_files.installed import model_facts, write_facts
from infra.model_files.manifest import InstallableModel, Progress
from infra.model_files.verification import ocr_references

FACTS_FILE = "engine.json"


def build(model: InstallableModel, source: Path, result: Path, progress: Progress) -> None:
    """Write graphs, lists and, when the graphs have been checked, `engine.json`.

    Args:
        model: the manifest's entry.
        source: folder with the source's files.
        result: existing folder to write to.
        progress: takes lines for the user.

    Raises:
        BrokenFile: a source's file is not what it should be.
        WrongOutputs: a graph gives other numbers than it should.
    """
    _CONVERSIONS[model.name](source, result)
    progress(f"{model.name}: checking against the reference outputs")
    _CHECKS[model.name](source, result)
    write_facts(result, FACTS_FILE, model_facts(model, result, FACTS_FILE))


def _check_ppocr(source: Path, result: Path) -> None:
    ocr_references.check_cut(source / convert_ppocr.RECOGNISER, result / convert_ppocr.RECOGNISER)
    for name in (convert_ppocr.DETECTOR, convert_ppocr.RECOGNISER):
        ocr_references.check_model(result / name, f"ppocr/{name}")


def _check_slanet(source: Path, result: Path) -> None:
    ocr_references.check_model(result / convert_slanet.MODEL, f"slanet/{convert_slanet.MODEL}")


_CONVERSIONS: dict[str, Callable[[Path, Path], None]] = {
    "ppocr": convert_ppocr.convert,
    "slanet": convert_slanet.convert,
}
_CHECKS: dict[str, Callable[[Path, Path], None]] = {
    "ppocr": _check_ppocr,
    "slanet": _check_slanet,
}
