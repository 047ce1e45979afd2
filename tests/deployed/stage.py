"""Deploys the package into ministack as `make deploy` does, and lists what that needs there.

What the emulator lacks is made up for in a copy of the template; everything else is the command.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

from infra.template.gateway import API
from infra.template.names import API_STAGE, BUCKET, SECRET
from tests.emulators.ministack import ACCOUNT_ID, REGION, Ministack

ROOT = Path(__file__).parents[2]
STAGE = "test"
_BINARY = "x-amazon-apigateway-binary-media-types"
_ANSWERS = "x-amazon-apigateway-gateway-responses"
_FUNCTION = "AWS::Serverless::Function"


def adapted(template: Mapping[str, Any], disks: Path) -> dict[str, Any]:
    """Return a copy of the service's template for the emulator.

    - It reads the types of binary bodies from the API's property alone, not from its document.
    - It keeps a limit that refers to a parameter as a text, and then polls no queue at all. The
      least that the parameter takes is written down: each function at work is one more process.
    - It keeps memory that refers to a parameter as a text, too; the default is written down.
    - It gives all functions one `/tmp`; each gets a separate folder for model files here.
    - It knows no CodeDeploy: the alias moves to a new version at once.
    - What receives webhooks here listens on this machine, which functions may not call else.
    - It brings files slowly, while it does everything else: no large encoder is loaded at a start.
    - Batches run as one chain of messages, so that a small one has more hops than Lambda allows.

    Args:
        template: of the package.
        disks: takes a folder for each function.
    """
    copied: dict[str, Any] = json.loads(json.dumps(template))
    api = copied["Resources"][API]["Properties"]
    api["BinaryMediaTypes"] = api["DefinitionBody"][_BINARY]
    copied["Parameters"]["TextsLoads"]["Default"] = "bge"
    for name, resource in copied["Resources"].items():
        if resource["Type"] == _FUNCTION:
            properties = resource["Properties"]
            variables = properties["Environment"]["Variables"]
            variables["PRESAGE_MODEL_DIR"] = str(disks / name)
            variables["PRESAGE_DOWNLOAD_ALLOW"] = "127.0.0.1"
            variables["PRESAGE_BATCH_CHAINS"] = "1"
            properties.pop("DeploymentPreference", None)
            memory = properties["MemorySize"]["Ref"]
            properties["MemorySize"] = copied["Parameters"][memory]["Default"]
            for event in properties.get("Events", {}).values():
                limits = event["Properties"].get("ScalingConfig", {})
                for limit, reference in limits.items():
                    limits[limit] = copied["Parameters"][reference["Ref"]]["MinValue"]
    return copied


def adapted_data(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the data's template for the emulator.

    - It refers to a secret by its name, where AWS gives the ARN that the rights need.
    - It speaks plain HTTP, which the bucket's policy refuses, there as on AWS.
    """
    arn = json.dumps({"Fn::GetAtt": [SECRET, "Id"]})
    copied: dict[str, Any] = json.loads(
        json.dumps(template).replace(json.dumps({"Ref": SECRET}), arn)
    )
    del copied["Resources"][f"{BUCKET}Policy"]
    return copied


class Deployment:
    """The stage as it was deployed.

    Args:
        server: the emulated AWS; runs.
        package: folder of the package.
        models: folder of the installed models.
    """

    def __init__(self, server: Ministack, package: Path, models: Path) -> None:
        self.server = server
        self.template: dict[str, Any] = json.loads((package / "sam.json").read_text("utf-8"))
        self._data: dict[str, Any] = json.loads((package / "data.json").read_text("utf-8"))
        self.url = ""
        """Address of the service, without a slash at its end."""
        self.said = ""
        """The output of the command."""
        self._package, self._models = package, models
        self._copy = server.folder / "package"
        self._clients: dict[str, Any] = {}

    name = f"presage-{STAGE}"
    """Begins the name of everything."""
    bucket = f"{name}-data-{ACCOUNT_ID}-{REGION}"
    """Holds its data."""

    def client(self, service: str) -> Any:
        """Give the boto3 client of the account's owner."""
        if service not in self._clients:
            keys = self.server.environment
            session = boto3.session.Session(
                aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
                region_name=REGION,
            )
            self._clients[service] = session.client(service, endpoint_url=self.server.url)
        return self._clients[service]

    def close(self) -> None:
        """Close the connections of all clients."""
        for client in self._clients.values():
            client.close()

    def deploy(self) -> None:
        """Run the command that users run, with its smoke test, on a copy of the package."""
        copy = self._copy
        shutil.copytree(self._package, copy)
        template = adapted(self.template, self.server.folder / "disks")
        (copy / "sam.json").write_text(json.dumps(template), "utf-8")
        (copy / "data.json").write_text(json.dumps(adapted_data(self._data)), "utf-8")
        self.deploy_again()

    def deploy_again(self) -> None:
        """Run the command on the copy, again while its first calls time out on a busy machine."""
        done = self.run("deploy")
        while "does not answer (timed out)" in done.stderr:
            done = self.run("deploy")
        assert done.returncode == 0, f"{done.stderr}\n{self.server.log()[-4_000:]}"
        self.url, self.said = done.stdout.strip(), done.stderr

    def run(self, what: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run `deploy` or `destroy` on the stage."""
        words = ["infra.deploy", what, "--stage", STAGE, "--region", REGION, "--yes"]
        if what == "deploy":
            words += ["--package", str(self._copy), "--models", str(self._models)]
        return self.command(*words, "--poll", "0.2", *more)

    def command(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run one of the project's commands on the emulated account."""
        own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env={**own, **self.server.environment, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    def set_gateway_answers(self) -> None:
        """Give the gateway its own answers, which the emulator does not read from the document."""
        gateway = self.client("apigateway")
        [api] = [a["id"] for a in gateway.get_rest_apis()["items"] if a["id"] in self.url]
        document = self.template["Resources"][API]["Properties"]["DefinitionBody"]
        for kind, answer in document[_ANSWERS].items():
            sent = answer["responseParameters"].items()
            # Those of other origins are conditions, and none is allowed here.
            fixed = {name: value for name, value in sent if isinstance(value, str)}
            given = {**answer, "responseParameters": fixed}
            gateway.put_gateway_response(restApiId=api, responseType=kind, **given)
        gateway.create_deployment(restApiId=api, stageName=API_STAGE)
