"""Functions that the child processes of the local stack run.

A module that only one process needs is imported in the function of this process.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from chalicelib.commands import run_command
from chalicelib.config import Settings
from chalicelib.engines.memory import bound_memory
from infra.local import process
from infra.local.logs import write_logs
from infra.local.options import Options
from infra.local.saving import SavingState
from infra.local.state import State
from infra.local.telemetry.setup import Telemetry, metrics_pages


def say(text: str) -> None:
    """Write one line to the log of the stack."""
    # The log may be a file on a full disk; a lost line must not stop the stack.
    with contextlib.suppress(OSError):
        print(f"{time.strftime('%H:%M:%S')} stack: {text}", file=sys.stderr, flush=True)


def run_aws(
    aws: socket.socket, port: int, settings: Settings, data: Path, saving: SavingState
) -> None:
    """Run the emulated AWS."""
    from infra.local.aws import server  # loads moto, which no other process needs

    process.resume_collections()
    server.run(aws, port, settings, data, saving.unsaved)


def provision(settings: Settings, options: Options, port: int) -> None:
    """Create tables, queues and bucket."""
    from botocore.exceptions import BotoCoreError, ClientError

    from infra.resources import own_pages, provision

    try:
        provision(settings, options.visibility_seconds, own_pages(port))
    except (BotoCoreError, ClientError) as error:
        say(f"{options.backend} at {settings.endpoint_url or 'AWS'}: {error}")
        sys.exit(1)


def restore_data(settings: Settings, was_cut_off: bool) -> None:
    """Restore the data of the previous run."""
    from infra.backups.folder import BackupError
    from infra.local.snapshots import restore_snapshot

    try:
        message = restore_snapshot(settings)
    except BackupError as error:
        repair, forget = run_command("--repair"), run_command("--forget")
        say(f"the saved data is damaged and was not changed: {error} Start with the undamaged part "
            f"by {repair}, or without data by {forget}.")  # fmt: skip
        sys.exit(1)
    if message:
        say(message)
    if message and was_cut_off:
        say("the previous run ended without its last save: later changes are missing.")


def repair_data(settings: Settings, state: State) -> None:
    """Repair the data of the previous run."""
    from infra.backups.folder import BackupFolder
    from infra.local.snapshots import repair_snapshot

    if not repair_snapshot(settings, BackupFolder(state.data, keeps_previous=True), say):
        sys.exit(1)


def save_snapshots(settings: Settings, state: State, options: Options, saving: SavingState) -> None:
    """Save the data while the stack runs; exit with status 1 if some changes were not saved."""
    from infra.backups.folder import BackupFolder
    from infra.local.snapshots import SnapshotSaver

    folder = BackupFolder(state.data, keeps_previous=True)
    saver = SnapshotSaver(settings, folder, saving, say)
    if not saver.run(options.save_seconds):
        sys.exit(1)


def run_front(
    app: Any,
    listener: socket.socket,
    settings: Settings,
    options: Options,
    saving: SavingState,
    telemetry: Telemetry,
) -> None:
    """Run the HTTP front."""
    from infra.local.http import front

    write_logs(State(options.state_dir), "front")
    bound_memory()
    app.container.unsaved = saving.unsaved
    _warm(app, options)
    flush = telemetry.start("front")
    pages = metrics_pages(app, settings, options, saving)
    try:
        front.run(app, listener, settings, options, pages)
    finally:
        flush()


def _warm(app: Any, options: Options) -> None:
    """Load the engines in the background, so that the demo's first calls are fast."""
    if not options.is_bare:
        threading.Thread(target=lambda: app.container.warm(), daemon=True).start()


def run_worker(
    app: Any, settings: Settings, is_training: bool, options: Options, telemetry: Telemetry
) -> None:
    """Run one of the workers."""
    from infra.local import worker

    name = "train" if is_training else "ingest"
    write_logs(State(options.state_dir), name)
    _warm(app, options)
    worker.run(app, settings, is_training, options, telemetry.start(name))


def run_models(settings: Settings) -> None:
    """Install the accurate encoders, at a low priority."""
    from infra.local import accurate_models

    accurate_models.run(settings, say)


def run_demo(settings: Settings, state: State, options: Options, url: str) -> None:
    """Prepare the demo."""
    from infra.local import demo

    demo.run(settings, state, options, url)
