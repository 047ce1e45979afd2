"""Lists models, and reads their metrics, learning curves, cards and evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.common.paging import ListFilter, ListPage
from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE, VISION, DatasetView
from chalicelib.domain.models.evaluation import (
    EvaluatedExample,
    EvaluatedFilter,
    ReliabilityBin,
)
from chalicelib.domain.models.model import PREBUILT, Model
from chalicelib.errors import (
    EvaluationNotKept,
    MetricsNotFound,
    ModelNotFound,
    PrebuiltHasCardOnly,
    PrebuiltNotInstalled,
)
from chalicelib.stores.models.curves import CurveStore
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.versions import CARD, METRICS, ModelVersions


@dataclass(frozen=True)
class Metrics:
    """Metrics of the served version of a model."""

    model: Model
    created_at: datetime
    """Time at which the model was created."""
    data: dict[str, Any]
    """`metricsData`, as the API returns it."""


@dataclass(frozen=True)
class EvaluationPage:
    """A page of a model's evaluation."""

    page: ListPage[EvaluatedExample]
    """The examples on this page."""
    total: int
    """Number of all examples that match the filter."""
    reliability: Sequence[ReliabilityBin]
    """Calibration of all predictions in the evaluation."""


class ModelService:
    """Reads the models of an account."""

    def __init__(
        self, models: ModelStore, files: ModelVersions, curves: CurveStore, prebuilt: PrebuiltStore
    ) -> None:
        self._models = models
        self._files = files
        self._curves = curves
        self._prebuilt = prebuilt

    def get(self, account_id: str, model_id: str) -> Model:
        """Return one model; raise ModelNotFound, or PrebuiltHasCardOnly for a prebuilt model."""
        if model_id in PREBUILT:
            family = LANGUAGE if PREBUILT[model_id] in FAMILY_TYPES[LANGUAGE] else VISION
            raise PrebuiltHasCardOnly(model_id, family)
        is_id = STRING_ID.fullmatch(model_id) is not None
        model = self._models.find(account_id, model_id) if is_id else None
        if model is None:
            raise ModelNotFound(model_id[:100])
        return model

    def metrics(self, model: Model) -> Metrics:
        """Return the metrics of the served version.

        Raises:
            MetricsNotFound: no training has succeeded yet.
        """
        data = model.version and self._files.document(model.model_id, model.version, METRICS)
        if not data:
            raise MetricsNotFound(model.model_id)
        return Metrics(model, model.created_at, data)

    def curve(self, model: Model, offset: int, count: int) -> ListPage[dict[str, Any]]:
        """Return a page of the latest run's learning curve, even if the run has not ended."""
        return self._curves.page(model, offset, count)

    def card(self, account_id: str, model_id: str) -> dict[str, Any]:
        """Return the model card of a model's served version, or of a prebuilt model.

        Raises:
            ModelNotFound: the account has no model with this id.
            PrebuiltNotInstalled: the files of the prebuilt model are missing.
            MetricsNotFound: no training has succeeded yet.
        """
        if model_id in PREBUILT:
            if not self._prebuilt.is_installed(model_id):
                raise PrebuiltNotInstalled(model_id)
            return self._prebuilt.card(model_id)
        return self.card_of(self.get(account_id, model_id))

    def card_of(self, model: Model) -> dict[str, Any]:
        """Return the model card of the served version.

        Raises:
            MetricsNotFound: no training has succeeded yet.
        """
        card = model.version and self._files.document(model.model_id, model.version, CARD)
        if not card:
            raise MetricsNotFound(model.model_id)
        content: dict[str, Any] = card
        return content

    def evaluation(
        self, model: Model, query: EvaluatedFilter, offset: int, count: int
    ) -> EvaluationPage:
        """Return a page of the predictions for held-out examples that `query` matches.

        Raises:
            EvaluationNotKept: the model has no stored evaluation.
        """
        kept = self._files.evaluation(model)
        if kept is None:
            raise EvaluationNotKept(model.model_id)
        found = [one for one in kept.examples if query.matches(one)]
        end = offset + count
        page = ListPage(tuple(found[offset:end]), offset, len(found) > end)
        return EvaluationPage(page, len(found), kept.reliability)

    def list_account(
        self, account: Account, query: ListFilter, offset: int, count: int
    ) -> ListPage[Model]:
        """List an account's models that `query` matches, by creation time and id."""
        return self._models.page(account.account_id, query, offset, count)

    def list(self, view: DatasetView, offset: int, count: int) -> ListPage[Model]:
        """List the models of a dataset by creation time and id."""
        dataset = view.dataset
        models = self._models.of_dataset(dataset.account_id, dataset.dataset_id)
        end = offset + count
        return ListPage(tuple(models[offset:end]), offset, len(models) > end)
