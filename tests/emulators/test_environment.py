"""Emulator environments: made once, completely, with exactly the locked packages."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.emulators import environment
from tests.emulators.environment import PIP, STAMP, prepare
from tests.emulators.errors import EmulatorError
from tests.emulators.pythons import find_python

PYTHON = Path(sys.executable)


def make_wheel(folder: Path, answer: int = 42) -> Path:
    """Write a package of one module."""
    path = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny.py", f"ANSWER = {answer}\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock of one package; pip knows no other index than the folder that holds it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    digest = hashlib.sha256(make_wheel(tmp_path).read_bytes()).hexdigest()
    path = tmp_path / "tiny-lock.txt"
    path.write_text(f"# what is installed\ntiny==1.0 \\\n    --hash=sha256:{digest}\n")
    return path


@pytest.fixture
def make(tmp_path: Path, lock: Path):
    """Prepares the environment and returns what was reported."""

    def prepared() -> tuple[Path, list[str]]:
        """Prepare it."""
        messages: list[str] = []
        return prepare("tiny", PYTHON, lock, tmp_path / "envs", messages.append), messages

    return prepared


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for pip, which is slow: it writes the locked version into the environment."""
    program = tmp_path / "pip.py"
    program.write_text(
        "import pathlib, re, sys\n"
        "python = pathlib.Path(sys.argv[sys.argv.index('--python') + 1])\n"
        "lock = pathlib.Path(sys.argv[sys.argv.index('--requirement') + 1]).read_text()\n"
        "version = re.search('==(\\\\d+)', lock)[1]\n"
        "[site] = python.parents[1].glob('lib/*/site-packages')\n"
        "(site / 'tiny.py').write_text(f'ANSWER = {version}')\n"
    )
    monkeypatch.setattr(environment, "PIP", (sys.executable, "-S", str(program)))


def answer(python: Path) -> str:
    """Ask the package in an environment."""
    done = subprocess.run(
        [python, "-c", "import tiny; print(tiny.ANSWER)"], capture_output=True, text=True
    )
    return done.stdout.strip()


def test_second_preparation_starts_at_once(make, tmp_path: Path):
    """A complete environment is reused and contains only what is locked.

    Neither pip nor anything of our own environment can be imported.
    """
    python, messages = make()

    assert answer(python) == "42"
    look = (
        "from importlib.util import find_spec; "
        "names = 'tiny', 'pip', 'setuptools', 'boto3', 'infra'; "
        "print([name for name in names if find_spec(name)])"
    )
    done = subprocess.run([python, "-I", "-c", look], capture_output=True, text=True)
    assert done.stdout.strip() == "['tiny']"
    assert messages[0] == "tiny: installing 1 packages (some minutes at the first time)"
    assert make() == (python, [])
    assert sorted(path.name for path in (tmp_path / "envs").iterdir()) == ["tiny", "tiny.lock"]


def test_a_lock_that_differs_replaces_it(quick, make, lock: Path):
    """A new lock replaces the environment; so does one that another Python made."""
    python, _ = make()
    assert answer(python) == "1"
    lock.write_text(lock.read_text().replace("==1.0", "==2.0"))

    make()

    assert answer(python) == "2"
    stamp = python.parents[1] / STAMP
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), "python": "3.9.0 x86_64"}))
    assert make()[1] != []
    assert make()[1] == []


@pytest.mark.parametrize("harm", ["stamp", "python", "left"])
def test_an_interrupted_installation_is_never_taken_for_whole(
    quick, make, tmp_path: Path, harm: str
):
    """An incomplete environment is made again, and leftovers are removed."""
    python, _ = make()
    left = tmp_path / "envs" / "partial-tiny-killed"
    if harm == "stamp":
        (python.parents[1] / STAMP).write_text('{"lock": ')
    elif harm == "python":
        python.unlink()
    else:
        left.mkdir()
        (python.parents[1] / STAMP).unlink()

    again, messages = make()

    assert (answer(again), messages[-1]) == ("1", f"tiny: installed in {python.parents[1]}")
    assert not left.exists()


def test_a_package_that_differs_is_refused(make, tmp_path: Path, quick, monkeypatch):
    """A package with another digest is not installed, and the environment stays."""
    python, _ = make()
    monkeypatch.setattr(environment, "PIP", PIP)
    (python.parents[1] / STAMP).unlink()
    make_wheel(tmp_path, answer=44)

    with pytest.raises(EmulatorError, match="another package than the lock of tiny") as caught:
        make()

    assert "\n" not in str(caught.value)
    assert "python -m tests.emulators lock" in str(caught.value)
    assert answer(python) == "1"
    assert not list((tmp_path / "envs").glob("partial-*"))


def test_without_an_index_the_remedy_is_named(make, tmp_path: Path):
    """Without an index the error is one line with pip's own message."""
    (tmp_path / "tiny-1.0-py3-none-any.whl").unlink()

    with pytest.raises(EmulatorError, match=r"has a network .*No matching distribution") as caught:
        make()

    assert "\n" not in str(caught.value)


def test_python_that_is_not_there_is_named(tmp_path: Path, lock: Path, monkeypatch):
    """A Python that is missing, or is named and wrong, gives the way out."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(EmulatorError, match=r"apt-get install python3\.9 .*PYTHON39=/path/to"):
        find_python("3.9")
    monkeypatch.setenv("PYTHON39", str(PYTHON))
    with pytest.raises(EmulatorError, match=r"PYTHON39=.* does not run a Python 3\.9\. Name one"):
        find_python("3.9")
    with pytest.raises(EmulatorError, match="No such file"):
        prepare("tiny", tmp_path / "nothing", lock, tmp_path / "envs")


def test_what_builds_packages_is_locked_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lock):
    """Where the lock has the builder, it is installed first and nothing is built without it."""
    asked: list[list[str]] = []

    def keep(command: list[str], *rest: object) -> None:
        """Keep how pip is called, with what it is asked for."""
        asked.append([*command[-5:], Path(command[-1]).read_text()])

    monkeypatch.setattr(environment, "_install", keep)
    first = "setuptools==84 \\\n    --hash=sha256:aa\n"
    lock.write_text(f"attrs==1 \\\n    --hash=sha256:bb\n{first}tailer==1 --hash=sha256:cc\n")

    prepare("tiny", PYTHON, lock, tmp_path / "envs", lambda line: None)

    assert [call[-1] for call in asked] == [first, lock.read_text()]
    assert "--no-build-isolation" in asked[1]
    lock.write_text("attrs==1 --hash=sha256:bb\n")
    prepare("tiny", PYTHON, lock, tmp_path / "envs", lambda line: None)
    assert asked[2][1:3] == ["--only-binary", ":all:"]
