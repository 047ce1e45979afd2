"""A worker that receives messages in order, and counts the sends that led to each."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.domain.jobs.messages import encode_job
from tests.builders import Message, World


class OneWorker:
    """Delivers messages one at a time, as a queue with one consumer does.

    A message that the delivery of another has sent is one hop further. Lambda counts these hops in
    the lineage of a trace, and stops a function after 16 unless its `RecursiveLoop` is `Allow`.
    """

    def __init__(self, world: World, waiting: Iterable[Message] = ()) -> None:
        self._world = world
        self.waiting = [(message, 1) for message in waiting]
        self.hops: dict[str, int] = {}
        """Hops of each message by its body."""
        self.sent = 0
        """Messages received, repeated ones included."""
        self._take(1)

    def deliver_next(self) -> Message:
        """Deliver the oldest message; the messages that it sends are added at the end."""
        self._take(1)
        message, hops = self.waiting.pop(0)
        self._world.deliver(message)
        self._take(hops + 1)
        return message

    def deliver_all(self) -> None:
        """Deliver messages until none waits."""
        while self.waiting:
            self.deliver_next()

    def _take(self, hops: int) -> None:
        for message in self._world.messages():
            self.waiting.append((message, hops))
            self.hops[encode_job(message[1])] = hops
            self.sent += 1
