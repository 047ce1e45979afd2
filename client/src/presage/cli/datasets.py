"""`presage datasets`: list, show, check, upload, add to, browse, fix, export, delete."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from presage import Dataset, Presage, PresageError, records
from presage._sources import is_address
from presage._sync.families import Family
from presage.cli.context import (
    DatasetId,
    Id,
    Json,
    Quiet,
    client,
    families,
    find_dataset,
    pairs,
    shows_progress,
)
from presage.cli.output import print_json, say, show, table

app = typer.Typer(no_args_is_help=True, help="Datasets: labelled texts or pictures.")

File = Annotated[str, typer.Argument(help="A file, a folder of pictures, or an address.")]
Kind = Annotated[
    str | None,
    typer.Option(
        "--type", help="text-intent, text-sentiment, image, image-multi-label, image-detection."
    ),
]
Language = Annotated[str | None, typer.Option(help="Language of the texts.")]
Name = Annotated[str | None, typer.Option(help="Name of the dataset.")]
Reading = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="What the file does not say, as in label-column=Category or delimiter=';'; also "
        "text-column, header, sheet, format, strict=true, shrink=true; may be repeated.",
    ),
]
FORMATS = {"image": "zip", "image-multi-label": "zip", "image-detection": "zip"}
"""Format of an export that none is named for, by type; csv of texts."""


@app.command("list")
def list_datasets(
    name: Annotated[str | None, typer.Option(help="Only with this in the name.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="Only UPLOADING, SUCCEEDED, FAILED or DELETION_PENDING."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List your datasets."""
    with client() as service:
        found = [
            item
            for family in families(service)
            for item in family.datasets.list(name=name, status=status)
        ]
    heads = ("ID", "TYPE", "EXAMPLES", "LABELS", "STATUS", "NAME")
    rows = [
        (item.id, item.type, item.total_examples, item.total_labels, item.status_msg, item.name)
        for item in found
    ]
    show(found, table(heads, rows), as_json=as_json)


@app.command("show")
def show_dataset(dataset_id: DatasetId, as_json: Json = False) -> None:
    """Show a dataset with its labels, what was left out of its uploads, and what was mended."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        receipts, corrections = dataset.receipts().list(), dataset.corrections().list()
    if as_json:
        told = {"corrections": [item.raw for item in corrections]}
        print_json({**dataset.raw, "receipts": [item.raw for item in receipts], **told})
        return
    _describe(dataset)
    for done in corrections:
        say(f"correction {done.id} of {done.created_at}: {_mended(done)}")
    for receipt in receipts:
        say(f"upload of {receipt.created_at}: {receipt.status}; {_sums(receipt)}")
        for line in map(_left_out, receipt.rejections):
            say(line)
        for warning in receipt.warnings:
            say(f"  warning: {warning.message}")


def _describe(dataset: Dataset) -> None:
    say(f"{dataset.id}  {dataset.name}  ({dataset.type}, {dataset.status_msg})")
    heads = ("LABEL", "EXAMPLES", "ID")
    for line in table(heads, [(item.name, item.num_examples, item.id) for item in dataset.labels]):
        say(f"  {line}")


@app.command()
def check(
    file: File,
    kind: Kind = None,
    language: Language = None,
    reading: Reading = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Tell what an upload of a file would become, and keep nothing."""
    given = pairs(reading, "--set")
    with client() as service:
        family, kind = _family_of(service, file, kind)
        found = family.datasets.check(
            file, type=kind, language=language, progress=shows_progress(quiet), **given
        )
    show(found, _checked(found), as_json=as_json)
    if not found.is_trainable:
        raise typer.Exit(1)


def _checked(found: records.Validation) -> list[str]:
    parts = (found.format.kind, found.format.encoding, found.format.delimiter)
    return [
        f"{', '.join(part for part in parts if part)}: {_sums(found)}",
        *(f"  {line}" for line in table(("LABEL", "EXAMPLES"), _label_rows(found.labels))),
        *(f"warning: {item.message}" for item in found.warnings),
        *map(_left_out, found.rejections),
        *(f"cannot be trained: {reason}" for reason in found.reasons),
    ]


def _label_rows(labels: list[records.FoundLabel]) -> list[tuple[str, int]]:
    return [(item.name, item.num_examples) for item in labels]


def _sums(found: records.Receipt | records.Validation) -> str:
    return (
        f"{found.seen} seen, {found.kept} kept, {found.duplicates} duplicates, "
        f"{found.rejected} rejected"
    )


def _left_out(item: records.Rejection) -> str:
    return f"  {item.file or f'row {item.row}'}: {item.reason}"


@app.command()
def upload(
    file: File,
    kind: Kind = None,
    name: Name = None,
    language: Language = None,
    reading: Reading = None,
    quiet: Quiet = False,
    id_alone: Id = False,
    as_json: Json = False,
) -> None:
    """Upload a file or a folder as a dataset, and wait until it is read."""
    given = pairs(reading, "--set")
    with client() as service:
        family, kind = _family_of(service, file, kind)
        dataset = family.datasets.upload(
            file, type=kind, name=name, language=language, progress=shows_progress(quiet), **given
        )
        receipt = dataset.receipts().first()
    if id_alone:
        say(str(dataset.id))
        return
    if as_json:
        print_json(dataset)
        return
    _describe(dataset)
    if receipt is not None:
        for warning in receipt.warnings:
            say(f"warning: {warning.message}")
        if receipt.rejected:
            say(f"{receipt.rejected} rows were left out: presage datasets show {dataset.id}")


def _family_of(service: Presage, file: str, kind: str | None) -> tuple[Family, str | None]:
    """Tell family and type by the type, else by the file: archives and folders hold pictures."""
    if kind is None:
        is_folder = not is_address(file) and Path(file).is_dir()
        if file.lower().endswith(".zip") or is_folder:
            return service.vision, None
        kind = "text-intent"
    return (service.language if kind.startswith("text") else service.vision), kind


@app.command()
def add(
    dataset_id: DatasetId,
    file: File,
    reading: Reading = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Add the examples of a file to a dataset, and wait until it is read."""
    given = pairs(reading, "--set")
    with client() as service:
        found = find_dataset(service, dataset_id)
        dataset = found.add(file, progress=shows_progress(quiet), **given)
    if as_json:
        print_json(dataset)
    else:
        _describe(dataset)


@app.command()
def browse(
    dataset_id: DatasetId,
    label: Annotated[str | None, typer.Option(help="Only of this label.")] = None,
    source: Annotated[str | None, typer.Option(help="upload, feedback or all.")] = None,
    suspects_of: Annotated[
        str | None,
        typer.Option("--suspects-of", help="A model: only examples whose labels it doubts."),
    ] = None,
    contains: Annotated[str | None, typer.Option(help="Only with this in the text.")] = None,
    most: Annotated[int, typer.Option("--limit", "-n", help="Examples at most.", min=1)] = 100,
    as_json: Json = False,
) -> None:
    """Look through the examples of a dataset; with --json one a line."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        label_id = None if label is None else _label_id(dataset, label)
        found = dataset.browse(
            label_id=label_id, source=source, suspects_of=suspects_of, contains=contains
        )
        for example in islice(found, most):
            show(example, [_browsed(example)], as_json=as_json)


def _label_id(dataset: Dataset, name: str) -> int:
    for label in dataset.labels:
        if label.name == name:
            return label.id
    known = ", ".join(label.name for label in dataset.labels[:10])
    raise PresageError(f"Dataset {dataset.id} has no label {name!r}; it has {known}.")


def _browsed(example: records.BrowsedExample) -> str:
    doubt = ""
    if example.suggestion is not None:
        doubt = f" -> {example.suggestion} {example.confidence:.3f}"
    return f"{example.id}\t{example.label.name}{doubt}\t{example.name}"


@app.command()
def fix(
    dataset_id: DatasetId,
    report: Annotated[
        str | None,
        typer.Option(help="Id of a model: does what its last training suggests."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Leaves what the report is less sure of alone; 0.5 if missing."),
    ] = None,
    move: Annotated[
        list[str] | None,
        typer.Option(help="EXAMPLE=LABEL: id of an example and the label it belongs to."),
    ] = None,
    remove: Annotated[
        list[int] | None,
        typer.Option(help="Id of an example that does not belong there."),
    ] = None,
    boxes: Annotated[
        str | None,
        typer.Option(help="EXAMPLE=FILE: a JSON list of all boxes of the picture of an example."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Move or remove examples, all or none, do what a report suggests, or replace boxes."""
    if boxes is not None:
        _fix_boxes(dataset_id, boxes, is_alone=not (report or move or remove), as_json=as_json)
        return
    items = [_move(item) for item in move or []]
    gone = [{"exampleId": number, "remove": True} for number in remove or []]
    with client() as service:
        done = find_dataset(service, dataset_id).fix(
            *items, *gone, from_report_of=report, minimum_confidence=confidence
        )
    show(done, [_mended(done)], as_json=as_json)


def _mended(done: records.Correction) -> str:
    changed = f"{done.changed} reworded, " if done.changed else ""
    added = f"{done.added} new, " if done.added else ""
    return (
        f"{done.moved} moved, {changed}{added}{done.removed} removed, "
        f"{done.duplicates} were there already, {done.skipped} left alone"
    )


def _fix_boxes(dataset_id: int, item: str, *, is_alone: bool, as_json: bool) -> None:
    """Replace the boxes of a picture by those of a file."""
    number, _, name = item.partition("=")
    if not number.isdecimal() or not name or not is_alone:
        raise typer.BadParameter(f"write EXAMPLE=FILE alone, not {item!r}", param_hint="--boxes")
    try:
        found = json.loads(Path(name).read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise PresageError(f"{name} is no file of JSON: {fault}") from fault
    with client() as service:
        done = service.vision.examples.change(dataset_id, int(number), boxes=found)
    line = f"{done.added} new, {done.removed} removed, {done.moved} moved"
    show(done, [line], as_json=as_json)


def _move(item: str) -> dict[str, str]:
    """Read EXAMPLE=LABEL."""
    number, _, label = item.partition("=")
    if not number.isdecimal() or not label:
        raise typer.BadParameter(f"write EXAMPLE=LABEL, not {item!r}", param_hint="--move")
    return {"exampleId": number, "label": label}


@app.command()
def export(
    dataset_id: DatasetId,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="csv, jsonl; zip; of detection also coco, yolo, voc."),
    ] = None,
    source: Annotated[str | None, typer.Option(help="upload, feedback or all.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; named by the dataset without it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the examples of a dataset into a file that uploads again."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        kind = format_ or FORMATS.get(dataset.type, "csv")
        ending = kind if kind in ("csv", "jsonl") else "zip"
        place = output or Path(f"{_file_name(dataset.name)}.{ending}")
        if place.exists() and not force:
            raise PresageError(f"{place} is there already: --force replaces it.")
        progress = shows_progress(quiet)
        ended = dataset.export(kind, source=source).wait(progress=progress)
        size = ended.save(place, progress=progress)
    show(ended, [f"{ended.examples} examples, {size:,} bytes: {place}"], as_json=as_json)


def _file_name(name: str) -> str:
    """Make a file's name of a dataset's, without the ending that it came with."""
    kept = "".join(sign if sign.isalnum() or sign in " -_." else "-" for sign in name).strip(" .")
    return Path(kept).stem or "dataset"


@app.command()
def delete(
    dataset_id: Annotated[
        int | None,
        typer.Argument(help="Id of a dataset.", show_default=False),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Those whose first upload failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Delete a dataset, whose models stay, or all whose upload failed."""
    if (dataset_id is None) != failed:
        raise typer.BadParameter("give the id of a dataset, or --failed")
    with client() as service:
        if dataset_id is None:
            gone = [
                item for family in families(service) for item in family.datasets.delete_failed()
            ]
            show(gone, [f"{len(gone)} datasets are being deleted"], as_json=as_json)
            return
        record = find_dataset(service, dataset_id).delete()
    show(record, [f"dataset {dataset_id} is being deleted (deletion {record.id})"], as_json=as_json)
