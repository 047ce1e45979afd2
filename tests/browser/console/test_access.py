"""The console for everybody: no barrier that axe-core knows, at every width and in both themes."""

from __future__ import annotations

from importlib.resources import files

import pytest

WIDTHS = (390, 1280, 2560)
AXE = files("axe_playwright_python").joinpath("axe.min.js")
RUN = "() => axe.run(document, { resultTypes: ['violations'] })"


@pytest.fixture
def places(owner) -> list[str]:
    """Every page that there is something to show on."""
    [dataset] = owner.get("/v2/language/datasets").ok()["data"]
    [model] = owner.get("/v2/language/models").ok()["data"]
    base, model_id = f"dataset/language/{dataset['id']}", model["modelId"]
    tabs = [f"{base}/{tab}" for tab in ("examples", "labels", "models", "uploads", "export")]
    others = [
        "datasets",
        "bring",
        "models",
        "usage",
        "webhooks",
        f"try/language/{model_id}",
        f"next/language/{model_id}",
        "try/vision/OCRModel",
    ]
    compared = f"compare?a={model_id}&b={model_id}"
    doubts = f"{base}?suspectsOf={model_id}"
    return [*others, *tabs, f"model/language/{model_id}", compared, doubts]


def settled(console) -> None:
    """Wait until nothing of the page is still loading."""
    console.page.wait_for_load_state("networkidle")
    console.page.wait_for_function("() => !document.querySelector('main .waiting')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_is_serious(console, owner, places, scheme):
    """axe-core finds nothing serious or critical on any page."""
    console.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    console.page.goto(f"{console.live.url}/console")
    console.page.wait_for_selector("form")
    found = {"sign in": barriers(console)}
    console.enter(owner)
    for place in places:
        console.go(place)
        settled(console)
        found[place] = barriers(console)
    assert {place: names for place, names in found.items() if names} == {}
    # axe-core itself may not set the styles by which it measures.
    console.complaints = [said for said in console.complaints if "inline style" not in said]


def barriers(console) -> list[str]:
    """Name what axe-core finds serious or critical."""
    if console.page.evaluate("typeof axe") == "undefined":
        console.page.evaluate(AXE.read_text("utf-8"))
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in console.page.evaluate(RUN)["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits(console, owner, places, width):
    """Nothing is wider than the window, from a phone to a large screen."""
    console.page.set_viewport_size({"width": width, "height": 900})
    console.enter(owner)
    for place in places:
        console.go(place)
        settled(console)
        assert console.overhang() == 0, place
