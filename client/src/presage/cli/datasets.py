"""`presage datasets`: list, show, check, upload, add to, browse, fix, export, delete."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from presage import BadRequestError, Dataset, Presage, PresageError, records
from presage._records import decode
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
    shows_progress,
)
from presage.cli.options import warning_line, with_reading
from presage.cli.output import print_json, say, show, table

app = typer.Typer(no_args_is_help=True, help="Datasets: labelled texts or images.")

File = Annotated[str, typer.Argument(help="A file, a folder of images, or a URL.")]
Kind = Annotated[
    str | None,
    typer.Option(
        "--type", help="text-intent, text-sentiment, image, image-multi-label, image-detection."
    ),
]
Language = Annotated[str | None, typer.Option(help="Language of the texts.")]
Name = Annotated[str | None, typer.Option(help="Name of the dataset.")]
# Longest cell of a printed preview.
_SHOWN_CHARACTERS = 50
# Default formats of exports by dataset type; texts have csv.
FORMATS = {"image": "zip", "image-multi-label": "zip", "image-detection": "zip"}


@app.command("list")
def list_datasets(
    name: Annotated[
        str | None, typer.Option(help="Only datasets whose names contain this.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            help="Only with this status: UPLOADING, SUCCEEDED, FAILED or DELETION_PENDING."
        ),
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
    """Show a dataset with its labels, uploads, rejected rows and corrections."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        receipts, corrections = dataset.receipts().list(), dataset.corrections().list()
    if as_json:
        lists = {"receipts": receipts, "corrections": corrections}
        print_json({**dataset.raw, **lists})
        return
    _describe(dataset)
    for done in corrections:
        say(f"correction {done.id} of {done.created_at}: {_correction_line(done)}")
    for receipt in receipts:
        say(f"upload of {receipt.created_at}: {receipt.status}; {_counts(receipt)}")
        for line in map(_rejection_line, receipt.rejections):
            say(line)
        for warning in receipt.warnings:
            say(f"  {warning_line(warning, app, 'upload')}")


@app.command()
def labels(dataset_id: DatasetId, as_json: Json = False) -> None:
    """List the labels of a dataset of texts with their descriptions."""
    with client() as service:
        found = service.language.datasets.labels(dataset_id).list()
    rows = [(one.name, one.num_examples, one.description) for one in found]
    show(found, table(("LABEL", "EXAMPLES", "DESCRIPTION"), rows), as_json=as_json)


@app.command("describe")
def describe_labels(
    dataset_id: DatasetId,
    items: Annotated[
        list[str], typer.Argument(help="LABEL=DESCRIPTION; a new label is added without examples.")
    ],
    as_json: Json = False,
) -> None:
    """Describe labels of a dataset of texts, for trainings with few examples."""
    # Checked before anything is sent, so that no label is described without the others.
    wrong = next((item for item in items if "=" not in item), None)
    if wrong is not None:
        raise typer.BadParameter(f"{wrong!r} has no '='. Write LABEL=DESCRIPTION.")
    descriptions = {name: text for name, _, text in (item.partition("=") for item in items)}
    with client() as service:
        dataset = service.language.datasets.describe_labels(dataset_id, descriptions)
    if as_json:
        print_json(dataset)
        return
    _describe(dataset)


def _describe(dataset: Dataset) -> None:
    say(f"{dataset.id}  {dataset.name}  ({dataset.type}, {dataset.status_msg})")
    heads = ("LABEL", "EXAMPLES", "ID")
    for line in table(heads, [(item.name, item.num_examples, item.id) for item in dataset.labels]):
        say(f"  {line}")


@app.command()
@with_reading
def check(
    file: File,
    kind: Kind = None,
    language: Language = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show the first 20 rows and the columns.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Validate a file without storing anything."""
    with client() as service:
        family, kind = _family_of(service, file, kind)
        try:
            found = family.datasets.check(
                file,
                type=kind,
                language=language,
                preview=preview or None,
                progress=shows_progress(quiet),
                **reading,
            )
        except BadRequestError as refusal:
            _show_refused(refusal, as_json=as_json)
            raise
    show(found, _check_lines(found), as_json=as_json)
    if not found.is_trainable:
        raise typer.Exit(1)


def _check_lines(result: records.Validation) -> list[str]:
    parts = (result.format.kind, result.format.encoding, result.format.delimiter)
    return [
        f"{', '.join(part for part in parts if part)}: {_counts(result)}",
        *_preview_lines(result),
        *(f"  {line}" for line in table(("LABEL", "EXAMPLES"), _label_rows(result.labels))),
        *(warning_line(warning, app) for warning in result.warnings),
        *map(_rejection_line, result.rejections),
        *(f"cannot be trained: {reason}" for reason in result.reasons),
    ]


def _show_refused(refusal: BadRequestError, *, as_json: bool) -> None:
    """Print the columns of a file that was refused, so that the user can choose columns."""
    detail = refusal.raw.get("detail")
    if isinstance(detail, dict):
        show(detail, _preview_lines(decode(detail, records.Preview)), as_json=as_json)


def _preview_lines(result: records.Validation | records.Preview) -> list[str]:
    """Return three tables: the first rows, the sheets if there are several, and the columns."""
    rows = [
        (item.row, _cut(item.label), _cut(item.text), _cut(item.reason))
        for item in result.preview or ()
    ]
    sheets = [(item.name, item.rows) for item in result.sheets or ()]
    columns = [
        (item.position, _cut(item.name), item.distinct, _cut(", ".join(item.samples)))
        for item in result.columns or ()
    ]
    lines = table(("ROW", "LABEL", "TEXT", "REJECTED"), rows) if rows else []
    lines += table(("SHEET", "ROWS"), sheets) if len(sheets) > 1 else []
    lines += table(("COLUMN", "NAME", "DISTINCT", "SAMPLES"), columns) if columns else []
    return [f"  {line}" for line in lines]


def _cut(text: str | None) -> str:
    shown = (text or "").replace("\n", " ")
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[: _SHOWN_CHARACTERS - 1]}…"


def _label_rows(labels: list[records.FoundLabel]) -> list[tuple[str, int]]:
    return [(item.name, item.num_examples) for item in labels]


def _counts(result: records.Receipt | records.Validation) -> str:
    return (
        f"{result.seen} seen, {result.kept} kept, {result.duplicates} duplicates, "
        f"{result.rejected} rejected"
    )


def _rejection_line(item: records.Rejection) -> str:
    return f"  {item.file or f'row {item.row}'}: {item.reason}"


@app.command()
@with_reading
def upload(
    file: File,
    kind: Kind = None,
    name: Name = None,
    language: Language = None,
    quiet: Quiet = False,
    id_alone: Id = False,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Upload a file or folder as a dataset, and wait until the upload is processed."""
    with client() as service:
        family, kind = _family_of(service, file, kind)
        dataset = family.datasets.upload(
            file, type=kind, name=name, language=language, progress=shows_progress(quiet), **reading
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
            say(warning_line(warning, app))
        if receipt.rejected:
            say(f"{receipt.rejected} rows were left out: presage datasets show {dataset.id}")


def _family_of(service: Presage, file: str, kind: str | None) -> tuple[Family, str | None]:
    """Return family and dataset type. If `kind` is None, an archive or folder contains images."""
    if kind is None:
        is_folder = not is_address(file) and Path(file).is_dir()
        if file.lower().endswith(".zip") or is_folder:
            return service.vision, None
        kind = "text-intent"
    return (service.language if kind.startswith("text") else service.vision), kind


@app.command()
@with_reading
def add(
    dataset_id: DatasetId,
    file: File,
    quiet: Quiet = False,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Add the examples of a file to a dataset, and wait until the file is processed."""
    with client() as service:
        found = find_dataset(service, dataset_id)
        dataset = found.add(file, progress=shows_progress(quiet), **reading)
    if as_json:
        print_json(dataset)
    else:
        _describe(dataset)


@app.command()
def browse(
    dataset_id: DatasetId,
    label: Annotated[str | None, typer.Option(help="Only examples of this label.")] = None,
    source: Annotated[str | None, typer.Option(help="upload, feedback or all.")] = None,
    suspects_of: Annotated[
        str | None,
        typer.Option("--suspects-of", help="Id of a model: only examples whose labels it flagged."),
    ] = None,
    contains: Annotated[
        str | None, typer.Option(help="Only examples that contain this text.")
    ] = None,
    most: Annotated[
        int, typer.Option("--limit", "-n", help="Maximum number of examples.", min=1)
    ] = 100,
    as_json: Json = False,
) -> None:
    """Search the examples of a dataset; --json prints one per line."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        label_id = None if label is None else _label_id(dataset, label)
        found = dataset.browse(
            label_id=label_id, source=source, suspects_of=suspects_of, contains=contains
        )
        # Printed as they arrive, so that a pipe such as `head` can end the search early.
        for example in islice(found, most):
            show(example, [_example_line(example)], as_json=as_json)


def _label_id(dataset: Dataset, name: str) -> int:
    for label in dataset.labels:
        # The API filters by id, which users rarely know.
        if label.name == name:
            return label.id
    known = ", ".join(label.name for label in dataset.labels[:10])
    raise PresageError(f"Dataset {dataset.id} has no label {name!r}; it has {known}.")


def _example_line(example: records.BrowsedExample) -> str:
    suggestion = ""
    if example.suggestion is not None:
        suggestion = f" -> {example.suggestion} {example.confidence:.3f}"
    return f"{example.id}\t{example.label.name}{suggestion}\t{example.name}"


@app.command()
def fix(
    dataset_id: DatasetId,
    report: Annotated[
        str | None,
        typer.Option(help="Id of a model: apply the suggestions of its last training."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Skip suggestions with less confidence; default 0.5."),
    ] = None,
    move: Annotated[
        list[str] | None,
        typer.Option(help="EXAMPLE=LABEL: id of an example and its correct label."),
    ] = None,
    remove: Annotated[
        list[int] | None,
        typer.Option(help="Id of an example to remove."),
    ] = None,
    boxes: Annotated[
        str | None,
        typer.Option(help="EXAMPLE=FILE: a JSON list of all boxes of an example's image."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Relabel or remove examples, apply a model's suggestions, or replace the boxes of an image.

    If one correction is invalid, none is applied.
    """
    if boxes is not None:
        _fix_boxes(dataset_id, boxes, is_alone=not (report or move or remove), as_json=as_json)
        return
    items = [_move(item) for item in move or []]
    removals = [{"exampleId": number, "remove": True} for number in remove or []]
    with client() as service:
        done = find_dataset(service, dataset_id).fix(
            *items, *removals, from_report_of=report, minimum_confidence=confidence
        )
    show(done, [_correction_line(done)], as_json=as_json)


def _correction_line(correction: records.Correction) -> str:
    changed = f"{correction.changed} reworded, " if correction.changed else ""
    added = f"{correction.added} new, " if correction.added else ""
    return (
        f"{correction.moved} moved, {changed}{added}{correction.removed} removed, "
        f"{correction.duplicates} duplicates, {correction.skipped} skipped"
    )


def _fix_boxes(dataset_id: int, item: str, *, is_alone: bool, as_json: bool) -> None:
    """Replace the boxes of an image with the boxes in a JSON file. `item` is EXAMPLE=FILE."""
    number, _, name = item.partition("=")
    if not number.isdecimal() or not name or not is_alone:
        raise typer.BadParameter(
            f"write EXAMPLE=FILE, without other changes, not {item!r}", param_hint="--boxes"
        )
    try:
        found = json.loads(Path(name).read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise PresageError(f"{name} is not a JSON file: {fault}") from fault
    with client() as service:
        done = service.vision.examples.change(dataset_id, int(number), boxes=found)
    line = f"{done.added} new, {done.removed} removed, {done.moved} moved"
    show(done, [line], as_json=as_json)


def _move(item: str) -> dict[str, str]:
    number, _, label = item.partition("=")
    if not number.isdecimal() or not label:
        raise typer.BadParameter(f"write EXAMPLE=LABEL, not {item!r}", param_hint="--move")
    return {"exampleId": number, "label": label}


@app.command()
def export(
    dataset_id: DatasetId,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, jsonl (texts); zip (images); coco, yolo, voc (object detection).",
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(help="upload, feedback or all.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default named after the dataset."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Export the examples of a dataset to a file that can be uploaded again."""
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        kind = format_ or FORMATS.get(dataset.type, "csv")
        ending = kind if kind in ("csv", "jsonl") else "zip"
        place = output or Path(f"{_file_name(dataset.name)}.{ending}")
        if place.exists() and not force:
            raise PresageError(f"{place} already exists: --force overwrites it.")
        progress = shows_progress(quiet)
        ended = dataset.export(kind, source=source).wait(progress=progress)
        size = ended.save(place, progress=progress)
    show(ended, [f"{ended.examples} examples, {size:,} bytes: {place}"], as_json=as_json)


def _file_name(name: str) -> str:
    """Return a file name for a dataset, without the extension of the uploaded file."""
    safe = "".join(sign if sign.isalnum() or sign in " -_." else "-" for sign in name).strip(" .")
    return Path(safe).stem or "dataset"


@app.command()
def delete(
    dataset_id: Annotated[
        int | None,
        typer.Argument(help="Id of a dataset.", show_default=False),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Delete all datasets whose first upload failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Delete a dataset, or all datasets whose first upload failed. Models are not deleted."""
    if (dataset_id is None) != failed:
        raise typer.BadParameter("pass the id of a dataset, or --failed")
    with client() as service:
        if dataset_id is None:
            removals = [
                item for family in families(service) for item in family.datasets.delete_failed()
            ]
            show(removals, [f"{len(removals)} datasets are being deleted"], as_json=as_json)
            return
        record = find_dataset(service, dataset_id).delete()
    show(record, [f"dataset {dataset_id} is being deleted (deletion {record.id})"], as_json=as_json)
