"""Saves the local stack's data periodically if the data has changed, and when the stack stops.

The saver is a separate process. Each dump is a backup (infra/backups). A dump is complete or
absent, even if a process is killed meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import chain, count
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.config import Settings
from chalicelib.domain.common.clock import to_milliseconds
from chalicelib.stores.aws.clients import Clients
from infra.backups import tables
from infra.backups.damage_scan import DamageScan
from infra.backups.dumping import Access, dump, dumped_names
from infra.backups.folder import BackupError, BackupFolder, Manifest
from infra.backups.repairing import repair
from infra.local import process
from infra.local.aws.write_pause import (
    BUCKET,
    CONTROL_HEADER,
    HEADER,
    LONGEST_SECONDS,
    PATH,
    TABLE_HEADER,
    control_secret,
)
from infra.local.saving import SavingState
from infra.resources import TableResource

# Number of dumps that must fit into the interval: one that just misses a change, one that includes
# it, and one in reserve, because the next dump may take longer than the last.
_DUMPS = 3
# Largest number of dumps within the interval, however fast they are.
_MOST_DUMPS = 4

# Number of saved bytes that are read again per interval, to find damage.
_SCAN_BYTES = 64 * 1000**2
# The same limit when the stack stops, and a time limit in seconds.
_STOP_BYTES, _STOP_SECONDS = 250 * 1000**2, 1.0
# Longest time of a restore, which reads all saved bytes.
_RESTORE_SECONDS = 600.0
# Largest number of datasets and models that one line lists.
_MOST_NAMES = 20

# Ids and names of changed datasets, and of changed models.
Changed = tuple[list[str], list[str]]


class WritesNotPaused(Exception):
    """The writes could not be paused."""


class SnapshotSaver:
    """Saves the data of one stack into one folder."""

    def __init__(
        self,
        settings: Settings,
        folder: BackupFolder,
        state: SavingState,
        say: Callable[[str], None],
    ) -> None:
        """Prepare to save.

        Args:
            settings: settings of the stack.
            folder: the backup folder.
            state: shared memory with the time up to which the data is saved, for other processes.
            say: called with lines for the user.
        """
        self._settings = settings
        self._folder = folder
        self._state = state
        self._say = say
        self._damage_scan = DamageScan(folder)
        # Number of writes to each table and the bucket, now and at the last dump; None if unknown.
        self._writes: dict[str, int] = {}
        self._dumped: dict[str, int] | None = None
        self._must_rewrite = False
        self._problem = ""
        self._changed: Changed = ([], [])

    def run(self, within_seconds: float) -> bool:
        """Save changes until SIGTERM, and then once more.

        Args:
            within_seconds: longest time from a change to the end of a dump that contains it, or the
                time of three dumps if that is longer.

        Returns:
            Whether all changes are saved.
        """
        stop = threading.Event()
        process.handle_stop(stop.set)
        pause = within_seconds / 2
        while not stop.wait(pause):
            took = self._dump_changes(or_deleted=True)
            # On a slow disk, a stop does not wait for the end of a scan.
            seconds = within_seconds / 2
            damages = self._damage_scan.check_next(_SCAN_BYTES, seconds, must_end=stop.is_set)
            self._rewrite_damaged(damages)
            pause = pause_after(took, within_seconds)
        self._dump_changes()
        ended = time.monotonic() + _STOP_SECONDS
        self._rewrite_damaged(
            self._damage_scan.check_next(
                _STOP_BYTES,
                _STOP_SECONDS,
                may_exceed=False,
                must_end=lambda: time.monotonic() > ended,
            )
        )
        if self._problem:
            since = f"{self._state.saved_at.astimezone():%Y-%m-%d %H:%M:%S}"
            self._say(f"NOT SAVED: changes since {since} are lost{self._named()}. "
                      f"The cause: {self._problem}")  # fmt: skip
        return not self._problem

    def _rewrite_damaged(self, damages: Sequence[str]) -> None:
        """Rewrite from memory the files that are damaged on the disk."""
        if not self._folder.has_whole_manifest():
            damages = [*damages, f"the manifest in {self._folder.path} has changed."]
        if damages:
            others = f" {len(damages) - 1} other files are damaged too." if len(damages) > 1 else ""
            self._say(f"{damages[0]} It is rewritten from memory.{others}")
            self._must_rewrite = True
            self._dump_changes()

    def _dump_changes(self, or_deleted: bool = False) -> float:
        """Dump the data if it has changed since the last dump; return how many seconds that took.

        With `or_deleted`, also dump if the second-last dump has data that is not in the last dump.
        """
        began = time.monotonic()
        try:
            self._read_writes()
            names = dumped_names(self._settings, with_keys=True)
            if any(map(self._has_changed, names)) or (
                or_deleted and self._folder.has_deleted_pieces()
            ):
                self._open_folder()
                manifest = dump(
                    self._settings,
                    self._folder,
                    access=Access(self._paused_writes, self._has_changed, self._read_pieces),
                    with_keys=True,
                )
                self._dumped = self._writes
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
        """Open the folder; replace a damaged manifest, because all saved data is in memory."""
        try:
            manifest = self._folder.open_dump()
        except BackupError as error:
            self._say(f"{error} It is rewritten from memory.")
            self._folder.start_over()
            self._must_rewrite = True
            return
        if manifest is None and self._folder.is_empty():
            # From now on, pieces without a manifest mean damage. Before, they may be left of a
            # first save that was killed.
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._folder.switch(Manifest(self._settings.name, now))

    def _report(self, problem: str, effect: str = "") -> None:
        """Report that a dump failed, once for each cause."""
        if problem != self._problem:
            since = f"{self._state.saved_at.astimezone():%H:%M:%S}"
            self._say(f"NOT SAVED since {since}{self._named()}. The cause: {problem} {effect}")
        self._problem = problem

    def _named(self) -> str:
        """Return the names of unsaved datasets and models."""
        named = [name for names in self._changed for name in names]
        if len(named) > _MOST_NAMES:
            named[_MOST_NAMES:] = [f"and {len(named) - _MOST_NAMES} more"]
        return f": {', '.join(named)}" if named else ""

    @contextmanager
    def _paused_writes(self, clients: Clients) -> Iterator[None]:
        """Make the calls of all other clients wait."""
        answer = control(self._settings, "POST")
        token, self._writes = str(answer["token"]), answer["writes"]

        def show_token(request: Any, **_: Any) -> None:
            request.headers[HEADER] = token

        clients.s3.meta.events.register("before-send", show_token)
        clients.dynamodb.meta.events.register("before-send", show_token)
        try:
            yield
        finally:
            control(self._settings, "DELETE", token)

    def _read_writes(self) -> None:
        """Read the counts of writes. The first call also checks that the folder was restored."""
        answer = control(self._settings, "GET")
        self._writes = answer["writes"]
        if self._dumped is None and not self._must_rewrite:
            self._open_folder()
            # Otherwise a process that was killed has written a later dump, with another manifest.
            if answer["restored"] and answer["restored"] == self._folder.seal():
                self._dumped = {}

    def _read_pieces(self, _: Clients, table: TableResource) -> Iterator[tuple[bytes, int]]:
        """Read the rows of a table from the memory of the emulated AWS."""
        headers = {TABLE_HEADER: table.name}
        return tables.unpack(_call(self._settings, "GET", headers, LONGEST_SECONDS))

    def _has_changed(self, name: str) -> bool:
        """Return whether a table or the bucket may have changed since the latest dump."""
        if self._must_rewrite or self._dumped is None:
            return True
        name = BUCKET if name == self._settings.bucket else name
        return self._writes.get(name, 0) != self._dumped.get(name, 0)


def control(
    settings: Settings, method: str, token: str = "", timeout_seconds: float = 30.0
) -> dict[str, Any]:
    """Call the control path of the emulated AWS.

    Raises:
        BackupError: the saved data is damaged.
        WritesNotPaused: the emulated AWS refuses the call or does not answer.
    """
    return dict(json.loads(_call(settings, method, {HEADER: token}, timeout_seconds)))


def _call(
    settings: Settings, method: str, headers: Mapping[str, str], timeout_seconds: float
) -> bytes:
    secret = control_secret(os.environ["AWS_SECRET_ACCESS_KEY"])
    request = urllib.request.Request(  # noqa: S310 - the stack's own address
        f"{settings.endpoint_url}{PATH}",
        method=method,
        headers={**headers, CONTROL_HEADER: secret},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:  # noqa: S310 - as above
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            if refused.code == HTTPStatus.UNPROCESSABLE_ENTITY:
                raise BackupError(json.load(refused)["message"]) from refused
            raise WritesNotPaused(f"the emulated AWS answered {refused.code}") from refused
    except OSError as error:
        raise WritesNotPaused(f"the emulated AWS does not answer: {error}") from error


def repair_snapshot(settings: Settings, folder: BackupFolder, say: Callable[[str], None]) -> bool:
    """Copy the saved data to another folder, and remove the damaged parts from the original.

    Returns:
        Whether the saved data is now undamaged.
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
        say("the saved data is not damaged.")
        return True
    for line in lost:
        say(f"lost: {line}")
    say(f"the other saved data is undamaged. A copy of everything is in {copy}.")
    return True


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a backup by hard links, which is safe because dumps replace files, never change them."""

    def link(path: str, place: str) -> None:
        try:
            os.link(path, place)
        except OSError:
            shutil.copy2(path, place)

    shutil.copytree(source, target, copy_function=link)


def changed_since(settings: Settings, moment: datetime) -> Changed:
    """Return the datasets and models that were added or changed after a moment."""
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
    """Return the pause in seconds between a dump and the next dump.

    Args:
        took_seconds: duration of the dump.
        within_seconds: longest time from a change to the end of a dump that contains it.
    """
    # A change that is made while a dump copies rows is saved only at the end of the next dump.
    left = within_seconds - _DUMPS * took_seconds
    return max(left, took_seconds, within_seconds / _MOST_DUMPS)


def restore_snapshot(settings: Settings) -> str:
    """Load the saved data into the emulated AWS of a new run.

    Returns:
        A line about the restored data; empty if there was none.

    Raises:
        BackupError: the saved data is damaged.
    """
    return str(control(settings, "PUT", timeout_seconds=_RESTORE_SECONDS)["message"])
