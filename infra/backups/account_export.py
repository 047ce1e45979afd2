"""Exports all data of an account as files that can be uploaded again or used elsewhere.

The command is `python -m infra.accounts export EMAIL DIR`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.limits import EPOCHS_RANGE
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FEEDBACK,
    LANGUAGE,
    UPLOAD,
    VISION,
    DatasetView,
)
from chalicelib.domain.jobs.export import CSV, ZIP
from chalicelib.domain.models.model import Model
from chalicelib.formats.exports.names import as_step
from chalicelib.services.exports.runs import ExampleWriter
from chalicelib.stores.models.versions import ARTIFACT, CARD, METRICS
from chalicelib.web.records import describe

Progress = Callable[[str], None]
NOTES = "notes.json"
_GUIDE = """\
datasets/FAMILY-ID/dataset.json    the dataset's record
datasets/FAMILY-ID/upload.*        its examples, as POST /v2/FAMILY/datasets/upload takes them
datasets/FAMILY-ID/feedback.*      its feedback, in the same form
datasets/FAMILY-ID/notes.json      what is missing or is called otherwise; mostly not there
models/ID/                         record, artifact, card, metrics and learning curve of a model

Upload an upload.* again with the record's `type` (and `language`) to have the same dataset, except
that images of one label with equal file names have a number, such as 1-2.png.
An artifact is a zip file: header.json says what it is, every other member is an array of numbers
in NumPy's format; the card says what it was trained on and how it was measured.
"""


class FolderNotEmpty(ValueError):
    """The folder of an export is not empty; the message has the remedy."""


class ExportIncomplete(ValueError):
    """Some images are missing in the storage; the message lists them. Other data was exported."""


@dataclass
class Notes:
    """Missing images and changed names of an export."""

    missing: list[dict[str, object]] = field(default_factory=list)
    """Examples whose image is not in the storage."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Labels and file names that an archive cannot contain, with the exported names."""

    def write(self, place: Path) -> str:
        """Write the notes, if any, to a file next to the data; return a line for the user."""
        if not self.missing and not self.renamed:
            return ""
        write_json(place / NOTES, {"missing": self.missing, "renamed": self.renamed})
        return (
            f"{len(self.missing)} examples have no image in the storage and are left out, "
            f"{len(self.renamed)} names are written otherwise: see {place / NOTES}"
        )


def export_account(
    container: Container, account: Account, folder: Path, progress: Progress = lambda _: None
) -> None:
    """Write all data of an account to a new folder.

    Args:
        container: services and stores of the stack.
        account: account to export.
        folder: folder that does not exist yet, or is empty.
        progress: called with lines for the user.

    Raises:
        FolderNotEmpty: the folder is not empty.
        ExportIncomplete: images are missing in the storage; everything else was written.
        StorageUnavailable: the storage did not answer; the export is incomplete.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FolderNotEmpty(f"{folder} is not empty; name a new folder")
    facts = {"email": account.email, "plan": account.plan, "source": account.source}
    write_json(folder / "account.json", facts)
    (folder / "README.txt").write_text(_GUIDE)
    stores = container.stores
    # An archive with more files than an upload accepts is better than none.
    writer = ExampleWriter(stores.examples, stores.pictures, most_entries=sys.maxsize)
    gaps = 0
    for family in (LANGUAGE, VISION):
        for dataset in stores.datasets.of_account(account.account_id, family):
            if dataset.is_unfinished:
                continue
            place = folder / "datasets" / f"{family}-{dataset.dataset_id}"
            count, notes = _export_dataset(writer, stores.labels.view(dataset), place)
            progress(f"dataset {dataset.dataset_id} {dataset.name!r}: {count} examples")
            if line := notes.write(place):
                progress(line)
            gaps += len(notes.missing)
    for model in stores.models.of_account(account.account_id):
        _export_model(container, model, folder / "models" / model.model_id)
        progress(f"model {model.model_id} {model.name!r}: {model.status}")
    if gaps:
        raise ExportIncomplete(
            f"{gaps} examples have no image in the storage; every {NOTES} in {folder} names "
            "those of its dataset. Restore the bucket, or export without them as it is now"
        )


def _export_dataset(writer: ExampleWriter, view: DatasetView, place: Path) -> tuple[int, Notes]:
    """Write one dataset; return the number of examples, and notes about them."""
    place.mkdir(parents=True)
    write_json(place / "dataset.json", describe.dataset(view))
    count, gaps = 0, set[str]()
    kind = CSV if view.dataset.family == LANGUAGE else ZIP
    for source in (UPLOAD, FEEDBACK):
        path = place / f"{source}.{kind}"
        with path.open("wb") as file:
            written = writer.write(view, (source,), kind, file, _go_on, gaps.add)
        if not written:
            path.unlink()
        count += written
    return count, Notes() if kind == CSV else _notes(writer, view, gaps)


def _notes(writer: ExampleWriter, view: DatasetView, gaps: set[str]) -> Notes:
    """Return notes about names that archives cannot contain and examples without an image."""
    notes = Notes()
    for example, label in writer.labelled(view, (UPLOAD, FEEDBACK), _go_on):
        if example.picture in gaps:
            gap = {"id": example.example_id, "name": example.name, "picture": example.picture}
            notes.missing.append(gap)
        # Boxes have labels too, but no folder is named after these.
        names = (example.name,) if view.dataset.type == DETECTION else (label.name, example.name)
        notes.renamed |= {name: as_step(name) for name in names if name != as_step(name)}
    return notes


def _export_model(container: Container, model: Model, place: Path) -> None:
    """Write all files of a model, or only its record if no training has succeeded."""
    place.mkdir(parents=True)
    write_json(place / "model.json", describe.model(model))
    if not model.version:
        return
    files = container.stores.model_files
    content = files.artifact(model.model_id, model.version)
    if content is not None:
        (place / ARTIFACT).write_bytes(content)
    for name in (CARD, METRICS):
        document = files.document(model.model_id, model.version, name)
        if document is not None:
            write_json(place / name, document)
    curve = container.stores.curves.page(model, 0, EPOCHS_RANGE[1])
    write_json(place / "learningcurve.json", list(curve.items))


def write_json(path: Path, value: object) -> None:
    """Write a value to a file as indented JSON."""
    plain = msgspec.to_builtins(value)
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _go_on() -> None:
    """Do nothing. Writers need a function to call regularly; this one never stops them."""
