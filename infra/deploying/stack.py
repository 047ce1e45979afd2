"""Creates and updates stacks by change sets, which are shown before execution."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from chalicelib.config import Settings
from infra.deploying.account import DeployError, Target, explained
from infra.template.functions import FUNCTION_TYPE

CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
# Tag by which a bill separates stages.
COST_TAG = "presage:stage"
# States from which a stack can be updated.
READY = (
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
    "IMPORT_ROLLBACK_COMPLETE",
)
_GOOD = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
_NEW = ("", "REVIEW_IN_PROGRESS", "DELETE_COMPLETE")
_FAILED_AT_FIRST = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED")
_STILLBORN = ("REVIEW_IN_PROGRESS", *_FAILED_AT_FIRST)
_NOTHING = ("didn't contain changes", "no updates are to be performed", "no changes")
_POLL_SECONDS = 3.0
_MAX_SECONDS = 3_600.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class StackTemplate:
    """An uploaded template."""

    url: str
    """URL from which CloudFormation reads the template."""
    parameters: frozenset[str]
    """Parameters of the template."""
    runtimes: Mapping[str, str]
    """Runtime of each function, by the function's name in the template."""


@dataclass(frozen=True)
class Change:
    """One line of a change set."""

    action: str
    """Add, Modify, Remove or Import."""
    logical: str
    """Name in the template."""
    type: str
    """Kind of resource."""
    replacement: str
    """Whether the resource is replaced: True, False or Conditional."""
    runtime: str = ""
    """Text with the old and the new runtime, for a function whose Python version changes."""

    @property
    def line(self) -> str:
        """The change as one line for the user."""
        again = "  REPLACED" if self.replacement == "True" else ""
        runtime = f"  {self.runtime}" if self.runtime else ""
        return f"  {self.action:7} {self.logical:32} {self.type}{again}{runtime}"


def runtimes_of(template: Mapping[str, Any]) -> dict[str, str]:
    """Return the runtime of each function of a template, by the name of the function."""
    return {
        name: str(resource["Properties"]["Runtime"])
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == FUNCTION_TYPE and "Runtime" in resource["Properties"]
    }


class Stack:
    """One CloudFormation stack, and the operations on it.

    Args:
        target: account and region of the stack.
        name: name of the stack.
        say: called with lines for the user.
        pause_seconds: pause between two polls.
    """

    def __init__(
        self, target: Target, name: str, say: Say, pause_seconds: float = _POLL_SECONDS
    ) -> None:
        self.name = name
        self._target = target
        self._say = say
        self._pause = pause_seconds
        self._client = target.client("cloudformation")

    def status(self) -> str:
        """Return the status of the stack; empty if it does not exist."""
        return str(self._describe().get("StackStatus", ""))

    def deleted_at(self) -> datetime | None:
        """Return when the newest stack of this name was deleted; None if no stack was deleted."""
        pages = self._client.get_paginator("list_stacks")
        times = [
            entry["DeletionTime"]
            for page in pages.paginate(StackStatusFilter=["DELETE_COMPLETE"])
            for entry in page["StackSummaries"]
            if entry["StackName"] == self.name and "DeletionTime" in entry
        ]
        return max(times, default=None)

    def has_failed_creation(self) -> bool:
        """Return whether the stack is empty because its creation failed."""
        return self.status() in _STILLBORN

    def outputs(self) -> dict[str, str]:
        """Return the outputs of the stack by name."""
        found = self._describe().get("Outputs", ())
        return {entry["OutputKey"]: entry["OutputValue"] for entry in found}

    def parameters(self) -> dict[str, str]:
        """Return the current parameters of the stack by name."""
        found = self._describe().get("Parameters", ())
        return {entry["ParameterKey"]: entry.get("ParameterValue", "") for entry in found}

    def check(self) -> bool:
        """Return whether the stack exists; refuse a stack that cannot be changed now.

        Raises:
            DeployError: the stack is partly deployed, or is being changed.
        """
        status, stage = self.status(), self._target.stage
        if status in _NEW:
            return False
        if status in READY:
            return True
        where = f"the stack {self.name} is in {status}"
        if status == "DELETE_FAILED":
            more = " DELETE_DATA=1" if self.name == self._target.data_stack else ""
            raise DeployError(
                f"{where}: it could not be removed. Fix the cause that its events name, then run "
                f"`make destroy STAGE={stage}{more}`"
            )
        if status in _FAILED_AT_FIRST:
            raise DeployError(
                f"{where}: an earlier try failed and can only be removed. "
                f"Run `make destroy STAGE={stage}`, then deploy again"
            )
        if status == "UPDATE_ROLLBACK_FAILED":
            raise DeployError(
                f"{where}: it could not be rolled back. Fix the cause in its events, then run "
                f"`aws cloudformation continue-update-rollback --stack-name {self.name}`"
            )
        raise DeployError(f"{where}: it is being changed. Wait until that has ended, then repeat")

    def propose(
        self,
        template: StackTemplate,
        values: Mapping[str, str],
        exists: bool,
        watch_minutes: int = 0,
    ) -> str | None:
        """Create a change set and return its name, or None if nothing would change.

        Args:
            template: new template of the stack.
            values: parameters to set; other parameters of an existing stack keep their values.
            exists: whether the stack exists.
            watch_minutes: minutes after the update during which an alarm causes a rollback.

        Raises:
            DeployError: CloudFormation refused the change set.
        """
        name = f"deploy-{int(time.time() * 1000)}"
        request: dict[str, Any] = {
            "StackName": self.name,
            "ChangeSetName": name,
            "ChangeSetType": "UPDATE" if exists else "CREATE",
            "TemplateURL": template.url,
            "Capabilities": CAPABILITIES,
            # CloudFormation gives these tags to every resource that can have tags.
            "Tags": [{"Key": COST_TAG, "Value": self._target.stack}],
            "Parameters": self._parameters(template, values, exists=exists),
        }
        if exists and watch_minutes:
            request["RollbackConfiguration"] = self._watch(watch_minutes)
        self._client.create_change_set(**request)
        return name if self._is_made(name) else None

    def runtimes(self) -> dict[str, str]:
        """Return the deployed runtime of each function, by the function's name in the template."""
        request = {"StackName": self.name, "TemplateStage": "Original"}
        found = self._client.get_template(**request)["TemplateBody"]
        return runtimes_of(json.loads(found) if isinstance(found, str) else found)

    def changes(self, name: str, runtimes: Mapping[str, str] | None = None) -> list[Change]:
        """Return the changes that a change set would make.

        Args:
            name: name of the change set.
            runtimes: changed runtimes by function name, each with the old and the new runtime.
        """
        found = []
        pages = self._client.get_paginator("describe_change_set")
        for page in pages.paginate(ChangeSetName=name, StackName=self.name):
            for change in page.get("Changes", ()):
                facts = change["ResourceChange"]
                found.append(
                    Change(
                        facts["Action"],
                        facts["LogicalResourceId"],
                        facts["ResourceType"],
                        str(facts.get("Replacement", "False")),
                        (runtimes or {}).get(facts["LogicalResourceId"], ""),
                    )
                )
        return sorted(found, key=lambda change: (change.action, change.type, change.logical))

    def drop(self, name: str) -> None:
        """Delete a change set that was not executed."""
        self._client.delete_change_set(ChangeSetName=name, StackName=self.name)

    def execute(self, name: str) -> None:
        """Execute a change set; show the stack's events until the execution has ended.

        Raises:
            DeployError: the execution failed; the message names the first cause.
        """
        began = self._newest_event()
        self._client.execute_change_set(ChangeSetName=name, StackName=self.name)
        self._wait(began, _GOOD)

    def delete(self) -> None:
        """Delete the stack, and wait for the end; raise DeployError if the deletion failed."""
        began = self._newest_event()
        stack_id = self._describe()["StackId"]
        self._client.delete_stack(StackName=self.name)
        self._wait(began, ("DELETE_COMPLETE", ""), stack_id)

    def _describe(self, name: str | None = None) -> dict[str, Any]:
        """Return CloudFormation's description of the stack; empty if it does not exist."""
        try:
            found = self._client.describe_stacks(StackName=name or self.name)
        except ClientError as error:
            if "does not exist" in str(error):
                return {}
            raise
        return dict(found["Stacks"][0]) if found["Stacks"] else {}

    def _parameters(
        self, template: StackTemplate, values: Mapping[str, str], *, exists: bool
    ) -> list[Any]:
        """Return a change set's parameters: `values`, otherwise current or default values."""
        before = self.parameters() if exists else {}
        kept = set(before) & template.parameters - set(values)
        new = {name: text for name, text in values.items() if name in template.parameters}
        return [
            *({"ParameterKey": name, "ParameterValue": text} for name, text in new.items()),
            *({"ParameterKey": name, "UsePreviousValue": True} for name in sorted(kept)),
        ]

    def _watch(self, minutes: int) -> dict[str, Any]:
        """Return the settings that roll back an update if an alarm on errors goes off."""
        alarm = (
            f"arn:aws:cloudwatch:{self._target.region_name}:{self._target.account_id}"
            f":alarm:{self._target.stack}-server-errors"
        )
        trigger = {"Arn": alarm, "Type": "AWS::CloudWatch::Alarm"}
        return {"RollbackTriggers": [trigger], "MonitoringTimeInMinutes": minutes}

    def _is_made(self, name: str) -> bool:
        """Wait for a change set to be created; return False if it is empty."""
        deadline = time.monotonic() + _MAX_SECONDS
        while time.monotonic() < deadline:
            found = self._client.describe_change_set(ChangeSetName=name, StackName=self.name)
            status, reason = found["Status"], str(found.get("StatusReason", ""))
            if status == "CREATE_COMPLETE":
                return True
            if status == "FAILED":
                self.drop(name)
                if any(text in reason.lower() for text in _NOTHING):
                    return False
                raise DeployError(f"the change set was refused: {reason}")
            time.sleep(self._pause)
        raise DeployError("the change set is not ready after an hour; look into the console")

    def _wait(self, began: str, states: tuple[str, ...], stack_id: str | None = None) -> None:
        """Show the stack's events until the operation ends; raise DeployError if it failed."""
        shown, cause = {began}, ""
        deadline = time.monotonic() + _MAX_SECONDS
        while time.monotonic() < deadline:
            for event in self._events(began, stack_id):
                if event["EventId"] not in shown:
                    shown.add(event["EventId"])
                    reason = self._print_event(event)
                    cause = cause or reason
            status = str(self._describe(stack_id).get("StackStatus", ""))
            # Before its first event, the stack still has the status of its previous change.
            has_begun = len(shown) > 1 or status in ("", "DELETE_COMPLETE")
            if has_begun and not status.endswith("_IN_PROGRESS"):
                if status not in states:
                    hint = "; pass SIZE=small" if "MemorySize" in cause else ""
                    raise DeployError(
                        f"{self.name} ended in {status}: {cause or 'see its events'}{hint}"
                    )
                return
            time.sleep(self._pause)
        raise DeployError(f"{self.name} is not ready after an hour; look into the console")

    def _print_event(self, event: Mapping[str, Any]) -> str:
        """Print a stack event; return its reason if the event is a failure."""
        status, reason = event.get("ResourceStatus", ""), event.get("ResourceStatusReason", "")
        self._say(f"  {status:28} {event.get('LogicalResourceId', '')} {reason}".rstrip())
        is_cause = status.endswith("_FAILED") and "cancelled" not in reason.lower()
        return f"{event.get('LogicalResourceId')}: {reason}" if is_cause else ""

    def _newest_event(self) -> str:
        """Return the id of the newest event, so that older events are not shown."""
        events = self._events("", None)
        return str(events[-1]["EventId"]) if events else ""

    def _events(self, after: str, stack_id: str | None) -> list[Any]:
        """List the events after a given event, oldest first."""
        found: list[Any] = []
        try:
            pages = self._client.get_paginator("describe_stack_events")
            for page in pages.paginate(StackName=stack_id or self.name):
                for event in page["StackEvents"]:
                    if event["EventId"] == after:
                        return found[::-1]
                    found.append(event)
        except ClientError as error:
            if "does not exist" not in str(error):
                raise
        return found[::-1]


def find_stage(target: Target, environment: Mapping[str, str]) -> tuple[Settings, str]:
    """Return the settings for access to a stage's data, and the URL of the stage's API.

    Args:
        target: the stage.
        environment: environment variables, for settings that the stack does not have.

    Raises:
        DeployError: the stack does not exist or is partly deployed.
        SettingsError: a variable of the environment has no valid value.
    """
    with explained(target):
        stack = Stack(target, target.stack, lambda _: None)
        status, outputs = stack.status(), stack.outputs()
        where = f"the stack {target.stack} in {target.region_name}"
        if not status and Stack(target, target.data_stack, lambda _: None).status():
            raise DeployError(
                f"the service of {target.stack} is removed, its data is there: deploy it again by "
                f"`make deploy STAGE={target.stage}`, or reach the data alone by --aws with "
                f"PRESAGE_NAME={target.stack} PRESAGE_BUCKET={target.data_bucket}"
            )
        if not status:
            raise DeployError(
                f"{where} does not exist: pass the stage and --region that "
                f"`make deploy STAGE={target.stage}` was given"
            )
        if not {"BucketName", "EndpointURL"} <= set(outputs):
            raise DeployError(
                f"{where} is half-deployed ({status}): deploy it by "
                f"`make deploy STAGE={target.stage}` first"
            )
        url = outputs.get("DomainUrl") or target.reachable(outputs["EndpointURL"])
    given = {
        "PRESAGE_NAME": target.stack,
        "PRESAGE_BUCKET": outputs["BucketName"],
        "PRESAGE_TOKEN_SECRET_NAME": outputs.get("SigningKeyArn", ""),
        "AWS_REGION": target.region_name,
    }
    return Settings.from_environment({**environment, **given}), url.rstrip("/")
