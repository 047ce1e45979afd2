"""Paths, links, commands and settings that the documentation names exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from infra import docs

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Documents may name a path relative to any of these folders.
TOPS = ("", "bench", "chalicelib", "chalicelib/engines", "infra", "tests", "docs")
# Above these figures a newcomer no longer reads the documentation; shorten it before you add to it.
MAX_WORDS = {
    "README.md": 800,
    "ARCHITECTURE.md": 2_400,
    "CHANGELOG.md": 3_500,
    "docs/decisions": 5_000,
    "docs/forms.md": 1_500,
    "docs/testing.md": 1_500,
    ".": 32_000,
}
MAX_CHANGE_CHARACTERS = 200
# Variables of tests, or that one process sets for another.
NOT_SETTINGS = {
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

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def find_code(document: Path) -> Iterator[str]:
    """Yield the code in backticks and the words of the code blocks of a document."""
    text = document.read_text(encoding="utf-8")
    for block in re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL):
        yield from block.split()
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for code in re.findall(r"`([^`\n]+)`", text):
        yield code
        yield from code.split()


def exists(path: str) -> bool:
    """Return whether a path exists; it may contain braces and stars."""
    paths = [path]
    while any("{" in one for one in paths):
        paths = [
            one.replace(found.group(0), choice, 1)
            for one in paths
            for found in [re.search(r"\{([^{}]*)\}", one)]
            if found
            for choice in found.group(1).split(",")
        ]
    return all(any(any((ROOT / top).glob(one)) for top in TOPS) for one in paths)


@each_document
def test_paths_exist(document: Path) -> None:
    """Every file and folder that a document names exists."""
    begins = r"(app|bench|chalicelib|infra|tests|docs|\.ci)"
    named = {
        word.split(":")[0].split("::")[0].rstrip(".,;)")
        for word in find_code(document)
        if re.fullmatch(rf"{begins}/[\w./*{{}},-]+|[\w/*{{}},-]+\.py", word.rstrip(".,;)"))
    }

    assert sorted(path for path in named if not exists(path)) == []


@each_document
def test_links_have_targets(document: Path) -> None:
    """Every link to a file, or to a heading in it, has a target."""
    text = document.read_text(encoding="utf-8")
    missing = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        found = (document.parent / path) if path else document
        if not found.exists() or (anchor and anchor.lower() not in find_anchors(found)):
            missing.append(target)

    assert missing == []


def find_anchors(document: Path) -> set[str]:
    """Return the anchors of headings on code hosting sites, and explicit anchors."""
    text = document.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


@each_document
def test_commands_exist(document: Path) -> None:
    """Every make target and module that a document runs exists."""
    text = document.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    modules = set(re.findall(r"python -m ((?:bench|infra|tests)[\w.]*\w)", text))

    assert sorted(named - targets) == []
    assert sorted(name for name in modules if find_spec(name) is None) == []


def test_readme_shows_an_image() -> None:
    """The README shows an image that Presage has read."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert re.search(r"!\[[^\]]+\]\(docs/images/\w+\.(png|svg)\)", text)


@pytest.mark.parametrize("place", MAX_WORDS)
def test_documentation_stays_short(place: str) -> None:
    """All documentation, and the pages that tend to grow, keep within their word limits."""
    shipped = [*DOCUMENTS, ROOT / "client/README.md", ROOT / "chalicelib/assets/README.md"]
    pages = [page for page in shipped if page.is_relative_to(ROOT / place)]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)

    assert pages
    assert words <= MAX_WORDS[place]


def test_changes_are_one_line_each() -> None:
    """Each change is one line of the changelog, with at most 200 characters."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if len(line) > MAX_CHANGE_CHARACTERS] == []


def test_every_page_is_in_an_index() -> None:
    """The README of docs/ links every page, or the README of the page's own folder."""
    folder = ROOT / "docs"
    missing = []
    for page in sorted(folder.rglob("*.md")):
        index = page.parent / "README.md"
        if page == index:
            index = folder / "README.md"
        name = str(page.relative_to(index.parent))
        if page != index and f"({name})" not in index.read_text(encoding="utf-8"):
            missing.append(name)

    assert missing == []


def test_tables_are_those_of_the_code() -> None:
    """`python -m infra.docs` changes nothing, so it was run after the last change."""
    assert [page.name for page, text in docs.pages().items() if page.read_text() != text] == []


def test_settings_are_all_documented() -> None:
    """The table of settings has every variable that the code reads, and no other."""
    code = [*(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "infra").rglob("*.py")]
    read = {n for path in code for n in re.findall(r"PRESAGE_[A-Z_]*[A-Z]", path.read_text())}
    table = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(PRESAGE_[A-Z_]*[A-Z])`", table))

    assert sorted(documented ^ (read - NOT_SETTINGS)) == []
