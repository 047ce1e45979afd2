"""Tests of accessibility with axe-core, at all widths and in both themes."""

from __future__ import annotations

from importlib.resources import files

import pytest

WIDTHS = (390, 1280, 2560)
AXE = files("axe_playwright_python").joinpath("axe.min.js")
RUN = "() => axe.run(document, { resultTypes: ['violations'] })"


@pytest.fixture
def places(owner) -> list[str]:
    """The addresses of all pages."""
    [dataset] = owner.get("/v2/language/datasets").ok()["data"]
    [model] = owner.get("/v2/language/models").ok()["data"]
    base, model_id = f"dataset/language/{dataset['id']}", model["modelId"]
    tabs = [f"{base}/{tab}" for tab in ("examples", "labels", "models", "uploads", "export")]
    others = [
        "datasets",
        "upload",
        "models",
        "usage",
        "settings",
        "settings/webhooks",
        "classify",
        f"try/language/{model_id}",
        f"next/language/{model_id}",
        "try/vision/OCRModel",
    ]
    compared = f"compare?a={model_id}&b={model_id}"
    flagged = f"{base}?suspectsOf={model_id}"
    return [*others, *tabs, f"model/language/{model_id}", compared, flagged]


def settled(console) -> None:
    """Wait until the page has loaded."""
    console.page.wait_for_load_state("networkidle")
    console.page.wait_for_function("() => !document.querySelector('main .waiting')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation(console, owner, places, scheme):
    """axe-core finds no serious or critical violation on any page."""
    console.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    console.page.goto(f"{console.live.url}/console")
    console.page.wait_for_selector("form")
    found = {"sign in": violations(console)}
    console.enter(owner)
    for place in places:
        console.go(place)
        settled(console)
        found[place] = violations(console)
    assert {place: names for place, names in found.items() if names} == {}
    # axe-core itself may not set the styles by which it measures.
    console.errors = [said for said in console.errors if "inline style" not in said]


def violations(console) -> list[str]:
    """Return the serious and critical violations that axe-core finds."""
    if console.page.evaluate("typeof axe") == "undefined":
        console.page.evaluate(AXE.read_text("utf-8"))
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in console.page.evaluate(RUN)["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits(console, owner, places, width):
    """No page overflows the window, from a phone to a large screen."""
    console.page.set_viewport_size({"width": width, "height": 900})
    console.enter(owner)
    for place in places:
        console.go(place)
        settled(console)
        assert console.overhang() == 0, place
