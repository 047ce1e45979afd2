"""Building a whole package, of a tiny project with tiny packages."""

import dataclasses
import hashlib
import json
import os
import stat
import subprocess
import sys
import zipfile

import pytest

from infra import build as command
from infra.build import build
from infra.packaging import staging
from infra.packaging.report import Limits, render
from infra.packaging.target import PackageError
from tests.infra.tiny_package import X86, make_packages, make_project, tiny_plan, write


@pytest.fixture
def plan(tmp_path):
    """A plan for a tiny package."""
    return tiny_plan(tmp_path)


def quiet(line):
    """Take progress and say nothing."""


@pytest.fixture(scope="module")
def built(tmp_path_factory, packaged_once):
    """A finished package: its folder and its report."""
    folder = tmp_path_factory.mktemp("built")
    plan = tiny_plan(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "package", packaged_once)
        return plan.folder, build(plan, quiet)


def test_package_holds_application_packages_and_licences(built):
    """What runs is there with byte code and licences, what does not is not."""
    with zipfile.ZipFile(built[0] / "deployment.zip") as archive:
        names = set(archive.namelist())
    tag = sys.implementation.cache_tag

    assert {
        "app.py",
        "entry.py",
        f"__pycache__/app.{tag}.pyc",
        "chalice/app.py",
        "tiny/__init__.py",
    } <= names
    assert f"chalicelib/__pycache__/answer.{tag}.pyc" in names
    assert {"tool/bin/tool", "tiny.libs/libbundled-1.so"} <= names
    assert {"LICENSES/tiny/licenses/LICENSE", "LICENSES/tool/tool/LICENSE"} <= names
    assert {"LICENSES/presage/LICENSE", "LICENSES/chalice/LICENSE"} <= names
    gone = ("bin/", ".dist-info/", "/tests/", ".pyi", "requirements", ".chalice")
    assert [n for n in names if n.startswith("bin/") or any(part in n for part in gone[1:])] == []


def test_package_runs_from_its_own_files(built, tmp_path):
    """Unpacked elsewhere, the application starts and its byte code is what is read."""
    with zipfile.ZipFile(built[0] / "deployment.zip") as archive:
        archive.extractall(tmp_path)
    for source in (tmp_path / "chalicelib").glob("*.py"):
        source.write_text("raise SystemExit('the source was read')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import app; print(app.ANSWER)"
    done = subprocess.run([sys.executable, "-I", "-B", "-c", code], capture_output=True, text=True)

    assert done.stdout.strip() == "{'answer': 42}", done.stderr


def test_template_says_runtime_and_architecture(built):
    """Every function runs on the Python and the processor that the package is made for."""
    template = json.loads((built[0] / "sam.json").read_text())
    functions = {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }

    assert sorted(functions) == ["APIHandler", "Sweep"]
    for found in functions.values():
        assert found["Runtime"] == X86.runtime.name
        assert found["Architectures"] == ["x86_64"]
        assert found["CodeUri"] == "./deployment.zip"


def test_report_says_what_is_in_it(built):
    """Both reports contain digest, sizes, versions and licences."""
    folder, said = built
    content = (folder / "deployment.zip").read_bytes()
    text = (folder / "report.txt").read_text()

    assert json.loads((folder / "report.json").read_text()) == said
    assert said["sha256"] == hashlib.sha256(content).hexdigest()
    assert said["zip_bytes"] == len(content)
    assert said["assets_bytes"] == len("text,label\n")
    assert [p["name"] for p in said["packages"]] == ["tiny", "tool"]
    assert {p["licence"] for p in said["packages"]} == {"MIT"}
    assert said["byte_code"]["files"] > 0
    assert text == render(said)
    assert said["sha256"] in text


def test_same_tree_gives_the_same_zip(plan, built, tmp_path):
    """The zip does not depend on times, paths, permissions or folder order."""
    other = make_project(tmp_path / "elsewhere" / "again")
    for path in other.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700)

    def install(target, folder):
        make_packages(folder)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.chmod(0o755)

    said = build(dataclasses.replace(plan, project=other, install=install), quiet)

    assert said["sha256"] == built[1]["sha256"]


def test_package_of_sources_is_named_so(plan, built, quick):
    """A package without byte code is built only on request, and the report says so."""
    said = build(dataclasses.replace(plan, compiles=False), quiet)

    assert said["byte_code"] is None
    assert "byte code    NONE" in render(said)
    assert said["sha256"] != built[1]["sha256"]
    with zipfile.ZipFile(plan.folder / "deployment.zip") as archive:
        assert not [name for name in archive.namelist() if name.endswith(".pyc")]


def test_only_programs_may_be_executed(built):
    """Only the OCR program is executable."""
    with zipfile.ZipFile(built[0] / "deployment.zip") as archive:
        modes = {i.filename: stat.S_IMODE(i.external_attr >> 16) for i in archive.infolist()}
        times = {i.date_time for i in archive.infolist()}

    assert modes["tool/bin/tool"] == 0o755
    assert modes["app.py"] == modes["tiny/__init__.py"] == 0o644
    assert len(times) == 1


def test_too_large_a_package_is_refused(plan, quick):
    """A package that is too large is refused with its largest parts."""
    write(plan.folder, {"deployment.zip": b"of an earlier build"})

    with pytest.raises(PackageError, match=r"(?s)allowed are .*chalice .* MB"):
        build(dataclasses.replace(plan, limits=Limits(zip_bytes=100), compiles=False), quiet)

    assert list(plan.out.iterdir()) == []


def test_missing_binary_is_refused(plan):
    """A package without a required binary is not built."""

    def install(target, folder):
        make_packages(folder)
        (folder / "tool/bin/tool").unlink()

    with pytest.raises(PackageError, match="tool: tool/bin/tool is missing"):
        build(dataclasses.replace(plan, install=install), quiet)

    assert list(plan.out.iterdir()) == []


def test_broken_application_is_refused(plan):
    """Errors of Chalice are shown."""
    write(plan.project, {"app.py": "import nowhere_to_be_found\n"})

    with pytest.raises(PackageError, match=r"(?s)chalice package failed: .*nowhere_to_be"):
        build(plan, quiet)


def test_incomplete_project_is_refused(plan):
    """A project without its configuration is named."""
    (plan.project / ".chalice" / "config.json").unlink()

    with pytest.raises(PackageError, match=r"config\.json is missing"):
        build(plan, quiet)


def test_package_may_not_hide_the_application(plan, quick):
    """A package named like one of our folders is refused."""

    def install(target, folder):
        make_packages(folder)
        write(folder, {"chalicelib/other.py": ""})

    with pytest.raises(PackageError, match="both have chalicelib"):
        build(dataclasses.replace(plan, install=install), quiet)


@pytest.mark.parametrize("error", [PackageError("no room"), OSError("no room")])
def test_command_fails_in_one_line(monkeypatch, capsys, tmp_path, error):
    """A build that fails ends with exit code 1 and the reason, not with a traceback."""

    def fail(plan, progress):
        raise error

    monkeypatch.setattr(command, "build", fail)
    monkeypatch.setattr(command, "runtime_warnings", lambda *_: ["it is old."])

    assert command.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "WARNING: it is old.\nerror: no room\n"
