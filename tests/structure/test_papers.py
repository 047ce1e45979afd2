"""What documents name is there: paths, links, commands, calls and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from infra import docs

ROOT = Path(__file__).parents[2]
PAPERS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TOPS = ("", "bench", "chalicelib", "chalicelib/engines", "infra", "tests", "docs")
"""Folders that a path in a document may begin in."""
MOST_WORDS = 1_000
NO_SETTINGS = {
    "PRESAGE_APP",
    "PRESAGE_BROWSER",
    "PRESAGE_DIE_WITH_PARENT",
    "PRESAGE_ELSEWHERE",
    "PRESAGE_FUZZ_CALLS",
    "PRESAGE_FUZZ_SEED",
    "PRESAGE_GENERATOR",
    "PRESAGE_FULL_SIZE",
    "PRESAGE_HISTORY_OPERATIONS",
    "PRESAGE_HISTORY_SEED",
    "PRESAGE_KILL_ROUNDS",
    "PRESAGE_PACKAGE",
    "PRESAGE_TEST_ENDPOINT",
    "PRESAGE_TURN_TRIALS",
    "PRESAGE_URL",
}
"""Variables of tests, or that one of our processes sets for another."""

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.name)


def spoken(paper: Path) -> Iterator[str]:
    """Yield what a document has in backticks, and the words of its blocks of commands."""
    text = paper.read_text(encoding="utf-8")
    for block in re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL):
        yield from block.split()
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for code in re.findall(r"`([^`\n]+)`", text):
        yield code
        yield from code.split()


def is_there(path: str) -> bool:
    """Tell whether a path, which may have braces and stars, names something in the tree."""
    spread = [path]
    while any("{" in one for one in spread):
        spread = [
            one.replace(found.group(0), choice, 1)
            for one in spread
            for found in [re.search(r"\{([^{}]*)\}", one)]
            if found
            for choice in found.group(1).split(",")
        ]
    return all(any(any((ROOT / top).glob(one)) for top in TOPS) for one in spread)


@each_paper
def test_paths_exist(paper: Path) -> None:
    """Every file of the tree that a document names is there, and so is every folder."""
    begins = r"(app|bench|chalicelib|infra|tests|docs|\.ci)"
    named = {
        word.split(":")[0].split("::")[0].rstrip(".,;)")
        for word in spoken(paper)
        if re.fullmatch(rf"{begins}/[\w./*{{}},-]+|[\w/*{{}},-]+\.py", word.rstrip(".,;)"))
    }

    assert sorted(path for path in named if not is_there(path)) == []


@each_paper
def test_links_lead_somewhere(paper: Path) -> None:
    """Every link to a file, and to a heading in it, has its end."""
    text = paper.read_text(encoding="utf-8")
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        found = (paper.parent / path) if path else paper
        if not found.exists() or (anchor and anchor.lower() not in anchors(found)):
            lost.append(target)

    assert lost == []


def anchors(paper: Path) -> set[str]:
    """Return the names that code hosts give to the headings of a page, and those set by hand."""
    text = paper.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


@each_paper
def test_commands_exist(paper: Path) -> None:
    """Every make target and every module that a document tells to run is there."""
    text = paper.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    modules = set(re.findall(r"python -m ((?:bench|infra|tests)[\w.]*\w)", text))

    assert sorted(asked - targets) == []
    assert sorted(name for name in modules if find_spec(name) is None) == []


def test_readme_invites() -> None:
    """The README can be read in five minutes, and shows a picture."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(text.split()) <= MOST_WORDS
    assert re.search(r"!\[[^\]]+\]\(docs/images/\w+\.(png|svg)\)", text)


def test_every_page_is_in_an_index() -> None:
    """The README of docs/ links every page, or the README of the page's own folder."""
    folder = ROOT / "docs"
    lost = []
    for page in sorted(folder.rglob("*.md")):
        index = page.parent / "README.md"
        if page == index:
            index = folder / "README.md"
        name = str(page.relative_to(index.parent))
        if page != index and f"({name})" not in index.read_text(encoding="utf-8"):
            lost.append(name)

    assert lost == []


def test_tables_are_those_of_the_code() -> None:
    """`python -m infra.docs` has been run since what a table tells of has changed."""
    assert [page.name for page, text in docs.pages().items() if page.read_text() != text] == []


def test_settings_are_all_documented() -> None:
    """Every variable that the code reads stands in the table, and no other."""
    code = [*(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "infra").rglob("*.py")]
    read = {n for path in code for n in re.findall(r"PRESAGE_[A-Z_]*[A-Z]", path.read_text())}
    table = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(PRESAGE_[A-Z_]*[A-Z])`", table))

    assert sorted(told ^ (read - NO_SETTINGS)) == []
