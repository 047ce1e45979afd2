"""The distribution `presage-server`: what it holds, and that its command runs without a clone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from itertools import chain
from pathlib import Path

import httpx
import pytest

from chalicelib import __version__
from infra import server
from infra.packaging.lock import pins
from tests.structure.product import ROOT

SOURCE = ROOT / "deploy" / "server"
READY = "Presage is ready on "


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=SOURCE,
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment that has the wheel, and of the project only its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    site = sysconfig.get_path("purelib", vars={"base": str(folder)})
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
        capture_output=True,
    )
    return programs


def test_the_wheel_has_one_folder_and_the_tested_versions(wheel: Path) -> None:
    """The application is below one private folder, and dependencies are pinned as in a clone."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        information = next(name for name in names if name.endswith("METADATA"))
        metadata = archive.read(information).decode()
    required = "\n".join(
        line.removeprefix("Requires-Dist: ")
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "; extra ==" not in line
    )

    assert {name.split("/")[0] for name in names} == {"presage_server", information.split("/")[0]}
    assert {"app.py", "NOTICE", "chalicelib", "infra"} <= {
        name.split("/")[2] for name in names if name.startswith("presage_server/_app/")
    }
    assert not [name for name in names if name.endswith(".pyc")]
    functions, local = (ROOT / "requirements.txt", SOURCE / "requirements.txt")
    assert pins(required) == pins(functions.read_text()) | pins(local.read_text())
    assert f"Version: {__version__}" in metadata


def test_the_environment_keeps_its_own_modules(bin_folder: Path, tmp_path: Path) -> None:
    """`app` and `infra` cannot be imported next to the installed server."""
    for name in ("app", "infra", "chalicelib"):
        done = subprocess.run(
            [bin_folder / "python", "-c", f"import {name}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "ModuleNotFoundError" in done.stderr


def test_the_installed_command_runs_the_service(bin_folder: Path, tmp_path: Path) -> None:
    """`presage-server run` answers calls and keeps its data below the user's data folder."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESAGE_")},
        "XDG_DATA_HOME": str(tmp_path),
        "PRESAGE_DIE_WITH_PARENT": "1",
    }
    command = [bin_folder / "presage-server", "run", "--bare", "--port", "0", "--aws-port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = next(line for line in process.stdout if READY in line).split(READY)[1].strip()
            health = httpx.get(f"{url}/v2/health", timeout=60).json()
            accounts = subprocess.run(
                [bin_folder / "presage-server", "accounts", "list"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            process.send_signal(signal.SIGTERM)
    assert health["version"] == __version__
    assert (accounts.returncode, accounts.stderr) == (0, "")
    assert process.returncode == 0
    assert (tmp_path / "presage").stat().st_mode & 0o777 == 0o700


def test_an_unknown_command_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that does not exist is refused with the list of those that do."""
    assert server.main(["start"]) == 2
    assert "presage-server COMMAND" in capsys.readouterr().err


def test_folders_that_are_named_stay() -> None:
    """Folders in the environment variables win over the defaults."""
    given = {"PRESAGE_STATE_DIR": "/here", "PRESAGE_MODEL_DIR": "", "XDG_DATA_HOME": "/data"}
    server.set_folders(given)
    assert given["PRESAGE_STATE_DIR"] == "/here"
    assert given["PRESAGE_MODEL_DIR"] == "/data/presage/models"


def test_extras_have_the_tested_versions() -> None:
    """The packages of metrics and traces are pinned as the tests use them."""
    project = tomllib.loads((ROOT / "deploy" / "server" / "pyproject.toml").read_text("utf-8"))
    tested = (ROOT / "requirements-dev.txt").read_text("utf-8")

    extras = project["project"]["optional-dependencies"]
    assert set(extras) == {"metrics", "traces"}
    for pin in chain.from_iterable(extras.values()):
        assert f"\n{pin} " in tested
