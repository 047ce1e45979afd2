"""Results of predictions, with shortcuts to their first items."""

from __future__ import annotations

from typing import Any

from presage import records
from presage._records import decode


class Prediction(records.Prediction):
    """A prediction, most probable label first."""

    @property
    def label(self) -> str | None:
        """The most probable label; None if no label fits."""
        return self.probabilities[0].label if self.probabilities else None

    @property
    def probability(self) -> float:
        """The probability of `label`, 0 to 1."""
        return self.probabilities[0].probability if self.probabilities else 0.0


class FormResult(records.FormResult):
    """The fields of a form, and its tables if the template has any."""

    @property
    def fields(self) -> list[records.PairItem]:
        """The fields: keys with their values."""
        return [decode(item, records.PairItem) for item in self._items("key-value")]

    @property
    def tables(self) -> list[records.FormTableItem]:
        """The tables."""
        return [decode(item, records.FormTableItem) for item in self._items("table")]

    def _items(self, label: str) -> list[dict[str, Any]]:
        return [item for item in self.probabilities if item["label"] == label]


# One for each task.
OcrResult = records.TextResult | records.ContactResult | records.TableResult | FormResult
