"""Commands in the documentation are run by the guides test, or listed with a reason."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from presage.cli.app import app

from tests.structure.test_documents import DOCUMENTS, ROOT

PAGES = [*DOCUMENTS, *sorted((ROOT / "client").glob("*.md"))]
# A line of a block that begins with one of these is a command.
FIRST_WORDS = ("make", "curl", "presage", "python", ".venv/bin/python", "pip", "openssl")
STAGE = "needs a stage in an AWS account"
TARGET = "a target of the Makefile, which people and CI run as such"
# Commands outside of `sh` blocks, which are run, each with its reason.
UNRUN = {
    "make run": TARGET,
    "make test": TARGET,
    'make test-localstack ARGS="-k uploads -x"': TARGET,
    ".venv/bin/python -m tests.emulators run make run ARGS=--bare": "installs LocalStack",
    ".venv/bin/python -m tests.emulators lock localstack": "asks the package index",
    "make deploy STAGE=prod REGION=eu-central-1": STAGE,
    "make deploy STAGE=prod REGION=…": STAGE,
    "make destroy STAGE=prod REGION=… DELETE_DATA=1": STAGE,
    "python -m infra.accounts create me@shop.example --key-file me.pem --stage prod"
    " --region REGION": STAGE,
    "python -m infra.accounts token me@shop.example --key-file me.pem --stage prod"
    " --region REGION": STAGE,
    "python -m infra.backup dump prod-backup --stage prod --region REGION": STAGE,
    "python -m infra.backup restore prod-backup --stage prod --region REGION --replace": STAGE,
    ".venv/bin/python -m infra.models status": "needs every model file, the large ones too",
    ".venv/bin/python -m infra.models verify": "needs every model file, the large ones too",
    "pip install ./client": "installs; guides run it as a step that does nothing",
    'pip install "./client[pictures]"': "installs",
    'pip install "./client[plots]"': "installs",
    "pip install build/dist/presage_runtime-*.whl": "installs; make test-dist does it",
    "pip install build/dist/presage_{server,client}-*.whl": "installs; make test-dist does it",
}


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield language and text of each block of a page."""
    text = page.read_text("utf-8")
    yield from re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def find_commands(text: str) -> Iterator[str]:
    """Yield the commands of a block without their comments."""
    for line in text.splitlines():
        command = re.sub(r"\s+#.*", "", line).strip()
        if command.split(" ")[0] in FIRST_WORDS:
            yield command


def test_commands_are_run_or_listed() -> None:
    """Every command is in a block that tests/flows/guides runs, or in the list above."""
    found = {
        command
        for page in PAGES
        for language, text in blocks(page)
        if language != "sh"
        for command in find_commands(text)
    }
    assert sorted(found ^ set(UNRUN)) == []


def assert_parsed(scripts: Iterable[str]) -> None:
    """Check with `bash -n` that a shell can parse the scripts."""
    for script in scripts:
        read = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
        assert (read.returncode, read.stderr) == (0, ""), script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_of_commands_can_be_parsed(page: Path) -> None:
    """Every shell block has balanced quotes and brackets."""
    assert_parsed(text for language, text in blocks(page) if language == "sh")


def test_listed_commands_can_be_parsed() -> None:
    """Commands that are only listed can be parsed as well."""
    assert_parsed(UNRUN)


def find_presage_calls(page: Path) -> Iterator[str]:
    """Yield each call of `presage` on a page, in blocks and in the text."""
    text = page.read_text("utf-8")
    for language, block in blocks(page):
        if language == "sh":
            joined = re.sub(r"\s+#.*", "", block)
            yield from re.findall(
                r"(?:^|\$\(|\| |&& |\s)(presage [^|)\n&;>]+)", joined, re.MULTILINE
            )
    yield from re.findall(
        r"`(presage [a-z][^`…]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    )


@cache
def presage() -> Any:
    """Return the client's command with all its subcommands."""
    return typer.main.get_command(app)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_presage_has_documented_commands(page: Path) -> None:
    """Every command and option of `presage` that a page names exists."""
    for call in find_presage_calls(page):
        command = presage()
        known = {"--install-completion", "--show-completion", "--help"}
        known |= {option for item in command.params for option in item.opts}
        for word in call.split()[1:]:
            if word in getattr(command, "commands", {}):
                command = command.commands[word]
                known = {option for item in command.params for option in item.opts} | {"--help"}
            elif word.startswith("-") and len(word) > 1:
                assert word.partition("=")[0] in known, call
        assert not getattr(command, "commands", {}) or "-" in call, f"{call}: no such command"
