"""Compiled files: those of another target are refused, and missing ones detected."""

import pytest

from infra.packaging import natives
from infra.packaging.lock import pins
from infra.packaging.target import ARCHITECTURES, RUNTIMES, LambdaTarget, PackageError
from tests.infra.tiny_package import BINARY, wheel_facts, write

X86 = LambdaTarget(RUNTIMES["3.12"], ARCHITECTURES["x86_64"])
ARM = LambdaTarget(RUNTIMES["3.12"], ARCHITECTURES["arm64"])


@pytest.mark.parametrize(
    "tags",
    [
        ["py3-none-any"],
        ["py2.py3-none-any"],
        ["cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux2014_x86_64"],
        ["cp311-abi3-manylinux_2_28_x86_64"],
        ["py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64"],
    ],
)
def test_wheels_of_the_target_pass(tmp_path, tags):
    """Pure Python wheels, and those of the target or the stable ABI, are accepted."""
    write(tmp_path, wheel_facts("a", tags))

    natives.check_wheels(tmp_path, X86)


@pytest.mark.parametrize(
    "tag",
    [
        "cp312-cp312-manylinux_2_28_aarch64",
        "cp311-cp311-manylinux_2_28_x86_64",
        "cp313-abi3-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_34_x86_64",
        "cp312-cp312-musllinux_1_2_x86_64",
        "cp312-cp312-macosx_11_0_x86_64",
        "py2-none-any",
    ],
)
def test_wheels_of_other_targets_are_refused(tmp_path, tag):
    """Wheels for another processor, Python, system or newer glibc are refused."""
    write(tmp_path, {**wheel_facts("a", [tag]), **wheel_facts("b", ["py3-none-any"])})

    with pytest.raises(PackageError, match=rf"python3\.12 on x86_64.*\n  a-1\.0 is for {tag}$"):
        natives.check_wheels(tmp_path, X86)


@pytest.mark.parametrize(
    ("tag", "trouble"),
    [
        ("cpython-311-x86_64", "Python 311 on x86_64"),
        ("cpython-312-aarch64", "Python 312 on aarch64"),
        ("cpython-313t-x86_64", "Python 313t on x86_64"),
    ],
)
def test_module_of_another_target_is_named(tmp_path, tag, trouble):
    """A module for another target is named and refused."""
    write(tmp_path, {f"package/a.{tag}-linux-gnu.so": BINARY})

    with pytest.raises(PackageError, match=rf"package/a\..* is for {trouble} processors"):
        natives.check_binaries(tmp_path, X86, {})


def test_what_loads_passes(tmp_path):
    """Modules of the target, libraries and programs are content, and counted."""
    files = {
        "a/x.cpython-312-aarch64-linux-gnu.so": BINARY,
        "a/y.abi3.so": BINARY,
        "a.libs/libown.so": BINARY,
        "a/program": BINARY,
        "a/table.bin": b"no binary",
    }
    write(tmp_path, files)

    assert natives.check_binaries(tmp_path, ARM, {"a": "a/x.*.so"}) == 4


@pytest.mark.parametrize("name", natives.REQUIRED)
def test_every_required_binary_is_missed(tmp_path, name):
    """A package that lacks a compiled part is never built."""
    files = {
        pattern.replace(".*so", ".so").replace("*", ""): BINARY
        for other, pattern in natives.REQUIRED.items()
        if other != name
    }
    write(tmp_path, files)

    with pytest.raises(PackageError) as caught:
        natives.check_binaries(tmp_path, X86)

    assert str(caught.value).count("is missing") == 1
    assert f"{name}: {natives.REQUIRED[name]} is missing" in str(caught.value)


def test_required_binaries_are_those_of_the_requirements():
    """Each names a package that is locked."""
    assert set(natives.REQUIRED) <= set(pins(X86.runtime.lock.read_text()))
