"""Records installed files, finds damaged files, and moves finished folders to their place.

Each folder has an `installed.json` with the size, time and digest of every file. A file whose size
and time are unchanged is not read again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chalicelib.engines.facts import read_facts
from infra.downloads.fetch import file_sha256
from infra.downloads.packages import Progress
from infra.model_files import manifest
from infra.model_files.description import ModelDescription
from infra.model_files.manifest import made_from, weights_source

RECORD = "installed.json"
STAGING = ".staging"


def _describe(path: Path) -> dict[str, Any]:
    facts = path.stat()
    return {
        "bytes": facts.st_size,
        "mtime_ns": facts.st_mtime_ns,
        "sha256": file_sha256(path),
    }


def write_record(directory: Path, folder: Path, model: ModelDescription) -> None:
    """Write the record of all files of a finished folder.

    Args:
        directory: the model directory; the record also names the models there that were needed.
        folder: the folder with the files of `model`.
        model: the model that was installed.
    """
    files = {path.name: _describe(path) for path in sorted(folder.iterdir()) if path.name != RECORD}
    record = {
        "name": model.name,
        "madeFrom": made_from(model),
        "madeWith": _read_needs(directory, model),
        "files": files,
    }
    _replace_json(folder / RECORD, record)


def _read_needs(directory: Path, model: ModelDescription) -> dict[str, dict[str, str]]:
    """Return the digests of the files of all models that a model needs: by model, then by file."""
    return {
        name: {
            file: str(known.get("sha256"))
            for file, known in _recorded_files(
                read_record(directory, manifest.MODELS[name])
            ).items()
        }
        for name in model.needs
    }


def _replace_json(path: Path, value: object) -> None:
    # Renamed when complete, so that a reader never finds half a file.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def read_record(directory: Path, model: ModelDescription) -> Mapping[str, Any]:
    """Return the record of an installed model; empty if there is none."""
    return read_facts(directory / model.folder / RECORD)


def _recorded_files(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the files of a record; none when the record is damaged."""
    files = record.get("files")
    if not isinstance(files, dict) or not all(isinstance(known, dict) for known in files.values()):
        return {}
    return files


def _is_same(path: Path, record: dict[str, Any], *, read_all: bool) -> bool:
    try:
        facts = path.stat()
        if facts.st_size != record["bytes"]:
            return False
        if facts.st_mtime_ns == record["mtime_ns"] and not read_all:
            return True
        return bool(file_sha256(path) == record["sha256"])
    except (OSError, ValueError, KeyError):
        return False


def broken_files(directory: Path, model: ModelDescription, *, read_all: bool = False) -> list[str]:
    """Return the files of a model that are missing or differ from its record.

    Args:
        directory: the model directory.
        model: the model that should be installed there.
        read_all: whether to read every file, not only files whose size or time changed.

    Returns:
        Names of files. If the model is not installed, is outdated, or was made with another version
        of a model that it needs, the list has only the name of the record.
    """
    record = read_record(directory, model)
    files = _recorded_files(record)
    if record.get("madeFrom") != made_from(model) or not files:
        return [RECORD]
    if not _matches_needs(directory, model, record):
        return [RECORD]
    folder = directory / model.folder
    return [
        name
        for name, known in files.items()
        if not _is_same(folder / name, known, read_all=read_all)
    ]


def _matches_needs(directory: Path, model: ModelDescription, record: Mapping[str, Any]) -> bool:
    """Return whether the models from which a model was made are still installed unchanged."""
    # A prebuilt model is only correct with exactly the encoders that it was fitted on.
    made_with = record.get("madeWith")
    if not isinstance(made_with, dict):
        return True  # older installations recorded nothing
    # A needed model that is missing is reported under its own name.
    present = _read_needs(directory, model)
    return all(not found or found == made_with.get(name) for name, found in present.items())


def touch_record(directory: Path, model: ModelDescription) -> None:
    """Record the current times of verified files, so that later checks do not read them again."""
    record = read_record(directory, model)
    files = _recorded_files(record)
    folder = directory / model.folder
    # If the record cannot be written, the files are read again next time.
    with suppress(OSError):
        times = {name: (folder / name).stat().st_mtime_ns for name in files}
        if any(times[name] != known.get("mtime_ns") for name, known in files.items()):
            for name, known in files.items():
                known["mtime_ns"] = times[name]
            _replace_json(folder / RECORD, record)


def put_in_place(staged: Path, directory: Path, model: ModelDescription) -> None:
    """Move a finished folder to its place; rename the previous folder to `staged` plus `.old`."""
    target = directory / model.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    # Between the two renames the model counts as not installed; files are never mixed.
    if target.exists():
        os.replace(target, staged.with_name(staged.name + ".old"))
    os.replace(staged, target)


@contextmanager
def staging(directory: Path, model: ModelDescription) -> Iterator[tuple[Path, Path]]:
    """Yield two empty folders, for the source files and the result, and remove them afterwards."""
    base = directory / STAGING
    shutil.rmtree(base, ignore_errors=True)
    source, result = base / "source", base / model.name
    source.mkdir(parents=True)
    result.mkdir()
    try:
        yield source, result
    finally:
        shutil.rmtree(base, ignore_errors=True)


@contextmanager
def locked(directory: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock, so that only one process at a time installs into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    # The system releases a file lock even if the process is killed.
    with (directory / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another installation into this folder is running; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def describe_origin(model: ModelDescription) -> dict[str, Any]:
    """Return the facts about a model's origin that every file of facts contains."""
    source = weights_source(model)
    return {
        "licence": source.licence,
        "source": f"{source.package} {source.version}",
        "changes": model.changes,
    }


def model_facts(model: ModelDescription, folder: Path, facts_file: str) -> dict[str, Any]:
    """Return the facts of a converted model with several files.

    Args:
        model: description of the model.
        folder: folder of the model's files.
        facts_file: name of the file of facts, which is left out.

    Returns:
        Name and origin; size and digest of every file; in `sha256`, the digest of these digests.
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
        **describe_origin(model),
        "files": files,
    }


def write_facts(folder: Path, facts_file: str, facts: dict[str, Any]) -> None:
    """Write a file of facts with its members in alphabetical order."""
    text = json.dumps(facts, indent=1, sort_keys=True) + "\n"
    (folder / facts_file).write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write a JSON file with its members in the given order."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
