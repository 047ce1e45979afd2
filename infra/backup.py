"""The backup command: copies a whole stack to a folder, and back.

By default, `python -m infra.backup dump DIR` and `restore DIR` work on the running local stack, or
on the endpoint AWS_ENDPOINT_URL if it is set. With --stage, they work on a deployed stage; with
--aws, on the AWS account of the user.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from chalicelib.commands import administrator_command
from chalicelib.config import SettingsError
from infra.backups.dumping import dump
from infra.backups.folder import BackupError, BackupFolder
from infra.backups.restoring import restore
from infra.target import CommandError, add_options, chosen_target, explained_causes

_DONE, _REFUSED = 0, 1


def main(
    arguments: Sequence[str] | None = None, environment: MutableMapping[str, str] = os.environ
) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    folder = BackupFolder(options.folder)
    try:
        if options.command == "verify":
            _verify(folder)
        elif options.command == "dump":
            target = chosen_target(environment, options)
            with explained_causes(target):
                dump(target.settings, folder, _say)
        else:
            target = chosen_target(environment, options)
            with explained_causes(target):
                restore(target.settings, folder, options.replace, _say)
    except (BackupError, CommandError, SettingsError, OSError) as error:
        _say(f"error: {error}")
        return _REFUSED
    _say("done")
    return _DONE


def _verify(folder: BackupFolder) -> None:
    manifest = folder.manifest()
    if manifest is None:
        raise BackupError(f"{folder.path} holds no backup.")
    folder.verify(manifest)
    _say(f"{sum(manifest.rows.values())} rows and {len(manifest.objects)} objects are whole")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=administrator_command("backup"), description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("dump", "copy all tables and the bucket into a folder; the next time only what changed"),
        ("restore", "write a folder's copy into an empty stack"),
        ("verify", "read every file of a folder's copy and compare its sha256"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", type=Path, help="folder of the backup")
        if name != "verify":
            add_options(command)
        if name == "restore":
            command.add_argument(
                "--replace", action="store_true", help="delete what the stack holds first"
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
