"""`presage templates learn`: learns a form template from example documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from presage import LearnedTemplate, PresageError
from presage.cli.context import Id, Json, Quiet, client, shows_progress
from presage.cli.output import percent, say, show, table

app = typer.Typer(no_args_is_help=True, help="Form templates: the fields to read from forms.")


@app.callback()
def templates() -> None:
    """Form templates: the fields to read from forms."""


@app.command()
def learn(
    file: Annotated[
        str,
        typer.Argument(
            help="Folder or zip archive of at most 20 documents with values.json, or a URL.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="JSON file to write the template to."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_id: Id = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn a template from documents and the values that you found in them."""
    if output is not None and output.exists() and not force:
        raise PresageError(f"{output} already exists: --force overwrites it.")
    progress = shows_progress(quiet)
    with client() as service:
        made = service.vision.templates.learn(file, progress=progress)
        if as_id:
            say(made.id)
            return
        found = made.wait(progress=progress)
    if output is not None:
        text = json.dumps(found.template, indent=2, ensure_ascii=False)
        output.write_text(f"{text}\n", encoding="utf-8")
    show(found, _lines(found, output), as_json=as_json)


def _lines(template: LearnedTemplate, output: Path | None) -> list[str]:
    """Return the lines to print: field accuracies, fields not found, the template or its path."""
    rows = [(each.entity, f"{each.right} of {each.of}") for each in template.per_field or ()]
    lines = table(("entity", "right when left out"), rows) if rows else []
    if template.accuracy is not None:
        lines.append(f"accuracy {percent(template.accuracy)}")
    if template.not_found:
        lines.append(f"not found: {', '.join(template.not_found)}")
    if output is None:
        return [*lines, json.dumps(template.template, ensure_ascii=False)]
    return [*lines, f"template: {output}"]
