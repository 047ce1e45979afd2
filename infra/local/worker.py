"""Runs a worker process: receives messages and passes SQS events to the application's handlers.

A lane is one thread that reads its queues in order, so paid trainings come before free ones. While
a handler runs, heartbeats extend the message's visibility timeout. The message of a handler that
raises is delivered again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from chalice.app import ScheduledEventConfig, SQSEventConfig

from chalicelib.config import Settings
from chalicelib.stores.jobs.queues import DELIVER, TRAIN_FREE, TRAIN_PAID
from infra.local.events import WAKE_HEADER, LambdaContext, scheduled_event, sqs_event
from infra.local.options import MOTO, Options

# Heartbeats within one visibility timeout.
HEARTBEATS = 3
# Longest wait for a message, in seconds.
POLL_SECONDS = 20
# Longest wait of a lane with several queues if the endpoint cannot watch them all, in seconds.
BLIND_POLL_SECONDS = 1
# Pause after the queues were unreachable, in seconds.
RETRY_SECONDS = 1.0
# Queues of deliveries get several lanes, because deliveries wait for other hosts.
DELIVER_LANES = 4
# Seconds that a stopping worker waits for its handlers.
STOP_SECONDS = 2.0


@dataclass(frozen=True)
class EventSourceMapping:
    """One queue and its handler."""

    queue: str
    """Full name of the queue."""
    name: str
    handler: Callable[[Any, Any], Any]
    """The handler as Lambda would call it."""


def event_source_mappings(app: Any, settings: Settings) -> list[EventSourceMapping]:
    """Return the queues and handlers of an application, with the prefix of the settings."""
    return [
        EventSourceMapping(
            f"{settings.name}-{str(config.queue).removeprefix('presage-')}",
            config.name,
            app.handler_map[config.name],
        )
        for config in app.event_sources
        if isinstance(config, SQSEventConfig)
    ]


def lanes(
    mappings: Sequence[EventSourceMapping], settings: Settings, is_training: bool
) -> list[list[EventSourceMapping]]:
    """Return, for each worker thread (lane) of a process, the queues that it reads.

    Both training queues share one lane.
    """
    order = [f"{settings.name}-{short}" for short in (TRAIN_PAID, TRAIN_FREE)]
    if is_training:
        training = [source for source in mappings if source.queue in order]
        return [sorted(training, key=lambda source: order.index(source.queue))]
    deliver = f"{settings.name}-{DELIVER}"
    return [
        [source]
        for source in mappings
        if source.queue not in order
        for _ in range(DELIVER_LANES if source.queue == deliver else 1)
    ]


class Lane:
    """One thread that handles the messages of its queues."""

    def __init__(
        self,
        lane: Sequence[EventSourceMapping],
        settings: Settings,
        options: Options,
        session: boto3.session.Session,
    ) -> None:
        self._sources = lane
        self._region = settings.region
        self._visibility_seconds = options.visibility_seconds
        # Only our own emulator can watch several queues in one poll.
        self._can_watch = options.backend == MOTO
        self._sqs = _sqs_client(settings, session)
        if self._can_watch and len(lane) > 1:
            others = ",".join(source.queue for source in lane[1:])
            self._sqs.meta.events.register(
                "before-call.sqs.ReceiveMessage",
                lambda params, **_: params["headers"].update({WAKE_HEADER: others}),
            )
        self._urls = {s.queue: self._sqs.get_queue_url(QueueName=s.queue)["QueueUrl"] for s in lane}
        self._arns = {name: self._arn(url) for name, url in self._urls.items()}
        self._runner = ThreadPoolExecutor(1, lane[0].queue)
        self.is_busy = False
        self.is_stopping = False

    def run(self) -> None:
        """Receive and handle messages until the process stops; retry when the queues fail."""
        while not self.is_stopping:
            try:
                if not self._work_once():
                    self._receive(self._sources[0], self._poll_seconds())
            except (BotoCoreError, ClientError) as error:
                say(f"the queues cannot be reached: {error}")
                time.sleep(RETRY_SECONDS)

    def _poll_seconds(self) -> int:
        is_watched = self._can_watch or len(self._sources) == 1
        return POLL_SECONDS if is_watched else BLIND_POLL_SECONDS

    def _work_once(self) -> bool:
        """Handle a message of the first queue that has one; return False if all are empty."""
        # If the lane has one queue, the long poll alone reads it.
        if len(self._sources) == 1:
            return False
        return any(self._receive(source, 0) for source in self._sources)

    def _receive(self, source: EventSourceMapping, seconds: int) -> bool:
        """Receive one message and handle it; return whether the queue had a message."""
        answer = self._sqs.receive_message(
            QueueUrl=self._urls[source.queue],
            MaxNumberOfMessages=1,
            WaitTimeSeconds=seconds,
            VisibilityTimeout=self._visibility_seconds,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self.is_busy = True
            try:
                self._handle(source, message)
            finally:
                self.is_busy = False
        return bool(messages)

    def _handle(self, source: EventSourceMapping, message: dict[str, Any]) -> None:
        """Run the handler with heartbeats, and delete the message if it succeeds."""
        event = sqs_event(message, self._arns[source.queue], self._region)
        running = self._runner.submit(source.handler, event, LambdaContext(source.name))
        address = {
            "QueueUrl": self._urls[source.queue],
            "ReceiptHandle": message["ReceiptHandle"],
        }
        while not wait([running], self._visibility_seconds / HEARTBEATS).done:
            self._extend_visibility(address)
        error = running.exception()
        if error is None:
            self._sqs.delete_message(**address)
        else:
            attempt = message.get("Attributes", {}).get("ApproximateReceiveCount", "?")
            delivery = f"delivery {attempt} of {message['MessageId']}"
            say(f"{source.name} failed, {delivery}: {_one_line(error)}")

    def _extend_visibility(self, address: dict[str, str]) -> None:
        # A failed heartbeat is only logged, because the next one comes before the timeout ends.
        try:
            self._sqs.change_message_visibility(
                **address, VisibilityTimeout=self._visibility_seconds
            )
        except (BotoCoreError, ClientError) as error:
            say(f"a heartbeat failed: {error}")

    def _arn(self, url: str) -> str:
        answer = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return str(answer["Attributes"]["QueueArn"])


def _sqs_client(settings: Settings, session: boto3.session.Session) -> Any:
    config = Config(read_timeout=POLL_SECONDS + 10, retries={"total_max_attempts": 2})
    return session.client("sqs", endpoint_url=settings.endpoint_url, config=config)


def tick_schedules(app: Any, settings: Settings, seconds: float) -> None:
    """Call every scheduled handler periodically, never twice at the same time."""
    configs = [c for c in app.event_sources if isinstance(c, ScheduledEventConfig)]
    runner = ThreadPoolExecutor(1, "schedule")
    while configs:
        time.sleep(seconds)
        for config in configs:
            event = scheduled_event(config.name, settings.region)
            handler = app.handler_map[config.name]
            context = LambdaContext(config.name, seconds)
            ticked: Future[Any] = runner.submit(handler, event, context)
            error = ticked.exception()
            if error is not None:
                say(f"{config.name} failed: {_one_line(error)}")


def run(
    app: Any,
    settings: Settings,
    is_training: bool,
    options: Options,
    flush: Callable[[], None] = lambda: None,
) -> None:
    """Run the worker threads (lanes) and the schedules until SIGTERM.

    Args:
        app: the Chalice application.
        settings: names of the queues, and the endpoint of AWS.
        is_training: whether this process reads the training queues, or all other queues.
        options: the stack's options.
        flush: called before the process ends.
    """
    os.nice(options.niceness)
    threads: list[threading.Thread] = []
    started: list[Lane] = []
    # One session for all lanes, because a session takes long to read the service descriptions.
    session = boto3.session.Session(region_name=settings.region)
    for mappings in lanes(event_source_mappings(app, settings), settings, is_training):
        if mappings:
            lane = Lane(mappings, settings, options, session)
            started.append(lane)
            threads.append(threading.Thread(target=lane.run, daemon=True))
    if not is_training:
        arguments = (app, settings, options.sweep_seconds)
        threads.append(threading.Thread(target=tick_schedules, args=arguments, daemon=True))
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for thread in threads:
        thread.start()
    while not stop.wait(0.5) and all(thread.is_alive() for thread in threads):
        continue
    _stop(started, flush)


def _stop(started: Sequence[Lane], flush: Callable[[], None]) -> None:
    """Wait a moment for running handlers. A message that is not finished is delivered again."""
    for lane in started:
        lane.is_stopping = True
    deadline = time.monotonic() + STOP_SECONDS
    while any(lane.is_busy for lane in started) and time.monotonic() < deadline:
        time.sleep(0.02)
    flush()
    sys.stdout.flush()
    os._exit(0)


def _one_line(error: BaseException) -> str:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({place.tb_frame.f_code.co_filename}:{place.tb_lineno})" if place else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def say(text: str) -> None:
    """Write one line to the log of the stack."""
    print(f"{time.strftime('%H:%M:%S')} worker: {text}", file=sys.stderr, flush=True)
