"""The environment of the generator, and the client that it made."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live import Live, shared

TOOLS = Path(os.environ.get("PRESAGE_GENERATOR", ""))
"""Folder of the environment. Without the variable nothing here is collected: tests/conftest.py."""


@dataclass(frozen=True)
class Generated:
    """A client made from the document of a running service."""

    document: dict[str, dict[str, dict[str, object]]]
    """The document."""
    folder: Path
    """Holds its package, `generated`."""
    said: str
    """What the generator had to say."""

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script with this client and without the service's own packages."""
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.folder)}
        command = [str(TOOLS / "bin" / "python"), *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=300
        )


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest, closed_network: None) -> Live:
    """A running stack."""
    return shared(request.config)


@pytest.fixture(scope="session")
def generated(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The client, made once."""
    folder = tmp_path_factory.mktemp("generated")
    file = folder / "openapi.json"
    file.write_bytes(live.stranger.get("/v2/openapi.json").body)
    settings = Path(__file__).with_name("generator.yaml")
    words = ["generate", "--path", file, "--output-path", folder / "generated", "--meta", "none"]
    done = subprocess.run(
        [TOOLS.resolve() / "bin" / "openapi-python-client", *words, "--config", settings],
        env={**os.environ, "PATH": f"{TOOLS.resolve() / 'bin'}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return Generated(json.loads(file.read_bytes()), folder, done.stdout)
