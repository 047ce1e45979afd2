"""Saves the local stack's data: dumps it when something has changed, and at the stop.

A process of its own. The dump is a backup like any other
(infra/backups): whole or not there at all, whatever is killed in between.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.config import Settings
from chalicelib.domain.common.clock import to_milliseconds
from chalicelib.stores.aws.clients import Clients
from infra.backups import tables
from infra.backups.dumping import dump
from infra.backups.folder import BackupError, BackupFolder, Manifest
from infra.backups.repairing import repair
from infra.backups.restoring import restore
from infra.backups.rota import Rota
from infra.local.aws.write_pause import HEADER, PATH
from infra.local.saving import SavingState

# Dumps that a pause leaves time for: the one that misses a write, the one that holds it, and as
# much again, because the next may take longer than the last.
_DUMPS = 3
# Most dumps within the time that is allowed, however long they take.
_MOST_DUMPS = 4


# How much of what is saved is read again after each pause, to find damage.
_ROTA_BYTES = 64 * 1000**2
# How much is read again at the stop, and how long that may take.
_STOP_BYTES, _STOP_SECONDS = 1000**3, 20.0
# Most datasets and models that one line names.
_MOST_NAMES = 20

# Datasets and models, with their ids and names.
Changed = tuple[list[str], list[str]]


class WritesNotPaused(Exception):
    """The writes could not be paused for long enough."""


class SnapshotSaver:
    """Dumps one stack into one folder."""

    def __init__(
        self,
        settings: Settings,
        folder: BackupFolder,
        state: SavingState,
        say: Callable[[str], None],
    ) -> None:
        """Keep what is needed.

        Args:
            settings: of the stack.
            folder: takes the dumps.
            state: tells the other processes how far the data is saved.
            say: takes lines for the user.
        """
        self._settings = settings
        self._folder = folder
        self._state = state
        self._say = say
        self._rota = Rota(folder)
        self._dumped_writes = -1
        self._must_rewrite = False
        self._problem = ""
        self._changed: Changed = ([], [])

    def run(self, within_seconds: float) -> bool:
        """Dump when something has changed, until SIGTERM; then a last time.

        Args:
            within_seconds: time from a write to the end of a dump that holds it, at most; as long
                as three dumps do not take longer.

        Returns:
            Whether all is saved.
        """
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        pause = within_seconds / 2
        while not stop.wait(pause):
            took = self._dump_changes(or_what_is_gone=True)
            self._look_for_damage(self._rota.go_on(_ROTA_BYTES, within_seconds / 2))
            pause = pause_after(took, within_seconds)
        self._dump_changes()
        self._look_for_damage(self._rota.go_on(_STOP_BYTES, _STOP_SECONDS, may_exceed=False))
        if self._problem:
            since = f"{self._state.saved_at.astimezone():%Y-%m-%d %H:%M:%S}"
            self._say(f"NOT SAVED: what was written since {since} is lost{self._named()}. "
                      f"The cause: {self._problem}")  # fmt: skip
        return not self._problem

    def _look_for_damage(self, damages: Sequence[str]) -> None:
        """Write anew from memory what has been found to be damaged on the disk."""
        if not self._folder.has_whole_manifest():
            damages = [*damages, f"the manifest in {self._folder.path} has changed."]
        if damages:
            others = f" So are {len(damages) - 1} others." if len(damages) > 1 else ""
            self._say(f"{damages[0]} It is written anew from memory.{others}")
            self._must_rewrite = True
            self._dump_changes()

    def _dump_changes(self, or_what_is_gone: bool = False) -> float:
        """Dump unless nothing was written since; an error is reported, and tried again later.

        Args:
            or_what_is_gone: whether to dump as well so that the dump before, which stays, no
                longer holds what has been deleted.

        Returns:
            How long the dump took, in seconds.
        """
        began = time.monotonic()
        try:
            writes = self._writes()
            is_due = writes != self._dumped_writes or self._must_rewrite
            if is_due or (or_what_is_gone and self._folder.holds_what_is_gone()):
                self._open_folder()
                manifest = dump(self._settings, self._folder, pause_writes=self._paused_writes)
                self._dumped_writes = writes
                self._must_rewrite = False
                self._state.note_saved(datetime.fromisoformat(manifest.created_at))
        except (WritesNotPaused, BotoCoreError, ClientError) as error:
            self._report(str(error))
        except (BackupError, OSError) as error:
            with suppress(BotoCoreError, ClientError):
                self._changed = changed_since(self._settings, self._state.saved_at)
            self._state.note_failure(*(len(names) for names in self._changed))
            cause = error.strerror if isinstance(error, OSError) else None
            self._report(f"{self._folder.path}: {cause or error}.", "New uploads are refused.")
        else:
            if self._problem:
                self._say("the data is saved again.")
            self._problem = ""
        return time.monotonic() - began

    def _open_folder(self) -> None:
        """Make the folder ready; a damaged manifest gives way, as all its data is in memory."""
        try:
            manifest = self._folder.open_dump()
        except BackupError as error:
            self._say(f"{error} It is written anew from memory.")
            self._folder.start_over()
            return
        if manifest is None and self._folder.is_empty():
            # From now on pieces without a manifest are damage, not a first save that was killed.
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._folder.switch(Manifest(self._settings.name, now))

    def _report(self, problem: str, effect: str = "") -> None:
        """Say that a dump did not succeed, once for each cause."""
        if problem != self._problem:
            since = f"{self._state.saved_at.astimezone():%H:%M:%S}"
            self._say(f"NOT SAVED since {since}{self._named()}. The cause: {problem} {effect}")
        self._problem = problem

    def _named(self) -> str:
        """Name what is not saved, as far as that is known."""
        named = [name for names in self._changed for name in names]
        if len(named) > _MOST_NAMES:
            named[_MOST_NAMES:] = [f"and {len(named) - _MOST_NAMES} more"]
        return f": {', '.join(named)}" if named else ""

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
        except OSError as error:
            raise WritesNotPaused(f"the emulated AWS does not answer: {error}") from error


def repair_snapshot(settings: Settings, folder: BackupFolder, say: Callable[[str], None]) -> bool:
    """Leave out of what a former run has saved what is damaged; all there was stays beside it.

    Args:
        settings: of the stack.
        folder: what was saved.
        say: takes lines for the user.

    Returns:
        Whether it is whole now.
    """
    name = f"{folder.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    places = (
        folder.path.with_name(f"{name}{end}") for end in chain([""], map("-{}".format, count(2)))
    )
    copy = next(place for place in places if not place.exists())
    try:
        lost = repair(settings, folder, lambda: _copy_folder(folder.path, copy))
    except (BackupError, OSError) as error:
        say(f"the saved data could not be repaired: {error}")
        return False
    if lost is None:
        say("nothing of the saved data is damaged.")
        return True
    for line in lost:
        say(f"lost: {line}")
    say(f"the saved data is whole without that. All there was lies in {copy} until you remove it.")
    return True


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a backup without taking more room: its files are replaced and never changed."""

    def link(path: str, place: str) -> None:
        try:
            os.link(path, place)
        except OSError:
            shutil.copy2(path, place)

    shutil.copytree(source, target, copy_function=link)


def changed_since(settings: Settings, moment: datetime) -> Changed:
    """Name the datasets and the models that were added or changed after a moment."""
    dynamodb, since = Clients(settings).dynamodb, to_milliseconds(moment)
    found = [
        [
            f"{what} {next(iter(row[key].values()))} ({row['name']['S']})"
            for row in tables.scan(dynamodb, f"{settings.name}-{table}")
            if int(row["updated_at"]["N"]) >= since
        ]
        for what, table, key in (
            ("dataset", "datasets", "dataset_id"),
            ("model", "models", "model_id"),
        )
    ]
    return found[0], found[1]


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
    saved = folder.manifest()
    if saved is None and not folder.is_empty():
        raise BackupError(f"{folder.path} has no manifest that tells where its pieces belong.")
    if saved is None or not saved.tables:
        return None
    began = time.monotonic()
    manifest = restore(settings, folder)
    return (
        f"the data of {manifest.created_at} is back: {sum(manifest.rows.values())} rows, "
        f"{len(manifest.objects)} objects, {time.monotonic() - began:.1f} s"
    )
