"""Remembers what is installed, finds what is broken, puts a finished folder into its place.

`installed.json` in each folder holds every file's size, time and digest: when size and time are
unchanged nothing is read again.
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
from infra.model_files import manifest
from infra.model_files.manifest import InstallableModel, Progress
from infra.model_files.sources.fetch import file_sha256

RECORD = "installed.json"
STAGING = ".staging"


def _describe(path: Path) -> dict[str, Any]:
    facts = path.stat()
    return {
        "bytes": facts.st_size,
        "mtime_ns": facts.st_mtime_ns,
        "sha256": file_sha256(path),
    }


def write_record(directory: Path, folder: Path, model: InstallableModel) -> None:
    """Write the record of all files of a finished folder.

    Args:
        directory: the model directory, which holds what the model needs.
        folder: the finished folder.
        model: what it holds.
    """
    files = {path.name: _describe(path) for path in sorted(folder.iterdir()) if path.name != RECORD}
    record = {
        "name": model.name,
        "madeFrom": model.made_from,
        "madeWith": {name: _digests(directory, manifest.MODELS[name]) for name in model.needs},
        "files": files,
    }
    _replace_json(folder / RECORD, record)


def _digests(directory: Path, model: InstallableModel) -> dict[str, str]:
    files = _recorded_files(read_record(directory, model))
    return {name: str(known.get("sha256")) for name, known in files.items()}


def _replace_json(path: Path, value: object) -> None:
    """Write a JSON file so that it is there whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def read_record(directory: Path, model: InstallableModel) -> Mapping[str, Any]:
    """Return the record of an installed model, empty when there is none."""
    return read_facts(directory / model.folder / RECORD)


def _recorded_files(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a record says of its files; nothing when it was tampered with."""
    files = record.get("files")
    if not isinstance(files, dict) or not all(isinstance(known, dict) for known in files.values()):
        return {}
    return files


def _is_same(path: Path, known: dict[str, Any], *, thorough: bool) -> bool:
    """Say whether a file is the one recorded; its content is read only when in doubt."""
    try:
        facts = path.stat()
        if facts.st_size != known["bytes"]:
            return False
        if facts.st_mtime_ns == known["mtime_ns"] and not thorough:
            return True
        return bool(file_sha256(path) == known["sha256"])
    except (OSError, ValueError, KeyError):
        return False


def broken_files(directory: Path, model: InstallableModel, *, thorough: bool = False) -> list[str]:
    """Return the files of a model that are missing or not as recorded.

    Args:
        directory: the model directory.
        model: what should be installed there.
        thorough: read every file, not only those whose size or time changed.

    Returns:
        File names; the record's own name when the model is not installed, an older one is, or
        what it was made with has been replaced by something else.
    """
    record = read_record(directory, model)
    files = _recorded_files(record)
    if record.get("madeFrom") != model.made_from or not files:
        return [RECORD]
    if not _fits_its_needs(directory, model, record):
        return [RECORD]
    folder = directory / model.folder
    return [
        name
        for name, known in files.items()
        if not _is_same(folder / name, known, thorough=thorough)
    ]


def _fits_its_needs(directory: Path, model: InstallableModel, record: Mapping[str, Any]) -> bool:
    """Say whether what a model was made with is still there.

    A prebuilt model answers with the very encoders it was fitted on. A need that is missing is
    missed by its own name; records of older installations do not tell.
    """
    made_with = record.get("madeWith")
    if not isinstance(made_with, dict):
        return True
    present = {name: _digests(directory, manifest.MODELS[name]) for name in model.needs}
    return all(not found or found == made_with.get(name) for name, found in present.items())


def touch_record(directory: Path, model: InstallableModel) -> None:
    """Note the times of intact files anew, so that a copied folder is read once only.

    Where that cannot be written, or another process replaces the folder meanwhile, the files are
    read again the next time.
    """
    record = read_record(directory, model)
    files = _recorded_files(record)
    folder = directory / model.folder
    with suppress(OSError):
        times = {name: (folder / name).stat().st_mtime_ns for name in files}
        if any(times[name] != known.get("mtime_ns") for name, known in files.items()):
            for name, known in files.items():
                known["mtime_ns"] = times[name]
            _replace_json(folder / RECORD, record)


def put_in_place(staged: Path, directory: Path, model: InstallableModel) -> None:
    """Move a finished folder to where it is used; an older one disappears.

    Between the two renames the model counts as not installed, never as a mixture.
    """
    target = directory / model.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        os.replace(target, staged.with_name(staged.name + ".old"))
    os.replace(staged, target)


@contextmanager
def staging(directory: Path, model: InstallableModel) -> Iterator[tuple[Path, Path]]:
    """Give two empty folders, for the source's files and for the result; remove them afterwards.

    What an interrupted installation left is removed first.
    """
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
    """Let one process at a time install into a directory; the others wait.

    The lock ends with its process, however that ends.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another installation into this folder is running; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


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


def write_json(path: Path, value: object) -> None:
    """Write a JSON file for people and machines, names in the order given."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
