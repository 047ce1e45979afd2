"""Saves the local stack's data: dumps it when something has changed, and at the stop.

A process of its own. The dump is a backup like any other
(infra/backups): whole or not there at all, whatever is killed in between.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients
from infra.backups.dumping import dump
from infra.backups.folder import BackupError, BackupFolder
from infra.backups.restoring import restore
from infra.local.aws.write_pause import HEADER, PATH

_DUMPS = 3
"""Dumps that a pause leaves time for: the one that misses a write, the one that holds it, and as
much again, because the next may take longer than the last."""
_MOST_DUMPS = 4
"""Most dumps within the time that is allowed, however long they take."""


class WritesNotPaused(Exception):
    """The writes could not be paused for long enough."""


class SnapshotSaver:
    """Dumps one stack into one folder."""

    def __init__(self, settings: Settings, folder: BackupFolder) -> None:
        self._settings = settings
        self._folder = folder
        self._dumped_writes = -1

    def run(self, within_seconds: float) -> None:
        """Dump when something has changed, until SIGTERM; then a last time.

        Args:
            within_seconds: time from a write to the end of a dump that holds it, at most; as long
                as three dumps do not take longer.
        """
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        pause = within_seconds / 2
        while not stop.wait(pause):
            took = self._dump_changes()
            pause = pause_after(took, within_seconds)
        self._dump_changes()

    def _dump_changes(self) -> float:
        """Dump unless nothing was written since; an error is reported, and tried again later.

        Returns:
            How long the dump took, in seconds.
        """
        began = time.monotonic()
        try:
            writes = self._writes()
            if writes != self._dumped_writes:
                dump(self._settings, self._folder, pause_writes=self._paused_writes)
                self._dumped_writes = writes
        except (WritesNotPaused, BackupError, BotoCoreError, ClientError, OSError) as error:
            print(f"the data was not saved: {error}", file=sys.stderr, flush=True)
        return time.monotonic() - began

    @contextmanager
    def _paused_writes(self, clients: Clients) -> Iterator[None]:
        """Let everybody but these clients wait."""
        token = str(self._ask("POST")["token"])

        def show_token(request: Any, **_: Any) -> None:
            request.headers[HEADER] = token

        clients.s3.meta.events.register("before-send", show_token)
        clients.dynamodb.meta.events.register("before-send", show_token)
        try:
            yield
        finally:
            self._ask("DELETE", token)

    def _writes(self) -> int:
        return int(self._ask("GET")["writes"])

    def _ask(self, method: str, token: str = "") -> dict[str, Any]:
        """Call the gate of the emulated AWS."""
        request = urllib.request.Request(  # noqa: S310 - the stack's own address
            f"{self._settings.endpoint_url}{PATH}", method=method, headers={HEADER: token}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
                return dict(json.load(answer))
        except urllib.error.HTTPError as refused:
            with refused:
                raise WritesNotPaused(f"the emulated AWS answered {refused.code}") from refused


def pause_after(took_seconds: float, within_seconds: float) -> float:
    """Tell how long to wait after a dump before the next one begins, in seconds.

    What is written while a dump copies the rows is saved at the end of the next one.

    Args:
        took_seconds: length of the last dump.
        within_seconds: see `SnapshotSaver.run`.
    """
    left = within_seconds - _DUMPS * took_seconds
    return max(left, took_seconds, within_seconds / _MOST_DUMPS)


def restore_snapshot(settings: Settings, folder: BackupFolder) -> str | None:
    """Restore what a former run has saved, into the empty tables and bucket of a new one.

    Returns:
        A line that tells what was restored, or None when nothing was saved.

    Raises:
        BackupError: what was saved is damaged.
    """
    if folder.manifest() is None:
        return None
    began = time.monotonic()
    manifest = restore(settings, folder)
    return (
        f"the data of {manifest.created_at} is back: {sum(manifest.rows.values())} rows, "
        f"{len(manifest.objects)} objects, {time.monotonic() - began:.1f} s"
    )
