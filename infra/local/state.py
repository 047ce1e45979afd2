"""The state folder of the local stack: keys, data, logs, and how to reach the stack.

Other commands find the running stack by this folder.
"""

from __future__ import annotations

import configparser
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.atomic_files import drafted, remove_drafts, sync, write_atomically

STACK_FILE = "stack.json"
SECRET_FILE = "token.secret"  # noqa: S105 - the name of a file
# In the format of AWS's tools, so that AWS_SHARED_CREDENTIALS_FILE can name it.
AWS_KEYS_FILE = "aws.credentials"
AWS_KEY_NAMES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_SHORTEST_SECRET = 32
_KEY_ID_BYTES, _SECRET_BYTES = 10, 20
# Bytes that must be free at the start, for the description of the stack and a first save.
_NEEDED_BYTES = 1 << 20


@dataclass(frozen=True)
class State:
    """One state folder. Methods that write raise OSError if they cannot."""

    folder: Path
    """Path of the folder; created when needed, readable only by its owner."""

    @property
    def demo_key(self) -> Path:
        """Return the path of the demo account's private key."""
        return self.folder / "demo.pem"

    @property
    def data(self) -> Path:
        """Return the folder of the saved data."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """Return the folder of log lines."""
        return self.folder / "logs"

    def prepare(self) -> None:
        """Create the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_space(self) -> None:
        """Check that a file can be written; remove unfinished files of a previous run first."""
        remove_drafts(self.folder)
        with drafted(self.folder) as draft:
            draft.write(bytes(_NEEDED_BYTES))
            sync(draft)
        remove_drafts(self.folder)

    def has_broken_secret(self) -> bool:
        """Return whether the signing key is incomplete, for example after a full disk."""
        return (self.folder / SECRET_FILE).exists() and not self._read_secret()

    def token_secret(self) -> str:
        """Return the key that signs tokens; create it if it is missing."""
        # Stored, so that tokens stay valid after a restart.
        secret = self._read_secret()
        if not secret:
            secret = secrets.token_hex(48)
            write_atomically(self.folder / SECRET_FILE, secret.encode("ascii"))
        return secret

    def _read_secret(self) -> str:
        """Return the signing key; empty if it is missing or incomplete."""
        try:
            found = (self.folder / SECRET_FILE).read_text("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""
        return found if len(found) >= _SHORTEST_SECRET and found.isprintable() else ""

    def aws_keys(self) -> dict[str, str]:
        """Return the emulated AWS's key pair as environment variables; create it if missing."""
        # Stored, so that presigned URLs stay valid after a restart.
        found = self._read_aws_keys()
        if not found:
            found = _new_aws_keys()
            self.write_aws_keys(found)
        return found

    def write_aws_keys(self, keys: Mapping[str, str]) -> None:
        """Write the key pair of the emulated AWS, given as environment variables."""
        lines = "".join(f"{name.lower()} = {value}\n" for name, value in keys.items())
        write_atomically(self.folder / AWS_KEYS_FILE, f"[default]\n{lines}".encode("ascii"))

    def _read_aws_keys(self) -> dict[str, str]:
        """Read the key pair; empty if it is missing or incomplete."""
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string((self.folder / AWS_KEYS_FILE).read_text("ascii"))
            found = {name: parser.get("default", name) for name in AWS_KEY_NAMES}
        except (FileNotFoundError, UnicodeDecodeError, configparser.Error):
            return {}
        lengths = [len(value) for value in found.values()]
        return found if lengths == [_KEY_ID_BYTES * 2, _SECRET_BYTES * 2] else {}

    def write_stack(self, description: dict[str, Any]) -> None:
        """Write the description of the running stack; readers never see half a file."""
        write_atomically(self.folder / STACK_FILE, json.dumps(description, indent=2).encode())

    def read_stack(self) -> dict[str, Any] | None:
        """Read the description of the running stack; None if none runs."""
        try:
            found = json.loads((self.folder / STACK_FILE).read_text("utf-8"))
            os.kill(int(found["pid"]), 0)
        except (OSError, ValueError, KeyError):
            return None
        return dict(found) if _is_stack(int(found["pid"])) else None

    def has_description(self) -> bool:
        """Return whether a description exists; a stack that was killed leaves it behind."""
        return (self.folder / STACK_FILE).exists()

    def remove_stack(self) -> None:
        """Remove the description of the stack."""
        (self.folder / STACK_FILE).unlink(missing_ok=True)

    def stack_environment(self) -> dict[str, str] | None:
        """Return the variables that `Settings` needs to reach the running stack, or None."""
        found = self.read_stack()
        if found is None:
            return None
        return {**found["environment"], "PRESAGE_TOKEN_SECRET": self.token_secret()}


def _new_aws_keys() -> dict[str, str]:
    """Return a random key pair, with the lengths of AWS's keys, as environment variables."""
    made = secrets.token_hex(_KEY_ID_BYTES).upper(), secrets.token_hex(_SECRET_BYTES)
    return dict(zip(AWS_KEY_NAMES, made, strict=True))


def _is_stack(pid: int) -> bool:
    # After a stack ended, the system may have given its id to another program.
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True  # On a system without /proc, only the id can be checked.
    return any(name in command for name in (b"infra.local", b"presage-server", b"presage_server"))
