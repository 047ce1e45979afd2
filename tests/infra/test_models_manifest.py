"""The manifest and the papers that go with it."""

from pathlib import Path

import pytest

from infra.model_files.manifest import MODELS
from infra.models import default_directory

ROOT = Path(__file__).resolve().parents[2]
NOTICE = " ".join((ROOT / "NOTICE").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_notice_names_source_licence_and_changes(model):
    """Whatever the manifest says of a model's origin stands in NOTICE word for word."""
    source = model.source
    package = f"{source.package} {source.version}"

    said = (model.title, package, source.credit, source.upstream, source.licence, model.changes)

    assert [part for part in said if part not in NOTICE] == []


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_every_file_has_a_digest(model):
    """Archive and members are pinned by sha256."""
    digests = [model.source.sha256, *(member.sha256 for member in model.source.members.values())]

    assert len(digests) > 1
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)


def test_made_from_changes_with_what_is_needed(monkeypatch):
    """A new encoder makes the model that was fitted on it out of date."""
    assert len({model.made_from for model in MODELS.values()}) == len(MODELS)
    assert all(need in MODELS for model in MODELS.values() for need in model.needs)


def test_default_directory_lies_in_the_project_unless_set(monkeypatch, tmp_path):
    """PRESAGE_MODEL_DIR moves the model files."""
    monkeypatch.delenv("PRESAGE_MODEL_DIR", raising=False)
    assert default_directory() == ROOT / ".models"

    monkeypatch.setenv("PRESAGE_MODEL_DIR", str(tmp_path))

    assert default_directory() == tmp_path
