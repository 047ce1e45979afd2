"""Reads the state of the stack for its metrics: queues, open work, memory and saving."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from chalicelib import log
from infra.local.saving import SavingState
from infra.local.state import State
from infra.local.telemetry.names import (
    BATCHES,
    GAUGE_LABELS,
    GAUGES,
    MEMORY,
    QUEUE_AGE,
    QUEUE_MESSAGES,
    SAVE_AGE,
    TRAININGS,
)

# Returns, by queue, the number of messages and the age of the oldest in seconds.
ReadQueues = Callable[[], Mapping[str, tuple[int, float]]]


class StackCollector(Collector):
    """The gauges of a stack.

    Args:
        state: folder with the description of the running stack.
        saving: time of the last save.
        stores: stores that count open trainings and batches.
        lanes: name of each queue's lane (worker thread).
        read_queues: reads the queues; None if the stack does not run the emulated AWS.
    """

    def __init__(
        self,
        state: State,
        saving: SavingState,
        stores: Any,
        lanes: Mapping[str, str],
        read_queues: ReadQueues | None,
    ) -> None:
        self._state = state
        self._saving = saving
        self._stores = stores
        self._lanes = lanes
        self._read_queues = read_queues

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges; gauges that cannot be read now are left out."""
        yield self._memory()
        for read in (self._queues, self._open_work):
            try:
                yield from read()
            except (BotoCoreError, ClientError, OSError) as error:
                log.warning("metrics_incomplete", reason=type(error).__name__)
        if self._read_queues is not None:
            age = max(0.0, time.time() - self._saving.saved_at.timestamp())
            yield GaugeMetricFamily(SAVE_AGE, GAUGES[SAVE_AGE], value=age)

    def _queues(self) -> Iterator[GaugeMetricFamily]:
        if self._read_queues is None:
            return
        found = self._read_queues()
        messages, ages = (_labelled(name) for name in (QUEUE_MESSAGES, QUEUE_AGE))
        for queue, lane in self._lanes.items():
            number, age = found.get(queue, (0, 0.0))
            messages.add_metric([lane], number)
            ages.add_metric([lane], age)
        yield messages
        yield ages

    def _open_work(self) -> Iterator[GaugeMetricFamily]:
        trainings = _labelled(TRAININGS)
        for state, number in self._stores.models.count_open().items():
            trainings.add_metric([state], number)
        yield trainings
        yield GaugeMetricFamily(BATCHES, GAUGES[BATCHES], value=self._stores.batches.count_open())

    def _memory(self) -> GaugeMetricFamily:
        family = _labelled(MEMORY)
        processes = (self._state.read_stack() or {}).get("processes", {})
        for name, pid in processes.items():
            try:
                pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
            except (OSError, IndexError):
                continue  # a process that has just ended, or a system without /proc
            family.add_metric([name], pages * os.sysconf("SC_PAGE_SIZE"))
        return family


def _labelled(name: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, GAUGES[name], labels=[GAUGE_LABELS[name]])
