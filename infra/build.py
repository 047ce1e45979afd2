"""The command that builds the package of the deployed functions; infra/packaging has its steps.

`python -m infra.build --arch x86_64` writes build/package/x86_64/ with deployment.zip, sam.json,
data.json (the template of the data's stack) and the report. The package is for the Python version
that runs the command. It has no model files; functions read them from the bucket.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.downloads.fetch import file_sha256
from infra.downloads.packages import Progress
from infra.packaging import licences, lock, natives, report, sources, staging
from infra.packaging.archive import write_zip
from infra.packaging.licences import FOLDER, Shipped
from infra.packaging.report import Limits
from infra.packaging.target import (
    ARCHITECTURES,
    RUNTIMES,
    LambdaTarget,
    PackageError,
    own_runtime,
    runtime_warnings,
)
from infra.packaging.trimming import Stripping, compile_all, strip, trim
from infra.template.merging import merge_template, merged
from infra.template.storage import data_template

ROOT = Path(__file__).resolve().parent.parent
ZIP = "deployment.zip"
TEMPLATE, DATA_TEMPLATE = "sam.json", "data.json"
_FAILED = 1


@dataclass(frozen=True)
class Plan:
    """Input and output of a build; tests replace some members to build small packages."""

    target: LambdaTarget
    """Processor and Python version to build for; the version is that of the running Python."""
    project: Path = ROOT
    out: Path = ROOT / "build" / "package"
    """Folder that contains a folder per architecture."""
    stage: str = "dev"
    """Stage in .chalice/config.json."""
    compiles: bool = True
    """Whether byte code is compiled."""
    limits: Limits = field(default_factory=Limits)
    required: dict[str, str] = field(default_factory=lambda: dict(natives.REQUIRED))
    functions: Sequence[str] = staging.LOGICAL_NAMES
    described: Callable[[], dict[str, Any]] = merge_template
    """Returns the template that is merged into the template that Chalice generates."""
    install: Callable[[LambdaTarget, Path], None] = lock.install
    """Installs the packages into a folder."""

    @property
    def folder(self) -> Path:
        """Folder of the finished package."""
        return self.out / self.target.architecture.name

    def fingerprint(self) -> str:
        """Return a digest of everything on which the package depends."""
        options = (str(self.target), platform.python_version(), self.stage, str(self.compiles))
        return sources.fingerprint(self.project, *options)


def build(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Build a package and return its report.

    The result of an earlier build is removed first, so that a failed build leaves nothing to
    deploy.

    Raises:
        PackageError: the package cannot be built, would not run, or is too large.
    """
    requirements = (plan.project / "requirements.txt").read_text("utf-8")
    # Computed first: if a file changes during the build, the package counts as outdated.
    fingerprint = plan.fingerprint()
    if plan.install is lock.install:
        lock.check(requirements, plan.target.runtime.lock.read_text("utf-8"))
    shutil.rmtree(plan.folder, ignore_errors=True)
    plan.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="partial-", dir=plan.out) as name:
        work = Path(name)
        shipped, stripping = _prepare_packages(plan, work / "vendor", progress)
        template = _gather(plan, work, progress)
        byte_code = compile_all(work / "tree") if plan.compiles else None
        progress("zip: packing")
        finished = work / "finished"
        finished.mkdir()
        packed = write_zip(work / "tree", finished / ZIP)
        weight = report.weigh(work / "tree", packed, (finished / ZIP).stat().st_size)
        report.check(weight, plan.limits)
        digest = file_sha256(finished / ZIP)
        description = report.describe(plan.target, digest, weight, shipped, (byte_code, stripping))
        _write(finished, template, description)
        sources.note(finished, fingerprint, finished / ZIP)
        os.replace(finished, plan.folder)
    return description


def _prepare_packages(
    plan: Plan, folder: Path, progress: Progress
) -> tuple[list[Shipped], Stripping]:
    """Install the packages, collect licences, remove unneeded files, check compiled files."""
    progress(f"packages: installing for {plan.target}")
    plan.install(plan.target, folder)
    natives.check_wheels(folder, plan.target)
    shipped = licences.collect(folder)
    trim(folder)
    stripping = strip(folder, plan.target.architecture)
    count = natives.check_binaries(folder, plan.target, plan.required)
    progress(f"packages: {len(shipped)}, with {count} compiled files")
    return shipped, stripping


def _gather(plan: Plan, work: Path, progress: Progress) -> dict[str, Any]:
    """Collect the package's files in `work/tree`, and return the template."""
    progress("chalice: packaging")
    staging.copy_project(plan.project, work / "stage")
    wanted = staging.overrides(plan.target, plan.functions)
    added = merged(wanted, plan.described())
    template = staging.package(work / "stage", plan.stage, added, work / "tree")
    staging.check(template, plan.target)
    staging.add_entry(plan.project, work / "tree")
    staging.add_packages(work / "vendor", work / "tree")
    licences.add_own(plan.project, work / "tree" / FOLDER)
    return template


def _write(folder: Path, template: dict[str, Any], description: dict[str, Any]) -> None:
    """Write both templates, and the report as JSON and as text."""
    data = json.dumps(data_template(), indent=2)
    (folder / DATA_TEMPLATE).write_text(data + "\n", "utf-8")
    (folder / TEMPLATE).write_text(json.dumps(template, indent=2) + "\n", "utf-8")
    (folder / "report.json").write_text(json.dumps(description, indent=2) + "\n", "utf-8")
    (folder / "report.txt").write_text(report.render(description), "utf-8")


def _is_current(plan: Plan) -> bool:
    """Return whether the finished package was built from the current sources; print the answer."""
    is_current = sources.is_current(plan.folder, plan.fingerprint(), plan.folder / ZIP)
    if is_current:
        _say(f"package: {plan.folder} is of this tree")
    return is_current


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.build", description=__doc__)
    parser.add_argument("--arch", choices=list(ARCHITECTURES), default="x86_64")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "package")
    parser.add_argument("--stage", default="dev", help="stage of .chalice/config.json")
    parser.add_argument("--no-compile", action="store_true", help="skip byte code")
    parser.add_argument("--if-changed", action="store_true", help="skip if up to date")
    parser.add_argument("--lock", action="store_true", help="write all lock files again and stop")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.lock:
            for runtime in RUNTIMES.values():
                content = lock.make_lock(ROOT / "requirements.txt", runtime)
                runtime.lock.write_text(content, "utf-8")
            return 0
        plan = Plan(
            LambdaTarget(own_runtime(), ARCHITECTURES[options.arch]),
            out=options.out.resolve(),
            stage=options.stage,
            compiles=not options.no_compile,
        )
        for warning in runtime_warnings(plan.target.runtime, datetime.now(UTC).date()):
            _say(f"WARNING: {warning}")
        if options.if_changed and _is_current(plan):
            return 0
        description = build(plan, _say)
    except (PackageError, OSError) as error:
        _say(f"error: {error}")
        return _FAILED
    except KeyboardInterrupt:
        _say("interrupted; nothing was written")
        return _FAILED
    print(report.render(description), end="")
    print(f"written to {plan.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
