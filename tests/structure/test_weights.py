"""Shipped weights are fitted only on data that may be used commercially."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import ImageDraw

from bench import table_pages
from bench.fit_forms import generator_digest
from bench.fit_tables import structures_digest
from bench.form_pages import blanks, sheet
from chalicelib.engines.ocr.tables.scoring import fitted_weights

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "chalicelib" / "assets" / "ocr").glob("*.json"))
HEADING = "Data that weights in this repository are fitted on"
# Command that makes each input, and so its digest.
DIGESTS = {
    "Generated forms": generator_digest,
    "Blank forms 1040": blanks.digest,
    "Generated tables": table_pages.generator_digest,
}

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@pytest.fixture
def no_ink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no letters, and place none within its line: digests of generators are of texts."""
    monkeypatch.setattr(ImageDraw.ImageDraw, "text", lambda *_, **__: None)
    monkeypatch.setattr(sheet, "_middles", lambda *_: ())


def allowed_inputs() -> set[str]:
    """Return the names of the inputs that NOTICE allows."""
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    section = notice.split(HEADING)[1].split("\n---")[1]
    return set(re.findall(r"^([A-Z][^\n.;]+)\n    made by:", section, re.MULTILINE))


def read_card(path: Path) -> dict[str, Any]:
    """Return the card of a weights file."""
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["card"]
    return card


def test_there_are_weights_to_check() -> None:
    """The folder of weights is not empty; otherwise the other tests would check nothing."""
    assert FILES
    assert "Generated forms" in allowed_inputs()


@each_file
def test_card_names_only_inputs_that_notice_allows(path: Path) -> None:
    """No shipped weights are fitted on data for research only, such as FUNSD."""
    inputs = read_card(path)["inputs"]

    assert inputs
    assert {each["name"] for each in inputs} <= allowed_inputs()


@pytest.mark.usefixtures("no_ink")
@each_file
def test_inputs_are_those_that_the_weights_were_fitted_on(path: Path) -> None:
    """A change of the generator needs a new fit, so that the card stays true."""
    card = read_card(path)

    assert all(each["sha256"] == DIGESTS[each["name"]]() for each in card["inputs"])
    assert card["licence"] == "Apache-2.0"
    assert card["command"].startswith("python -m bench.")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", card["date"])


def test_table_weights_are_fitted_on_the_structures_that_are_proposed() -> None:
    """A change of what is proposed for tables, or of an input of the score, needs a new fit."""
    card = read_card(ROOT / "chalicelib" / "assets" / "ocr" / "tables.json")

    assert card["structures"] == structures_digest(fitted_weights().cuts)
