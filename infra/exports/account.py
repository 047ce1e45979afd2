"""Exports one account: data sets in upload format, models as artifacts with their cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from chalicelib.container import Container
from chalicelib.domain.account import Account
from chalicelib.domain.dataset import FEEDBACK, LANGUAGE, UPLOAD, VISION, DatasetView
from chalicelib.web import describe
from infra.exports.models import export_model
from infra.exports.pictures import export_pictures
from infra.exports.texts import export_texts

Progress = Callable[[str], None]
_GUIDE = """\
datasets/FAMILY-ID/dataset.json    the data set's record
datasets/FAMILY-ID/upload.*        its examples, as POST /v2/FAMILY/datasets/upload takes them
datasets/FAMILY-ID/feedback.*      its feedback, in the same form
models/ID/                         record, artifact, card, metrics and learning curve of a model

Upload an upload.* again with the record's `type` (and `language`) to have the same data set.
An artifact is a zip file: header.json says what it is, every other member is an array of numbers
in NumPy's format; the card says what it was trained on and how it was measured.
"""


class FolderNotEmpty(ValueError):
    """The folder of an export holds something; the text names the remedy."""


def export_account(
    container: Container, account: Account, folder: Path, progress: Progress = lambda _: None
) -> None:
    """Write everything that an account has into a new folder.

    Args:
        container: reads the stack.
        account: whose.
        folder: does not exist yet, or is empty.
        progress: takes lines for the user.

    Raises:
        FolderNotEmpty: the folder holds something.
        StorageUnavailable: the storage did not answer; what was written is not whole.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FolderNotEmpty(f"{folder} is not empty; name a new folder")
    facts = {"email": account.email, "plan": account.plan, "source": account.source}
    write_json(folder / "account.json", facts)
    (folder / "README.txt").write_text(_GUIDE)
    for family in (LANGUAGE, VISION):
        for dataset in container.stores.datasets.owned(account.account_id, family):
            view = container.stores.labels.view(dataset)
            place = folder / "datasets" / f"{family}-{dataset.dataset_id}"
            examples = _export_dataset(container, view, place)
            progress(f"data set {dataset.dataset_id} {dataset.name!r}: {examples} examples")
    for model in container.stores.models.of_account(account.account_id):
        export_model(container, model, folder / "models" / model.model_id)
        progress(f"model {model.model_id} {model.name!r}: {model.status}")


def _export_dataset(container: Container, view: DatasetView, place: Path) -> int:
    """Write one data set; return how many examples it has."""
    place.mkdir(parents=True)
    write_json(place / "dataset.json", describe.dataset(view))
    export = export_texts if view.dataset.family == LANGUAGE else export_pictures
    return sum(export(container, view, source, place) for source in (UPLOAD, FEEDBACK))


def write_json(path: Path, value: object) -> None:
    """Write a JSON file for people and machines."""
    import msgspec

    plain = msgspec.to_builtins(value)
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
