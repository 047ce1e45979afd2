"""Exports one account: datasets in upload formats, models as artifacts with their cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec

from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.limits import EPOCHS_RANGE
from chalicelib.domain.datasets.dataset import FEEDBACK, LANGUAGE, UPLOAD, VISION, DatasetView
from chalicelib.domain.models.model import Model
from chalicelib.stores.models.versions import ARTIFACT, CARD, METRICS
from chalicelib.web.records import describe
from infra.exports.examples import NOTES, Notes, export_texts
from infra.exports.pictures import export_pictures


def export_model(container: Container, model: Model, place: Path) -> None:
    """Write all files of a model; if it never succeeded, write only its record."""
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


Progress = Callable[[str], None]
_GUIDE = """\
datasets/FAMILY-ID/dataset.json    the dataset's record
datasets/FAMILY-ID/upload.*        its examples, as POST /v2/FAMILY/datasets/upload takes them
datasets/FAMILY-ID/feedback.*      its feedback, in the same form
datasets/FAMILY-ID/notes.json      what is missing or is called otherwise; mostly not there
models/ID/                         record, artifact, card, metrics and learning curve of a model

Upload an upload.* again with the record's `type` (and `language`) to have the same dataset.
An artifact is a zip file: header.json says what it is, every other member is an array of numbers
in NumPy's format; the card says what it was trained on and how it was measured.
"""


class FolderNotEmpty(ValueError):
    """The folder of an export is not empty; the message has the remedy."""


class ExportIncomplete(ValueError):
    """All existing data was exported, but some is missing; the message lists it."""


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
    gaps = 0
    for family in (LANGUAGE, VISION):
        for dataset in container.stores.datasets.of_account(account.account_id, family):
            if dataset.is_unfinished:
                continue
            view = container.stores.labels.view(dataset)
            place = folder / "datasets" / f"{family}-{dataset.dataset_id}"
            examples, notes = _export_dataset(container, view, place)
            progress(f"dataset {dataset.dataset_id} {dataset.name!r}: {examples} examples")
            if line := notes.write(place):
                progress(line)
            gaps += len(notes.missing)
    for model in container.stores.models.of_account(account.account_id):
        export_model(container, model, folder / "models" / model.model_id)
        progress(f"model {model.model_id} {model.name!r}: {model.status}")
    if gaps:
        raise ExportIncomplete(
            f"{gaps} examples have no image in the storage; every {NOTES} in {folder} names "
            "those of its dataset. Restore the bucket, or export without them as it is now"
        )


def _export_dataset(container: Container, view: DatasetView, place: Path) -> tuple[int, Notes]:
    """Write one dataset; return the number of examples, and notes about them."""
    notes = Notes()
    place.mkdir(parents=True)
    write_json(place / "dataset.json", describe.dataset(view))
    export = export_texts if view.dataset.family == LANGUAGE else export_pictures
    sources = (UPLOAD, FEEDBACK)
    return sum(export(container, view, source, place, notes) for source in sources), notes


def write_json(path: Path, value: object) -> None:
    """Write a readable JSON file."""
    plain = msgspec.to_builtins(value)
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
