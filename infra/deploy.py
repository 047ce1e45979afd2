"""The command that deploys a stage into an AWS account, and removes it again.

`make deploy STAGE=prod` and `make destroy STAGE=prod` run it; docs/deploy.md tells the rest.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chalicelib.stores.fetching.model_downloads import write_catalogue
from infra.deploying import artifacts
from infra.deploying.account import DeployError, Target, explained
from infra.deploying.removal import delete_data, kept
from infra.deploying.smoke import smoke_test
from infra.deploying.stack import Stack
from infra.models import default_directory
from infra.provision import install_globals

_ROOT = Path(__file__).resolve().parent.parent
_STAGE = re.compile(r"[a-z][a-z0-9-]{0,14}")
_FAILED = 1

Ask = Callable[[str], str]


def deploy(options: argparse.Namespace, target: Target, ask: Ask = input) -> str:
    """Deploy a stage and return its URL.

    Raises:
        DeployError: it cannot be deployed.
    """
    artifacts.check_package(options.package)
    runtimes = artifacts.read_runtimes(options.package, target)
    catalogue, paths = artifacts.read_models(options.models)
    given = _given(options, target, write_catalogue(catalogue)[0])
    stack = Stack(target, _say, options.poll)
    exists = stack.check()
    artifacts.ensure_bucket(target, _say)
    url = artifacts.upload_package(target, options.package, _say)
    has_bucket = artifacts.has_bucket(target, target.data_bucket)
    if has_bucket:
        # Before the functions that name the new catalogue: nobody meets one that is not there.
        artifacts.upload_models(target, catalogue, paths, _say)
    change_set = stack.propose(url, given, exists, options.watch)
    if change_set is None:
        _say(f"{target.stack} is as it should be")
    else:
        before = stack.runtimes() if exists else {}
        changed = {
            name: f"{before[name]} -> {runtime}"
            for name, runtime in runtimes.items()
            if before.get(name, runtime) != runtime
        }
        _show_and_ask(stack, change_set, changed, options, ask)
        stack.execute(change_set)
    if not has_bucket:
        artifacts.upload_models(target, catalogue, paths, _say)
    return _finish(stack, target, options)


def destroy(options: argparse.Namespace, target: Target, ask: Ask = input) -> None:
    """Delete a stage's stack; its data only when told so.

    Raises:
        DeployError: it cannot be deleted, or nobody agreed.
    """
    what = "stack and ALL ITS DATA" if options.delete_data else "stack; its data stays"
    _say(f"{target.stack} in {target.region_name}: {what}")
    question = f"Type the name of the stage to delete it ({target.stage}): "
    if not options.yes and ask(question).strip() != target.stage:
        raise DeployError("nothing was deleted")
    stack = Stack(target, _say, options.poll)
    if stack.status():
        stack.delete()
        _say(f"deleted the stack {target.stack}")
    if options.delete_data:
        delete_data(target, _say)
    for name in kept(target):
        _say(f"  kept: {name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its errors are one line each."""
    options = _parser().parse_args(arguments)
    target = Target(options.stage, options.region or None, os.environ.get("AWS_ENDPOINT_URL"))
    try:
        _check_stage(options.stage)
        with explained(target):
            _say(f"account {target.account_id}, region {target.region_name}")
            if options.run == "deploy":
                print(deploy(options, target))
            else:
                destroy(options, target)
    except DeployError as error:
        _say(f"infra.deploy: {error}")
        return _FAILED
    except (KeyboardInterrupt, EOFError):
        _say("infra.deploy: interrupted; CloudFormation goes on with what it has begun")
        return _FAILED
    return 0


def _check_stage(name: str) -> None:
    """Refuse a name that cannot begin the names of tables, functions and bucket.

    Raises:
        DeployError: it is none.
    """
    if not _STAGE.fullmatch(name):
        raise DeployError(
            f"STAGE must be up to 15 lower-case letters, digits and hyphens, not {name!r}"
        )


def _given(options: argparse.Namespace, target: Target, catalogue: str) -> dict[str, str]:
    """Return the parameters that the command sets.

    Raises:
        DeployError: they do not fit together.
    """
    given = {"Name": target.stack, "ModelCatalogue": catalogue}
    for pair in options.set:
        name, sign, text = pair.partition("=")
        if not sign:
            raise DeployError(f"a parameter is written NAME=VALUE, not {pair!r}")
        given[name] = text
    if bool(options.domain) != bool(options.certificate):
        raise DeployError("a custom domain needs both DOMAIN=… and CERT=…")
    if options.domain:
        region = options.certificate.split(":")[3:4]
        if region != [target.region_name]:
            raise DeployError(
                f"the certificate must be one of ACM in {target.region_name}: {options.certificate}"
            )
        given |= {"Domain": options.domain, "CertificateArn": options.certificate}
    return given


def _show_and_ask(
    stack: Stack,
    change_set: str,
    runtimes: Mapping[str, str],
    options: argparse.Namespace,
    ask: Ask,
) -> None:
    """Show a change set, and have somebody agree, to another Python by itself.

    Args:
        stack: that is changed.
        change_set: its name.
        runtimes: that functions change, by their names in the template.
        options: of the command.
        ask: asks the user.

    Raises:
        DeployError: nobody did.
    """
    for change in stack.changes(change_set, runtimes):
        _say(change.line)
    questions = ["Execute these changes?"]
    for names in sorted(set(runtimes.values())):
        _say(f"ANOTHER PYTHON runs the functions: {names}")
        questions.insert(0, f"Change the runtime, {names}?")
    for question in questions:
        if not options.yes and ask(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
            stack.drop(change_set)
            raise DeployError("nothing was changed")


def _finish(stack: Stack, target: Target, options: argparse.Namespace) -> str:
    """Install the global datasets, test what was deployed, and tell where it listens."""
    outputs = stack.outputs()
    url = target.reachable(outputs.get("EndpointURL", ""))
    if not options.only_stack:
        install_globals(target.settings, _say)
        smoke_test(url, target.settings, _say)
    if "DomainTarget" in outputs:
        _say(
            f"point {outputs['DomainUrl']} to {outputs['DomainTarget']} by a CNAME or alias record"
        )
    return outputs.get("DomainUrl", url)


def _say(line: str) -> None:
    """Show a line of progress at once."""
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description=__doc__)
    commands = parser.add_subparsers(dest="run", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--stage", required=True, help="name of the stage, such as prod")
    shared.add_argument("--region", default="", help="AWS region")
    shared.add_argument("--yes", action="store_true", help="do not ask")
    shared.add_argument("--poll", type=float, default=3.0, help="seconds between two looks")
    adds = commands.add_parser("deploy", parents=[shared], help="create or update a stage")
    package = _ROOT / "build" / "package" / "x86_64"
    adds.add_argument("--package", type=Path, default=package, help="folder of the package")
    adds.add_argument("--models", type=Path, default=default_directory(), help="installed models")
    adds.add_argument("--domain", default="", help="host name that the API is mapped to")
    adds.add_argument("--certificate", default="", help="ARN of its certificate")
    adds.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="parameters")
    adds.add_argument("--watch", type=int, default=0, help="minutes to watch for errors")
    adds.add_argument(
        "--only-stack", action="store_true", help="leave global datasets and the test out"
    )
    removes = commands.add_parser("destroy", parents=[shared], help="delete a stage")
    removes.add_argument("--delete-data", action="store_true", help="tables and bucket too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
