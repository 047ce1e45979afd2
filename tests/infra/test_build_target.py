"""What a package may be built for: the Python that builds, as long as Lambda supports it."""

import json
import sys
from datetime import date
from pathlib import Path

import pytest

from infra import build as command
from infra.packaging.target import RUNTIMES, PackageError, own_runtime, runtime_warnings

LONG_AGO = date(2025, 1, 1)


def test_runtime_is_that_of_the_builder():
    """Name, tag and lock follow from the version of the Python that runs."""
    runtime = own_runtime()

    assert runtime.name == "python{}.{}".format(*sys.version_info)
    assert runtime.tag in sys.implementation.cache_tag
    assert runtime.lock.name == f"py{runtime.tag}.txt"


@pytest.mark.parametrize("version", [(3, 10), (3, 15), (4, 0)])
def test_python_that_is_not_offered_is_refused(version):
    """The text names what is offered and how it is chosen."""
    with pytest.raises(PackageError, match=r"3\.11, 3\.12, 3\.13, 3\.14.*make .*PYTHON=/path/to"):
        own_runtime(version)


def test_every_lock_is_of_an_offered_python():
    """No lock is unused, and none is missing."""
    folder = own_runtime().lock.parent

    assert sorted(path.name for path in folder.iterdir()) == [
        r.lock.name for r in RUNTIMES.values()
    ]


def test_dates_are_those_that_cfn_lint_knows():
    """The end-of-support dates equal those of cfn-lint."""
    import cfnlint  # half a second

    file = Path(cfnlint.__file__).parent / "data/AdditionalSpecs/LmbdRuntimeLifecycle.json"
    known = json.loads(file.read_text())

    assert {r.name: str(r.deprecated) for r in RUNTIMES.values()} == {
        r.name: known[r.name]["deprecated"] for r in RUNTIMES.values()
    }


def test_little_support_is_warned_of():
    """A year before its end of support a runtime causes a warning."""
    runtime = RUNTIMES["3.12"]

    assert runtime_warnings(runtime, date(2027, 10, 31)) == []
    [line] = runtime_warnings(runtime, date(2027, 11, 1))
    assert "python3.12 until 2028-10-31" in line
    assert "PYTHON=/path/to" in line


def test_wheels_that_lambda_cannot_load_are_warned_of():
    """python3.11 runs on Amazon Linux 2, whose older glibc causes a warning."""
    [line] = runtime_warnings(RUNTIMES["3.11"], LONG_AGO)

    assert "on the C library 2.26, and packages that ship need 2.28" in line
    assert [r.version for r in RUNTIMES.values() if not runtime_warnings(r, LONG_AGO)] == [
        "3.12",
        "3.13",
        "3.14",
    ]


def test_command_refuses_a_python_that_is_not_offered(monkeypatch, capsys, tmp_path):
    """The build ends before it begins, in one line."""

    def refuse():
        own_runtime((3, 10))

    monkeypatch.setattr(command, "own_runtime", refuse)

    assert command.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: This is Python 3.10; packages are built for")
