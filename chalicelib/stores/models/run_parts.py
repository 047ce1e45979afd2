"""What a training gives away: texts or views of pictures, in parts that go when they are done.

They lie beside the dataset, in a folder of the run, and die with either. A stage is what one
encoder or extractor has to do; beside its parts stands how many there were, for ever of this run.
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
    """A part that waits."""

    name: str
    """Of what comes out of it: whoever does the part again writes the same object."""


class RunParts:
    """Reads and writes them."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def write(
        self, model: Model, stage: str, works: Sequence[PartWork], shares: tuple[float, float]
    ) -> None:
        """Write the parts of a stage.

        Args:
            model: the run.
            stage: its name.
            works: the parts in their order.
            shares: progress of the run before and after the stage.
        """
        for number, work in enumerate(works):
            content = {"dataset": work.dataset_id, "engine": work.engine, "items": [*work.items]}
            self._artifacts.put_json(part_key(model, stage, number), content)
        # Last of all: a stage that was cut off here is written again.
        content = {"parts": len(works), "shares": shares}
        self._artifacts.put_json(f"{_folder(model)}{stage}.json", content)

    def was_written(self, model: Model, stage: str) -> bool:
        """Tell whether this run has given the stage away before."""
        return bool(self._artifacts.keys(f"{_folder(model)}{stage}.json"))

    def read(self, key: str) -> RunPart | None:
        """Read a part; None when it is done."""
        content = self._artifacts.get_json(key)
        if content is None:
            return None
        path = PurePosixPath(key)
        name = f"{path.parts[-3]}-{path.parts[-2]}-{path.stem}"
        return RunPart(content["dataset"], content["engine"], content["items"], name)

    def waiting(self, model: Model) -> list[str]:
        """List the parts of a run that wait, by key."""
        return [key for key in self._artifacts.keys(_folder(model)) if _is_part(key)]

    def left(self, key: str) -> list[str]:
        """List what waits of the stage of a part, by key."""
        return self._artifacts.keys(f"{PurePosixPath(key).parent}/")

    def progress(self, key: str, left: int) -> float:
        """Return the progress of a run when so many parts wait of the stage of a part."""
        stage = self._artifacts.get_json(f"{PurePosixPath(key).parent}.json")
        if stage is None:
            return 0.0
        begin, end = stage["shares"]
        return float(begin + (end - begin) * max(0.0, 1 - left / stage["parts"]))

    def done(self, key: str) -> None:
        """Remove a part."""
        self._artifacts.delete(key)

    def delete(self, model: Model) -> None:
        """Remove everything of a run that is over."""
        self._artifacts.delete_prefix(_folder(model))


def part_key(model: Model, stage: str, number: int) -> str:
    """Place of a part."""
    return f"{_folder(model)}{stage}/{number:05d}.json"


def further(key: str, places: int) -> str:
    """Place of the part so many places further on."""
    path = PurePosixPath(key)
    return f"{path.parent}/{int(path.stem) + places:05d}.json"


def _folder(model: Model) -> str:
    return f"{dataset_prefix(model.dataset_id)}runs/{model.model_id}-{model.run}/"


def _is_part(key: str) -> bool:
    """Tell a part from what is noted beside the parts of a stage."""
    return PurePosixPath(key).parent.parent.parent.name == "runs"
