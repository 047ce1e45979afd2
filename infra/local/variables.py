"""The command `python -m infra.local.variables`: prints how other tools reach the emulated AWS.

Example: `eval "$(make -s aws-env)"; aws dynamodb list-tables`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from chalicelib.commands import run_command
from infra.local.state import State


def main(arguments: Sequence[str] = ()) -> int:
    """Print the variables of the running stack as shell commands; return the exit status."""
    folder = Path(os.environ.get("PRESAGE_STATE_DIR") or ".presage")
    found = State(folder).read_stack()
    if found is None:
        print(
            f"No local stack is described in {folder}. Start it: {run_command()}", file=sys.stderr
        )
        return 1
    for name, value in found["environment"].items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
