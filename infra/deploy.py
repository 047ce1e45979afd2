"""The command that deploys a stage to an AWS account, and removes it.

`make deploy STAGE=prod` and `make destroy STAGE=prod` run it; see docs/deploy.md.
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
from infra.deploying.concerns import concerns, unconfirmed
from infra.deploying.preflight import check_account, check_unclaimed, wait_for_names
from infra.deploying.quotas import check_quotas
from infra.deploying.removal import delete_data, empty_bucket, existing_names
from infra.deploying.smoke import smoke_test
from infra.deploying.stack import Stack, StackTemplate
from infra.models import default_directory
from infra.provision import install_globals
from infra.template.names import SECRET_ARN
from infra.template.parameters import reserved, size

_ROOT = Path(__file__).resolve().parent.parent
_STAGE = re.compile(r"[a-z][a-z0-9-]{0,14}")
_FAILED = 1

Ask = Callable[[str], str]


def deploy(options: argparse.Namespace, target: Target, ask: Ask = input) -> str:
    """Deploy a stage and return its URL; raise DeployError if the stage cannot be deployed."""
    artifacts.check_package(options.package)
    artifacts.check_runtimes(options.package, target)
    catalogue, paths = artifacts.read_models(options.models)
    given = _given(options, target, write_catalogue(catalogue)[0])
    data, service = _stacks(target, options)
    if not data.check():
        check_unclaimed(target)
    given |= _agreed(service, target, given, options, ask)
    wait_for_names((data, service), target, _say)
    artifacts.ensure_bucket(target, _say)
    _update(data, artifacts.upload_data_template(target, options.package), given, options, ask)
    # The service refers to the data's resources by name, except for the key, whose name AWS makes.
    given[SECRET_ARN] = data.outputs().get(SECRET_ARN, "")
    defaults = artifacts.default_parameters(options.package)
    parameters = {**defaults, **service.parameters(), **given}
    template = artifacts.upload_package(target, options.package, parameters, _say)
    # Uploaded before the functions that read the new catalogue, so that none misses it.
    artifacts.upload_models(target, catalogue, paths, _say)
    _update(service, template, given, options, ask, options.watch)
    return _finish(service, target, options)


def destroy(options: argparse.Namespace, target: Target, ask: Ask = input) -> None:
    """Delete a stage's service, and its data if the options say so.

    Raises:
        DeployError: the stage cannot be deleted, or the user did not confirm.
    """
    what = "service and ALL ITS DATA" if options.delete_data else "service; its data stays"
    _say(f"{target.stack} in {target.region_name}: {what}")
    question = f"Type the name of the stage to delete it ({target.stage}): "
    if not options.yes and ask(question).strip() != target.stage:
        raise DeployError("nothing was deleted")
    data, service = _stacks(target, options)
    is_wanted = data.status() and not options.delete_data and not data.has_failed_creation()
    for stack in (service,) if is_wanted else (service, data):
        if options.delete_data and stack is data:
            # An emulator without support for the tables' deletion policy removes the bucket with
            # its stack.
            empty_bucket(target)
        if stack.status():
            stack.delete()
            _say(f"deleted the stack {stack.name}")
    if options.delete_data:
        delete_data(target, _say)
    names = existing_names(target)
    for name in [f"stack {data.name}", *names] if is_wanted else names:
        _say(f"  kept: {name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors are printed in one line."""
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
    except EOFError:
        _say("infra.deploy: there is no terminal to ask for confirmation: pass YES=1")
        return _FAILED
    except KeyboardInterrupt:
        _say("infra.deploy: interrupted; CloudFormation finishes the change that it has begun")
        return _FAILED
    return 0


def _check_stage(name: str) -> None:
    """Refuse a stage name that makes the names of tables, functions or the bucket invalid."""
    if not _STAGE.fullmatch(name):
        raise DeployError(
            f"STAGE must be up to 15 lower-case letters, digits and hyphens, not {name!r}"
        )


def _stacks(target: Target, options: argparse.Namespace) -> tuple[Stack, Stack]:
    """Return the two stacks of a stage: the data stack and the service stack."""
    data = Stack(target, target.data_stack, _say, options.poll)
    return data, Stack(target, target.stack, _say, options.poll)


def _named(options: argparse.Namespace) -> dict[str, str]:
    """Return the template parameters that the user sets with the option `SET`.

    Raises:
        DeployError: a parameter is not written NAME=VALUE.
    """
    pairs = {pair: pair.partition("=") for pair in options.set}
    if wrong := [pair for pair, (_, sign, _) in pairs.items() if not sign]:
        raise DeployError(f"a parameter is written NAME=VALUE, not {wrong[0]!r}")
    return {name: text for name, _, text in pairs.values()}


def _given(options: argparse.Namespace, target: Target, catalogue: str) -> dict[str, str]:
    """Return the template parameters that follow from the command's options."""
    known = artifacts.default_parameters(options.package)
    given = size(options.size) if options.size else {}
    given |= {"Name": target.stack, "ModelCatalogue": catalogue}
    for name, text in _named(options).items():
        if name not in known:
            names = ", ".join(sorted(known))
            raise DeployError(f"unknown parameter {name}; parameters: {names}")
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


def _agreed(
    service: Stack,
    target: Target,
    settings: Mapping[str, str],
    options: argparse.Namespace,
    ask: Ask,
) -> dict[str, str]:
    """Show warnings, ask for confirmation, and return parameters to add to the deployment."""
    before = service.parameters() if service.check() else None
    defaults = artifacts.default_parameters(options.package)
    parameters = {**defaults, **(before or {}), **settings}
    check_quotas(artifacts.templates(options.package), parameters)
    for line in check_account(target, parameters, _named(options), reserved(before or {})):
        _say(line)
    found, added = concerns(target, defaults, settings, before)
    for concern in found:
        _say(concern.text)
    for question in (concern.question for concern in found if concern.question):
        if not _agrees(question, options, ask):
            raise DeployError("nothing was changed")
    return added


def _agrees(question: str, options: argparse.Namespace, ask: Ask) -> bool:
    """Return whether the user confirms; `YES=1` confirms without a question."""
    return options.yes or ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _update(
    stack: Stack,
    template: StackTemplate,
    parameters: Mapping[str, str],
    options: argparse.Namespace,
    ask: Ask,
    watch_minutes: int = 0,
) -> None:
    """Create or update a stack by a change set that the user confirms."""
    exists = stack.check()
    change_set = stack.propose(template, parameters, exists, watch_minutes)
    if change_set is None:
        _say(f"{stack.name} is as it should be")
        return
    before = stack.runtimes() if exists else {}
    runtimes = {
        name: f"{before[name]} -> {runtime}"
        for name, runtime in template.runtimes.items()
        if before.get(name, runtime) != runtime
    }
    _say(f"{stack.name}:")
    _show_and_ask(stack, change_set, runtimes, options, ask)
    stack.execute(change_set)


def _show_and_ask(
    stack: Stack,
    change_set: str,
    runtimes: Mapping[str, str],
    options: argparse.Namespace,
    ask: Ask,
) -> None:
    """Show a change set; ask whether to execute it, and whether to change the Python version.

    Raises:
        DeployError: the user did not confirm; the change set is deleted.
    """
    for change in stack.changes(change_set, runtimes):
        _say(change.line)
    questions = ["Execute these changes?"]
    for names in sorted(set(runtimes.values())):
        _say(f"THE PYTHON VERSION of the functions changes: {names}")
        questions.insert(0, f"Change the runtime, {names}?")
    for question in questions:
        if not _agrees(question, options, ask):
            stack.drop(change_set)
            raise DeployError(f"nothing was changed in {stack.name}")


def _finish(stack: Stack, target: Target, options: argparse.Namespace) -> str:
    """Install the global datasets, test the deployment, and return its URL."""
    outputs = stack.outputs()
    url = target.reachable(outputs.get("EndpointURL", ""))
    if not options.only_stack:
        install_globals(target.settings, _say)
        smoke_test(url, target.settings, _say)
    for line in unconfirmed(target, outputs["AlarmTopicArn"]) if "AlarmTopicArn" in outputs else ():
        _say(line)
    if "DomainTarget" in outputs:
        _say(
            f"point {outputs['DomainUrl']} to {outputs['DomainTarget']} by a CNAME or alias record"
        )
    return outputs.get("DomainUrl", url)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description=__doc__)
    commands = parser.add_subparsers(dest="run", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--stage", required=True, help="name of the stage, such as prod")
    shared.add_argument("--region", default="", help="AWS region")
    shared.add_argument("--yes", action="store_true", help="do not ask")
    shared.add_argument("--poll", type=float, default=3.0, help="seconds between polls")
    adds = commands.add_parser("deploy", parents=[shared], help="create or update a stage")
    package = _ROOT / "build" / "package" / "x86_64"
    adds.add_argument("--package", type=Path, default=package, help="folder of the package")
    adds.add_argument("--models", type=Path, default=default_directory(), help="installed models")
    adds.add_argument("--domain", default="", help="host name that the API is mapped to")
    adds.add_argument("--certificate", default="", help="ARN of its certificate")
    adds.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="parameters")
    sizes = ("standard", "small")
    adds.add_argument("--size", choices=("", *sizes), default="", help="preset: standard or small")
    adds.add_argument("--watch", type=int, default=0, help="minutes to watch for errors")
    adds.add_argument(
        "--only-stack", action="store_true", help="skip the global datasets and the test"
    )
    removes = commands.add_parser("destroy", parents=[shared], help="delete a stage")
    removes.add_argument("--delete-data", action="store_true", help="delete tables and bucket too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
