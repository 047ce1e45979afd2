"""Models: trained, watched, asked, deleted."""

from __future__ import annotations

from typing import Any

from presage import records
from presage._async.family import AsyncFamilyBase
from presage._async.pages import AsyncPages
from presage._async.transport import AsyncTransport
from presage._async.waiting import wait
from presage._records import decode
from presage._requests import Request, camel
from presage._sources import File
from presage.errors import JobFailedError
from presage.results import Prediction

ENDED = ("SUCCEEDED", "FAILED")
LANGUAGE = "language"


class AsyncModel(records.Training):
    """A model: the record of its latest training, and what can be done with it."""

    @property
    def family(self) -> AsyncFamilyBase:
        """The family it belongs to."""
        found: AsyncFamilyBase = self.__dict__["family_of"]
        return found

    async def refresh(self) -> AsyncModel:
        """Fetch its present state."""
        return await AsyncModels(self.family).get(self.model_id)

    async def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> AsyncModel:
        """Wait until its training has ended.

        Raises:
            JobFailedError: it failed.
            WaitTimeoutError: it goes on after `timeout` seconds.
        """
        ended = await wait(
            self.refresh,
            lambda seen: seen.status in ENDED,
            title=f"Training {self.name}",
            share=lambda seen: seen.progress if seen.status == "RUNNING" else None,
            timeout=timeout,
            progress=progress,
        )
        if ended.status == "FAILED":
            raise JobFailedError(ended.failure_msg or f"The training of {self.name} failed.")
        return ended

    async def predict(
        self, sample: str | File, *, num_results: int | None = None, explain: bool | None = None
    ) -> Prediction | records.Detection:
        """Ask it about a text or a picture, by the call of its type."""
        own = self.model_id, self.model_type
        return await self.family.predict_sample(*own, sample, num_results, explain)

    async def retrain(self, **params: Any) -> AsyncModel:
        """Train it anew on its dataset as that is now; it keeps its id and predicts meanwhile."""
        return await AsyncModels(self.family).retrain(self.model_id, **params)

    async def metrics(self) -> records.Metrics:
        """Fetch how well it does."""
        return await AsyncModels(self.family).metrics(self.model_id)

    async def card(self) -> records.Card:
        """Fetch what it was made from, how it was measured, and its limits."""
        return await AsyncModels(self.family).card(self.model_id)

    def evaluation(self, **which: Any) -> AsyncPages[records.Evaluated]:
        """List what it answers to its own examples unseen; arguments as of `models.evaluation`."""
        return AsyncModels(self.family).evaluation(self.model_id, **which)

    def curve(self) -> AsyncPages[records.LearningCurve]:
        """List its figures after each epoch."""
        return AsyncModels(self.family).curve(self.model_id)

    async def delete(self) -> records.Deletion:
        """Delete it."""
        return await AsyncModels(self.family).delete(self.model_id)


class AsyncModels:
    """`/v2/:family/train`, `/v2/:family/models`."""

    def __init__(self, family: AsyncFamilyBase) -> None:
        self._family = family
        self._transport: AsyncTransport = family.transport
        self._base = family.path

    async def train(
        self,
        dataset_id: int,
        name: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Any,
    ) -> AsyncModel:
        """Queue a training of a dataset.

        Example:
            model = await data.train("tickets", profile="fast")
            model = await model.wait()

        Args:
            dataset_id: of the dataset.
            name: of the model.
            epochs: passes over the examples, at most.
            learning_rate: of the head.
            algorithm: how to train, such as `multilingual-intent-ood`.
            params: members of `trainParams`, in snake case, such as `profile="fast"`.
        """
        fields: dict[str, Any] = {"name": name, "datasetId": dataset_id, "epochs": epochs}
        fields |= {"learningRate": learning_rate, "algorithm": algorithm}
        return await self._post("train", fields, params)

    async def retrain(
        self,
        model_id: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Any,
    ) -> AsyncModel:
        """Queue another training of a model, which keeps its id; arguments as of `train`."""
        fields: dict[str, Any] = {"modelId": model_id, "epochs": epochs}
        fields |= {"learningRate": learning_rate, "algorithm": algorithm}
        return await self._post("retrain", fields, params)

    async def _post(self, call: str, fields: dict[str, Any], params: dict[str, Any]) -> AsyncModel:
        named = {camel(name): value for name, value in params.items() if value is not None}
        fields["trainParams"] = named or None
        request = Request("POST", f"{self._base}/{call}", fields=fields)
        return self._bound(await self._transport.record(request, AsyncModel))

    def _bound(self, model: AsyncModel) -> AsyncModel:
        model.__dict__["family_of"] = self._family
        return model

    async def get(self, model_id: str) -> AsyncModel:
        """Fetch a model with the state of its latest training."""
        request = Request("GET", f"{self._base}/train/{model_id}")
        return self._bound(await self._transport.record(request, AsyncModel))

    def list(
        self,
        dataset_id: int | None = None,
        *,
        name: str | None = None,
        status: str | None = None,
    ) -> AsyncPages[records.Model]:
        """List the models of a dataset, or without one all of the account.

        Args:
            dataset_id: of the dataset.
            name: only models of the account with this in their names.
            status: only models of the account whose latest training is `QUEUED`, `RUNNING`,
                `SUCCEEDED` or `FAILED`.
        """
        is_all = dataset_id is None
        path = f"{self._base}/models" if is_all else f"{self._base}/datasets/{dataset_id}/models"
        request = Request("GET", path, query={"name": name, "status": status} if is_all else {})
        return AsyncPages(self._transport, request, lambda item: decode(item, records.Model))

    async def metrics(self, model_id: str) -> records.Metrics:
        """Fetch how well a model does on what it was tested with."""
        return await self._transport.record(
            Request("GET", f"{self._base}/models/{model_id}"), records.Metrics
        )

    async def card(self, model_id: str) -> records.Card:
        """Fetch what a model was made from, how it was measured, and its limits."""
        return await self._transport.record(
            Request("GET", f"{self._base}/models/{model_id}/card"), records.Card
        )

    def evaluation(
        self,
        model_id: str,
        *,
        expected: str | None = None,
        predicted: str | None = None,
        is_right: bool | None = None,
    ) -> AsyncPages[records.Evaluated]:
        """List what a model answers to its own examples when it has not seen them.

        Example:
            async for one in model.evaluation(is_right=False):
                print(one.example_id, one.expected_label, one.predicted_label)

        Args:
            model_id: the model; of texts, of pictures, or of pictures with several labels.
            expected: only examples of the label with this name.
            predicted: only examples that were answered with the label of this name.
            is_right: only those that were answered rightly, or wrongly.
        """
        query = {"expected": expected, "predicted": predicted, "isRight": is_right}
        request = Request("GET", f"{self._base}/models/{model_id}/evaluation", query=query)
        return AsyncPages(self._transport, request, lambda item: decode(item, records.Evaluated))

    def curve(self, model_id: str) -> AsyncPages[records.LearningCurve]:
        """List the figures of a model after each epoch."""
        request = Request("GET", f"{self._base}/models/{model_id}/lc")
        return AsyncPages(
            self._transport, request, lambda item: decode(item, records.LearningCurve)
        )

    async def delete(self, model_id: str) -> records.Deletion:
        """Delete a model; the record that is returned tells how far that is."""
        return await self._transport.record(
            Request("DELETE", f"{self._base}/models/{model_id}"), records.Deletion
        )
