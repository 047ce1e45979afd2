"""The command `presage mcp`: lets agents use the service through the Model Context Protocol."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path
from typing import Annotated

import typer

from presage import AsyncPresage
from presage.cli.context import chosen_profile
from presage.cli.output import note
from presage.errors import ConfigurationError

_TOKEN_BYTES = 32


def mcp(
    root: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder below which files may be read; without it, none. May be repeated.",
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP on 127.0.0.1, not over stdio.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of --http; 0 for any free one.")
    ] = 8765,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Offer the tool submit_feedback too.")
    ] = False,
) -> None:
    """Serve tools to agents (Model Context Protocol); needs the extra `mcp`."""
    try:
        from presage.agents.allowed_folders import AllowedFolders, FileRefused
        from presage.agents.server import HOST, make_server, serve_http
    except ImportError as error:
        raise ConfigurationError(
            "The command needs the extra mcp: pip install 'presage-client[mcp]'."
        ) from error
    try:
        folders = AllowedFolders(root or [])
    except FileRefused as error:
        raise ConfigurationError(str(error)) from error
    client = AsyncPresage.from_env(profile=chosen_profile())
    server = make_server(client, folders, allows_writes=allow_writes)
    if not http:
        server.run("stdio")
        return
    # New at each start: other programs of this machine can reach the port, too.
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} of {HOST} cannot be used ({error.strerror}): choose one with --port."
        ) from error
    # On stderr, because stdout may be read by a program.
    note(f"http://{HOST}:{listener.getsockname()[1]}/mcp")
    note(f"Authorization: Bearer {token}")
    serve_http(server, listener, token)
