"""Image datasets and models of one account, which tests over HTTP share but do not change."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tests.pictures import detection_files, draw, label_folders, make_zip

if TYPE_CHECKING:
    from tests.live import Caller, Live

VISION = "/v2/vision"
EPOCHS = 3
"""Epochs of the shared models, which need not be good."""


class Studio:
    """The datasets and models of one account; each is created when it is first used."""

    def __init__(self, live: Live) -> None:
        self._live = live

    @cached_property
    def caller(self) -> Caller:
        """The account."""
        return self._live.caller("painter")

    @cached_property
    def signs(self) -> dict[str, Any]:
        """A dataset of type image: two labels of six images each."""
        return self._dataset("image", label_folders({"circle": 6, "square": 6}))

    @cached_property
    def baskets(self) -> dict[str, Any]:
        """A dataset of type image-multi-label: some images are in both folders."""
        files = label_folders({"circle": 6, "square": 6})
        both = {f"square/{number}.png": draw("circle", salt=number) for number in range(2)}
        return self._dataset("image-multi-label", {**files, **both})

    @cached_property
    def scenes(self) -> dict[str, Any]:
        """A dataset of type image-detection: six images of two boxes each."""
        return self._dataset("image-detection", detection_files(6))

    @cached_property
    def classifier(self) -> str:
        """A model trained on `signs`."""
        return self._model(self.signs)

    @cached_property
    def tagger(self) -> str:
        """A model trained on `baskets`."""
        return self._model(self.baskets)

    @cached_property
    def finder(self) -> str:
        """A model trained on `scenes`."""
        return self._model(self.scenes)

    def belongings(self) -> tuple[Any, ...]:
        """Return the account's datasets with their counts, and its models."""
        datasets = self.caller.get(f"{VISION}/datasets").ok()["data"]
        paths = [f"{VISION}/datasets/{found['id']}/models" for found in datasets]
        return datasets, [self.caller.get(path).ok() for path in paths]

    def _dataset(self, kind: str, files: dict[str, bytes]) -> dict[str, Any]:
        """Upload drawn images."""
        path = f"{VISION}/datasets/upload/sync"
        made = self.caller.upload(make_zip(files), kind, f"{kind}.zip", path).ok()
        assert made["statusMsg"] == "SUCCEEDED", made
        return dict(made)

    def _model(self, dataset: dict[str, Any]) -> str:
        """Train a model."""
        fields = {"name": dataset["name"], "datasetId": dataset["id"], "epochs": EPOCHS}
        model_id = self.caller.json("POST", f"{VISION}/train", fields).ok()["modelId"]
        done = self.caller.trained(model_id)
        assert done["status"] == "SUCCEEDED", done
        return str(model_id)
