"""The command `python -m infra.local`: runs the whole service on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from infra.local import process
from infra.local.options import parse
from infra.local.supervisor import Supervisor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack until it is stopped and return the exit status."""
    if os.environ.pop("PRESAGE_DIE_WITH_PARENT", ""):
        process.die_with_parent()
    return Supervisor(
        parse(sys.argv[1:] if arguments is None else arguments, os.environ), os.environ
    ).run()


if __name__ == "__main__":
    sys.exit(main())
