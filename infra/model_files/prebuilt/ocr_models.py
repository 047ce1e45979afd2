"""Writes the cards of the prebuilt models that read documents.

These models have no artifact: they are the installed networks under the names of the API.
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
    "ppocr": "Text: by the makers of {title}, on data that the files do not name; fetched as "
    "{source}.",
    "slanet": "Tables: by the makers of {title}, on pictures of tables, PubTabNet's among them; "
    "fetched as {source}.",
}
_CHARACTERS = (
    "Reads English documents. Answers consist of the letters A to Z and a to z, digits, the "
    f"punctuation {''.join(sign for sign in ASCII if not sign.isalnum())}, the symbols {SYMBOLS} "
    "and spaces. Accented letters are answered as plain ones unless the call asks for the alphabet "
    "'latin'; other alphabets are left out or "
    "answered with letters that look alike. Check boxes are not read; handwriting is often "
    "misread. The probability of a line is that of its characters, as the network gives it; it "
    "is not calibrated."
)
_TABLES = (
    " Tables without ruled lines are found by how their columns align; the structure of those is "
    "estimated and may merge or split cells."
)
_LIMITS = {"OCRModel": _CHARACTERS, "tabulatev2": _CHARACTERS + _TABLES}


def build(job: Conversion) -> None:
    """Write `card.json`."""
    folders = [job.directory / MODELS[name].folder for name in job.model.needs]
    engines = [json.loads((path / OCR_FACTS).read_text(encoding="utf-8")) for path in folders]
    write_json(job.result / "card.json", make_card(job.model.name, engines))


def make_card(name: str, engines: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the card of a model that uses networks with these facts."""
    # In place of an artifact's digest, the digest of the networks' digests identifies the model.
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
