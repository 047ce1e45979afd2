"""Returns shell commands for messages. An installed package and a clone need different commands."""

from __future__ import annotations

from pathlib import Path

# The distribution `presage-server` holds the application in a folder of this name.
_IS_INSTALLED = Path(__file__).parents[1].name == "_app"


def administrator_command(name: str) -> str:
    """Return the shell command for an administrator, for example `python -m infra.models`."""
    return f"presage-server {name}" if _IS_INSTALLED else f"python -m infra.{name}"


# The command that installs and verifies model files.
MODELS_COMMAND = administrator_command("models")


def run_command(option: str = "") -> str:
    """Return the shell command that starts the local stack, with an option such as `--repair`."""
    if _IS_INSTALLED:
        return f"presage-server run {option}".rstrip()
    return f"make run ARGS={option}" if option else "make run"
