"""Compiled parts: read like the dynamic linker reads them, and refused when they would not load."""

import shutil
import struct
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy._core._multiarray_umath as numpy_module
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infra.packaging import natives
from infra.packaging.elf import read_elf
from infra.packaging.errors import PackageError
from infra.packaging.target import ARCHITECTURES
from tests.infra.tiny_package import X86, elf, write

ARM = ARCHITECTURES["arm64"]
NUMPY = Path(numpy_module.__file__)


def read(tmp_path, data):
    """Read bytes as a binary."""
    path = tmp_path / "x.so"
    path.write_bytes(data)
    return read_elf(path)


def test_a_made_binary_reads_back(tmp_path):
    """Processor, libraries and versions are what was written."""
    found = read(tmp_path, elf("libm.so.6", "libz.so.1", versions=("GLIBC_2.2.5", "GLIBC_2.17")))

    assert found.machine == 62
    assert found.needed == ("libm.so.6", "libz.so.1")
    assert found.versions == ("GLIBC_2.17", "GLIBC_2.2.5")


def test_real_binary_reads_as_readelf_reads_it():
    """A large library of an installed package gives what binutils says."""
    found = read_elf(NUMPY)

    assert "libc.so.6" in found.needed
    assert any(version.startswith("GLIBC_2.") for version in found.versions)
    if shutil.which("readelf"):
        said = subprocess.run(["readelf", "-dVW", NUMPY], capture_output=True, text=True).stdout
        assert [name for name in found.needed if f"[{name}]" not in said] == []
        assert [name for name in found.versions if f"Name: {name} " not in said] == []
        assert said.count("(NEEDED)") == len(found.needed)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    """Broken files end in one kind of error, never in another or in none."""
    path = tmp_path_factory.getbasetemp() / "any.so"
    path.write_bytes(b"\x7fELF\x02\x01" + data)
    with suppress(ValueError):
        read_elf(path)


@given(st.integers(0, 400), st.integers(0, 255))
@example(64 + 56 + 15, 128)  # the dynamic segment lies beyond what an offset can say
def test_damaged_binaries_are_read_or_refused(tmp_path_factory, position, value):
    """One changed byte anywhere ends in an answer or in a ValueError."""
    data = bytearray(elf("libm.so.6"))
    data[position % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "damaged.so"
    path.write_bytes(data)
    with suppress(ValueError):
        read_elf(path)


def test_endless_tables_are_refused(tmp_path):
    """A file that claims billions of entries is not read for ever."""
    data = bytearray(elf())
    place = data.index(struct.pack("<qQ", 0x6FFFFFFF, 1))
    data[place + 8 : place + 16] = struct.pack("<Q", 1 << 60)

    assert read(tmp_path, bytes(data)).versions == ("GLIBC_2.17",)


@pytest.mark.parametrize(
    ("name", "data", "trouble"),
    [
        ("a.so", elf(machine=183), "another processor (e_machine 183)"),
        ("a.so", elf("libmissing.so.1"), "needs libmissing.so.1, which is not there"),
        ("a.so", elf(versions=("GLIBC_2.35",)), "needs GLIBC_2.35, the target has GLIBC_2.34"),
        ("a.so", elf(versions=("GLIBCXX_3.4.30",)), "needs GLIBCXX_3.4.30"),
        ("a.so", elf(versions=("CXXABI_1.3.14",)), "needs CXXABI_1.3.14"),
        ("a.cpython-311-x86_64-linux-gnu.so", elf(), "another Python (cpython-311)"),
        ("a.so", elf()[:100], "a broken ELF file"),
        ("a.so", b"\x7fELF\x01\x01" + bytes(100), "not a 64-bit little-endian ELF file"),
    ],
)
def test_what_would_not_load_is_named(tmp_path, name, data, trouble):
    """Each cause for which the target would refuse a file stops the build."""
    write(tmp_path, {f"package/{name}": data})

    with pytest.raises(PackageError) as caught:
        natives.check(tmp_path, X86, {})

    assert f"package/{name}: " in str(caught.value)
    assert trouble in str(caught.value)


def test_what_loads_passes(tmp_path):
    """Libraries of the system and of the package, at the newest versions, are content."""
    newest = ("GLIBC_2.34", "GLIBCXX_3.4.29", "CXXABI_1.3.13", "GCC_3.0", "GLIBC_PRIVATE")
    files = {
        "a/x.cpython-313-aarch64-linux-gnu.so": elf("libown.so", machine=183, versions=newest),
        "a.libs/libown.so": elf("libc.so.6", machine=183),
        "a/program": elf(machine=183, versions=()),
        "a/table.bin": b"no binary",
    }
    write(tmp_path, files)

    assert natives.check(tmp_path, ARM, {"a": "a/x.*.so"}) == 3


@pytest.mark.parametrize("name", natives.REQUIRED)
def test_every_required_binary_is_missed(tmp_path, name):
    """A package that lost one of its compiled parts is never deployed."""
    files = {
        pattern.replace(".*so", ".so").replace("*", ""): elf()
        for other, pattern in natives.REQUIRED.items()
        if other != name
    }
    write(tmp_path, files)

    with pytest.raises(PackageError) as caught:
        natives.check(tmp_path, X86)

    assert str(caught.value).count("is missing") == 1
    assert f"{name}: {natives.REQUIRED[name]} is missing" in str(caught.value)


def test_required_binaries_are_those_of_the_requirements():
    """Each names a package that is locked."""
    from infra.packaging.lock import LOCK, pins

    assert set(natives.REQUIRED) <= set(pins(LOCK.read_text()))
