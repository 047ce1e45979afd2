"""The deployed functions: how large each is and what brings it its events.

The one place of these figures; .chalice/config.json holds what all functions share.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.stores.jobs.queues import (
    DELETE,
    EMBED,
    EXPORT,
    INCOMING,
    INGEST,
    TRAIN_FREE,
    TRAIN_PAID,
)
from infra.template.names import camel

FUNCTION_TYPE = "AWS::Serverless::Function"
"""Kind of resource in the template."""
API = "api_handler"
"""What Chalice calls the function of all routes."""
VISIBILITY_FACTOR = 6
"""A queue hides a message this many times as long as its function may run."""
_LONG_SECONDS = 900
_WHOLE_DISK_MB = 10_240


@dataclass(frozen=True)
class Function:
    """One function."""

    name: str
    """Of its handler in app.py."""
    memory_mb: int
    """1,769 MB are one processor."""
    timeout_seconds: int
    """Longest run."""
    disk_mb: int
    """Of /tmp: model files, and whatever is read there."""
    queue: str = ""
    """Short name of the queue that brings its events."""
    most_at_once: int = 0
    """Default of how many run at the same time for that queue."""
    environment: dict[str, str] = field(default_factory=dict)
    """Its own variables."""

    @property
    def logical(self) -> str:
        """Its name in the template, as Chalice makes it."""
        return "APIHandler" if self.name == API else camel(self.name)

    @property
    def short(self) -> str:
        """Its name in the account, after the stack's."""
        return "api" if self.name == API else self.name.replace("_", "-")

    @property
    def event(self) -> str:
        """Name of its queue's event source in the template, as Chalice makes it."""
        return f"{self.logical}SqsEventSource"


_ONE_PAGE = {"PRESAGE_OCR_THREADS": "1"}
_TWO_THREADS = {"PRESAGE_THREADS": "2"}

FUNCTIONS = (
    # Two pages of a document are read at the same time, and a text by two encoders.
    # An archive behind a path is looked through in /tmp.
    Function(API, 3_538, 29, 4_096, environment=_TWO_THREADS),
    # An archive of 2 GB is read in /tmp.
    Function("ingest_upload", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, INGEST, 10),
    # The file of a batch, an archive of up to 2 GB, is read in /tmp; one page of a document at a
    # time is what its memory has room for.
    Function("embed_texts", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, EMBED, 20, _ONE_PAGE),
    # Features of a training, up to 8 GB, lie in /tmp.
    Function(
        "train_paid",
        3_538,
        _LONG_SECONDS,
        _WHOLE_DISK_MB,
        TRAIN_PAID,
        10,
        _TWO_THREADS,
    ),
    Function(
        "train_free",
        3_538,
        _LONG_SECONDS,
        _WHOLE_DISK_MB,
        TRAIN_FREE,
        2,
        _TWO_THREADS,
    ),
    Function("delete_object", 512, _LONG_SECONDS, 512, DELETE, 5),
    # An archive of 2 GB is written in /tmp.
    Function("export_dataset", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, EXPORT, 5),
    Function("receive_upload", 512, 30, 512, INCOMING, 5),
    # A minute, while it counts what waits, and what it may still take after that.
    Function("sweep", 512, 90, 512),
)
"""Every function of app.py."""
BY_QUEUE = {function.queue: function for function in FUNCTIONS if function.queue}
"""The function that each queue feeds."""


def visibility_seconds(queue: str) -> int:
    """Return how long a queue hides a message that was received."""
    return VISIBILITY_FACTOR * BY_QUEUE[queue].timeout_seconds
