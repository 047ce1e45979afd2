"""Rankings: which of many texts or pictures to label next."""

from __future__ import annotations

from typing import Any

from presage._async.batches import AsyncBatch, AsyncBatchMaker
from presage._async.family import AsyncFamilyBase
from presage._sources import File


class AsyncPictureRankings(AsyncBatchMaker):
    """`/v2/vision/rankings`."""

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
        """Have the pictures chosen that are most worth labelling; each that is sent is counted.

        Args:
            model_id: your own model of type image or image-multi-label.
            file: a zip archive or a folder of pictures: a path, an address, bytes or open file.
            dataset_id: a dataset whose uploaded pictures are chosen from, in place of a file.
            count: how many are chosen at most, 1 to 1,000; 100 where it is missing.
            name: of the batch; that of the file where it is missing.
            format: of the result, `jsonl` or `csv`.
            partial: whether as many pictures are looked at as predictions are left.
            progress: whether to show bars; None shows them on a terminal.

        Returns:
            A batch: after `wait`, its `results` are the chosen pictures, the first of them first.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "count": count}
        fields |= {"name": name, "format": format, "partial": partial}
        return await self._create(fields, file, progress)


class AsyncRankings(AsyncBatchMaker):
    """`/v2/language/rankings`."""

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
        """Have the texts chosen that are most worth labelling; each that is sent is counted.

        Args:
            model_id: your own model of type text-intent or text-sentiment.
            file: texts as csv, tsv, xlsx or JSON lines: a path, an address, bytes or open file.
            dataset_id: a dataset whose uploaded texts are chosen from, in place of a file.
            count: how many are chosen at most, 1 to 1,000; 100 where it is missing.
            name: of the batch; that of the file where it is missing.
            format: of the result, `jsonl` or `csv`, which uploads once its labels are right.
            partial: whether as many texts are looked at as predictions are left.
            text_column: column of the texts, by name or by position from 1 without header.
            progress: whether to show bars; None shows them on a terminal.

        Returns:
            A batch: after `wait`, its `results` are the chosen texts, the first of them first.
        """
        fields: dict[str, Any] = {"modelId": model_id, "datasetId": dataset_id, "count": count}
        fields |= {"name": name, "format": format, "partial": partial}
        fields["textColumn"] = text_column
        return await self._create(fields, file, progress)
