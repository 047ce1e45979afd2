"""Describes the files of a converted model: what cards say, and what must be there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from infra.model_files.manifest import InstallableModel
from infra.model_files.sources.fetch import file_sha256


def model_facts(model: InstallableModel, folder: Path, facts_file: str) -> dict[str, Any]:
    """Return the facts of a converted model of several files.

    Args:
        model: the manifest's entry.
        folder: its files, among them perhaps an older file of facts.
        facts_file: name of that file, which does not describe itself.

    Returns:
        What the model is and was made from, size and digest of every file, and as `sha256` the
        digest of the list of digests.
    """
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in sorted(folder.iterdir())
        if path.name != facts_file
    }
    digests = "".join(f"{file['sha256']}  {name}\n" for name, file in files.items())
    return {
        "name": model.name,
        "title": model.title,
        "sha256": hashlib.sha256(digests.encode()).hexdigest(),
        "licence": model.source.licence,
        "source": f"{model.source.package} {model.source.version}",
        "changes": model.changes,
        "files": files,
    }


def write_facts(folder: Path, facts_file: str, facts: dict[str, Any]) -> None:
    """Write a file of facts for people and machines."""
    text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
    (folder / facts_file).write_text(text, encoding="utf-8")
