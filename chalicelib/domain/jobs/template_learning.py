"""Jobs that learn a form template from examples. See beyond.md, section 16."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.jobs.export import FAILED, QUEUED, SUCCEEDED
from chalicelib.errors import ObjectNotFound

# Limits of the documents of a job.
MAX_LEARNED_DOCUMENTS = 20
MAX_LEARNED_PAGES = 40
# Limit of the different entities of all documents, which become the keys of the template.
MAX_LEARNED_ENTITIES = 500
# Name of the file in the archive that has the values.
VALUES_FILE = "values.json"
MAX_VALUES_BYTES = 5_000_000
# Limits of an entity and of a value.
MAX_ENTITY_CHARACTERS, MAX_VALUE_CHARACTERS = 200, 1_000
# Input and result are deleted after this time.
LEARNING_KEPT = timedelta(hours=24)
# Jobs of an account that have not ended, and all its jobs that are stored.
MAX_OPEN_LEARNINGS, MAX_KEPT_LEARNINGS = 5, 100


class LearningNotFound(ObjectNotFound, what="template"):
    """The account has no learned template with this id, or the template has expired."""


@dataclass(frozen=True)
class TemplateLearning:
    """A job that learns a form template, and its progress."""

    learning_id: str
    account_id: str
    source: Mapping[str, str]
    """Where the input is: empty if the call sent it, otherwise `path` and possibly `etag`."""
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    status: str = QUEUED
    message: str = ""
    """Why the job FAILED."""
    fence: int = 0
    """Fence token, increased by each new worker lease. Writes with an older token are refused."""
    attempts: int = 0
    last_error: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether the status is final."""
        return self.status in (SUCCEEDED, FAILED)
