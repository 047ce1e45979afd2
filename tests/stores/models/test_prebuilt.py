"""A prebuilt model is installed if the files of its kind exist."""

from __future__ import annotations

import json

import pytest

from chalicelib.stores.models.prebuilt import PrebuiltStore


@pytest.mark.parametrize(
    ("model_id", "files", "is_installed"),
    [
        ("OCRModel", ["card.json"], True),
        ("tabulatev2", ["card.json"], True),
        ("OCRModel", [], False),
        ("SceneClassifier", ["card.json"], False),
        ("SceneClassifier", ["artifact.npz", "card.json"], True),
    ],
)
def test_files_that_a_model_needs(tmp_path, model_id, files, is_installed):
    """Models that read text only need a card, since they use the installed engines."""
    for name in files:
        (tmp_path / "prebuilt" / model_id).mkdir(parents=True, exist_ok=True)
        (tmp_path / "prebuilt" / model_id / name).write_bytes(b"{}")

    assert PrebuiltStore(str(tmp_path)).is_installed(model_id) is is_installed


def test_card_and_artifact(tmp_path):
    """Card and artifact are read as installed; a missing one is an error."""
    folder = tmp_path / "prebuilt" / "SceneClassifier"
    folder.mkdir(parents=True)
    (folder / "card.json").write_text(json.dumps({"object": "card"}))
    (folder / "artifact.npz").write_bytes(b"bytes")
    store = PrebuiltStore(str(tmp_path))

    assert store.card("SceneClassifier") == {"object": "card"}
    assert store.artifact("SceneClassifier") == b"bytes"
    with pytest.raises(OSError, match="OCRModel"):
        store.card("OCRModel")
