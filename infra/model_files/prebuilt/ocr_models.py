"""Writes the cards of the prebuilt models that read documents.

These models have no artifact. Each name in the API stands for a set of installed networks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chalicelib.domain.documents.characters import ASCII, SYMBOLS
from infra.model_files.conversion.networks import OCR_FACTS
from infra.model_files.description import Conversion
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import cards

KIND = "ocr"
VERSION = 1
_TRAINED = {
    "ppocr": "Text: {title} was trained by its authors, who do not name their data. "
    "It is downloaded as {source}.",
    "slanet": "Tables: {title} was trained by its authors on images of tables, such as PubTabNet. "
    "It is downloaded as {source}.",
}
_CHARACTERS = (
    "Reads English documents. Answers consist of the letters A to Z and a to z, digits, the "
    f"punctuation {''.join(sign for sign in ASCII if not sign.isalnum())}, the symbols {SYMBOLS} "
    "and spaces. Accents are dropped unless the call sets alphabet to 'latin'. Other alphabets are "
    "left out or read as similar Latin letters. Check boxes are not read, and handwriting is often "
    "misread. The probability of a line is the mean of its characters' probabilities. It is not "
    "calibrated."
)
_TABLES = (
    " Tables without ruled lines are found by the alignment of their columns. Their rows and "
    "columns are estimated, so cells may be merged or split."
)
_LIMITS = {"OCRModel": _CHARACTERS, "tabulatev2": _CHARACTERS + _TABLES}


def build(job: Conversion) -> None:
    """Write `card.json`."""
    folders = [job.directory / MODELS[name].folder for name in job.model.needs]
    engines = [json.loads((path / OCR_FACTS).read_text(encoding="utf-8")) for path in folders]
    write_json(job.result / "card.json", make_card(job.model.name, engines))


def make_card(name: str, engines: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the card of a model, given the facts of the networks that it uses."""
    # There is no artifact, so a digest of the networks' digests identifies the model.
    digests = "".join(f"{facts['sha256']}  {facts['name']}\n" for facts in engines)
    described = ("title", "sha256", "licence", "changes", "files")
    return cards.Card(
        name=name,
        algorithm=KIND,
        trained_on={
            "source": " ".join(_TRAINED[facts["name"]].format_map(facts) for facts in engines),
            "licence": ", ".join(sorted({facts["licence"] for facts in engines})),
        },
        engine={
            "name": KIND,
            "version": VERSION,
            "networks": [{key: facts[key] for key in described} for facts in engines],
        },
        content=digests.encode(),
        limits=_LIMITS[name],
    ).record()
