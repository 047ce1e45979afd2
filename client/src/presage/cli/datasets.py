"""`presage datasets`: list, show, upload, add to, delete."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from presage import Dataset, Presage
from presage._files import is_address
from presage._sync.families import Family
from presage.cli.context import (
    DatasetId,
    Json,
    Quiet,
    client,
    families,
    find_dataset,
    shows_progress,
)
from presage.cli.output import print_json, say, show, table

app = typer.Typer(no_args_is_help=True, help="Datasets: labelled texts or pictures.")

File = Annotated[str, typer.Argument(help="A file, a folder of pictures, or an address.")]


@app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List your datasets."""
    with client() as service:
        found = [item for family in families(service) for item in family.datasets.list()]
    heads = ("ID", "TYPE", "EXAMPLES", "LABELS", "STATUS", "NAME")
    rows = [
        (item.id, item.type, item.total_examples, item.total_labels, item.status_msg, item.name)
        for item in found
    ]
    show(found, table(heads, rows), as_json=as_json)


@app.command("show")
def show_dataset(dataset_id: DatasetId, as_json: Json = False) -> None:
    """Show a dataset with its labels, and what was left out of its uploads."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        receipts = dataset.receipts().list()
    if as_json:
        print_json({**dataset.raw, "receipts": [item.raw for item in receipts]})
        return
    _describe(dataset)
    for receipt in receipts:
        say(
            f"upload of {receipt.created_at}: {receipt.status}; {receipt.seen} seen, "
            f"{receipt.kept} "
            f"kept, {receipt.duplicates} duplicates, {receipt.rejected} rejected"
        )
        for item in receipt.rejections:
            say(f"  {item.file or f'row {item.row}'}: {item.reason}")


def _describe(dataset: Dataset) -> None:
    say(f"{dataset.id}  {dataset.name}  ({dataset.type}, {dataset.status_msg})")
    heads = ("LABEL", "EXAMPLES", "ID")
    for line in table(heads, [(item.name, item.num_examples, item.id) for item in dataset.labels]):
        say(f"  {line}")


@app.command()
def upload(
    file: File,
    kind: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--type", help="text-intent, text-sentiment, image, image-multi-label, image-detection."
        ),
    ] = None,
    name: Annotated[Optional[str], typer.Option(help="Name of the dataset.")] = None,  # noqa: UP045
    language: Annotated[Optional[str], typer.Option(help="Language of the texts.")] = None,  # noqa: UP045
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Upload a file or a folder as a dataset, and wait until it is read."""
    with client() as service:
        family = _family_of(service, file, kind)
        if family is service.language and kind is None:
            kind = "text-intent"
        dataset = family.datasets.upload(
            file, type=kind, name=name, language=language, progress=shows_progress(quiet)
        )
        receipt = dataset.receipts().first()
    if as_json:
        print_json(dataset)
        return
    _describe(dataset)
    if receipt is not None and receipt.rejected:
        say(f"{receipt.rejected} rows were left out: presage datasets show {dataset.id}")


def _family_of(service: Presage, file: str, kind: str | None) -> Family:
    """Tell the family by the type, else by the file: archives and folders hold pictures."""
    if kind is not None:
        return service.language if kind.startswith("text") else service.vision
    is_pictures = file.lower().endswith(".zip") or (not is_address(file) and Path(file).is_dir())
    return service.vision if is_pictures else service.language


@app.command()
def add(dataset_id: DatasetId, file: File, as_json: Json = False) -> None:
    """Add the examples of a file to a dataset, and wait until it is read."""
    with client() as service:
        dataset = find_dataset(service, dataset_id).add(file)
    if as_json:
        print_json(dataset)
    else:
        _describe(dataset)


@app.command()
def delete(dataset_id: DatasetId, as_json: Json = False) -> None:
    """Delete a dataset; its models stay."""
    with client() as service:
        record = find_dataset(service, dataset_id).delete()
    show(record, [f"dataset {dataset_id} is being deleted (deletion {record.id})"], as_json=as_json)
