"""Results of predictions, with shortcuts to their first items, fields and tables."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from presage import records
from presage._records import decode
from presage.errors import PresageError

if TYPE_CHECKING:  # only type checkers need these: typing_extensions is not a dependency
    import pandas
    from typing_extensions import TypeVar

    ResultT_co = TypeVar(
        "ResultT_co",
        bound="Prediction | Detection",
        default="Prediction | Detection",
        covariant=True,
    )
else:
    from typing import TypeVar

    ResultT_co = TypeVar("ResultT_co", covariant=True)


class Prediction(records.Prediction):
    """A prediction. Its labels are sorted, the most probable label first."""

    @property
    def label(self) -> str | None:
        """The most probable label; None if the model rejects the input."""
        return self.probabilities[0].label if self.probabilities else None

    @property
    def probability(self) -> float:
        """The probability of `label`, 0 to 1."""
        return self.probabilities[0].probability if self.probabilities else 0.0


class Detection(records.Detection):
    """Detected objects, most probable first."""

    @property
    def label(self) -> str | None:
        """The label of the most probable object; None if no object was found."""
        return self.probabilities[0].label if self.probabilities else None

    @property
    def probability(self) -> float:
        """The probability of the most probable object, 0 to 1."""
        return self.probabilities[0].probability if self.probabilities else 0.0


class Table(records.FormTableItem):
    """A table of a document."""

    @property
    def rows(self) -> list[list[str]]:
        """The texts of the cells, row by row. All rows have the same length."""
        cells = self.attributes.cells
        height = max((cell.cell_location.row_index for cell in cells), default=0)
        width = max((cell.cell_location.col_index for cell in cells), default=0)
        grid = [[""] * width for _ in range(height)]
        for cell in cells:
            grid[cell.cell_location.row_index - 1][cell.cell_location.col_index - 1] = cell.text
        return grid

    def to_csv(self) -> str:
        """Return the rows as CSV."""
        import csv  # only tables need it

        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.rows)
        return text.getvalue()

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a DataFrame. If the first row is a header, it names the columns.

        Raises:
            PresageError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise PresageError("to_pandas needs pandas: pip install pandas.") from error
        rows = self.rows
        heads = {
            cell.cell_location.col_index
            for cell in self.attributes.cells
            if cell.cell_location.row_index == 1 and cell.cell_type == "columnHeader"
        }
        # If only a few cells are headers, there is no header row: taking one would lose data.
        if rows and len(heads) == len(rows[0]):
            return pandas.DataFrame(rows[1:], columns=rows[0])
        return pandas.DataFrame(rows)


class FormField(records.PairItem):
    """A key of a form with its value."""

    @property
    def entity(self) -> str:
        """The name of the field in the form template (its entity), such as `invoice_number`."""
        return self.attributes.key.entity

    @property
    def value(self) -> str:
        """The text of the value; empty if no value was found."""
        return self.attributes.value.text

    @property
    def checked(self) -> bool | None:
        """Whether the value's tick box is ticked; None without one, or without `form_fields`."""
        return self.attributes.value.checked


class FormFields(list[FormField]):
    """The fields of a form, as a list and as a mapping from entity (name of a field) to field.

    If an entity occurs more than once, for example on several pages, it maps to its most probable
    field.
    """

    def __init__(self, fields: Iterable[FormField] = ()) -> None:
        super().__init__(fields)
        self._by_entity: dict[str, FormField] = {}
        for field in self:
            known = self._by_entity.get(field.entity)
            if known is None or _weight(field) > _weight(known):
                self._by_entity[field.entity] = field

    @overload
    def __getitem__(self, key: str) -> FormField: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> FormField: ...
    @overload
    def __getitem__(self, key: slice) -> list[FormField]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> FormField | list[FormField]:
        """Return the field of the entity named `key`, or the fields at the index or slice `key`."""
        return self._by_entity[key] if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, item: object) -> bool:
        """Return whether the form has the entity with the name `item`, or the field `item`."""
        return item in self._by_entity if isinstance(item, str) else super().__contains__(item)

    @overload
    def get(self, entity: str) -> FormField | None: ...
    @overload
    def get(self, entity: str, default: FormField) -> FormField: ...
    def get(self, entity: str, default: FormField | None = None) -> FormField | None:
        """Return the field of an entity; `default` if the form has no such entity."""
        return self._by_entity.get(entity, default)

    def keys(self) -> list[str]:
        """Return the names of all entities that have a field."""
        return list(self._by_entity)

    def values(self) -> list[FormField]:
        """Return one field for each entity."""
        return list(self._by_entity.values())

    def items(self) -> list[tuple[str, FormField]]:
        """Return each entity with its field."""
        return list(self._by_entity.items())


def _weight(field: FormField) -> tuple[bool, float]:
    """Return a key for comparing fields: whether the field has a value, then its probability."""
    return bool(field.value), field.probability


class TableResult(records.TableResult):
    """The tables of a document."""

    @property
    def tables(self) -> list[Table]:
        """The tables of the document."""
        return [decode(item, Table) for item in self.raw["probabilities"]]


class FormResult(records.FormResult):
    """The fields of a form, and its tables if the form template requests them."""

    probabilities: list[dict[str, Any]]

    @property
    def fields(self) -> FormFields:
        """The fields of the form, as a list and as a mapping from entity to field."""
        return FormFields(decode(item, FormField) for item in self._items("key-value"))

    @property
    def tables(self) -> list[Table]:
        """The tables of the form."""
        return [decode(item, Table) for item in self._items("table")]

    def _items(self, label: str) -> list[dict[str, Any]]:
        return [item for item in self.probabilities if item["label"] == label]


# One class of results for each task.
OcrResult = records.TextResult | records.ContactResult | TableResult | FormResult
