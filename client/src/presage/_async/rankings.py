"""Rankings: choose which of many unlabelled texts or images to label next."""

from __future__ import annotations

from typing import Any

from presage._async.batches import AsyncBatch, AsyncBatchMaker
from presage._async.family import AsyncFamilyBase
from presage._sources import File


class AsyncPictureRankings(AsyncBatchMaker):
    """The calls below `/v2/vision/rankings`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        super().__init__(family, "rankings")

    async def create(
        self,
        model_id: str,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        count: int | None = None,
        name: str | None = None,
        format: str | None = None,
        partial: bool | None = None,
        progress: bool | None = None,
    ) -> AsyncBatch:
        """Choose the images most worth labelling. Each ranked image counts as one prediction.

        Args:
            model_id: id of one of your models, of type image or image-multi-label.
            file: a zip archive or folder of images: a path, URL, bytes or open file.
            dataset_id: a dataset whose uploaded images are ranked, instead of a file.
            count: maximum number of images to choose, 1 to 1,000; default 100.
            name: name of the batch; by default the file's name.
            format: format of the result, `jsonl` or `csv`.
            partial: whether to rank only some of the images if the quota is too small for all.
            progress: whether to show progress bars; by default only on a terminal.

        Returns:
            A batch: after `wait`, its `results` are the chosen images, best first.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "count": count}
        fields |= {"name": name, "format": format, "partial": partial}
        return await self._create(fields, file, progress)


class AsyncRankings(AsyncBatchMaker):
    """The calls below `/v2/language/rankings`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        super().__init__(family, "rankings")

    async def create(
        self,
        model_id: str,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        count: int | None = None,
        name: str | None = None,
        format: str | None = None,
        partial: bool | None = None,
        text_column: str | int | None = None,
        progress: bool | None = None,
    ) -> AsyncBatch:
        """Choose the texts most worth labelling. Each ranked text counts as one prediction.

        Args:
            model_id: id of one of your models, of type text-intent or text-sentiment.
            file: texts as CSV, TSV, XLSX or JSON Lines: a path, URL, bytes or open file.
            dataset_id: a dataset whose uploaded texts are ranked, instead of a file.
            count: maximum number of texts to choose, 1 to 1,000; default 100.
            name: name of the batch; by default the file's name.
            format: format of the result: `jsonl`, or `csv`, which you can upload after labelling.
            partial: whether to rank only some of the texts if the quota is too small for all.
            text_column: column of the texts: its name or, in a file without a header, its position
                from 1.
            progress: whether to show progress bars; by default only on a terminal.

        Returns:
            A batch: after `wait`, its `results` are the chosen texts, best first.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "count": count}
        fields |= {"name": name, "format": format, "partial": partial}
        fields["textColumn"] = text_column
        return await self._create(fields, file, progress)
