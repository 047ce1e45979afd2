"""Corrects examples: acquires the lease, writes new chunks, and commits with one write.

The commit stores the new counts and layouts. Before the commit, the chunks to be replaced are
recorded. These chunks are deleted later, because lists, exports and trainings may still read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chalicelib.domain.datasets.corrections import (
    CorrectionResult,
    ExampleChange,
    ExampleNotFound,
    Traces,
)
from chalicelib.domain.datasets.dataset import FEEDBACK, SOURCES, Dataset, LabelCounts
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.datasets.fields import count_words
from chalicelib.domain.jobs.deletion import TRACES, Deletion, deletion_of
from chalicelib.domain.jobs.messages import DeleteJob
from chalicelib.errors import LabelNotFound
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.leases import Addition, DatasetLeases, OwnedDataset
from chalicelib.stores.datasets.ownership import DatasetOwnership
from chalicelib.stores.datasets.receipts import CorrectionReceipts
from chalicelib.stores.datasets.traces import TraceStore
from chalicelib.stores.examples.chunk_edits import ChunkEditor, SequenceEdit
from chalicelib.stores.examples.digest_index import DigestIndex
from chalicelib.stores.examples.example_search import ExamplePlaces, ExampleSearch, IdSearch
from chalicelib.stores.examples.examples import ExampleSequence, ExampleStore, sequence_of
from chalicelib.stores.jobs.deletions import DeletionStore
from chalicelib.stores.jobs.heartbeats import Heartbeat
from chalicelib.stores.jobs.queues import DELETE, Queues, retried_by_sweep

# Seconds before replaced chunks are deleted, in which readers that have started still find them.
CLEARED_AFTER_SECONDS = 60
Found = Mapping[int, tuple[ExampleSequence, Example]]


class CorrectionStores(Protocol):
    """Stores used by `CorrectionStore`."""

    dataset_leases: DatasetLeases
    ownership: DatasetOwnership
    examples: ExampleStore
    example_places: ExamplePlaces
    digests: DigestIndex
    labels: LabelStore
    traces: TraceStore
    correction_receipts: CorrectionReceipts
    deletions: DeletionStore
    queues: Queues


@dataclass(frozen=True)
class CorrectionPlan:
    """The changes of one correction."""

    changes: Sequence[ExampleChange] = ()
    """Changes of examples, at most one per example."""
    removed_label: LabelCounts | None = None
    """Label to remove. Its examples are removed, too, unless `changes` moves them."""
    merge_target: LabelCounts | None = None
    """Label that gets the examples and names of `removed_label`; None to remove the examples."""
    skipped: int = 0
    """Number of possibly mislabelled examples that stay unchanged. The result contains this number.
    """
    added: Sequence[tuple[str, Example]] = ()
    """New examples with their sources. They must differ from all examples that remain."""
    shown: Sequence[Example] = ()
    """Examples that do not change but are listed in the result."""


@translate_errors
class CorrectionStore:
    """Corrects datasets. Only one correction of a dataset runs at a time."""

    def __init__(self, stores: CorrectionStores, lease_seconds: float) -> None:
        self._stores = stores
        self._lease_seconds = lease_seconds
        self._editor = ChunkEditor(stores.examples, stores.digests)
        self._search = ExampleSearch(stores.examples)

    def correct(
        self, dataset: Dataset, plan: Callable[[Dataset], CorrectionPlan]
    ) -> CorrectionResult:
        """Correct a dataset as soon as its lease is free.

        `plan` returns the changes, given the dataset as read under the lease.

        Raises:
            ExampleNotFound: an example does not exist.
            LabelNotFound: a label does not exist.
            DatasetNotYetAvailable: an upload or another change holds the lease.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        done = self._stores.ownership.while_owned(
            dataset, lambda owned: self._correct(owned, plan(owned.dataset))
        )
        if done.moved or done.changed or done.removed or done.duplicates or done.added:
            self._announce(dataset)
        return done

    def find(self, dataset: Dataset, ids: Sequence[int]) -> Found:
        """Return examples by id, each with the sequence that contains it; skip unknown ids."""
        counts = {c.label_id: c for c in dataset.counts}
        places = self._stores.example_places.find(dataset.dataset_id, ids)
        return self._search.find(
            [
                IdSearch(sequence_of(dataset.dataset_id, source, c), c.count(source), number)
                for number, noted in places.items()
                for c in _candidates(counts, noted, dataset)
                for source in SOURCES
            ]
        )

    def _correct(self, owned: OwnedDataset, plan: CorrectionPlan) -> CorrectionResult:
        leases, dataset = self._stores.dataset_leases, owned.dataset
        with Heartbeat(lambda: leases.keep(dataset, owned.lease), self._lease_seconds) as beat:
            work = _Work(self._stores, dataset)
            found = self._found(dataset, plan)
            done = work.apply(found, plan)
            if not work.is_needed and plan.removed_label is None:
                leases.release(dataset, owned.lease)
                return done
            fence = owned.lease.fence
            self._stores.example_places.note(dataset.dataset_id, work.moved)
            self._editor.write(work.edits, fence, beat.check)
            self._name_merge_target(plan, fence)
            addition = work.addition(plan, fence)
            # Noted before the commit: if the process dies in between, the chunks are found.
            self._stores.traces.put(dataset, fence, work.traces())
            created_at = self._stores.correction_receipts.put(dataset, fence, done)
            self._stores.deletions.reopen(traces_of(dataset))
            beat.check()
            gone = plan.removed_label.label_id if plan.removed_label else 0
            leases.commit_correction(dataset, owned.lease, addition, gone)
        return replace(done, correction_id=fence, created_at=created_at)

    def _found(self, dataset: Dataset, plan: CorrectionPlan) -> Found:
        """Return all examples that a plan changes, and all examples of a removed label."""
        found = dict(self.find(dataset, [change.example_id for change in plan.changes]))
        for change in plan.changes:
            if change.example_id not in found:
                raise ExampleNotFound(change.example_id)
        if plan.removed_label is not None:
            for source in SOURCES:
                sequence = sequence_of(dataset.dataset_id, source, plan.removed_label)
                count = plan.removed_label.count(source)
                examples = self._stores.examples.read(sequence, 0, count)
                found |= {example.example_id: (sequence, example) for example in examples}
        return found

    def _announce(self, dataset: Dataset) -> None:
        with retried_by_sweep("traces", dataset=dataset.dataset_id):
            job = DeleteJob.of(traces_of(dataset))
            self._stores.queues.send(DELETE, job, CLEARED_AFTER_SECONDS)

    def _name_merge_target(self, plan: CorrectionPlan, fence: int) -> None:
        if plan.merge_target is not None and plan.removed_label is not None:
            [name] = self._stores.labels.names([plan.merge_target]).values()
            self._stores.labels.rename(plan.merge_target, name, fence, [plan.removed_label])


def traces_of(dataset: Dataset) -> Deletion:
    """Return a deletion record for the data that was replaced by corrections of a dataset."""
    return deletion_of(dataset.account_id, TRACES, str(dataset.dataset_id), dataset.family)


class _Work:
    """Collects the changes of a correction: one edit per label and source, and the new totals."""

    def __init__(self, stores: CorrectionStores, dataset: Dataset) -> None:
        self._stores = stores
        self._dataset = dataset
        self._counts = {c.label_id: c for c in dataset.counts}
        self._edits: dict[tuple[str, int], SequenceEdit] = {}
        self._totals = {True: dataset.words_feedback, False: dataset.words_upload}
        self._bytes = dataset.bytes
        self._traces = Traces()
        self._shown: list[Example] = []
        # Examples with a new label, and new examples, whose places must be noted.
        self.moved: list[Example] = []

    @property
    def is_needed(self) -> bool:
        """Return whether the correction changes anything."""
        return bool(self._edits)

    @property
    def edits(self) -> list[SequenceEdit]:
        """Return the edits to write: one edit per label and source, except for removed labels."""
        return list(self._edits.values())

    def apply(self, examples: Found, plan: CorrectionPlan) -> CorrectionResult:
        """Add the changes of a plan to `edits`; return the correction's result.

        The caller writes the edits.
        """
        counted = {"moved": 0, "changed": 0, "removed": 0}
        self._shown = list(plan.shown)
        for source, example in plan.added:
            self._add(source, example)
        changes = [*plan.changes, *_of_label(examples, plan)]
        for change in changes:
            sequence, example = examples[change.example_id]
            kind = self._change(sequence, example, change)
            if kind:
                counted[kind] += 1
        duplicates = sum(self._keep_lower(edit) for edit in self._edits.values())
        if plan.removed_label is not None:
            self._drop(plan.removed_label)
        is_shown = len(changes) == 1 or plan.added or plan.shown
        return CorrectionResult(
            moved=counted["moved"],
            changed=counted["changed"],
            removed=counted["removed"],
            added=len(plan.added),
            duplicates=duplicates,
            skipped=plan.skipped,
            examples=tuple(self._shown) if is_shown else (),
        )

    def addition(self, plan: CorrectionPlan, fence: int) -> Addition:
        """Return the totals of the dataset after the correction, to be committed."""
        counts = dict(self._counts)
        for (source, label_id), edit in self._edits.items():
            counts[label_id] = counts[label_id].with_layout(source, edit.new_count, fence)
        if plan.removed_label is not None:
            del counts[plan.removed_label.label_id]
        if plan.merge_target is not None:
            label_id = plan.merge_target.label_id
            counts[label_id] = replace(counts[label_id], name_fence=fence)
        return Addition(
            counts=tuple(counts.values()),
            duplicates=self._dataset.duplicates,
            words_upload=self._totals[False],
            words_feedback=self._totals[True],
            bytes=self._bytes,
        )

    def traces(self) -> Traces:
        """Return the data that the correction replaces. Call this after the edits were written."""
        for edit in self._edits.values():
            self._traces.chunks += edit.dead
        return self._traces

    def _change(self, sequence: ExampleSequence, example: Example, change: ExampleChange) -> str:
        """Add a change to the edits; return `removed`, `moved`, `changed`, or "" for no effect."""
        label_id = change.label_id or example.label_id
        if label_id not in self._counts:
            raise LabelNotFound(label_id)
        text = example.name if change.document is None else change.document
        if change.is_removed:
            self._edit(sequence.source, sequence.label_id).removed.add(example.example_id)
            self._gone(sequence.source, example)
            return "removed"
        new = replace(example, label_id=label_id, name=text)
        if new == example:
            self._shown.append(example)
            return ""
        self._edit(sequence.source, sequence.label_id).removed.add(example.example_id)
        self._edit(sequence.source, label_id).added.append(new)
        self._shown.append(new)
        if label_id != example.label_id:
            self.moved.append(new)
        if text != example.name:
            self._traces.replaced.append(example.example_id)
            self._count(sequence.source, example, -1)
            self._count(sequence.source, new, 1)
        return "moved" if label_id != example.label_id else "changed"

    def _add(self, source: str, example: Example) -> None:
        if example.label_id not in self._counts:
            raise LabelNotFound(example.label_id)
        self._edit(source, example.label_id).added.append(example)
        self._count(source, example, 1)
        self._shown.append(example)
        self.moved.append(example)

    def _keep_lower(self, edit: SequenceEdit) -> int:
        """Remove each example that equals an example with a lower id; return the number removed."""
        if not edit.added:
            return 0
        digests = [example.digest for example in edit.added]
        there = self._stores.digests.find_all(edit.sequence, edit.count, digests)
        kept = {d: e for d, e in there.items() if e.example_id not in edit.removed}
        old = {example.example_id for example in kept.values()}
        left_out = 0
        for example in sorted(edit.added, key=lambda one: one.example_id):
            other = kept.setdefault(example.digest, example)
            if other is example:
                continue
            left_out += 1
            first, second = sorted((other, example), key=lambda one: one.example_id)
            kept[example.digest] = first
            if second.example_id in old:
                edit.removed.add(second.example_id)
            self._gone(edit.sequence.source, second)
            self._shown = [first if one == second else one for one in self._shown]
        edit.added = [e for e in kept.values() if e.example_id not in old]
        return left_out

    def _drop(self, label: LabelCounts) -> None:
        """Record the chunks of a removed label, so that they are deleted later."""
        for source in SOURCES:
            self._edits.pop((source, label.label_id), None)
            sequence = sequence_of(self._dataset.dataset_id, source, label)
            parts = self._stores.examples.layout(sequence).blocks(0, label.count(source))
            self._traces.chunks += [(sequence.key, part.number) for part in parts]
            if sequence.layout:
                self._traces.chunks.append((sequence.key, -sequence.layout))

    def _edit(self, source: str, label_id: int) -> SequenceEdit:
        key = source, label_id
        if key not in self._edits:
            counts = self._counts[label_id]
            sequence = sequence_of(self._dataset.dataset_id, source, counts)
            self._edits[key] = SequenceEdit(sequence, counts.count(source))
        return self._edits[key]

    def _gone(self, source: str, example: Example) -> None:
        self._traces.gone.append(example.example_id)
        self._count(source, example, -1)

    def _count(self, source: str, example: Example, sign: int) -> None:
        # The bytes of an image are subtracted when its file is deleted.
        if not example.picture:
            words = count_words(example.name, self._dataset.language)
            self._totals[source == FEEDBACK] += sign * words
            self._bytes += sign * len(example.name.encode("utf-8", "surrogatepass"))


def _candidates(
    counts: Mapping[int, LabelCounts], label_ids: set[int], dataset: Dataset
) -> Iterable[LabelCounts]:
    """Return the labels that may contain an example, given its stored label ids."""
    # Datasets of older versions have no noted places, so any label may contain the example.
    there = [counts[label_id] for label_id in label_ids if label_id in counts]
    return there if there or dataset.is_placed else counts.values()


def _of_label(examples: Found, plan: CorrectionPlan) -> list[ExampleChange]:
    """Return the changes that move or remove all examples of a removed label."""
    if plan.removed_label is None:
        return []
    merge_target = plan.merge_target.label_id if plan.merge_target else 0
    return [
        ExampleChange(number, label_id=merge_target, is_removed=not merge_target)
        for number, (sequence, _) in examples.items()
        if sequence.label_id == plan.removed_label.label_id
    ]
