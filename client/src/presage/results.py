"""What predictions return: the record, with its first item at hand."""

from __future__ import annotations

import msgspec

from presage import records


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
        return msgspec.convert(self._items("key-value"), list[records.PairItem])

    @property
    def tables(self) -> list[records.FormTableItem]:
        """Tables."""
        return msgspec.convert(self._items("table"), list[records.FormTableItem])

    def _items(self, label: str) -> list[dict[str, object]]:
        return [item for item in self.probabilities if item["label"] == label]


OcrResult = records.TextResult | records.ContactResult | records.TableResult | FormResult
"""One for each task."""
