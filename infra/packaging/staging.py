"""Runs `chalice package` to get the template and the application's own files.

Chalice runs on a copy without vendor folder and requirements, so that it builds no packages. It
always writes the same processor type, and its own Python version as the runtime. This module
replaces processor type and runtime in each function. infra/template has the other properties.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from infra.packaging.target import LambdaTarget, PackageError
from infra.template.functions import FUNCTION_TYPE, FUNCTIONS

# Logical names of all functions; a test compares them with those that Chalice finds in app.py.
LOGICAL_NAMES = tuple(function.logical for function in FUNCTIONS)
# The entry point of functions that answer routes, which Chalice does not know.
ENTRY = "entry.py"
_CHALICE = (sys.executable, "-c", "import sys; from chalice.cli import main; sys.exit(main())")
_JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
_REGION = "AWS_DEFAULT_REGION"
_ANY_REGION = "us-east-1"


def wanted_properties(target: LambdaTarget) -> dict[str, Any]:
    """Return the properties that every function must have."""
    return {"Runtime": target.runtime.name, "Architectures": [target.architecture.name]}


def overrides(target: LambdaTarget, functions: Iterable[str] = LOGICAL_NAMES) -> dict[str, Any]:
    """Return a template to merge, which sets runtime and processor of the functions."""
    wanted = wanted_properties(target)
    return {"Resources": {name: {"Properties": dict(wanted)} for name in functions}}


def check(template: Mapping[str, Any], target: LambdaTarget) -> None:
    """Check that all functions of a template have the runtime and processor of the package.

    Raises:
        PackageError: a function differs, or the template to merge names a function that does not
            exist.
    """
    resources = template["Resources"]
    unknown = [name for name, resource in resources.items() if "Type" not in resource]
    if unknown:
        raise PackageError(
            f"app.py has no function {', '.join(unknown)}: see infra/template/functions.py"
        )
    wanted = wanted_properties(target)
    for name, resource in resources.items():
        if resource["Type"] == FUNCTION_TYPE:
            found = {key: resource["Properties"].get(key) for key in wanted}
            if found != wanted:
                raise PackageError(
                    f"{name} would run on {found} instead of {wanted}: "
                    f"add it to infra/template/functions.py"
                )


def copy_project(project: Path, stage: Path) -> None:
    """Copy the files that Chalice reads to a new folder; raise PackageError if one is missing."""
    try:
        shutil.copytree(project / "chalicelib", stage / "chalicelib", ignore=_JUNK)
        shutil.copyfile(project / "app.py", stage / "app.py")
        (stage / ".chalice").mkdir()
        shutil.copyfile(project / ".chalice" / "config.json", stage / ".chalice" / "config.json")
    except FileNotFoundError as error:
        raise PackageError(f"The project is not whole: {error.filename} is missing.") from error
    (stage / "requirements.txt").touch()


def package(stage: Path, stage_name: str, merged: Mapping[str, Any], tree: Path) -> dict[str, Any]:
    """Run `chalice package`, and unpack the application's files.

    Args:
        stage: a copy of the project.
        stage_name: stage of .chalice/config.json.
        merged: template that is merged into Chalice's template.
        tree: folder to create for the files.

    Returns:
        The template, in which the code of functions is `./deployment.zip`.

    Raises:
        PackageError: `chalice package` failed.
    """
    template, output = stage / "merged.json", stage / "packaged"
    template.write_text(json.dumps(merged), "utf-8")
    command = [*_CHALICE, "package", "--stage", stage_name, "--template-format", "json"]
    command += ["--merge-template", str(template), str(output)]
    # Chalice always makes AWS clients, although it needs none here, and these need a region.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.setdefault(_REGION, _ANY_REGION)
    done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True)
    if done.returncode:
        output_text = (done.stderr or done.stdout).strip()
        raise PackageError(f"chalice package failed: {output_text}")
    with zipfile.ZipFile(output / "deployment.zip") as archive:
        archive.extractall(tree)
    found: dict[str, Any] = json.loads((output / "sam.json").read_text("utf-8"))
    return found


def add_entry(project: Path, tree: Path) -> None:
    """Add entry.py next to app.py: the entry point of functions that answer routes.

    Raises:
        PackageError: the file is missing.
    """
    try:
        shutil.copyfile(project / ENTRY, tree / ENTRY)
    except FileNotFoundError as error:
        raise PackageError(f"The project is not whole: {error.filename} is missing.") from error


def add_packages(vendor: Path, tree: Path) -> None:
    """Move the installed packages into the folder of the application.

    Raises:
        PackageError: both folders have a file or folder of the same name.
    """
    for path in sorted(vendor.iterdir()):
        target = tree / path.name
        if target.exists():
            raise PackageError(f"The packages and the application both have {path.name}.")
        path.rename(target)
