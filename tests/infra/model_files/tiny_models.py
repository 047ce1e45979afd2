"""Tiny packages and their entries of the manifest."""

import hashlib
import io
import shutil
import tarfile
import zipfile

from infra.downloads.packages import PackageFile, Source
from infra.model_files.description import ModelDescription

NAMES = ("first", "second")

# Real pip takes a second for each package, this one none; the tests of fetch use the real one.
_FAKE_PIP = """
while [ $# -gt 0 ]; do
  case $1 in --requirement) wanted=$2 ;; --dest) target=$2 ;; esac
  shift
done
read -r wanted digests < "$wanted"
found="$FOLDER/$(echo "${wanted%%==*}" | tr - _)-${wanted##*==}-py3-none-any.whl"
[ -e "$found" ] || { echo "ERROR: No matching distribution found for $wanted"; exit 1; }
cp "$found" "$target"
"""


def fake_pip(folder):
    """Return a command that copies packages out of a folder as pip downloads them."""
    return ("env", f"FOLDER={folder}", "sh", "-c", _FAKE_PIP, "pip")


def make_wheel(folder, content=b"weights", name="tiny_model"):
    """Write a wheel that holds one data file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    facts = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/weights.bin", content)
        wheel.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{facts}/RECORD", "")
    return path


def make_source_distribution(folder, content):
    """Write a source distribution that holds one data file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny_model-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("tiny_model/weights.bin")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return path


def make_source(wheel, content=b"weights", name="tiny_model"):
    """Describe a wheel as the manifest does."""
    return Source(
        package=name.replace("_", "-"),
        version="1.0",
        file=wheel.name,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        archive_bytes=wheel.stat().st_size,
        members={
            "weights.bin": PackageFile(f"{name}/weights.bin", hashlib.sha256(content).hexdigest())
        },
        licence="MIT",
        credit="no one",
        upstream="the makers' page",
    )


def make_model(index, name, recipe=1):
    """Describe a tiny model and put its package into the index."""
    return describe_model(make_wheel(index, name=f"{name}_model"), name, recipe)


def describe_model(wheel, name, recipe=1):
    """Describe a tiny model as the manifest does."""
    return ModelDescription(
        name=name,
        folder=f"nested/{name}",
        title=name,
        sources=(make_source(wheel, name=f"{name}_model"),),
        changes="none",
        recipe=recipe,
        installed_bytes=10,
        working_bytes=10,
        needs=("first",) if name == "second" else (),
    )


def copy_weights(job):
    """Convert a tiny model: copy its file."""
    shutil.copy(job.source / "weights.bin", job.result / "weights.bin")
