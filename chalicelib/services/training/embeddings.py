"""Computes vectors of a dataset's texts once, and stores them by digest of the text.

Workers of the queue `embed` embed the parts of an upload in order. A training that starts before
the workers are done embeds parts from the end, so the same part is rarely embedded twice.
Afterwards the training embeds texts that belong to no part, such as feedback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.datasets.dataset import DELETION_PENDING, Dataset
from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.windows import split_texts
from chalicelib.domain.jobs.messages import EmbedJob
from chalicelib.domain.models.model import Model
from chalicelib.engines.text.encoding.encoders import WORDS, encoder_names
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.examples.parts import PART_TEXTS, PartStore, process_parts
from chalicelib.stores.models.run_parts import RunPart

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.text.encoding.vector_table import VectorTable


class EmbeddingService:
    """Computes vectors of texts, and stores the vectors of texts in datasets."""

    def __init__(
        self,
        datasets: DatasetStore,
        artifacts: ArtifactStore,
        parts: PartStore,
        encoders: EncoderPool,
        threads: int,
    ) -> None:
        self._datasets = datasets
        self._artifacts = artifacts
        self._parts = parts
        self._encoders = encoders
        self._threads = threads

    def run_part(self, job: EmbedJob, remaining_seconds: Callable[[], float]) -> bool:
        """Embed one part of an upload; return False if the part or its dataset was deleted."""
        # A part is small enough for the shortest run, so the remaining time does not matter.
        del remaining_seconds
        texts = self._parts.items(job.part)
        dataset = self._datasets.find(job.account_id, job.family, job.dataset_id)
        if texts is None or dataset is None or dataset.status == DELETION_PENDING:
            return False
        self._embed_part(dataset, job.part, texts)
        # The dataset may have been deleted meanwhile, after its deletion listed the objects.
        self.revert(dataset.account_id, dataset.family, job.dataset_id)
        return True

    def finish_parts(self, dataset: Dataset, check: Callable[[int, int], None]) -> None:
        """Embed the parts of a dataset that are not embedded yet, the last part first.

        `check` is called between parts with the numbers of finished parts and of all parts. It
        may raise an error to stop.
        """

        def embed(part: str) -> None:
            texts = self._parts.items(part)
            if texts is not None:
                self._embed_part(dataset, part, texts)

        process_parts(lambda: self._parts.waiting(dataset.dataset_id), embed, check)

    def make_run_part(self, model: Model, part: RunPart) -> None:
        """Compute and store the vectors of texts that a training delegated to this worker."""
        del model
        self._embed(part.dataset_id, part.engine, part.items, part.name)

    def _embed_part(self, dataset: Dataset, part: str, texts: Sequence[str]) -> None:
        """Embed the texts of a part with each encoder of their language. Then delete the part."""
        texts = split_texts(texts).windows
        name = f"{PurePosixPath(part).parent.name}-{PurePosixPath(part).stem}"
        for encoder in encoder_names(dataset.language, None):
            if self._encoders.is_installed(encoder):
                self._embed(dataset.dataset_id, encoder, texts, name)
        self._parts.delete(part)

    def table(
        self,
        owner: int | str,
        encoder: str,
        texts: Sequence[str],
        check: Callable[[int, int], None],
        delegate: Callable[[Sequence[str]], None] = lambda missing: None,
    ) -> VectorTable:
        """Return the vectors of texts or windows (parts of long texts); compute missing vectors.

        Args:
            owner: id of the dataset, or key prefix in the bucket, under which vectors are stored.
            encoder: name of the encoder.
            texts: texts or windows in any order. Equal texts are embedded once.
            check: called between parts with the numbers of embedded texts and of all texts; may
                raise an error to stop.
            delegate: called once with all texts that have no vectors; may raise an error to stop.

        Raises:
            EncoderNotInstalled: the files of the encoder are missing.
        """
        from chalicelib.engines.text.encoding.vector_table import VectorTable

        wanted = VectorTable(texts, self._encoders.get(encoder).dimensions)
        known: set[str] = set()
        is_asked = False
        while True:
            # In every round, because the queue writes vectors of the same dataset meanwhile.
            self._load_new(owner, encoder, wanted, known)
            done, missing = wanted.filled, wanted.missing(PART_TEXTS)
            check(done, len(wanted))
            if not missing:
                return wanted
            if not is_asked:
                is_asked = True
                delegate(wanted.missing(len(wanted)))
            content = self._embed(owner, encoder, missing, new_string_id())
            wanted.fill(*content)

    def embed(self, encoder: str, texts: Sequence[str]) -> Singles:
        """Return vectors (float32, shape (texts, dims)) of texts, without storing the vectors.

        Raises:
            EncoderNotInstalled: the encoder's files are missing.
        """
        return self._encoders.get(encoder).encode(texts, threads=self._threads)

    def _load_new(
        self, owner: int | str, encoder: str, table: VectorTable, loaded_keys: set[str]
    ) -> None:
        """Load stored objects whose keys are not in `loaded_keys`; add the vectors to `table`."""
        from chalicelib.engines.text.encoding.embedding_shards import load_shard

        for key in self._artifacts.keys(self._prefix(owner, encoder)):
            if key not in loaded_keys and table.filled < len(table):
                loaded_keys.add(key)
                content = self._artifacts.get(key)
                if content is not None:
                    table.fill(*load_shard(content))

    def _embed(
        self, owner: int | str, encoder: str, texts: Sequence[str], name: str
    ) -> tuple[list[bytes], Singles]:
        from chalicelib.engines.text.encoding.embedding_shards import dump_shard, load_shard

        vectors, digests = self.embed(encoder, texts), [text_digest(text) for text in texts]
        if encoder == WORDS:
            # These vectors are computed faster than they could be stored and read.
            return digests, vectors
        content = dump_shard(digests, vectors)
        self._artifacts.put(f"{self._prefix(owner, encoder)}{name}.npz", content)
        # Read back, because storing rounds: the first training of a dataset must see the vectors
        # that later ones see.
        digests, rounded = load_shard(content)
        return digests, rounded.astype(vectors.dtype)

    def revert(self, account_id: str, family: str, dataset_id: int) -> None:
        """Delete vectors that were stored after their dataset had been deleted."""
        dataset = self._datasets.find(account_id, family, dataset_id)
        if dataset is None or dataset.status == DELETION_PENDING:
            self._artifacts.delete_prefix(f"{dataset_prefix(dataset_id)}embeddings/")

    def _prefix(self, owner: int | str, encoder: str) -> str:
        # The version is in the name, so that vectors of another version are never mixed in.
        version = self._encoders.get(encoder).sha256[:12]
        prefix = owner if isinstance(owner, str) else dataset_prefix(owner)
        return f"{prefix}embeddings/{encoder}-{version}/"
