"""The base class of the families `language` and `vision`: path, transport and shared calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic

from presage import records
from presage._async.transport import AsyncTransport
from presage._async.uploads import AsyncUploads
from presage._sources import File
from presage.results import ResultT_co


class AsyncFamilyBase(ABC, Generic[ResultT_co]):
    """Base class of `AsyncFamily`, in a separate module to avoid circular imports."""

    path = ""
    model_types = ""
    """The first characters that the types of all models of the family have in common."""

    def __init__(self, transport: AsyncTransport, uploads: AsyncUploads) -> None:
        self.transport = transport
        self.uploads = uploads
        # The client sets it later; a family that is used alone stays its own sibling.
        self.sibling: AsyncFamilyBase = self
        """The other family, because lists of models contain those of both families."""

    def of_type(self, model_type: str) -> AsyncFamilyBase:
        """Return the family (language or vision) to which a model type belongs."""
        return self if model_type.startswith(self.model_types) else self.sibling

    @abstractmethod
    async def predict_sample(
        self,
        model_id: str,
        model_type: str,
        sample: File,
        num_results: int | None,
        explain: bool | None = None,
    ) -> ResultT_co:
        """Predict a sample with the API call that fits the model's type."""

    @abstractmethod
    async def add_sample(
        self, path: str, sample: File, fields: dict[str, Any], name: str | None
    ) -> records.Example:
        """Send the text or image `sample` and the form fields `fields` to the API path `path`."""
