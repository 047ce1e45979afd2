"""Runs long polls of the emulated SQS outside the lock, and notices disconnected clients.

If the client of a poll is gone, for example a killed worker, the poll ends. Otherwise it would
receive the next message, and the message would be hidden for its visibility timeout.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from dataclasses import dataclass

from moto.sqs.models import sqs_backends

from infra.local.events import ACCOUNT

# Seconds between two checks of the client and of messages whose visibility timeout has ended.
TICK_SECONDS = 0.25


class ClientGone(ConnectionError):
    """The client of a poll has closed its connection."""


@dataclass(frozen=True)
class Poll:
    """One waiting call of ReceiveMessage."""

    queues: tuple[str, ...]
    """Names of the queues to wait for; a message in any of them ends the wait."""
    seconds: int
    """Longest wait, in seconds."""
    connection: socket.socket


class Polls:
    """The long polls of one region that are waiting for messages."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._sent = threading.Condition()
        self._count = 0

    def wake(self) -> None:
        """Wake every waiting poll to check its queues, because a message may be available."""
        with self._sent:
            self._count += 1
            self._sent.notify_all()

    def wait(self, poll: Poll, lock: threading.Lock) -> None:
        """Wait until one of the queues has a visible message or the time has passed.

        Args:
            poll: the waiting call.
            lock: the lock around moto's data, held only during checks.

        Raises:
            ClientGone: the client has disconnected, so no message must be received for it.
        """
        deadline = time.monotonic() + poll.seconds
        while True:
            with self._sent:
                seen = self._count
            with lock:
                has_message = any(self._has_message(queue) for queue in poll.queues)
            if not is_open(poll.connection):
                raise ClientGone
            left = deadline - time.monotonic()
            if has_message or left <= 0:
                return
            with self._sent:
                if self._count == seen:
                    self._sent.wait(min(left, TICK_SECONDS))

    def lengths(self) -> dict[str, tuple[int, float]]:
        """Return the number of messages of each queue, and the age of the oldest in seconds.

        The caller must hold the lock around moto's data.
        """
        now = 1000 * time.time()
        found = {}
        for name, queue in sqs_backends[ACCOUNT][self._region].queues.items():
            ages = [now - (message.sent_timestamp or now) for message in queue._messages]
            found[name] = (len(ages), max(0.0, max(ages, default=0.0)) / 1000)
        return found

    def _has_message(self, name: str) -> bool:
        queue = sqs_backends[ACCOUNT][self._region].queues.get(name)
        return queue is not None and any(
            message.visible and not message.delayed for message in queue._messages
        )


def is_open(connection: socket.socket) -> bool:
    """Return whether the client is still connected, without reading bytes."""
    watch = select.poll()
    watch.register(connection, select.POLLIN)
    if not watch.poll(0):
        return True
    try:
        return connection.recv(1, socket.MSG_PEEK) != b""
    except OSError:
        return False
