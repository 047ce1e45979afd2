"""Stores the parts of a training that other workers compute. Finished parts are deleted.

A part is a list of texts, or of views of images (the image or an augmented copy). The parts of a
run are stored under the prefix of its dataset, and are deleted with the run or the dataset. All
parts for one encoder or extractor form a stage. Another object stores how many parts a stage has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from chalicelib.domain.jobs.spreading import PartWork
from chalicelib.domain.models.model import Model
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix


@dataclass(frozen=True)
class RunPart(PartWork):
    """An unfinished part of a training run."""

    name: str
    """Name of the object for vectors or features. A repeated part overwrites this object."""


class RunParts:
    """Reads, writes and deletes the parts of runs."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def write(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Write the parts of a stage (the work for one encoder or extractor).

        `shares` is the progress of the run at the start and at the end of the stage, 0 to 1.
        """
        for number, work in enumerate(works):
            content = {"dataset": work.dataset_id, "engine": work.engine, "items": [*work.items]}
            self._artifacts.put_json(part_key(model, stage, number), content)
        # Last, so that a stage that was not written completely is written again.
        content = {"parts": len(works), "shares": shares}
        self._artifacts.put_json(f"{_folder(model)}{stage}.json", content)

    def was_written(self, model: Model, stage: str) -> bool:
        """Return whether this run has already written the parts for one encoder or extractor."""
        return bool(self._artifacts.keys(f"{_folder(model)}{stage}.json"))

    def read(self, key: str) -> RunPart | None:
        """Return a part; None if it is finished."""
        content = self._artifacts.get_json(key)
        if content is None:
            return None
        path = PurePosixPath(key)
        name = f"{path.parts[-3]}-{path.parts[-2]}-{path.stem}"
        return RunPart(content["dataset"], content["engine"], content["items"], name)

    def waiting(self, model: Model) -> list[str]:
        """Return the keys of all unfinished parts of a run."""
        return [key for key in self._artifacts.keys(_folder(model)) if _is_part(key)]

    def unfinished_keys(self, key: str) -> list[str]:
        """Return the keys of the unfinished parts of the stage that the part `key` belongs to."""
        return self._artifacts.keys(f"{PurePosixPath(key).parent}/")

    def progress(self, key: str, unfinished: int) -> float:
        """Return the progress of a run, 0 to 1.

        `unfinished` is the number of unfinished parts of the stage that the part `key` belongs to.
        """
        stage = self._artifacts.get_json(f"{PurePosixPath(key).parent}.json")
        if stage is None:
            return 0.0
        begin, end = stage["shares"]
        return float(begin + (end - begin) * max(0.0, 1 - unfinished / stage["parts"]))

    def delete_part(self, key: str) -> None:
        """Delete a finished part."""
        self._artifacts.delete(key)

    def delete(self, model: Model) -> None:
        """Delete all parts of an ended run."""
        self._artifacts.delete_prefix(_folder(model))


def part_key(model: Model, stage: str, number: int) -> str:
    """Return the key of a part."""
    return f"{_folder(model)}{stage}/{number:05d}.json"


def part_after(key: str, places: int) -> str:
    """Return the key of the part that comes `places` parts later in the same stage."""
    path = PurePosixPath(key)
    return f"{path.parent}/{int(path.stem) + places:05d}.json"


def _folder(model: Model) -> str:
    return f"{dataset_prefix(model.dataset_id)}runs/{model.model_id}-{model.run}/"


def _is_part(key: str) -> bool:
    # The object with the number of a stage's parts is one folder higher.
    return PurePosixPath(key).parent.parent.parent.name == "runs"
