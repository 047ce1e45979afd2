"""A reader's desk: the folder of the project, a terminal, and a service that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.flows import TWO_VIEWS_APP
from tests.flows.world import World
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[3]
ADDRESS, EMAIL = "http://127.0.0.1:8000", "demo@presage.example"
"""As documents print them."""
LOGIN_FILE = "login.json"
SAMPLES = ROOT / "chalicelib" / "assets" / "samples"
PRELUDE = """
pip() { echo "pip $*"; }  # what it would install is here already
curl() { command curl -f "$@"; }
BASE=http://127.0.0.1:8000/v2
TOKEN=$PRESAGE_TEST_TOKEN
AUTH="Authorization: Bearer $TOKEN"
"""
"""What the README has set before other pages begin."""


def start() -> LocalStack:
    """Make the stack that pages are run on; its workers do not step back behind other tests."""
    return LocalStack(
        TWO_VIEWS_APP,
        arguments=("--no-demo", "--forget"),
        environment={"PRESAGE_NICENESS": "0"},
        ready_seconds=240,
    )


def blocks(page: Path, kind: str = "sh") -> list[str]:
    """Return the blocks of a kind on a page, in their order."""
    found = re.findall(rf"^```{kind}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [str(block) for block in found]


class Desk:
    """Runs what documents print, each page in a folder of its own that looks like the project's.

    Args:
        stack: the service that stands for the one at `ADDRESS`.
        folder: for files that the pages write.
    """

    def __init__(self, stack: LocalStack, folder: Path) -> None:
        self._folder = folder
        self._stack = stack
        self._world = World(stack, folder)
        caller = self._world.caller("GOLD", example_calls=1000)
        self._email = str(caller.email)
        self._token = str(caller.token)
        self._login = b""

    def close(self) -> None:
        """Close the connections that it made."""
        self._world.close()

    def lay(self, name: str) -> Path:
        """Make a folder that looks like the project's, with an account that is logged in."""
        place = self._folder / name
        (place / "bin").mkdir(parents=True)
        (place / ".presage").mkdir()
        for item in ("bench", "chalicelib", "client", "docs", "infra", "tests", ".venv", ".models"):
            if (ROOT / item).exists():
                (place / item).symlink_to(ROOT / item)
        (place / ".presage" / "demo.pem").write_text(self._world.private_pem)
        self._tool(place, "presage", f'exec "{sys.executable}" -m presage "$@"')
        (place / "tickets.csv").symlink_to(SAMPLES / "shop_intents.csv")
        login = place / LOGIN_FILE
        if self._login:
            login.write_bytes(self._login)
        else:
            self.run(place, f"presage login --email {EMAIL} --key-file .presage/demo.pem")
            self._login = login.read_bytes()
        return place

    def _tool(self, place: Path, name: str, text: str) -> None:
        path = place / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, place: Path, script: str, program: str = "bash -eu -o pipefail") -> str:
        """Run a script as it is printed, and return what it said.

        Raises:
            AssertionError: it failed.
        """
        # The guides show good models; whether the commands work, one epoch shows as well.
        script = re.sub(r"--epochs \d+", "--epochs 1", script)
        said = (PRELUDE if program.startswith("bash") else "") + script
        said = said.replace(ADDRESS, self._stack.url).replace(EMAIL, self._email)
        said = said.replace("presage login ", f"presage login --url {self._stack.url} ")
        ended = subprocess.run(
            [*program.split(), "/dev/stdin"],
            input=said,
            cwd=place,
            env={**os.environ, **self._environment(place)},
            capture_output=True,
            text=True,
            timeout=540,
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def _environment(self, place: Path) -> dict[str, str]:
        return {
            "PATH": f"{place / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT / 'client' / 'src'}:{ROOT}",
            "PRESAGE_LOGIN_FILE": str(place / LOGIN_FILE),
            "PRESAGE_TEST_TOKEN": self._token,
            "PRESAGE_STATE_DIR": self._stack.given["PRESAGE_STATE_DIR"],
            "MPLCONFIGDIR": str(self._folder),
        }
