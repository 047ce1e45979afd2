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

from infra.whole_files import drafted, remove_drafts, sync, write_whole

STACK_FILE = "stack.json"
SECRET_FILE = "token.secret"  # noqa: S105 - the name of a file
_SHORTEST_SECRET = 32
# Bytes that a start needs for what describes it, and for a first save.
_LEAST_ROOM = 1 << 20


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
        """Make the folder.

        Raises:
            OSError: it cannot be made.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_room(self) -> None:
        """Find out whether a file can be written; what a former run broke off goes first.

        Raises:
            OSError: it cannot.
        """
        remove_drafts(self.folder)
        with drafted(self.folder) as draft:
            draft.write(bytes(_LEAST_ROOM))
            sync(draft)
        remove_drafts(self.folder)

    def has_broken_secret(self) -> bool:
        """Tell whether there is a signing key that was cut off, by a full disk for example."""
        return (self.folder / SECRET_FILE).exists() and not self._read_secret()

    def token_secret(self) -> str:
        """Read the key that signs tokens; made once, so that tokens outlive a restart.

        Raises:
            OSError: a new one cannot be written.
        """
        secret = self._read_secret()
        if not secret:
            secret = secrets.token_hex(48)
            write_whole(self.folder / SECRET_FILE, secret.encode("ascii"))
        return secret

    def _read_secret(self) -> str:
        """Read the signing key; empty when it is missing or not whole."""
        try:
            found = (self.folder / SECRET_FILE).read_text("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""
        return found if len(found) >= _SHORTEST_SECRET and found.isprintable() else ""

    def write_stack(self, description: dict[str, Any]) -> None:
        """Describe the running stack; readers never see half a file.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(self.folder / STACK_FILE, json.dumps(description, indent=2).encode())

    def read_stack(self) -> dict[str, Any] | None:
        """Read the description of the stack that runs, or None when none does."""
        try:
            found = json.loads((self.folder / STACK_FILE).read_text("utf-8"))
            os.kill(int(found["pid"]), 0)
        except (OSError, ValueError, KeyError):
            return None
        return dict(found) if _is_stack(int(found["pid"])) else None

    def has_description(self) -> bool:
        """Tell whether a stack is described, also one that ended without closing the folder."""
        return (self.folder / STACK_FILE).exists()

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
