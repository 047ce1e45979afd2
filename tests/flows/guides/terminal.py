"""A reader's terminal: runs commands of the documentation in a copy of the project's folder."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from shutil import copyfile

from PIL import Image

from tests.flows.world import World
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[3]
# The documentation uses this address and account; the test replaces them by its own.
ADDRESS, EMAIL = "http://127.0.0.1:8000", "demo@presage.example"
LOGIN_FILE = "login.json"
SAMPLES = ROOT / "chalicelib" / "assets" / "samples"
# Archives and pages that the commands train on and read, most of the cost of a page.
ARCHIVES = (
    "chalicelib/assets/global/image-detection.zip",
    "chalicelib/assets/global/image-multi-label.zip",
    "chalicelib/assets/samples/road_signs.zip",
)
SHEETS = ("chalicelib/assets/samples/sample_page.png", "docs/guides/invoice.png")
_LATER = re.compile(r"\d*[1-9]\d\.jpg")  # the number of an image in an archive is 10 or more
# The README sets these variables before other pages begin.
PRELUDE = """
pip() { echo "pip $*"; }  # its packages are installed already
curl() { command curl -f "$@"; }
BASE=http://127.0.0.1:8000/v2
TOKEN=$PRESAGE_TEST_TOKEN
AUTH="Authorization: Bearer $TOKEN"
"""


def start() -> LocalStack:
    """Return the stack on which the images of the guides are drawn."""
    return LocalStack(
        arguments=("--no-demo", "--forget"),
        environment={"PRESAGE_NICENESS": "0"},
        ready_seconds=240,
    )


def blocks(page: Path, kind: str = "sh") -> list[str]:
    """Return the code blocks of one language on a page, in order."""
    found = re.findall(rf"^```{kind}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [str(block) for block in found]


class Terminal:
    """Runs commands of pages, each page in a separate folder that looks like the project's.

    Args:
        stack: the service that replaces the one at `ADDRESS`.
        folder: for files that the pages write.
        is_quick: trains one epoch on the first images of an archive, and reads the upper half of
            a page, which is enough to test commands but not for images.
    """

    def __init__(self, stack: LocalStack, folder: Path, *, is_quick: bool = False) -> None:
        self._is_quick = is_quick
        self._folder = folder
        self._stack = stack
        self._world = World(stack, folder)
        self._email = self._token = ""
        if is_quick:
            made = {name: _make_smaller(ROOT / name) for name in ARCHIVES}
            made |= {name: _cut_in_half(ROOT / name) for name in SHEETS}
            for item in ("chalicelib", "docs"):
                _replace_files(folder / "quick" / item, ROOT / item, made)

    def close(self) -> None:
        """Close the connections to the stack."""
        self._world.close()

    def create_folder(self, name: str) -> Path:
        """Create a folder that looks like the project's, with a new account that is signed in."""
        # A reader begins with an empty account: names of other pages must not be found.
        caller = self._world.caller("GOLD", example_calls=1000)
        self._email, self._token = str(caller.email), str(caller.token)
        folder = self._folder / name
        (folder / "bin").mkdir(parents=True)
        (folder / ".presage").mkdir()
        for item in ("bench", "chalicelib", "client", "docs", "infra", "tests", ".venv", ".models"):
            places = (self._folder / "quick" / item, ROOT / item)
            if found := next((place for place in places if place.exists()), None):
                (folder / item).symlink_to(found)
        (folder / ".presage" / "demo.pem").write_text(self._world.private_pem)
        self._write_tool(folder, "presage", f'exec "{sys.executable}" -m presage "$@"')
        # A copy, which a page may write to.
        copyfile(SAMPLES / "shop_intents.csv", folder / "tickets.csv")
        key_file = str(folder / ".presage" / "demo.pem")
        login = {"url": self._stack.url, "email": self._email, "key_file": key_file}
        (folder / LOGIN_FILE).write_text(json.dumps(login))
        return folder

    def _write_tool(self, folder: Path, name: str, text: str) -> None:
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run(self, folder: Path, script: str, program: str = "bash -eu -o pipefail") -> str:
        """Run a script as printed, and return its output.

        Raises:
            AssertionError: the script failed.
        """
        if self._is_quick:
            script = re.sub(r"--epochs \d+", "--epochs 1", script)
        text = (PRELUDE if program.startswith("bash") else "") + script
        text = text.replace(ADDRESS, self._stack.url).replace(EMAIL, self._email)
        text = text.replace("presage login ", f"presage login --url {self._stack.url} ")
        ended = subprocess.run(
            [*program.split(), "/dev/stdin"],
            input=text,
            cwd=folder,
            env={**os.environ, **self._environment(folder)},
            capture_output=True,
            text=True,
            timeout=540,
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def _environment(self, folder: Path) -> dict[str, str]:
        return {
            "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT / 'client' / 'src'}:{ROOT}",
            "PRESAGE_LOGIN_FILE": str(folder / LOGIN_FILE),
            "PRESAGE_TEST_TOKEN": self._token,
            "PRESAGE_STATE_DIR": self._stack.given["PRESAGE_STATE_DIR"],
            "MPLCONFIGDIR": str(self._folder),
        }


def _make_smaller(archive: Path) -> bytes:
    """Return an archive of the first ten images of each name, with their boxes."""
    content = io.BytesIO()
    with zipfile.ZipFile(archive) as whole, zipfile.ZipFile(content, "w") as smaller:
        for name in whole.namelist():
            if name.endswith(".csv"):
                rows = whole.read(name).decode().splitlines(keepends=True)
                smaller.writestr(name, "".join(row for row in rows if not _LATER.search(row)))
            elif not _LATER.search(name):
                smaller.writestr(name, whole.read(name))
    return content.getvalue()


def _cut_in_half(page: Path) -> bytes:
    """Return the upper half of an image as PNG."""
    content = io.BytesIO()
    with Image.open(page) as image:
        image.crop((0, 0, image.width, image.height // 2)).save(content, "PNG")
    return content.getvalue()


def _replace_files(folder: Path, original: Path, made: dict[str, bytes]) -> None:
    """Make a folder of links to what another one holds, but with other content of some files.

    Args:
        folder: does not exist yet.
        original: below the project's folder.
        made: contents by path below the project's folder.
    """
    folder.mkdir(parents=True)
    for item in original.iterdir():
        path = str(item.relative_to(ROOT))
        if path in made:
            (folder / item.name).write_bytes(made[path])
        elif any(Path(name).is_relative_to(path) for name in made):
            _replace_files(folder / item.name, item, made)
        else:
            (folder / item.name).symlink_to(item)
