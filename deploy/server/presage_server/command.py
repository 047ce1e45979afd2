"""The command `presage-server`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Run the command and return its exit status."""
    # Only this process sees the application's modules; the environment keeps its own `app`.
    sys.path.insert(0, str(Path(__file__).parent / "_app"))
    from infra import server

    return server.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
