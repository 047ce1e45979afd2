"""Corrects datasets: renames datasets and labels, changes and removes examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chalicelib.domain.datasets.corrections import (
    Correction,
    CorrectionResult,
    ExampleChange,
    ExampleNotFound,
    target_label,
)
from chalicelib.domain.datasets.dataset import LANGUAGE, Dataset, DatasetView, Label
from chalicelib.domain.datasets.example import ExampleView
from chalicelib.domain.datasets.fields import checked_label, checked_name, checked_text
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import EXTRA_LABEL, OTHER_LABEL, SuspectExample
from chalicelib.errors import (
    BadRequest,
    Conflict,
    DatasetBeingDeleted,
    InvalidParameter,
    LabelNotFound,
    SuspectsNotKept,
)
from chalicelib.stores.datasets.corrections import CorrectionPlan, CorrectionStore
from chalicelib.stores.datasets.leases import DatasetLeases, OwnedDataset

if TYPE_CHECKING:
    from chalicelib.stores.datasets.datasets import DatasetStore
    from chalicelib.stores.datasets.example_views import ExampleViews
    from chalicelib.stores.datasets.labels import LabelStore
    from chalicelib.stores.datasets.ownership import DatasetOwnership
    from chalicelib.stores.datasets.receipts import CorrectionReceipts
    from chalicelib.stores.models.versions import ModelVersions


@dataclass(frozen=True, kw_only=True)
class CorrectionServiceStores:
    """Stores used by `CorrectionService`."""

    dataset_leases: DatasetLeases
    datasets: DatasetStore
    example_views: ExampleViews
    labels: LabelStore
    correction_receipts: CorrectionReceipts
    corrections: CorrectionStore
    model_files: ModelVersions
    ownership: DatasetOwnership


class CorrectionService:
    """Corrects datasets. One write of the dataset's row commits a correction.

    Corrections of labels and examples raise DatasetNotYetAvailable while an upload is running, and
    DatasetBeingDeleted while the dataset is being deleted.
    """

    def __init__(self, stores: CorrectionServiceStores) -> None:
        self._stores = stores

    def rename_dataset(self, view: DatasetView, name: str) -> DatasetView:
        """Rename a dataset.

        Raises:
            InvalidParameter: the name is not allowed.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        name = checked_name(name)
        if not self._stores.datasets.rename(view.dataset, name):
            raise DatasetBeingDeleted(view.dataset.dataset_id)
        dataset = view.dataset
        found = self._stores.datasets.find(dataset.account_id, dataset.family, dataset.dataset_id)
        return replace(view, dataset=found or dataset)

    def rename_label(self, view: DatasetView, label: Label, name: str) -> Label:
        """Rename a label. Later uploads and feedback that use the old name also get this label.

        Raises:
            InvalidParameter: the name is not allowed.
            Conflict: another label has the name.
            LabelNotFound: another call has removed the label.
        """
        name = checked_label(name, view.dataset.type, "name")
        check_changeable(view.dataset)

        def rename(owned: OwnedDataset) -> Label:
            return self._rename(owned, label.label_id, name)

        return self._stores.ownership.while_owned(view.dataset, rename)

    def _rename(self, owned: OwnedDataset, label_id: int, name: str) -> Label:
        stores, dataset = self._stores, owned.dataset
        view = stores.labels.view(dataset)
        label = view.label(label_id)
        if label is None:
            raise LabelNotFound(label_id)
        # Checked under the lease: another call may add or rename a label until then.
        same = (one for one in view.labels if normal_form(one.name) == normal_form(name))
        if any(one.label_id != label_id for one in same):
            raise Conflict(
                f"Dataset {dataset.dataset_id} has a label '{name}' already. Send its id as "
                "'mergeInto' to merge both labels.",
                code="label_exists",
            )
        if label.name == name:
            stores.dataset_leases.release(dataset, owned.lease)
            return label
        fence = owned.lease.fence
        counts = {c.label_id: c for c in dataset.counts}
        # The new name only shows once the dataset's row, written next, holds its fence.
        stores.labels.rename(counts[label_id], name, fence)
        counts[label_id] = replace(counts[label_id], name_fence=fence)
        stores.dataset_leases.commit_names(dataset, owned.lease, tuple(counts.values()))
        renamed = stores.labels.view(replace(dataset, counts=tuple(counts.values())))
        return renamed.label(label_id) or label

    def find_example(self, view: DatasetView, example_id: int) -> None:
        """Raise ExampleNotFound unless a dataset has an example with this id."""
        if example_id not in self._stores.corrections.find(view.dataset, [example_id]):
            raise ExampleNotFound(example_id)

    def change_example(
        self, view: DatasetView, change: Correction, document: str | None = None
    ) -> CorrectionResult:
        """Change the label or text of an example.

        Raises:
            BadRequest: the request has no change.
            InvalidParameter: the text or label is not allowed.
            LabelNotFound: the dataset has no label of this id.
            ExampleNotFound: another call has removed the example.
        """
        label_id = target_label(view, change)
        if document is not None and view.dataset.family != LANGUAGE:
            raise InvalidParameter("document", "images have no text; send a label.")
        if not label_id and document is None:
            raise BadRequest(
                "Send 'labelId' or 'label', the 'document' of a text, or the 'boxes' of an image."
            )
        text = None if document is None else checked_text(document)
        return self._apply(view, [ExampleChange(change.example_id, label_id, text)])

    def find_done(
        self, view: DatasetView, call_digest: str, example_id: int | None = None
    ) -> CorrectionResult | None:
        """Return the result of an earlier attempt at this call; None if no attempt changed data.

        `call_digest` identifies the call. The receipt of each correction stores the digest of
        the call that made the correction. If `example_id` is given, the result includes the present
        state of this example.
        """
        done = self._stores.correction_receipts.find_by_call(view.dataset, call_digest)
        if done is None or example_id is None:
            return done
        found = self._stores.corrections.find(view.dataset, [example_id]).get(example_id)
        return replace(done, examples=(found[1],)) if found else done

    def show(self, view: DatasetView, result: CorrectionResult) -> tuple[ExampleView, ...]:
        """Return the examples that a correction changed, with their labels and locations.

        Raises:
            DatasetNotFound: the dataset is being deleted.
        """
        if not result.examples:
            return ()
        row, stores = view.dataset, self._stores
        found = stores.datasets.find(row.account_id, row.family, row.dataset_id)
        now = stores.labels.view(found or row)
        pairs = ((example, now.label(example.label_id)) for example in result.examples)
        return stores.example_views.show(row, [(one, label) for one, label in pairs if label])

    def remove_example(self, view: DatasetView, example_id: int) -> CorrectionResult:
        """Remove an example; raise ExampleNotFound if another call has removed the example."""
        return self._apply(view, [ExampleChange(example_id, is_removed=True)])

    def remove_label(
        self, view: DatasetView, label: Label, merge_target: Label | None = None
    ) -> CorrectionResult:
        """Remove a label with its examples, or merge the label into `merge_target`.

        Raises:
            InvalidParameter: a label is merged into itself.
            LabelNotFound: another call has removed one of the labels.
        """
        if merge_target is not None and merge_target.label_id == label.label_id:
            raise InvalidParameter("mergeInto", "it is the label itself; send another label's id.")
        check_changeable(view.dataset)

        def plan(dataset: Dataset) -> CorrectionPlan:
            counts = {c.label_id: c for c in dataset.counts}
            # A label may have been removed since the call read the dataset.
            for one in (label, merge_target):
                if one is not None and one.label_id not in counts:
                    raise LabelNotFound(one.label_id)
            into = counts[merge_target.label_id] if merge_target else None
            return CorrectionPlan(removed_label=counts[label.label_id], merge_target=into)

        return self._stores.corrections.correct(view.dataset, plan)

    def correct(self, view: DatasetView, corrections: Sequence[Correction]) -> CorrectionResult:
        """Move many examples to other labels, or remove them, in one commit.

        Raises:
            InvalidParameter: an example is listed twice, or its correction is ambiguous.
            LabelNotFound: one of the label ids is not in the dataset.
            ExampleNotFound: one of the example ids is not in the dataset.
        """
        seen: set[int] = set()
        changes = []
        for place, one in enumerate(corrections):
            at = f"corrections[{place}]"
            if one.example_id in seen:
                raise InvalidParameter(
                    f"{at}.exampleId", f"example {one.example_id} is listed twice; send it once."
                )
            seen.add(one.example_id)
            label_id = target_label(view, one, at + ".")
            if bool(label_id) == one.is_removed:
                raise InvalidParameter(
                    at, "send 'labelId', 'label' or 'remove': true, one of them."
                )
            changes.append(ExampleChange(one.example_id, label_id, is_removed=one.is_removed))
        return self._apply(view, changes)

    def correct_from_report(
        self, view: DatasetView, model: Model, confidence: float
    ) -> CorrectionResult:
        """Apply the label suggestions of a model's report to the dataset `view`.

        Examples that were moved, edited or removed after the training are skipped.

        Args:
            view: the dataset that the model was trained from.
            model: the model whose last successful training flagged examples.
            confidence: minimum confidence, 0 to 1, of the suggestions to apply.

        Raises:
            InvalidParameter: the model was trained from another dataset than `view`.
            SuspectsNotKept: the model has no stored report.
        """
        if model.dataset_id != view.dataset.dataset_id:
            raise InvalidParameter(
                "fromReportOf",
                f"model {model.model_id} was trained from dataset {model.dataset_id}, not from "
                f"{view.dataset.dataset_id}.",
            )
        suspects = self._stores.model_files.suspects(model)
        if suspects is None:
            raise SuspectsNotKept(model.model_id)
        check_changeable(view.dataset)
        sure = [one for one in suspects if one.confidence >= confidence and _is_correctable(one)]
        return self._stores.corrections.correct(
            view.dataset, lambda dataset: self._report_plan(dataset, sure)
        )

    def _report_plan(self, dataset: Dataset, suspects: Sequence[SuspectExample]) -> CorrectionPlan:
        """Plan the suggested changes of `suspects`; skip examples changed after the training."""
        view = self._stores.labels.view(dataset)
        found = self._stores.corrections.find(dataset, [one.example_id for one in suspects])
        changes: dict[int, ExampleChange] = {}
        skipped = 0
        for one in suspects:
            sequence, example = found.get(one.example_id, (None, None))
            # Also looked up by name, because the label may have been removed and created again
            # since.
            target = view.label(one.suggestion_id) or view.label_named(one.suggestion)
            # An example that was moved or edited after the training keeps its correction.
            is_same = (
                sequence is not None
                and example is not None
                and sequence.label_id == one.label_id
                and example.digest.hex() == one.digest
            )
            removes = one.reason == EXTRA_LABEL
            if not is_same or (target is None and not removes) or one.example_id in changes:
                skipped += 1
                continue
            label_id = 0 if removes or target is None else target.label_id
            changes[one.example_id] = ExampleChange(one.example_id, label_id, is_removed=removes)
        return CorrectionPlan(tuple(changes.values()), skipped=skipped)

    def _apply(self, view: DatasetView, changes: Sequence[ExampleChange]) -> CorrectionResult:
        check_changeable(view.dataset)
        return self._stores.corrections.correct(view.dataset, lambda _: CorrectionPlan(changes))


def _is_correctable(suspect: SuspectExample) -> bool:
    """Return whether a suspect can be corrected by changing or removing its label."""
    return suspect.reason in (OTHER_LABEL, EXTRA_LABEL)
