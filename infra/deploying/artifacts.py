"""Uploads package, templates and model files to the buckets.

Every object is named by its digest, so nothing is uploaded twice or overwritten, and objects of
older deployments remain for a rollback.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from chalicelib.stores.fetching.model_downloads import Catalogue, ModelFile, write_catalogue
from infra.deploying.account import DeployError, Target, is_there
from infra.deploying.stack import StackTemplate, runtimes_of
from infra.model_files.installed import RECORD
from infra.packaging.target import RUNTIMES, no_wheels
from infra.template.functions import FUNCTION_TYPE
from infra.template.gateway import API

# Property whose change makes SAM publish a version. SAM writes it into the function's description,
# because Lambda refuses to publish a version that does not differ from the previous one.
DIGEST = "AutoPublishCodeSha256"
_OF_ALIAS = ("DeploymentPreference", "ProvisionedConcurrencyConfig", "ReservedConcurrentExecutions")
_OF_EVENTS = "Events"
_NAMES = re.compile(r'"(?:Ref|Fn::If)": \[?"(\w+)"|\$\{(\w+)\}')


def mark_releases(template: dict[str, Any], parameters: Mapping[str, str]) -> None:
    """Write a digest into each function that has an alias; a new digest makes a new version.

    The digest covers the function's code, the properties that are part of a version, and the values
    of the parameters to which these properties refer.

    Args:
        template: template of a package, changed in place. It names the uploaded code by its digest.
        parameters: parameters of the deployment, including defaults.
    """
    conditions = template.get("Conditions", {})
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == FUNCTION_TYPE and "AutoPublishAlias" in properties:
            left = {
                name: value
                for name, value in properties.items()
                if name not in (*_OF_ALIAS, _OF_EVENTS, DIGEST)
            }
            content = [left, _values(left, conditions, parameters)]
            text = json.dumps(content, sort_keys=True)
            properties[DIGEST] = hashlib.sha256(text.encode()).hexdigest()


def _values(
    part: Any, conditions: Mapping[str, Any], parameters: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of all parameters that a part of the template and its conditions use."""
    named = {name for pair in _NAMES.findall(json.dumps(part)) for name in pair if name}
    found = {name: parameters[name] for name in named if name in parameters}
    for name in named & set(conditions):
        found |= _values(conditions[name], conditions, parameters)
    return found


# Largest package that Lambda accepts, unpacked.
MAX_UNPACKED_BYTES = 250 * 1024 * 1024
# Largest template that CloudFormation reads from a bucket.
MAX_TEMPLATE_BYTES = 1_000_000
ZIP, TEMPLATE, DATA_TEMPLATE = "deployment.zip", "sam.json", "data.json"

Say = Callable[[str], None]


def check_package(folder: Path) -> None:
    """Raise DeployError if the package is missing, damaged or too large for Lambda."""
    for name in (ZIP, TEMPLATE, DATA_TEMPLATE):
        if not (folder / name).is_file():
            raise DeployError(f"{folder / name} is missing: build the package by `make package`")
    try:
        with zipfile.ZipFile(folder / ZIP) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except zipfile.BadZipFile as error:
        raise DeployError(f"{folder / ZIP} is damaged: build it again by `make package`") from error
    if size > MAX_UNPACKED_BYTES:
        raise DeployError(
            f"the package has {size:,} bytes unpacked, Lambda takes {MAX_UNPACKED_BYTES:,}: "
            "look for its largest parts in report.txt next to it, and leave some out"
        )


def check_runtimes(folder: Path, target: Target) -> None:
    """Raise DeployError if Lambda cannot load the compiled files of the package."""
    found = runtimes_of(_read(folder, TEMPLATE))
    for runtime in RUNTIMES.values():
        # An emulated AWS uses the C library of the machine that built the package.
        if runtime.name in found.values() and not runtime.loads_wheels and not target.endpoint_url:
            raise DeployError(no_wheels(runtime))


def ensure_bucket(target: Target, say: Say) -> None:
    """Create the bucket of artifacts, private and encrypted, if it is missing."""
    s3, bucket = target.client("s3"), target.artifact_bucket
    if has_bucket(target, bucket):
        return
    say(f"creating the bucket {bucket}")
    request: dict[str, Any] = {"Bucket": bucket}
    if target.region_name != "us-east-1":
        request["CreateBucketConfiguration"] = {"LocationConstraint": target.region_name}
    s3.create_bucket(**request)
    closed = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    s3.put_public_access_block(
        Bucket=bucket, PublicAccessBlockConfiguration=dict.fromkeys(closed, True)
    )


def has_bucket(target: Target, bucket: str) -> bool:
    """Return whether the stage's bucket exists."""
    return is_there(partial(target.client("s3").head_bucket, Bucket=bucket))


def templates(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return the two templates of a package, by file name."""
    return {name: _read(folder, name) for name in (DATA_TEMPLATE, TEMPLATE)}


def default_parameters(folder: Path) -> dict[str, str]:
    """Return the default of each parameter in the templates of a package."""
    return {
        name: str(facts.get("Default", ""))
        for template in templates(folder).values()
        for name, facts in template.get("Parameters", {}).items()
    }


def upload_data_template(target: Target, folder: Path) -> StackTemplate:
    """Upload the template of the data's stack, and return it.

    Raises:
        DeployError: the template is too large.
    """
    return _upload_template(target, _read(folder, DATA_TEMPLATE))


def upload_package(
    target: Target, folder: Path, parameters: Mapping[str, str], say: Say
) -> StackTemplate:
    """Upload the package and the template of the service's stack; return the template.

    Args:
        target: target of the deployment.
        folder: folder of the package.
        parameters: parameters of the service, including defaults.
        say: called with lines for the user.

    Raises:
        DeployError: the template is too large.
    """
    key = f"packages/{_digest(folder / ZIP)}.zip"
    _upload(target, target.artifact_bucket, key, folder / ZIP, say)
    template = _read(folder, TEMPLATE)
    for resource in template["Resources"].values():
        if resource["Type"] == FUNCTION_TYPE:
            resource["Properties"]["CodeUri"] = f"s3://{target.artifact_bucket}/{key}"
    if API in template["Resources"]:
        # API Gateway gets the document again only if the text changes. A new value of a parameter
        # in the text does not count, so the text lists the allowed origins.
        document = template["Resources"][API]["Properties"]["DefinitionBody"]
        origins = parameters.get("AllowedOrigins") or "none"
        document["info"]["description"] = f"Allowed origins: {origins}"
    mark_releases(template, parameters)
    return _upload_template(target, template)


def _upload_template(target: Target, template: dict[str, Any]) -> StackTemplate:
    content = json.dumps(template, separators=(",", ":")).encode()
    if len(content) > MAX_TEMPLATE_BYTES:
        raise DeployError(
            f"the template has {len(content):,} bytes, CloudFormation takes {MAX_TEMPLATE_BYTES:,}"
        )
    name = f"templates/{hashlib.sha256(content).hexdigest()}.json"
    s3 = target.client("s3")
    s3.put_object(Bucket=target.artifact_bucket, Key=name, Body=content)
    url = f"{s3.meta.endpoint_url}/{target.artifact_bucket}/{name}"
    return StackTemplate(url, _parameters(template), runtimes_of(template))


def _read(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text("utf-8"))
    return found


def _parameters(template: dict[str, Any]) -> frozenset[str]:
    return frozenset(template.get("Parameters", ()))


def read_models(model_dir: Path) -> tuple[Catalogue, dict[str, Path]]:
    """Return the catalogue of the installed model files, and the files by their keys.

    Raises:
        DeployError: no model is installed, or a file has changed since its installation.
    """
    catalogue: dict[str, dict[str, ModelFile]] = {}
    paths: dict[str, Path] = {}
    for record in sorted(model_dir.glob(f"**/{RECORD}")):
        folder = record.parent
        files = json.loads(record.read_text("utf-8"))["files"]
        name = folder.relative_to(model_dir).as_posix()
        catalogue[name] = {}
        for file, known in sorted(files.items()):
            found = ModelFile(int(known["bytes"]), str(known["sha256"]))
            if _digest(folder / file) != found.sha256:
                raise DeployError(
                    f"{folder / file} is not the file that was installed: run "
                    "`python -m infra.models verify`, then `make models`"
                )
            catalogue[name][file] = found
            paths[found.key] = folder / file
    if not catalogue:
        raise DeployError(f"no model files are installed in {model_dir}: run `make models`")
    return catalogue, paths


def upload_models(target: Target, catalogue: Catalogue, paths: dict[str, Path], say: Say) -> None:
    """Upload the model files that the bucket does not have, the catalogue last."""
    for key, path in paths.items():
        _upload(target, target.data_bucket, key, path, say)
    key, content = write_catalogue(catalogue)
    target.client("s3").put_object(Bucket=target.data_bucket, Key=key, Body=content)


def _upload(target: Target, bucket: str, key: str, path: Path, say: Say) -> None:
    """Upload a file unless the bucket has it. A large file is uploaded in parts."""
    s3 = target.client("s3")
    if is_there(partial(s3.head_object, Bucket=bucket, Key=key)):
        return
    say(f"uploading {path.name} ({path.stat().st_size / 1e6:.1f} MB) to {bucket}")
    s3.upload_file(str(path), bucket, key)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
