"""`python -m tests.emulators`: start LocalStack for a command, or remake locks.

`run COMMAND…` starts LocalStack, runs the command with its address in AWS_ENDPOINT_URL and in
PRESAGE_TEST_ENDPOINT, stops LocalStack and ends as the command ended. `lock NAME` writes
the locks of an emulator.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from infra.local.process import die_with_parent
from infra.packaging.target import PackageError
from tests.emulators.environment import say
from tests.emulators.errors import EmulatorError
from tests.emulators.localstack import LocalStackServer
from tests.emulators.locking import PYTHONS, make_locks
from tests.local_stack import ENDPOINT

_FAILED = 1
_SIGNALLED = 128
_STOP_SECONDS = 20.0
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """A signal asked this command to stop."""


def run(command: Sequence[str], port: int = 0) -> int:
    """Run a command with LocalStack and return its exit status.

    Raises:
        EmulatorError: LocalStack cannot be had, or a test made it listen for other machines.
    """
    with LocalStackServer(port) as server:
        # A signal that comes while the command starts waits until it can be handed on.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        child = None
        try:
            child = subprocess.Popen(
                command,
                env={**os.environ, **server.environment, ENDPOINT: server.url},
                # Ctrl-C reaches the whole group of a terminal; the command gets it from us, once.
                start_new_session=True,
                preexec_fn=_become_child,
            )
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
            status = child.wait()
        except BaseException:
            if child is not None:
                _stop(child)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        server.check_addresses()
    return status if status >= 0 else _SIGNALLED - status


def _become_child() -> None:
    """Make a command end with this one, and handle Ctrl-C even when this one runs in background."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    try:
        child.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()
        child.wait()


def _on_signal(number: int, _: FrameType | None) -> None:
    raise Stopped(signal.Signals(number).name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.emulators", description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    runs = commands.add_parser("run", help="run a command with LocalStack")
    runs.add_argument("--port", type=int, default=0, help="on 127.0.0.1; 0 takes a free one")
    runs.add_argument("command", nargs=argparse.REMAINDER, help="and its arguments")
    locks = commands.add_parser("lock", help="make the locks of an emulator again")
    locks.add_argument("name", choices=sorted(PYTHONS))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _on_signal)
    signal.signal(signal.SIGHUP, _on_signal)
    try:
        if options.what == "lock":
            for path in make_locks(options.name):
                say(f"written to {path}")
            return 0
        return run(options.command, options.port)
    except (EmulatorError, PackageError) as error:
        say(f"error: {error}")
    except (KeyboardInterrupt, Stopped):
        say("interrupted; everything is stopped")
    return _FAILED


if __name__ == "__main__":
    sys.exit(main())
