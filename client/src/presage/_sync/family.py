# Written by client/tools/write_sync.py from presage._async: do not edit.
"""What the resources need of their family: its path, the transport, and calls by sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from presage import records
from presage._sync.transport import Transport
from presage._sync.uploads import Uploads
from presage._sources import File
from presage.results import Prediction


class FamilyBase(ABC):
    """One family of the API, without its resources, so that these can import it."""

    path = ""

    def __init__(self, transport: Transport, uploads: Uploads) -> None:
        self.transport = transport
        self.uploads = uploads

    @abstractmethod
    def predict_sample(
        self,
        model_id: str,
        model_type: str,
        sample: str | File,
        num_results: int | None,
        explain: bool | None = None,
    ) -> Prediction | records.Detection:
        """Predict a sample with the call for the model's type."""

    @abstractmethod
    def add_sample(
        self, path: str, sample: str | File, fields: dict[str, Any], name: str | None
    ) -> records.Example:
        """Post one text or image to `path`."""
