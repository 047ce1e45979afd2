"""The command `presage-server` of the distribution with this name.

It runs the same commands as in a clone of the project, but with other default folders.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping, Sequence
from importlib import import_module
from pathlib import Path

from chalicelib import __version__

# Module and description of each command.
_COMMANDS = {
    "run": ("infra.local.__main__", "run the service on this machine"),
    "accounts": ("infra.accounts", "create accounts, keys and tokens"),
    "models": ("infra.models", "install, list and verify model files"),
    "backup": ("infra.backup", "copy all data into a folder, and restore it"),
    "aws-env": ("infra.local.variables", "print how other tools reach the emulated AWS"),
}
_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status.

    Args:
        arguments: words after `presage-server`.
    """
    name, given = (arguments[0], arguments[1:]) if arguments else ("--help", ())
    if name == "--version":
        print(__version__)
        return 0
    if name not in _COMMANDS:
        is_help = name in ("-h", "--help")
        print(_help(), file=sys.stdout if is_help else sys.stderr)
        return 0 if is_help else _USAGE
    set_folders(os.environ)
    run: Callable[[Sequence[str]], int] = import_module(_COMMANDS[name][0]).main
    return run(given)


def set_folders(environment: MutableMapping[str, str]) -> None:
    """Add default folders of state and models to an environment that does not name them.

    The defaults are in `$XDG_DATA_HOME/presage`, or in `~/.local/share/presage` if this variable is
    not set.
    """
    data = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    home = Path(data) / "presage"
    # An empty variable counts as not set, as in the settings.
    for name, folder in (("PRESAGE_STATE_DIR", home), ("PRESAGE_MODEL_DIR", home / "models")):
        environment[name] = environment.get(name) or str(folder)


def _help() -> str:
    lines = [f"  {name:9} {text}" for name, (_, text) in _COMMANDS.items()]
    return "\n".join(("usage: presage-server COMMAND [OPTIONS]", "", *lines))
