"""`python -m tests.flows.documented` makes all documented calls and writes them as examples."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.flows.documented.story import ENVIRONMENT, Teller, write
from tests.flows.documented.test_documented import beginning
from tests.flows.world import World
from tests.local_stack import LocalStack


def main() -> None:
    """Start a stack, make the calls, and write the examples."""
    stack = LocalStack(
        arguments=("--no-demo", "--forget"), environment=ENVIRONMENT, ready_seconds=240
    )
    with stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        client, known = beginning(world)
        write(Teller(client, known).tell())
        world.close()


if __name__ == "__main__":
    main()
