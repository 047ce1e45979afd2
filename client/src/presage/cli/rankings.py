"""`presage rank`: chooses the texts or images to label next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from presage import PresageError
from presage.cli.context import Json, Quiet, client, family_of, find_model, pairs, shows_progress
from presage.cli.options import known_options
from presage.cli.output import print_json, say, show, table


def rank(
    file: Annotated[
        str,
        typer.Argument(
            help="Texts without labels as csv, tsv, xlsx or JSON lines; a zip or folder of "
            "images; or a URL."
        ),
    ],
    model: Annotated[str, typer.Option(help="Id of your model.", show_default=False)],
    count: Annotated[int, typer.Option(help="How many to choose.", min=1, max=1000)] = 100,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, .csv or .jsonl. After labelling, a csv file can be uploaded.",
        ),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="text-column=Subject or name=…. Repeatable."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Rank only as many as the quota allows.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose the texts or images of a file that are most worth labelling."""
    progress = shows_progress(quiet)
    # Before the ranking is created, which would use up predictions.
    if output is not None and output.exists() and not force:
        raise PresageError(f"{output} already exists: --force overwrites it.")
    is_csv = output is not None and output.suffix.casefold() == ".csv"
    fields: dict[str, Any] = {"count": count, "partial": partial or None}
    fields["format"] = "csv" if is_csv else None
    with client() as service:
        rankings = family_of(service, find_model(service, model).model_type).rankings
        fields |= pairs(options, "--set", known_options(rankings.create))
        made = rankings.create(model, file, **fields, progress=progress).wait(progress=progress)
        if output is not None:
            size = made.save(output, progress=progress)
            line = f"chosen from {made.counts.done} lines, {size:,} bytes: {output}"
            show(made, [line], as_json=as_json)
            return
        found = made.results()
    _print_ranked(found, as_json)


def _print_ranked(lines: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        for one in lines:
            print_json(one)
        return
    heads = ("rank", "reason", "suggestion", "sample")
    for line in table(heads, [_cells(one) for one in lines]):
        say(line)


def _cells(line: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of the table row for a ranked sample."""
    suggestion = line.get("suggestion")
    shown = "none" if suggestion is None else f"{suggestion} {line['confidence']:.2f}"
    sample = line.get("text") or line.get("id") or f"row {line['row']}"
    # A line break of the text would break the table.
    return line["rank"], line["reason"], shown, " ".join(str(sample).split())
