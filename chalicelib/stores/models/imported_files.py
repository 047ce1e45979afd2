"""Archives of imported models as received. They are stored until the import has ended."""

from __future__ import annotations

import io
from typing import BinaryIO

from chalicelib.stores.aws.objects import ArtifactStore, model_prefix


class ImportedFileStore:
    """Reads, writes and deletes the archives of imported models."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put(self, model_id: str, content: bytes) -> None:
        """Store the archive of a model."""
        self._artifacts.put_file(_key(model_id), io.BytesIO(content))

    def read(self, model_id: str, target: BinaryIO) -> bool:
        """Copy the archive of a model into an open file; return False if it was deleted."""
        return self._artifacts.get_file(_key(model_id), target)

    def delete(self, model_id: str) -> None:
        """Delete the archive of a model. A missing one is ignored."""
        self._artifacts.delete_file(_key(model_id))


def _key(model_id: str) -> str:
    return f"{model_prefix(model_id)}import.zip"
