"""Collects the parts of an exported model and writes them into one archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import chalicelib
from chalicelib.domain.common.clock import Clock, date_text
from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.datasets.windows import find_windows
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.jobs.export import ONNX, Export
from chalicelib.domain.models.model import Model, ServedModel
from chalicelib.domain.models.prediction import (
    ImagePredictor,
    PredictionOptions,
    TextPredictor,
    as_json,
)
from chalicelib.domain.models.redaction import without_examples
from chalicelib.errors import BadRequest, InvalidParameter, ServiceError, StorageUnavailable
from chalicelib.formats.exports import bundles
from chalicelib.formats.exports.bundles import BundleArchive
from chalicelib.formats.exports.golden import golden_pictures, golden_texts
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.versions import CARD, ModelVersions

if TYPE_CHECKING:
    from chalicelib.engines.text.encoding.pool import EncoderPool
    from chalicelib.engines.vision.backbone.pool import BackbonePool

# Files that the installation writes for itself. Predictions do not read them.
_NOT_EXPORTED = ("installed.json",)
_LICENCES = ("LICENSE", "NOTICE")


class BundleService:
    """Writes model versions as archives."""

    def __init__(
        self,
        models: ModelStore,
        files: ModelVersions,
        pools: tuple[EncoderPool, BackbonePool],
        predictors: tuple[TextPredictor, ImagePredictor],
        clock: Clock,
    ) -> None:
        self._models = models
        self._files = files
        self._encoders, self._backbones = pools
        self._texts, self._pictures = predictors
        self._clock = clock

    def model(self, export: Export) -> Model:
        """Return the model of an export; raise BadRequest if the model was deleted."""
        exported = export.model
        found = exported and self._models.find(export.account_id, exported.model_id)
        if exported is None or not found:
            raise BadRequest("The model was deleted before it was exported.")
        return replace(found, version=exported.folder)

    def write(self, export: Export, file: BinaryIO, check: Callable[[], None]) -> None:
        """Write the archive of an exported model.

        `check` is called before each part of the archive, and may raise an error to stop.

        Raises:
            BadRequest: the model was deleted, or its networks are not installed.
        """
        model = self.model(export)
        head = self._files.artifact(model.model_id, model.version)
        card = self._files.document(model.model_id, model.version, CARD)
        if head is None or card is None or export.model is None:
            # Deleted after the row was read; the next attempt finds no model.
            raise StorageUnavailable
        manifest, folders = self._described(model, head)
        manifest |= {"modelVersion": export.model.version, "exportedAt": date_text(self._clock())}
        card = _without_data(card, manifest["labels"])
        with BundleArchive(file, check) as archive:
            if export.format == ONNX:
                manifest |= self._add_graph(archive, model, head)
                del manifest["arrays"]
            else:
                _add_parts(archive, head, folders)
            try:
                self._add_golden(archive, model, manifest, check)
            except StorageUnavailable:
                raise
            except ServiceError as refusal:
                # A network that is missing here stays missing for the next attempt.
                raise BadRequest(str(refusal)) from refusal
            archive.add_json(bundles.CARD_FILE, card)
            archive.add(bundles.README_FILE, bundles.readme(manifest, card).encode())
            for name, text in _licences():
                archive.add(f"licences/{name}", text)
            archive.add_json(bundles.MODEL_FILE, {**manifest, "files": dict(archive.files)})

    def require_graph(self, model: Model) -> None:
        """Raise InvalidParameter if a model cannot be exported as one ONNX graph."""
        from chalicelib.engines.artifact import read_parts
        from chalicelib.engines.graphs.models import graph_obstacle

        obstacle = graph_obstacle(model.type)
        if obstacle is None:
            head = self._files.artifact(model.model_id, model.version)
            # A model that was deleted meanwhile is refused by the job.
            obstacle = graph_obstacle(model.type, read_parts(head).header if head else None)
        if obstacle is not None:
            raise InvalidParameter(
                "format",
                f"'onnx' is one graph, which model {model.model_id} cannot be: {obstacle}. Send "
                "'bundle', which presage-runtime reads.",
            )

    def _add_graph(self, archive: BundleArchive, model: Model, head: bytes) -> dict[str, Any]:
        """Add the model as one ONNX graph; return the manifest members that describe the graph."""
        from chalicelib.engines.graphs.models import write_graph

        pool = self._encoders if model.family == LANGUAGE else self._backbones
        try:
            written = write_graph(model.type, head, pool.folder)
        except (ValueError, IndexError, OSError) as cause:
            raise BadRequest("The files of a network are damaged. Install them again.") from cause
        archive.add_pieces(bundles.GRAPH_FILE, written.graph.pieces())
        for name, content in written.tokenizers.items():
            archive.add(name, content)
        ports = {"inputs": written.graph.inputs, "outputs": written.graph.outputs}
        graph = {side: [one._asdict() for one in found] for side, found in ports.items()}
        return {
            "format": bundles.GRAPH_FORMAT,
            "graph": graph,
            "preprocessing": written.preprocessing,
        }

    def _described(self, model: Model, head: bytes) -> tuple[dict[str, Any], dict[str, Path]]:
        """Return the manifest, and the folders of the networks by their names in the archive."""
        from chalicelib.engines.artifact import read_parts

        parts = read_parts(head)
        header = parts.header
        networks, folders, preprocessing = self._networks(model, head, header)
        manifest: dict[str, Any] = {
            "format": bundles.FORMAT,
            "version": bundles.FORMAT_VERSION,
            "name": model.name,
            "family": model.family,
            "type": model.type,
            "language": model.language,
            "algorithm": model.request.algorithm,
            "labels": header["labels"],
            "temperature": header.get("temperature"),
            "rejection": _rejection(header),
            "preprocessing": preprocessing,
            "networks": networks,
            "arrays": {
                name: {"type": str(array.dtype), "shape": list(array.shape)}
                for name, array in sorted(parts.arrays.items())
            },
        }
        return manifest, folders

    def _networks(
        self, model: Model, head: bytes, header: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], dict[str, Path], Any]:
        """Return the descriptions and the folders of a model's networks, and its preprocessing."""
        if model.family == LANGUAGE:
            from chalicelib.engines.text.encoding import onnx_encoders
            from chalicelib.engines.text.encoding.encoders import WORDS

            names = [name for name, _, _ in header["encoders"] if name != WORDS]
            encoders = {name: self._encoders.get(name).facts for name in names}
            folders = {f"encoders/{name}": self._encoders.folder(name) for name in encoders}
            reading = {
                "maxCharacters": onnx_encoders.MAX_CHARACTERS,
                "maxTokens": onnx_encoders.MAX_TOKENS,
                "windows": header.get("windows"),
            }
            return [_network(one) for one in encoders.values()], folders, reading
        from chalicelib.engines.vision import registry

        names = [use.name for use in registry.load(head, self._backbones).backbones]
        folders = {f"backbones/{name}": self._backbones.folder(name) for name in names}
        facts = [_network(self._backbones.facts(name)) for name in names]
        return facts, folders, header.get("preprocessing")

    def _add_golden(
        self,
        archive: BundleArchive,
        model: Model,
        manifest: Mapping[str, Any],
        check: Callable[[], None],
    ) -> None:
        """Add sample inputs, and this service's predictions for these inputs, to the archive."""
        served = ServedModel(model.model_id, model.type, model.status, model.version)
        # More labels than any model has, so that each answer contains all labels.
        options, golden = PredictionOptions(count=1_000_000), []
        if model.family == LANGUAGE:
            for text in golden_texts(manifest["labels"]):
                check()
                if "graph" in manifest and len(find_windows(text)) > 1:
                    # The graph reads no long texts.
                    continue
                [found] = self._texts.predict(
                    served, [text], dataset_type=model.type, options=options
                )
                golden.append({"text": text, "answer": [as_json(item) for item in found.items]})
        else:
            for name, content in golden_pictures():
                archive.add(f"golden/{name}", content)
                [seen] = self._pictures.predict(
                    served, [Sample(content=content)], types=(model.type,), options=options
                )
                golden.append({"file": name, "answer": [as_json(item) for item in seen.items]})
        archive.add_json(bundles.GOLDEN_FILE, golden)


def _add_parts(archive: BundleArchive, head: bytes, folders: Mapping[str, Path]) -> None:
    """Add the trained classifier (head) and the files of the networks to an archive."""
    archive.add(bundles.HEAD_FILE, head)
    for folder, path in folders.items():
        for part in sorted(path.iterdir()):
            if part.is_file() and part.name not in _NOT_EXPORTED:
                archive.add_file(f"{folder}/{part.name}", part)


def _network(facts: Any) -> dict[str, Any]:
    return {
        "name": facts.name,
        "title": facts.title,
        "sha256": facts.sha256,
        "licence": facts.licence,
    }


def _rejection(header: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the rule by which a model rejects out-of-scope texts; None if it rejects no texts."""
    if "rejector" in header:
        return {"by": "signals", **header["rejector"]}
    threshold = header.get("threshold")
    return None if threshold is None else {"by": "energy", "threshold": threshold}


def _without_data(card: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """Return a model card without texts, names and ids of examples."""
    report = without_examples(card.get("dataReport", {}), frozenset(labels))
    trained_on = {k: v for k, v in card.get("trainedOn", {}).items() if k != "datasetId"}
    return {**card, "trainedOn": trained_on, "dataReport": report}


def _licences() -> Iterable[tuple[str, bytes]]:
    """Yield name and content of the licence files, which cover this project and the networks."""
    root = Path(chalicelib.__file__).parents[1]
    for name in _LICENCES:
        # The package of a deployed function has them in a folder of licences.
        for path in (root / name, root / "LICENSES" / "presage" / name):
            if path.is_file():
                yield name, path.read_bytes()
                break
