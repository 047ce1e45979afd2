# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Models: trained, watched, asked, deleted."""

from __future__ import annotations

from typing import Any

from presage import records
from presage._sync.family import FamilyBase
from presage._sync.pages import Pages
from presage._sync.transport import Transport
from presage._sync.waiting import wait
from presage._records import decode
from presage._requests import Request, camel
from presage._sources import File
from presage.errors import JobFailedError
from presage.results import Prediction

ENDED = ("SUCCEEDED", "FAILED")
LANGUAGE = "language"


class Model(records.Training):
    """A model: the record of its latest training, and what can be done with it."""

    @property
    def family(self) -> FamilyBase:
        """The family it belongs to."""
        found: FamilyBase = self.__dict__["family_of"]
        return found

    def refresh(self) -> Model:
        """Fetch its present state."""
        return Models(self.family).get(self.model_id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> Model:
        """Wait until its training has ended.

        Raises:
            JobFailedError: it failed.
            WaitTimeoutError: it goes on after `timeout` seconds.
        """
        ended = wait(
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

    def predict(
        self, sample: str | File, *, num_results: int | None = None, explain: bool | None = None
    ) -> Prediction | records.Detection:
        """Ask it about a text or a picture, by the call of its type."""
        own = self.model_id, self.model_type
        return self.family.predict_sample(*own, sample, num_results, explain)

    def retrain(self, **params: Any) -> Model:
        """Train it anew on its dataset as that is now; it keeps its id and predicts meanwhile."""
        return Models(self.family).retrain(self.model_id, **params)

    def metrics(self) -> records.Metrics:
        """Fetch how well it does."""
        return Models(self.family).metrics(self.model_id)

    def card(self) -> records.Card:
        """Fetch what it was made from, how it was measured, and its limits."""
        return Models(self.family).card(self.model_id)

    def evaluation(self, **which: Any) -> Pages[records.Evaluated]:
        """List what it answers to its own examples unseen; arguments as of `models.evaluation`."""
        return Models(self.family).evaluation(self.model_id, **which)

    def curve(self) -> Pages[records.LearningCurve]:
        """List its figures after each epoch."""
        return Models(self.family).curve(self.model_id)

    def delete(self) -> records.Deletion:
        """Delete it."""
        return Models(self.family).delete(self.model_id)


class Models:
    """`/v2/:family/train`, `/v2/:family/models`."""

    def __init__(self, family: FamilyBase) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = family.path

    def train(
        self,
        dataset_id: int,
        name: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Any,
    ) -> Model:
        """Queue a training of a dataset.

        Example:
            model = data.train("tickets", profile="fast")
            model = model.wait()

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
        return self._post("train", fields, params)

    def retrain(
        self,
        model_id: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Any,
    ) -> Model:
        """Queue another training of a model, which keeps its id; arguments as of `train`."""
        fields: dict[str, Any] = {"modelId": model_id, "epochs": epochs}
        fields |= {"learningRate": learning_rate, "algorithm": algorithm}
        return self._post("retrain", fields, params)

    def _post(self, call: str, fields: dict[str, Any], params: dict[str, Any]) -> Model:
        named = {camel(name): value for name, value in params.items() if value is not None}
        fields["trainParams"] = named or None
        request = Request("POST", f"{self._base}/{call}", fields=fields)
        return self._bound(self._transport.record(request, Model))

    def _bound(self, model: Model) -> Model:
        model.__dict__["family_of"] = self._family
        return model

    def get(self, model_id: str) -> Model:
        """Fetch a model with the state of its latest training."""
        request = Request("GET", f"{self._base}/train/{model_id}")
        return self._bound(self._transport.record(request, Model))

    def list(
        self,
        dataset_id: int | None = None,
        *,
        name: str | None = None,
        status: str | None = None,
    ) -> Pages[records.Model]:
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
        return Pages(self._transport, request, lambda item: decode(item, records.Model))

    def metrics(self, model_id: str) -> records.Metrics:
        """Fetch how well a model does on what it was tested with."""
        return self._transport.record(
            Request("GET", f"{self._base}/models/{model_id}"), records.Metrics
        )

    def card(self, model_id: str) -> records.Card:
        """Fetch what a model was made from, how it was measured, and its limits."""
        return self._transport.record(
            Request("GET", f"{self._base}/models/{model_id}/card"), records.Card
        )

    def evaluation(
        self,
        model_id: str,
        *,
        expected: str | None = None,
        predicted: str | None = None,
        is_right: bool | None = None,
    ) -> Pages[records.Evaluated]:
        """List what a model answers to its own examples when it has not seen them.

        Example:
            for one in model.evaluation(is_right=False):
                print(one.example_id, one.expected_label, one.predicted_label)

        Args:
            model_id: the model; of texts, of pictures, or of pictures with several labels.
            expected: only examples of the label with this name.
            predicted: only examples that were answered with the label of this name.
            is_right: only those that were answered rightly, or wrongly.
        """
        query = {"expected": expected, "predicted": predicted, "isRight": is_right}
        request = Request("GET", f"{self._base}/models/{model_id}/evaluation", query=query)
        return Pages(self._transport, request, lambda item: decode(item, records.Evaluated))

    def curve(self, model_id: str) -> Pages[records.LearningCurve]:
        """List the figures of a model after each epoch."""
        request = Request("GET", f"{self._base}/models/{model_id}/lc")
        return Pages(
            self._transport, request, lambda item: decode(item, records.LearningCurve)
        )

    def delete(self, model_id: str) -> records.Deletion:
        """Delete a model; the record that is returned tells how far that is."""
        return self._transport.record(
            Request("DELETE", f"{self._base}/models/{model_id}"), records.Deletion
        )
