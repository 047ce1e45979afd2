"""The deployed functions: their sizes and the sources of their events.

.chalice/config.json has the settings that all functions share. Four functions of different sizes
answer routes; infra/template/routing.py assigns them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.engines.ocr.pool import SLANET
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET
from chalicelib.stores.jobs.queues import (
    DELETE,
    DELIVER,
    EMBED,
    EXPORT,
    INCOMING,
    INGEST,
    TRAIN_FREE,
    TRAIN_PAID,
)
from infra.template.names import camel

# Type of a function's resource in the template.
FUNCTION_TYPE = "AWS::Serverless::Function"
# Chalice's name for the function of routes. It reads documents and receives files.
API = "api_handler"
# The functions of the other routes.
RECORDS, TEXTS, PICTURES = "records", "texts", "pictures"
# Functions that the gateway calls.
ANSWERING = (RECORDS, TEXTS, PICTURES, API)
# Name of the alias through which gateway and queues call the current version of a function.
ALIAS = "live"
# Largest disk, in MB, with which Lambda allows SnapStart.
SNAPSHOT_DISK_MB = 512
# Visibility timeout of a queue, as a multiple of its function's timeout.
VISIBILITY_FACTOR = 6
_LONG_SECONDS = 900
_WHOLE_DISK_MB = 10_240


@dataclass(frozen=True)
class Function:
    """One deployed function."""

    name: str
    """Name of the handler in app.py, or of the group of routes."""
    memory_mb: int
    """Memory in MB; 1,769 MB are one processor."""
    timeout_seconds: int
    """Longest run, in seconds."""
    disk_mb: int
    """Size of /tmp in MB, for model files and other files."""
    queue: str = ""
    """Short name of the queue whose messages the function handles; "" for none."""
    most_at_once: int = 0
    """Default maximum number of concurrent runs, for functions of queues."""
    loads: tuple[str, ...] = ()
    """Engine parts that the function loads at its start by default. It loads others when needed."""
    environment: dict[str, str] = field(default_factory=dict)
    """Additional environment variables."""

    @property
    def logical(self) -> str:
        """Logical name of the function in the template, as Chalice defines it."""
        return "APIHandler" if self.name == API else camel(self.name)

    @property
    def short(self) -> str:
        """Name of the function in the AWS account, without the stack's name at its beginning."""
        return "api" if self.name == API else self.name.replace("_", "-")

    @property
    def alias(self) -> str:
        """Reference to the function's alias in the template."""
        return f"{self.logical}.Alias"

    @property
    def chains(self) -> bool:
        """Return whether a run may send a message to its own queue, which starts another run."""
        return self.queue in _CHAINED

    @property
    def can_snap(self) -> bool:
        """Return whether the function can use SnapStart, which functions of queues cannot."""
        return self.name in ANSWERING and self.disk_mb <= SNAPSHOT_DISK_MB

    @property
    def event(self) -> str:
        """Logical name of the queue's event source in the template, as Chalice defines it."""
        return f"{self.logical}SqsEventSource"


# A run for one of these queues may send the next part, or the same job again after a pause. In the
# other queues, a message causes no further message.
_CHAINED = (INGEST, EMBED, TRAIN_PAID, TRAIN_FREE, DELETE, DELIVER)
_ONE_PAGE = {"PRESAGE_OCR_THREADS": "1"}
_TWO_THREADS = {"PRESAGE_THREADS": "2"}

# All functions. Chalice describes those that have a handler in app.py.
FUNCTIONS = (
    # Two pages of a document are read at the same time, or two encoders run at the same time. An
    # archive given by URL is searched in /tmp.
    Function(API, 3_538, 29, 4_096, loads=(PPOCR, SLANET), environment=_TWO_THREADS),
    # Reads and writes rows and loads no engine, so a call mostly waits.
    Function(RECORDS, 512, 29, 512),
    # Two encoders read a text at the same time.
    Function(TEXTS, 3_538, 29, 512, loads=("bge", "mpnet"), environment=_TWO_THREADS),
    # An image is processed by one processor.
    Function(PICTURES, 1_769, 29, 512, loads=(LITE2, NANODET)),
    # An archive of up to 2 GB is read in /tmp.
    Function("ingest_upload", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, INGEST, 10),
    # The file of a batch, up to 2 GB, is read in /tmp. The memory suffices for one page of a
    # document at a time.
    Function("embed_texts", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, EMBED, 20, environment=_ONE_PAGE),
    # Features of a training, up to 8 GB, are stored in /tmp.
    Function(
        "train_paid",
        3_538,
        _LONG_SECONDS,
        _WHOLE_DISK_MB,
        TRAIN_PAID,
        10,
        environment=_TWO_THREADS,
    ),
    Function(
        "train_free",
        3_538,
        _LONG_SECONDS,
        _WHOLE_DISK_MB,
        TRAIN_FREE,
        2,
        environment=_TWO_THREADS,
    ),
    Function("delete_object", 512, _LONG_SECONDS, 512, DELETE, 5),
    # An archive of up to 2 GB is written in /tmp.
    Function("export_dataset", 1_769, _LONG_SECONDS, _WHOLE_DISK_MB, EXPORT, 5),
    # Mostly waits for receivers, up to ten seconds for each.
    Function("deliver_event", 512, 60, 512, DELIVER, 20),
    Function("receive_upload", 512, 30, 512, INCOMING, 5),
    # A sweep runs for up to a minute; the rest is for the step that runs at that time.
    Function("sweep", 512, 90, 512),
)
# Functions that Chalice does not know.
ADDED = tuple(function for function in FUNCTIONS if function.name in (RECORDS, TEXTS, PICTURES))
# The function that each queue invokes.
BY_QUEUE = {function.queue: function for function in FUNCTIONS if function.queue}


def visibility_seconds(queue: str) -> int:
    """Return the visibility timeout of a function's queue, in seconds."""
    return VISIBILITY_FACTOR * BY_QUEUE[queue].timeout_seconds
