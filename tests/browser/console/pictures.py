"""Draws the pictures of docs/console.md; run by `make console-pictures`, never by a test run."""

from __future__ import annotations

from pathlib import Path

from tests.browser.console.conftest import TRAINED_MS

FOLDER = Path(__file__).parents[3] / "docs" / "images"
SIZE = {"width": 1200, "height": 800}


def shoot(console, name: str) -> None:
    """Write what is seen."""
    console.page.wait_for_load_state("networkidle")
    console.page.screenshot(path=FOLDER / f"console_{name}.png", animations="disabled")


def test_pictures_are_drawn(console, newcomer):
    """Welcome, the sample, its model, what that doubts, and an answer."""
    page = console.page
    page.set_viewport_size(SIZE)
    console.enter(newcomer())
    page.wait_for_selector("text=Welcome")
    shoot(console, "welcome")
    page.get_by_role("button", name="Begin with the sample").click()
    page.wait_for_selector(".item .text")
    page.get_by_role("button", name="Train a model").click()
    page.wait_for_selector(".matrix", timeout=TRAINED_MS)
    page.mouse.move(0, 0)
    shoot(console, "model")
    model = page.url.rpartition("/")[2]
    page.get_by_role("link", name="doubtful").click()
    page.wait_for_selector(".suggestion")
    page.keyboard.press("a")
    shoot(console, "mend")
    console.go(f"try/language/{model}")
    page.locator("textarea").fill("The lamp arrived broken, can I get my money back?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="What decided?").click()
    page.wait_for_selector(".decided")
    shoot(console, "try")
