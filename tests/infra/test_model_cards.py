"""The page of the prebuilt models' cards."""

import json
import re

from chalicelib.domain.models.model import PREBUILT
from infra import model_cards
from infra.models import default_directory


def test_page_has_every_prebuilt_model_with_its_limits():
    """The committed page has each prebuilt model's limits and data, once."""
    page = model_cards.PAGE.read_text(encoding="utf-8")

    for name, card in model_cards.read_cards(default_directory()).items():
        section = page.split(f"## {name}\n")[1].split("\n## ")[0]
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", card["limits"]):
            assert sentence in section or ("- The limits of " in section and sentence in page)
        for sentence in re.split(r"(?<=\.) (?=[A-Za-z])", card["trainedOn"]["source"].rstrip(".")):
            assert sentence in section
        assert card["trainedOn"]["licence"] in section


def test_readme_links_every_prebuilt_model():
    """Each model's section can be reached from the README."""
    readme = (model_cards.PAGE.parents[1] / "README.md").read_text(encoding="utf-8")

    assert [
        name for name in PREBUILT if f"[{name}](docs/models.md#{name.lower()})" not in readme
    ] == []


def test_figures_and_networks_of_a_card():
    """A card's measured figures are said in words; a card without any has no such line."""
    card = {
        "language": "en_US",
        "trainedOn": {"source": "here.", "licence": "MIT", "examples": 1200, "labels": 3},
        "engine": {"encoders": [{"name": "net", "licence": "Apache-2.0"}]},
        "metrics": {"testAccuracy": {"value": 0.5, "low": 0.25, "high": 0.75}},
        "calibrationError": 0.0125,
        "leftOut": {"tweets": {"macroRecall": 0.6, "calibrationError": 0.05}},
        "limits": "Few.",
    }
    bare = {**card, "metrics": {}}
    del bare["calibrationError"], bare["leftOut"]

    page = model_cards.page({"CommunitySentiment": card, "GlobalIntentModel": bare})

    assert "- Data:\n  - here.\n  - In total: 1,200 examples, 3 labels.\n" in page
    assert "- Networks: net (Apache-2.0)" in page
    assert "accuracy 0.500 (0.250 to 0.750), calibration error 0.013" in page
    assert "by a head trained without it: tweets 0.600 (0.050)\n" in page
    assert page.count("held-out") == page.count("trained without") == 1


def test_command_writes_the_page_or_says_what_is_missing(tmp_path, monkeypatch, capsys):
    """The page is written from what is installed; otherwise the remedy is named."""
    monkeypatch.setattr(model_cards, "PAGE", tmp_path / "models.md")
    monkeypatch.setattr(model_cards, "default_directory", lambda: tmp_path)

    assert model_cards.main() == 1
    assert "infra.models" in capsys.readouterr().err
    for name in PREBUILT:
        folder = tmp_path / "prebuilt" / name
        folder.mkdir(parents=True)
        known = {"source": "here", "licence": "MIT"}
        card = {"trainedOn": known, "engine": {}, "limits": "Few.", "language": "en_US"}
        (folder / "card.json").write_text(json.dumps(card))

    assert model_cards.main() == 0
    assert (tmp_path / "models.md").read_text().count("## ") == len(PREBUILT)
