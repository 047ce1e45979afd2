"""The state folder of the local stack: signing key, data, logs, and what describes the stack.

Other commands find the running stack here.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STACK_FILE = "stack.json"
SECRET_FILE = "token.secret"  # noqa: S105 - the name of a file


@dataclass(frozen=True)
class State:
    """One state folder."""

    folder: Path
    """Where it lies; made when first needed, readable by its owner alone."""

    @property
    def demo_key(self) -> Path:
        """Private key of the demo account."""
        return self.folder / "demo.pem"

    @property
    def data(self) -> Path:
        """Folder of the saved data."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """Folder of log lines."""
        return self.folder / "logs"

    def prepare(self) -> None:
        """Make the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def token_secret(self) -> str:
        """Read the key that signs tokens; made once, so that tokens outlive a restart."""
        path = self.folder / SECRET_FILE
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_text("ascii").strip()
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            secret = secrets.token_hex(48)
            file.write(secret)
        return secret

    def write_stack(self, description: dict[str, Any]) -> None:
        """Describe the running stack; readers never see half a file."""
        draft = self.folder / f"{STACK_FILE}.{os.getpid()}"
        draft.write_text(json.dumps(description, indent=2), "utf-8")
        draft.replace(self.folder / STACK_FILE)

    def read_stack(self) -> dict[str, Any] | None:
        """Read the description of the stack that runs, or None when none does."""
        try:
            found = json.loads((self.folder / STACK_FILE).read_text("utf-8"))
            os.kill(int(found["pid"]), 0)
        except (OSError, ValueError, KeyError):
            return None
        return dict(found) if _is_stack(int(found["pid"])) else None

    def remove_stack(self) -> None:
        """Forget the stack that ran."""
        (self.folder / STACK_FILE).unlink(missing_ok=True)

    def stack_environment(self) -> dict[str, str] | None:
        """Give the variables by which `Settings` reaches the running stack, or None."""
        found = self.read_stack()
        if found is None:
            return None
        return {**found["environment"], "PRESAGE_TOKEN_SECRET": self.token_secret()}


def _is_stack(pid: int) -> bool:
    """Tell whether a process is a stack; its number may have gone to another one since."""
    try:
        return b"infra.local" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True  # no such folder on this system, so the number alone has to do
