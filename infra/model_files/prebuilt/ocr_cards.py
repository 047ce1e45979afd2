"""Writes the cards of the models that read text: installed networks under the API's names.

They have no artifact of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chalicelib.domain.documents.characters import ASCII, SYMBOLS
from infra.model_files.conversion.ocr_models import FACTS_FILE
from infra.model_files.installed import write_json
from infra.model_files.manifest import MODELS, InstallableModel

KIND = "ocr"
VERSION = 1
_LANGUAGE = "en_US"
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


def build(model: InstallableModel, directory: Path, result: Path) -> None:
    """Write `card.json`.

    Args:
        model: the manifest's entry.
        directory: the model directory, with what the model needs installed.
        result: existing folder to write to.
    """
    engines = [
        json.loads((directory / MODELS[name].folder / FACTS_FILE).read_text(encoding="utf-8"))
        for name in model.needs
    ]
    card = make_card(model, engines)
    write_json(result / "card.json", card)


def make_card(model: InstallableModel, engines: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the model card, in the form of the API's card record.

    Args:
        model: the manifest's entry.
        engines: the facts of what it needs, in that order.
    """
    digests = "".join(f"{facts['sha256']}  {facts['name']}\n" for facts in engines)
    return {
        "modelId": model.name,
        "name": model.name,
        "algorithm": KIND,
        "language": _LANGUAGE,
        "createdAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "trainedOn": {
            "source": " ".join(_TRAINED[facts["name"]].format_map(facts) for facts in engines),
            "licence": ", ".join(sorted({facts["licence"] for facts in engines})),
        },
        "engine": {
            "name": KIND,
            "version": VERSION,
            "networks": [
                {key: facts[key] for key in ("title", "sha256", "licence", "changes", "files")}
                for facts in engines
            ],
        },
        "artifactSha256": hashlib.sha256(digests.encode()).hexdigest(),
        "metrics": {},
        "limits": _LIMITS[model.name],
        "object": "card",
    }
