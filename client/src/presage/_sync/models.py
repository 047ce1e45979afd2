# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Models: train, evaluate, predict and delete."""

from __future__ import annotations

from typing import Any, Generic, overload

from presage import records
from presage._sync.exports import ModelExport, ModelExports
from presage._sync.family import FamilyBase
from presage._sync.pages import Pages, pages_of
from presage._sync.transport import Transport
from presage._sync.waiting import wait
from presage._records import decode, request_id
from presage._requests import Request
from presage._sources import (
    File,
    Files,
    FileT,
    TrainOptions,
    TrainParams,
    Unpack,
    api_fields,
    is_address,
)
from presage.errors import JobFailedError
from presage.results import ResultT_co

ENDED = ("SUCCEEDED", "FAILED")


class Model(records.Model, Generic[ResultT_co], kw_only=True):
    """A model record with methods, such as `predict` and `retrain`.

    The members from `learning_rate` to `train_stats` come from the latest training. Models in a
    list do not have them; `refresh` fetches them.
    """

    learning_rate: float | None = None
    epochs: int | None = None
    queue_position: int | None = None
    train_params: dict[str, Any] | None = None
    train_stats: records.TrainStats | None = None

    @property
    def family(self) -> FamilyBase[ResultT_co]:
        """The family, `language` or `vision`, that the model belongs to."""
        found: FamilyBase[ResultT_co] = self.__dict__["family_of"]
        return found

    def refresh(self) -> Model[ResultT_co]:
        """Fetch the current state of the model."""
        return Models(self.family).get(self.model_id)

    def wait(
        self, *, timeout: float | None = None, progress: bool | None = None
    ) -> Model[ResultT_co]:
        """Wait until the training has ended.

        Raises:
            JobFailedError: the training failed.
            WaitTimeoutError: the training is still running after `timeout` seconds.
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
            raise JobFailedError(
                ended.failure_msg or f"The training of {self.name} failed.",
                code="training_failed",
                request_id=request_id(self),
            )
        return ended

    @overload
    def predict(
        self, sample: File, *, num_results: int | None = None, explain: bool | None = None
    ) -> ResultT_co: ...
    @overload
    def predict(
        self,
        sample: Files[FileT],
        *,
        num_results: int | None = None,
        explain: bool | None = None,
    ) -> list[ResultT_co]: ...
    def predict(
        self,
        sample: File | Files[FileT],
        *,
        num_results: int | None = None,
        explain: bool | None = None,
    ) -> ResultT_co | list[ResultT_co]:
        """Predict a sample or a list of samples with the API call that fits the model's type.

        Samples are texts or images. Each sample counts as one prediction. To predict many samples
        with one call, create a batch.
        """
        own, family = (self.model_id, self.model_type), self.family
        if isinstance(sample, (list, tuple)):
            return [
                family.predict_sample(*own, item, num_results, explain) for item in sample
            ]
        return family.predict_sample(*own, sample, num_results, explain)

    def retrain(self, **options: Unpack[TrainOptions]) -> Model[ResultT_co]:
        """Queue another training on the dataset. Until it ends, the model predicts as before."""
        return Models(self.family).retrain(self.model_id, **options)

    def adjust(
        self,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        out_of_domain_rate: float | None = None,
        label_column: str | int | None = None,
        with_feedback: bool | None = None,
    ) -> Model[ResultT_co]:
        """Adjust a text model to real texts of users; arguments as in `models.adjust`."""
        return Models(self.family).adjust(
            self.model_id,
            file,
            dataset_id=dataset_id,
            out_of_domain_rate=out_of_domain_rate,
            label_column=label_column,
            with_feedback=with_feedback,
        )

    def metrics(self, version: int | None = None) -> records.Metrics:
        """Fetch the metrics of the model, or of one of its versions."""
        return Models(self.family).metrics(self.model_id, version)

    def card(self, version: int | None = None) -> records.Card:
        """Fetch the model card of this model, or of one of its versions."""
        return Models(self.family).card(self.model_id, version)

    def versions(self) -> Pages[records.ModelVersion]:
        """List the model's stored versions, newest first. Each training or adjustment adds one."""
        return Models(self.family).versions(self.model_id)

    def serve_version(self, version: int) -> records.ModelVersion:
        """Use a stored version for predictions from the next call on."""
        return Models(self.family).serve_version(self.model_id, version)

    def delete_version(self, version: int) -> records.ModelVersion:
        """Delete a version that is not used for predictions."""
        return Models(self.family).delete_version(self.model_id, version)

    def compare_versions(self, first: int, second: int) -> records.Comparison:
        """Compare two versions by their predictions for the same held-out examples."""
        return Models(self.family).compare_versions(self.model_id, first, second)

    def export(
        self, *, version: int | None = None, format: str | None = None
    ) -> ModelExport:
        """Export the model, or one of its versions, to a file; see `models.exports.create`."""
        exports = Models(self.family).exports
        return exports.create(self.model_id, version=version, format=format)

    def evaluation(
        self,
        *,
        expected: str | None = None,
        predicted: str | None = None,
        is_right: bool | None = None,
    ) -> Pages[records.Evaluated]:
        """List predictions of held-out examples; arguments as in `models.evaluation`."""
        return Models(self.family).evaluation(
            self.model_id, expected=expected, predicted=predicted, is_right=is_right
        )

    def curve(self) -> Pages[records.LearningCurve]:
        """List the metrics of the latest training after each epoch."""
        return Models(self.family).curve(self.model_id)

    def delete(self) -> records.Deletion:
        """Delete the model."""
        return Models(self.family).delete(self.model_id)


class Models(Generic[ResultT_co]):
    """The calls below `/v2/:family/train` and `/v2/:family/models`."""

    def __init__(self, family: FamilyBase[ResultT_co]) -> None:
        self._family = family
        self._transport: Transport = family.transport
        self._base = family.path
        self.exports = ModelExports(family)

    def train(
        self,
        dataset_id: int,
        name: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Unpack[TrainParams],
    ) -> Model[ResultT_co]:
        """Queue a training on a dataset.

        Example:
            model = data.train("tickets", profile="fast")
            model = model.wait()

        Args:
            dataset_id: id of the dataset.
            name: name of the model.
            epochs: maximum number of passes over the examples.
            learning_rate: learning rate of the classifier head.
            algorithm: name of a training algorithm, such as `multilingual-intent-ood`.
            params: members of `trainParams`, in snake case, such as `profile="fast"`. The member
                `unlabelled` can be a dataset, its id, or a file of texts. A file is sent first.
        """
        fields: dict[str, Any] = {"name": name, "datasetId": dataset_id, "epochs": epochs}
        fields |= {"learningRate": learning_rate, "algorithm": algorithm}
        return self._post("train", fields, api_fields(params, TrainParams))

    def retrain(
        self,
        model_id: str,
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        algorithm: str | None = None,
        **params: Unpack[TrainParams],
    ) -> Model[ResultT_co]:
        """Queue another training of a model; arguments as in `train`. The model keeps its id."""
        fields: dict[str, Any] = {"modelId": model_id, "epochs": epochs}
        fields |= {"learningRate": learning_rate, "algorithm": algorithm}
        return self._post("retrain", fields, api_fields(params, TrainParams))

    def adjust(
        self,
        model_id: str,
        file: File | None = None,
        *,
        dataset_id: int | None = None,
        out_of_domain_rate: float | None = None,
        label_column: str | int | None = None,
        with_feedback: bool | None = None,
    ) -> Model[ResultT_co]:
        """Queue an adjustment of a text model to real texts of users.

        Example:
            model = (model.adjust("tickets.csv")).wait()

        Args:
            model_id: a model of type text-intent.
            file: texts as CSV, TSV, XLSX or JSON Lines: a path, URL, bytes or open file. The column
                `label` has the known labels. If a label is unknown, its cell is empty.
            dataset_id: a dataset whose uploaded texts are used, instead of a file.
            out_of_domain_rate: fraction of in-scope texts that the model may reject. Only models
                that reject out-of-scope texts have this option.
            label_column: column of the labels: its name, or its position from 1.
            with_feedback: whether feedback examples are also used to fit temperature and threshold.
        """
        fields: dict[str, Any] = {"datasetId": dataset_id, "labelColumn": label_column}
        fields |= {"outOfDomainRate": out_of_domain_rate, "withFeedback": with_feedback}
        path = f"{self._base}/models/{model_id}/adjust"
        if file is None:
            request = Request("POST", path, fields=fields)
            return self._bound(self._transport.record(request, Model))
        with self._family.uploads.attached(file, "data", "path", None) as part:
            request = Request("POST", path, fields={**fields, **part.fields}, files=part.files)
            return self._bound(self._transport.record(request, Model))

    def import_file(self, file: File, name: str) -> Model[ResultT_co]:
        """Import a model that was exported as a bundle.

        Example:
            model = (client.language.models.import_file("model.zip", "tickets")).wait()

        Args:
            file: the archive of an export: a path, URL, bytes or open file.
            name: name of the new model.
        """
        path = f"{self._base}/models/import"
        with self._family.uploads.attached(file, "data", "path", None) as part:
            request = Request("POST", path, fields={"name": name, **part.fields}, files=part.files)
            return self._bound(self._transport.record(request, Model))

    def _post(
        self, call: str, fields: dict[str, Any], params: dict[str, object]
    ) -> Model[ResultT_co]:
        named = {name: value for name, value in params.items() if value is not None}
        if "unlabelled" in named:
            named["unlabelled"] = self._unlabelled(named["unlabelled"])
        fields["trainParams"] = named or None
        request = Request("POST", f"{self._base}/{call}", fields=fields)
        return self._bound(self._transport.record(request, Model))

    def _unlabelled(self, texts: Any) -> object:
        """Return the id of the dataset `texts`. If `texts` is a file, send it; return its path."""
        if isinstance(texts, records.Dataset):
            return texts.id
        is_id = isinstance(texts, int) or (isinstance(texts, str) and texts.isdecimal())
        return texts if is_id or is_address(texts) else self._family.uploads.send(texts)

    def _bound(self, model: Model[Any]) -> Model[ResultT_co]:
        # Each family finds the models of both, and only its own family can predict with one.
        model.__dict__["family_of"] = self._family.of_type(model.model_type)
        return model

    def get(self, model_id: str) -> Model[ResultT_co]:
        """Fetch a model with its latest training."""
        request = Request("GET", f"{self._base}/train/{model_id}")
        return self._bound(self._transport.record(request, Model))

    def list(
        self,
        dataset_id: int | None = None,
        *,
        name: str | None = None,
        status: str | None = None,
    ) -> Pages[Model[ResultT_co]]:
        """List the models of a dataset; without `dataset_id`, all models of the account.

        Args:
            dataset_id: id of the dataset.
            name: only models of the account whose names contain this text.
            status: only models of the account whose latest training is `QUEUED`, `RUNNING`,
                `SUCCEEDED` or `FAILED`.
        """
        is_all = dataset_id is None
        path = f"{self._base}/models" if is_all else f"{self._base}/datasets/{dataset_id}/models"
        request = Request("GET", path, query={"name": name, "status": status} if is_all else {})
        return Pages(
            self._transport, request, lambda item: self._bound(decode(item, Model))
        )

    def metrics(self, model_id: str, version: int | None = None) -> records.Metrics:
        """Fetch the metrics of a model, or of one of its versions, measured on its test set."""
        query = {"modelVersion": version}
        request = Request("GET", f"{self._base}/models/{model_id}", query=query)
        return self._transport.record(request, records.Metrics)

    def card(self, model_id: str, version: int | None = None) -> records.Card:
        """Fetch the model card (data, metrics, limits) of a model, or of one of its versions."""
        query = {"modelVersion": version}
        request = Request("GET", f"{self._base}/models/{model_id}/card", query=query)
        return self._transport.record(request, records.Card)

    def versions(self, model_id: str) -> Pages[records.ModelVersion]:
        """List the stored versions of a model, newest first. Each training or adjustment adds one.

        Example:
            for one in model.versions():
                print(one.version, one.is_served, one.metrics)
        """
        request = Request("GET", f"{self._base}/models/{model_id}/versions")
        return pages_of(self._transport, request, records.ModelVersion)

    def serve_version(self, model_id: str, version: int) -> records.ModelVersion:
        """Use a stored version for predictions from the next call on."""
        path = f"{self._base}/models/{model_id}/versions/{version}/serve"
        return self._transport.record(Request("PUT", path), records.ModelVersion)

    def delete_version(self, model_id: str, version: int) -> records.ModelVersion:
        """Delete a version that is not used for predictions."""
        path = f"{self._base}/models/{model_id}/versions/{version}"
        return self._transport.record(Request("DELETE", path), records.ModelVersion)

    def compare_versions(self, model_id: str, first: int, second: int) -> records.Comparison:
        """Compare two versions by their predictions for the same held-out examples.

        Returns:
            The accuracy of each version, and the 95 % confidence interval of the second accuracy
            minus the first accuracy.
        """
        fields = {"versions": [first, second]}
        request = Request("POST", f"{self._base}/models/{model_id}/compare", fields=fields)
        return self._transport.record(request, records.Comparison)

    def evaluation(
        self,
        model_id: str,
        *,
        expected: str | None = None,
        predicted: str | None = None,
        is_right: bool | None = None,
    ) -> Pages[records.Evaluated]:
        """List examples of a dataset, each predicted by a model not trained on this example.

        Example:
            for one in model.evaluation(is_right=False):
                print(one.example_id, one.expected_label, one.predicted_label)

        Args:
            model_id: a model of texts or images, not of object detection.
            expected: only examples of this label.
            predicted: only examples predicted as this label.
            is_right: True: only correct predictions; False: only wrong predictions.
        """
        query = {"expected": expected, "predicted": predicted, "isRight": is_right}
        request = Request("GET", f"{self._base}/models/{model_id}/evaluation", query=query)
        return pages_of(self._transport, request, records.Evaluated)

    def curve(self, model_id: str) -> Pages[records.LearningCurve]:
        """List the metrics of a model after each epoch."""
        request = Request("GET", f"{self._base}/models/{model_id}/lc")
        return pages_of(self._transport, request, records.LearningCurve)

    def delete(self, model_id: str) -> records.Deletion:
        """Delete a model in the background."""
        return self._transport.record(
            Request("DELETE", f"{self._base}/models/{model_id}"), records.Deletion
        )
