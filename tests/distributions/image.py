"""Executes the Containerfile's instructions in an empty folder, without a container engine.

Run: python -m tests.distributions.image [PYTHON], by default with the Python that runs it. It needs
the wheels of `make dist`, a package registry, and model files. Each absolute path of the image is
below the folder. The image's user runs the service if this process is root and that user can run
PYTHON; it can write to the volumes alone. What was executed and what was not is printed. The folder
has no base image.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from infra.models import default_directory
from tests.distributions.containerfile import Instruction, shipped
from tests.parts import ROOT

READY = "Presage is ready on "
_ADDS_USERS = re.compile(r"\b(groupadd|useradd)\b")
STOP_SECONDS = 90


class Image:
    """The image as a folder."""

    def __init__(self, root: Path, python: Path) -> None:
        self.root = root
        base = root / "base"
        base.mkdir()
        (base / "python").symlink_to(python)
        self._environment = {"PATH": f"{base}:/usr/sbin:/usr/bin:/bin", "HOME": str(root)}
        self._accounts = root / "etc" / "passwd"
        self._accounts.parent.mkdir()
        for name in ("passwd", "shadow", "group", "gshadow"):
            self._accounts.with_name(name).touch()
        self._found = shipped()

    def placed(self, text: str) -> str:
        """Put the image's own folders below the root."""
        return re.sub(r"(?<![\w/.])(/(?:opt|wheels|models|var)\b)", rf"{self.root}\1", text)

    def build(self) -> None:
        """Execute RUN and COPY in their order."""
        for one in self._found:
            if one.name in ("RUN", "COPY"):
                done = self._run(one) if one.name == "RUN" else self._copy(one)
                print(
                    f"{'executed' if done else 'NOT executed'}: {one.name} {one.text}", flush=True
                )

    def _run(self, one: Instruction) -> bool:
        text = self.placed(one.text)
        if _ADDS_USERS.search(text):
            if os.getuid():
                return False
            # The accounts of the folder, not those of this machine.
            text = _ADDS_USERS.sub(rf"\1 --prefix {self.root}", one.text)
        command = ["sh", "-ec", text]
        subprocess.run(command, cwd=self.root, env={**os.environ, **self._environment}, check=True)
        return True

    def _copy(self, one: Instruction) -> bool:
        """Copy files; what comes from the first stage is at its place already."""
        *names, target = one.text.split()
        if "from" not in one.options:
            place = Path(self.placed(target))
            place.mkdir(parents=True)
            for source in [file for name in names for file in ROOT.glob(name)]:
                shutil.copy(source, place)
            return any(place.iterdir())
        place = Path(self.placed(target))
        assert self.placed(names[0]) == str(place)
        assert place.is_dir(), f"{target} is not made by the first stage"
        if "chown" in one.options and os.getuid() == 0:
            os.chown(place, *map(int, one.options["chown"].split(":")))
        return True

    def _last(self, name: str) -> str:
        return [one.text for one in self._found if one.name == name][-1]

    def start(self, port: int) -> subprocess.Popen[str]:
        """Start the service by ENTRYPOINT and CMD, with ENV and, if this process is root, USER."""
        # Downloading them again would take minutes and show nothing about the image.
        models = self.root / "models"
        models.rmdir()
        models.symlink_to(default_directory().resolve())
        self._environment |= dict(re.findall(r"(\w+)=(\S+)", self.placed(self._last("ENV"))))
        self._environment |= {
            "PRESAGE_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "PRESAGE_PORT": str(port),
            "PRESAGE_AWS_PORT": "0",
        }
        command = [*json.loads(self._last("ENTRYPOINT")), *json.loads(self._last("CMD"))]
        user, group = map(int, self._last("USER").split(":"))
        accounts = self._accounts.read_text("utf-8")
        assert os.getuid() or f":{user}:{group}::/var/lib/presage:" in accounts, accounts
        as_user = {"user": user, "group": group, "extra_groups": []}
        if not self._can_run(as_user):
            as_user = {}
        print(f"user of the service: {user if as_user else f'{os.getuid()}, NOT {user}'}")
        return subprocess.Popen(
            # `env` finds the program on the image's path, not on that of this process.
            ["/usr/bin/env", *command],
            cwd=self.placed(self._last("WORKDIR")),
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **as_user,
        )

    def _can_run(self, as_user: dict[str, Any]) -> bool:
        """Return whether a user can run the interpreter, which may be below a private folder."""
        command = ["/usr/bin/env", "python", "-c", ""]
        try:
            return not subprocess.run(
                command, cwd="/", env=self._environment, capture_output=True, **as_user
            ).returncode
        except PermissionError:  # this process is not root
            return False

    def check(self, port: int) -> None:
        """Run the health check, which must pass."""
        command = json.loads(self._last("HEALTHCHECK").removeprefix("CMD "))
        command[-1] = command[-1].replace(":8000/", f":{port}/")
        subprocess.run(["/usr/bin/env", *command], env=self._environment, check=True)


def free_port() -> int:
    """Return a port that nothing uses at this moment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main(python: Path) -> int:
    """Build, start, check and stop; return the exit status of the service."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        image = Image(Path(name), python)
        image.build()
        with image.start(port) as service:
            try:
                assert service.stdout is not None
                said = []
                for line in service.stdout:
                    said.append(line)
                    if READY in line:
                        break
                else:
                    raise RuntimeError("".join(said))
                image.check(port)
                print("the health check passes")
            finally:
                service.send_signal(signal.SIGTERM)
                # What is left is read, so that a full pipe cannot stop the service from ending.
                service.communicate(timeout=STOP_SECONDS)
    print(f"stopped by SIGTERM with status {service.returncode}")
    return service.returncode


if __name__ == "__main__":
    chosen = sys.argv[1] if sys.argv[1:] else sys.executable
    sys.exit(main(Path(chosen).resolve()))
