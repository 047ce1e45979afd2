"""Locks the exact packages that ship, with the digests of their wheels (infra/packaging/locks/).

requirements.txt names the direct dependencies. There is a lock for each Python version, which adds
the indirect dependencies and has the wheels of both processor types. So the same tree always
installs the same files. `python -m infra.build --lock` writes all locks again, with any Python.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from infra.packaging.target import ARCHITECTURES, LambdaTarget, PackageError, Runtime

# Packages that are required but do not ship, each with the reason. Packages that only these need do
# not ship either.
LEFT_OUT = {
    "boto3": "only commands on the administrator's machine use it; functions use botocore",
    "chalice": "`chalice package` adds the two files of it that run in a function",
    "flatbuffers": "only the tools of onnxruntime read it",
    "huggingface-hub": "tokenizers downloads with it; ours are read from files",
    "protobuf": "only the tools of onnxruntime read it",
    "pycparser": "cffi parses C with it; cryptography's interface is compiled",
}
_HEAD = (
    "# What ships for {runtime}, with the digests of the wheels for x86_64 and arm64.\n"
    "# Made from requirements.txt by: python -m infra.build --lock\n"
)
# The command that installs packages; the user's own pip settings apply to it.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

# Digest of a wheel, by package name and version.
Wheels = Mapping[tuple[str, str], str]


def normal(name: str) -> str:
    """Return the normalised spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    """Return the version of each package in a requirements file or lock file.

    Args:
        text: content of the file, with one `name==version` per line; the rest of a line is ignored.
    """
    found = re.findall(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]\n]*\])?==(\S+)", text, re.MULTILINE)
    return {normal(name): version for name, version in found}


def check(requirements: str, lock: str) -> None:
    """Raise PackageError if a requirement is missing from the lock or has another version there."""
    locked = pins(lock)
    for name, version in pins(requirements).items():
        if name not in LEFT_OUT and locked.get(name) != version:
            raise PackageError(
                f"requirements.txt asks for {name} {version}, the lock has "
                f"{locked.get(name, 'none')}. Write the locks again: python -m infra.build --lock"
            )


def install(target: LambdaTarget, folder: Path) -> None:
    """Install exactly the locked packages, without byte code.

    Args:
        target: target of the package, which has a lock and wheels.
        folder: folder to create.

    Raises:
        PackageError: pip could not download the packages, or a digest differs from the lock.
    """
    command = [*PIP, "install", "--quiet", "--no-deps", "--require-hashes", "--no-compile"]
    command += ["--no-warn-conflicts", "--target", str(folder)]
    command += [*wheel_options(target), "--requirement", str(target.runtime.lock)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise PackageError(
            f"pip could not install the packages for {target}. Check that this machine has a "
            "network and that pip's index has them (pip config list). Output of pip:\n"
            + done.stderr.strip()
        )


def make_lock(requirements: Path, runtime: Runtime) -> str:
    """Resolve the requirements with the package index, and return the content of the lock.

    Raises:
        PackageError: pip found no suitable wheels.
    """
    roots = list(pins(requirements.read_text("utf-8")))
    targets = [LambdaTarget(runtime, architecture) for architecture in ARCHITECTURES.values()]
    wheels = [shipped(resolve(requirements, target), roots, target) for target in targets]
    return render(wheels, _HEAD.format(runtime=runtime.name))


def resolve(requirements: Path, target: LambdaTarget) -> list[dict[str, Any]]:
    """Let pip choose the wheels of all requirements for a target.

    Returns:
        The member `install` of pip's installation report.

    Raises:
        PackageError: pip found no suitable wheels.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [*PIP, "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--report", str(report), "--target", str(Path(folder) / "none")]
        command += wheel_options(target)
        done = subprocess.run(
            [*command, "--requirement", str(requirements)], capture_output=True, text=True
        )
        if done.returncode:
            raise PackageError(f"pip finds no packages for {target}: {done.stderr}")
        found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    return found


def wheel_options(target: LambdaTarget) -> list[str]:
    """Return pip's options that choose wheels for the target instead of this machine."""
    options = ["--python-version", target.runtime.version, "--implementation", "cp"]
    for platform in target.architecture.platforms:
        options += ["--platform", platform]
    return [*options, "--only-binary", ":all:"]


def render(wheels: Iterable[Wheels], head: str) -> str:
    """Format a lock that allows the wheels of both processors, with comment lines at its head."""
    digests: dict[tuple[str, str], set[str]] = defaultdict(set)
    for found in wheels:
        for package, digest in found.items():
            digests[package].add(digest)
    blocks = [
        " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{d}" for d in sorted(chosen))])
        for (name, version), chosen in sorted(digests.items())
    ]
    return head + "\n".join(blocks) + "\n"


def shipped(
    installs: Sequence[Mapping[str, Any]],
    roots: Iterable[str],
    target: LambdaTarget,
    excluded: Container[str] = LEFT_OUT,
) -> dict[tuple[str, str], str]:
    """Select the packages to ship, from the packages that pip would install.

    Args:
        installs: the member `install` of pip's installation report.
        roots: names of the direct dependencies.
        target: target of the resolution.
        excluded: names of packages that do not ship. A package that only these packages need does
            not ship either.

    Returns:
        The digests, by name and version, of all packages that ship.

    Raises:
        PackageError: the resolution lacks a package that the target needs, because the Python that
            runs pip does not need it.
    """
    known = {normal(entry["metadata"]["name"]): entry for entry in installs}
    reached: set[str] = set()
    waiting = [normal(root) for root in roots]
    while waiting:
        name = waiting.pop()
        if name in reached or name in excluded:
            continue
        if name not in known:
            # pip evaluates the conditions of requirements for the Python that runs it.
            raise PackageError(f"{target} needs {name}: make the locks with an older Python.")
        reached.add(name)
        waiting += _needs(known[name]["metadata"], target)
    return {
        (name, known[name]["metadata"]["version"]): digest(known[name]) for name in sorted(reached)
    }


def _needs(metadata: Mapping[str, Any], target: LambdaTarget) -> list[str]:
    """Return the names of a package's dependencies on the target, without extras."""
    environment = {
        "extra": "",
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": target.architecture.machine,
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{target.runtime.version}.0",
        "python_version": target.runtime.version,
        "sys_platform": "linux",
    }
    needs = [Requirement(line) for line in metadata.get("requires_dist", [])]
    return [normal(n.name) for n in needs if n.marker is None or n.marker.evaluate(environment)]


def digest(entry: Mapping[str, Any]) -> str:
    """Return the sha256 of the file that pip chose, from an entry of pip's installation report."""
    return str(entry["download_info"]["archive_info"]["hashes"]["sha256"])
