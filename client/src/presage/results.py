"""What predictions return: the record, with its first item at hand."""

from __future__ import annotations

from typing import Any

from presage import records
from presage._records import decode


class Prediction(records.Prediction):
    """What a model predicts, most probable first."""

    @property
    def label(self) -> str | None:
        """The most probable label; None when the model knows none that fits."""
        return self.probabilities[0].label if self.probabilities else None

    @property
    def probability(self) -> float:
        """How sure the model is of `label`, 0 to 1."""
        return self.probabilities[0].probability if self.probabilities else 0.0


class FormResult(records.FormResult):
    """The fields of a form, and its tables where the template asks for them."""

    @property
    def fields(self) -> list[records.PairItem]:
        """Keys with their values."""
        return [decode(item, records.PairItem) for item in self._items("key-value")]

    @property
    def tables(self) -> list[records.FormTableItem]:
        """Tables."""
        return [decode(item, records.FormTableItem) for item in self._items("table")]

    def _items(self, label: str) -> list[dict[str, Any]]:
        return [item for item in self.probabilities if item["label"] == label]


OcrResult = records.TextResult | records.ContactResult | records.TableResult | FormResult
"""One for each task."""
