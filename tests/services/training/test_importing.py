"""Model imports: equal answers, and archives that must be refused."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.models.model import Model, ServedModel, TrainRequest
from chalicelib.domain.models.prediction import PredictionOptions
from chalicelib.engines import artifact
from chalicelib.errors import Conflict, StorageUnavailable, TooManyOpen, UnsupportedType
from infra.backups.dumping import dump
from infra.backups.folder import BackupFolder
from infra.backups.restoring import restore
from tests.builders import World, some_rows
from tests.fresh_aws import provide

Files = dict[str, bytes]
TEXTS = ["refund please number 7", "where is my delivery", "", "🙂🙂", "the weather is fine. " * 90]


@pytest.fixture
def exported(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Model, bytes]:
    """A model with two labels, and the archive of its export."""
    for name in ("bge", "use"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(b"a graph that nothing may open")
    monkeypatch.setattr(world.container.encoders, "_directory", tmp_path)
    view = world.dataset(some_rows({"refund": 12, "delivery": 12}))
    model = world.container.training.request(world.account, view, "mine", TrainRequest()).model
    world.work()
    model = world.container.models.get(world.account.account_id, model.model_id)
    world.container.model_exports.create(model, "bundle")
    world.work()
    [key] = world.objects(f"exports/{model.model_id}/")
    return model, world.stores.artifacts.get(key) or b""


def files_of(content: bytes) -> Files:
    """Return the files of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Files, *, is_signed: bool = True) -> bytes:
    """Build an archive; if signed, `model.json` has the digests of the files."""
    if is_signed:
        manifest = json.loads(files["model.json"])
        for name in manifest["files"].keys() & files.keys():
            manifest["files"][name]["sha256"] = hashlib.sha256(files[name]).hexdigest()
        files = {**files, "model.json": json.dumps(manifest).encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def imported(world: World, content: bytes, account: Any = None) -> Model:
    """Import an archive and return the model after the run."""
    account = account or world.account
    source = UploadSource(content=content, file_name="model.zip")
    made = world.container.imports.request(account, "language", source, "theirs")
    assert (made.status, made.dataset_id) == ("QUEUED", 0)
    world.work()
    return world.container.models.get(account.account_id, made.model_id)


def answers(world: World, model: Model) -> Any:
    """Return what the service answers."""
    served = ServedModel(model.model_id, model.type, model.status, model.version)
    options = PredictionOptions(count=1_000)
    found = world.container.predictions.predict(
        served, TEXTS, dataset_type=model.type, options=options
    )
    return [one.items for one in found]


def test_an_import_answers_as_the_exported_model(
    world: World, exported: tuple[Model, bytes]
) -> None:
    """In another account: the same artifact, bit-identical answers, and no archive left."""
    model, content = exported
    other = world.new_account("other@example.com")
    found = imported(world, content, other)

    assert (found.status, found.failure) == ("SUCCEEDED", "")
    assert (found.type, found.language, found.request.algorithm) == (
        model.type, model.language, model.request.algorithm,
    )  # fmt: skip
    files = world.stores.model_files
    assert files.artifact(found.model_id, found.version) == files.artifact(
        model.model_id, model.version
    )
    assert answers(world, found) == answers(world, model)
    assert [key for key in world.objects(f"models/{found.model_id}/") if "import" in key] == []
    card = world.container.models.card(other.account_id, found.model_id)
    digest = hashlib.sha256(content).hexdigest()
    assert card["imported"] == {"sha256": digest, "largestDifference": 0.0}
    assert card["trainedOn"]["datasetId"] == 0
    assert world.container.models.metrics(found).data["labels"] == ["refund", "delivery"]
    with pytest.raises(Conflict, match="it was imported"):
        world.container.training.retrain(other, found, TrainRequest())
    with pytest.raises(Conflict, match="it was imported"):
        world.container.feedback.add_text(other, found, "a text", "refund")


def test_a_killed_import_is_finished_by_another_worker(
    world: World, exported: tuple[Model, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If killed between artifact and row, the run is repeated and succeeds."""
    _, content = exported

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    source = UploadSource(content=content, file_name="model.zip")
    made = world.container.imports.request(world.account, "language", source, "theirs")
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.model_leases, "succeed", kill)
        with pytest.raises(Killed):
            world.work()
    get = world.container.models.get
    found = get(world.account.account_id, made.model_id)
    assert (found.status, found.version) == ("RUNNING", "")
    world.clock.advance(hours=1)
    world.container.sweeping.run()
    world.work()

    found = get(world.account.account_id, made.model_id)
    assert (found.status, found.failure) == ("SUCCEEDED", "")


def test_a_restored_backup_ends_its_open_imports(
    world: World,
    exported: tuple[Model, bytes],
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Imports that were open in a backup succeed after the restore, or name the cause."""
    _, content = exported
    damaged = content[: len(content) // 2]

    def stop(*_: Any) -> None:
        raise StorageUnavailable

    def request(archive: bytes) -> str:
        source = UploadSource(content=archive, file_name="model.zip")
        return world.container.imports.request(world.account, "language", source, "it").model_id

    running = request(content)
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.model_leases, "succeed", stop)
        with pytest.raises(StorageUnavailable):
            world.work()
    waiting, broken = request(content), request(damaged)
    folder = BackupFolder(tmp_path / "backup")
    dump(settings, folder)
    provide(settings)
    restore(settings, folder)

    world.settle()
    found = [
        world.container.models.get(world.account.account_id, one)
        for one in (running, waiting, broken)
    ]
    assert [one.status for one in found] == ["SUCCEEDED", "SUCCEEDED", "FAILED"], found
    assert "archive" in found[2].failure
    assert [key for key in world.objects("models/") if "import.zip" in key] == []


def test_imports_count_among_the_open_trainings(
    world: World, exported: tuple[Model, bytes]
) -> None:
    """The sixth open training of an account is refused, and leaves no archive."""
    source = UploadSource(content=exported[1], file_name="model.zip")
    request = world.container.imports.request
    for _ in range(5):
        request(world.account, "language", source, "theirs")
    with pytest.raises(TooManyOpen):
        request(world.account, "language", source, "theirs")
    assert len([key for key in world.objects("models/") if "import.zip" in key]) == 5
    with pytest.raises(UnsupportedType):
        request(world.account, "language", UploadSource(content=b"text"), "theirs")


def change_head(files: Files, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Change header and arrays of the head."""
    head = artifact.read_parts(files["head.npz"])
    arrays = {name: array.copy() for name, array in head.arrays.items()}
    change(head.header, arrays)
    files["head.npz"] = artifact.dump(head.header, arrays)


def with_array(files: Files, content: bytes) -> None:
    """Add an array to the head."""
    stream = io.BytesIO(files["head.npz"])
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("more.npy", content)
    files["head.npz"] = stream.getvalue()


def npy(array: Any, *, pickles: bool = False) -> bytes:
    """Return an array as a file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=pickles)
    return stream.getvalue()


def nan(files: Files) -> None:
    """Return weights that are not numbers."""
    change_head(files, lambda _, arrays: arrays["biases"].fill(np.nan))


def foreign_encoder(files: Files) -> None:
    """Name an encoder with another digest."""
    change_head(files, lambda header, _: header["encoders"][0].__setitem__(1, "0" * 64))


def path_of_encoder(files: Files) -> None:
    """Name an encoder outside of the folder of models."""
    change_head(files, lambda header, _: header["encoders"][0].__setitem__(0, "../../etc"))


def other_labels(files: Files) -> None:
    """Reverse the labels of the head only."""
    change_head(files, lambda header, _: header["labels"].reverse())


def wrong_answers(files: Files) -> None:
    """Change what the head answers."""
    change_head(files, lambda _, arrays: arrays["biases"].__setitem__(0, 9.0))


def pickled(files: Files) -> None:
    """Add an array of pickled objects."""
    with_array(files, npy(np.array([{}], object), pickles=True))


def huge_shape(files: Files) -> None:
    """Add 16 bytes with a header of 2 GB."""
    content = npy(np.zeros(4, np.float32))
    with_array(files, content.replace(b"(4,), }        ", b"(536870912,), }"))


def bomb_in_head(files: Files) -> None:
    """Add a compressed array that unpacks to far more."""
    stream = io.BytesIO(files["head.npz"])
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(50_000_000))
    files["head.npz"] = stream.getvalue()


def changed_file(files: Files) -> None:
    """Change a file after its digest was written."""
    files["card.json"] += b" "


def no_head(files: Files) -> None:
    """Remove the head."""
    del files["head.npz"]


def no_golden(files: Files) -> None:
    """Remove all golden inputs."""
    files["golden/golden.json"] = b"[]"


def many_labels(files: Files) -> None:
    """Name more labels than a model may have."""
    manifest = json.loads(files["model.json"])
    manifest["labels"] = [f"label {number}" for number in range(1_001)]
    files["model.json"] = json.dumps(manifest).encode()


def half_character(files: Files) -> None:
    """Name labels of which one ends within a character."""
    manifest = json.loads(files["model.json"]) | {"labels": ["refund", "delivery \ud83d"]}
    files["model.json"] = json.dumps(manifest).encode()


def many_files(files: Files) -> None:
    """Add more files than an export has."""
    files.update({f"licences/{number}": b"" for number in range(101)})


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (nan, "not finite"),
        (foreign_encoder, "not installed here. Install it with: python -m infra.models install"),
        (path_of_encoder, "not installed here"),
        (other_labels, "not those of model.json"),
        (wrong_answers, "is not that of the service that exported"),
        (pickled, "not a type of numbers"),
        (huge_shape, "does not have the shape"),
        (bomb_in_head, "compressed or overlap"),
        (no_head, "has no head.npz"),
        (no_golden, "must have 1 to 100 inputs"),
        (many_labels, "1 to 1,000 labels"),
        (half_character, "model.json is not the JSON document"),
        (lambda files: files.update({"card.json": b'{"limits": "\\udfff"}'}), "card.json is not"),
        (many_files, "more than 100 files"),
        (lambda files: files.update({"../a": b""}), "leads out of the archive"),
        (lambda files: files.update({"/etc/passwd": b""}), "path is absolute"),
        (lambda files: files.update({"code.py": b""}), "not a file of an exported model"),
    ],
)
def test_hostile_archives_fail_with_the_cause(
    world: World, exported: tuple[Model, bytes], spoil: Callable[[Files], None], cause: str
) -> None:
    """A hostile archive makes the model FAILED, without a version or leftover object."""
    files = files_of(exported[1])
    spoil(files)
    found = imported(world, packed(files))

    assert (found.status, found.version) == ("FAILED", "")
    assert cause in found.failure
    assert world.objects(f"models/{found.model_id}/") == []


def test_archives_that_zip_tools_do_not_make_fail(
    world: World, exported: tuple[Model, bytes]
) -> None:
    """Changed files, links, duplicate names, and a bomb of zeros are refused."""
    files = files_of(exported[1])
    link = zipfile.ZipInfo("golden/link")
    link.external_attr = 0o120777 << 16
    twice = io.BytesIO(packed(files))
    linked = io.BytesIO(packed(files))
    bomb = io.BytesIO(packed(files))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("head.npz", b"another")
    with zipfile.ZipFile(linked, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(6):
            with archive.open(f"encoders/bge/{number}", "w") as entry:
                for _ in range(100):
                    entry.write(bytes(1 << 20))
    changed_file(files)

    for content, cause in (
        (packed(files, is_signed=False), "card.json was changed after the export"),
        (twice.getvalue(), "holds head.npz twice"),
        (linked.getvalue(), "the entry is a link"),
        (bomb.getvalue(), "bytes unpacked; at most 500 MB"),
        (exported[1][:300], "not a usable zip archive"),
    ):
        found = imported(world, content)
        assert (found.status, cause in found.failure) == ("FAILED", True), found.failure


def test_a_graph_in_the_archive_is_ignored(world: World, exported: tuple[Model, bytes]) -> None:
    """`model.onnx` is neither opened nor stored."""
    files = files_of(exported[1])
    files["model.onnx"] = b"not a graph"
    found = imported(world, packed(files))

    assert found.status == "SUCCEEDED", found.failure
    assert [key for key in world.objects(f"models/{found.model_id}/") if "onnx" in key] == []


def test_an_interrupted_import_is_retried(
    world: World, exported: tuple[Model, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If storage does not answer, the import's attempt is retried."""

    def broken(*_: Any) -> None:
        raise StorageUnavailable

    source = UploadSource(content=exported[1], file_name="model.zip")
    made = world.container.imports.request(world.account, "language", source, "theirs")
    [job] = world.messages()
    with monkeypatch.context() as patch:
        patch.setattr(world.stores.imported_files, "read", broken)
        with pytest.raises(StorageUnavailable):
            world.deliver(job)
    world.deliver(job)

    found = world.container.models.get(world.account.account_id, made.model_id)
    assert found.status == "SUCCEEDED", found.failure
