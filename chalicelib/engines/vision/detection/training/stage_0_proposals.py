"""Fits heads that label proposed boxes: one to all training images, and one for each fold.

The head of a fold is fitted to the training images that are not in the fold.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.artifact import add_prefix, strip_prefix
from chalicelib.engines.vision.detection.evaluation.average_precision import (
    evaluate,
    precision_recall,
)
from chalicelib.engines.vision.detection.head.dataset import truth_of
from chalicelib.engines.vision.detection.inference.decoding import select_objects
from chalicelib.engines.vision.detection.proposals.head import (
    ProposalHead,
    ProposalSums,
    sums_of,
)
from chalicelib.engines.vision.detection.proposals.network import Proposals, propose
from chalicelib.engines.vision.detection.report.json_documents import curve_record, metrics_document
from chalicelib.engines.vision.detection.views.maps import SIDE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.detection.training.context import DetectionContext
    from chalicelib.engines.vision.detection.training.folds import TrialFold

# Approximate cost of an image's proposals, in seconds of one core.
PROPOSAL_SECONDS = 0.06
# More images hardly change a linear head of this size.
_MOST_PICTURES = 1_000
# Images whose proposals are kept in memory: about 40 MB.
_MOST_KEPT = 200
_PICTURES_A_STEP = 8
# Held-out images of the learning curve's first record, to bound the time of one step.
_MOST_MEASURED = 60


class ProposalStage:
    """Sums the features of proposed boxes over the training images of each fold."""

    def __init__(self, context: DetectionContext, folds: Sequence[TrialFold]) -> None:
        self._context = context
        # Tiles show objects that are too small for the detector in the whole image.
        usable = [] if context.rules.is_tiled else list(context.trained)
        generator = np.random.Generator(np.random.PCG64([context.options.seed, 4]))
        order = generator.permutation(len(usable))[:_MOST_PICTURES]
        self._places = [usable[index] for index in order]
        trained = [frozenset(fold.trained) for fold in folds]
        self._fold_of = {
            place: fold
            for place in self._places
            for fold, others in enumerate(trained)
            if place not in others
        }
        # The last sums belong to images that are in no fold.
        self._sums = [ProposalSums.empty(len(context.labels)) for _ in range(len(folds) + 1)]
        self._kept: dict[int, Proposals] = {}
        self._heads: dict[int | None, tuple[ProposalHead, float]] = {}
        self._next = 0

    @property
    def seconds(self) -> float:
        """Return the approximate time of the stage, in seconds on one core."""
        return len(self._places) * PROPOSAL_SECONDS

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        return self._next / len(self._places) if self._places else 1.0

    @property
    def is_done(self) -> bool:
        """Whether the proposals of every training image have been added."""
        return self._next >= len(self._places)

    @property
    def has_heads(self) -> bool:
        """Whether the training uses proposals. If so, this stage fits the heads that label them."""
        return bool(self._places)

    @property
    def loss(self) -> float:
        """Mean squared error of the head that is fitted to all training images."""
        return self._fitted(None)[1]

    @property
    def records(self) -> int:
        """Number of learning curve records so far, at most 1."""
        return int(self.is_done and self._context.has_proposal_record)

    def advance(self) -> dict[str, Any] | None:
        """Add the proposals of the next images to the sums of their fold."""
        places = self._places[self._next : self._next + _PICTURES_A_STEP]
        pictures = self._context.data.pictures.pictures
        for place, proposals in zip(places, self.proposals(places), strict=True):
            fold = self._fold_of.get(place, len(self._sums) - 1)
            self._sums[fold].add(proposals, *truth_of(pictures[place]))
        self._next += len(places)
        return self._record() if self.records else None

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays; `restore` resumes from them."""
        arrays: dict[str, Array] = {"next": np.array([self._next])}
        for fold, sums in enumerate(self._sums):
            arrays |= add_prefix(str(fold), sums.arrays())
        return arrays

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        self._next = int(arrays["next"][0])
        self._sums = [sums_of(strip_prefix(str(fold), arrays)) for fold in range(len(self._sums))]

    def head(self, without: int | None = None) -> ProposalHead:
        """Return the head fitted to all training images, or to all except the fold `without`."""
        return self._fitted(without)[0]

    def proposals(self, places: Sequence[int]) -> list[Proposals]:
        """Return the proposed boxes of some images."""

        def proposals_of(place: int) -> Proposals:
            image = self._context.data.open_picture(place, SIDE)
            return propose(self._context.backbones, image)

        missing = [place for place in places if place not in self._kept]
        with ThreadPoolExecutor(max(1, self._context.options.threads)) as pool:
            made = dict(zip(missing, pool.map(proposals_of, missing), strict=True))
        found = [self._kept[place] if place in self._kept else made[place] for place in places]
        self._kept |= dict(list(made.items())[: max(0, _MOST_KEPT - len(self._kept))])
        return found

    def _record(self) -> dict[str, Any]:
        context, head = self._context, self.head()
        places = context.tested[:_MOST_MEASURED]
        evaluated = [
            evaluate(
                select_objects(head.candidates(proposals), context.rules),
                *truth_of(context.data.pictures.pictures[place]),
                len(context.labels),
            )
            for place, proposals in zip(places, self.proposals(places), strict=True)
        ]
        by_label = precision_recall(evaluated, len(context.labels))
        return curve_record(1, metrics_document(context.labels, by_label, self.loss))

    def _fitted(self, without: int | None) -> tuple[ProposalHead, float]:
        if without not in self._heads:
            whole = ProposalSums.empty(len(self._context.labels))
            for fold, sums in enumerate(self._sums):
                if fold != without:
                    whole = whole.joined(sums)
            self._heads[without] = whole.fit()
        return self._heads[without]
