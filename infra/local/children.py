"""What each child of the supervisor does; heavy modules are imported by the child alone."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from typing import Any

from chalicelib.config import Settings
from chalicelib.engines.memory import bound_memory
from infra.local.logs import write_logs
from infra.local.options import Options
from infra.local.state import State


def say(text: str) -> None:
    """Write one line to the log of the stack."""
    print(f"{time.strftime('%H:%M:%S')} stack: {text}", file=sys.stderr, flush=True)


def run_aws(listener: socket.socket, region: str) -> None:
    """Be the data plane; moto is imported here and in no other process."""
    from infra.local.aws import server

    server.run(listener, os.environ["AWS_SECRET_ACCESS_KEY"], region)


def provision(settings: Settings, options: Options) -> None:
    """Make tables, queues and bucket."""
    from botocore.exceptions import BotoCoreError, ClientError

    from infra.resources import provision

    try:
        provision(settings, visibility_seconds=options.visibility_seconds)
    except (BotoCoreError, ClientError) as error:
        say(f"{options.backend} at {settings.endpoint_url or 'AWS'}: {error}")
        sys.exit(1)


def restore_data(settings: Settings, state: State) -> None:
    """Bring back the data of the former run."""
    from infra.backups.folder import BackupError, BackupFolder
    from infra.local.snapshots import restore_snapshot

    try:
        message = restore_snapshot(settings, BackupFolder(state.data))
    except BackupError as error:
        say(str(error))
        sys.exit(1)
    if message:
        say(message)


def save_snapshots(settings: Settings, state: State, options: Options) -> None:
    """Save the data while the stack runs."""
    from infra.backups.folder import BackupFolder
    from infra.local.snapshots import SnapshotSaver

    SnapshotSaver(settings, BackupFolder(state.data)).run(options.save_seconds)


def run_front(app: Any, listener: socket.socket, settings: Settings, options: Options) -> None:
    """Be the HTTP front."""
    from infra.local.http import front

    write_logs(State(options.state_dir), "front")
    bound_memory()
    _warm(app, options)
    front.run(app, listener, settings.name, options.has_gateway_limits)


def _warm(app: Any, options: Options) -> None:
    """Load the engines beside the start, so that the demo's first calls are quick."""
    if not options.is_bare:
        threading.Thread(target=lambda: app.container.warm(), daemon=True).start()


def run_worker(app: Any, settings: Settings, is_training: bool, options: Options) -> None:
    """Be one of the workers."""
    from infra.local import worker

    write_logs(State(options.state_dir), "train" if is_training else "ingest")
    _warm(app, options)
    worker.run(app, settings, is_training, options)


def run_models(settings: Settings) -> None:
    """Install the accurate encoders, giving way to everything else."""
    from infra.local.demo import accurate_models

    accurate_models.run(settings, say)


def run_demo(settings: Settings, state: State, options: Options, url: str) -> None:
    """Prepare the demo."""
    from infra.local.demo import setup

    setup.run(settings, state, options, url)
