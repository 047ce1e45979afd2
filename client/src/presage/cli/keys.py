"""`presage keys`: create, list and delete API keys."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from presage import records
from presage.cli.context import Json, client
from presage.cli.output import print_json, say, show, table
from presage.errors import ConfigurationError

app = typer.Typer(
    no_args_is_help=True, help="API keys: secrets that programs send instead of signing in."
)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name of the key.", show_default=False)],
    scope: Annotated[str, typer.Option(help="What it may do: all, or predict.")] = "all",
    expires_at: Annotated[
        str | None, typer.Option(help="When it expires, such as 2030-01-31T00:00:00Z.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="New file for the key, which is then not printed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create an API key. The key itself is shown only once."""
    with client() as service:
        if output is None:
            made = service.keys.create(name, scope=scope, expires_at=expires_at)
            show(made, [f"key {made.id}", f"secret {made.secret}"], as_json=as_json)
            return
        # Before the call, so that no key is lost because its file cannot be written.
        descriptor = _new_file(output)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                made = service.keys.create(name, scope=scope, expires_at=expires_at)
                stream.write(f"{made.secret}\n")
        except BaseException:
            with suppress(OSError):
                output.unlink()
            raise
    shown = {name: value for name, value in made.raw.items() if name != "secret"}
    show(shown, [f"key {made.id} is in {output}"], as_json=as_json)


@app.command("list")
def list_keys(as_json: Json = False) -> None:
    """List the API keys of the account."""
    with client() as service:
        found = service.keys.list().list()
    if as_json:
        print_json(found)
        return
    for line in table(("ID", "BEGINS", "SCOPE", "EXPIRES", "LAST USED", "NAME"), map(_row, found)):
        say(line)


@app.command()
def delete(
    key_id: Annotated[str, typer.Argument(help="Id of a key.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Revoke an API key at once."""
    with client() as service:
        gone = service.keys.delete(key_id)
    show(gone, [f"key {gone.id} ({gone.name}) is revoked"], as_json=as_json)


def _row(key: records.ApiKey) -> tuple[str, ...]:
    dates = [(moment or "never")[:10] for moment in (key.expires_at, key.last_used_at)]
    return (key.id, f"{key.prefix}…", key.scope, *dates, key.name)


def _new_file(path: Path) -> int:
    """Create a file that only its owner can read, and return its descriptor."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be created: {error.strerror}.") from error
