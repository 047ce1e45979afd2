"""Functions that all commands share: they create the client, and find datasets and models."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from presage import Dataset, Model, NotFoundError, Presage, PresageError
from presage._sync.families import Family

Json = Annotated[bool, typer.Option("--json", help="Print the JSON of the service.")]
Id = Annotated[bool, typer.Option("--id", help="Print only the id, for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bars.")]
DatasetId = Annotated[int, typer.Argument(help="Id of a dataset.", show_default=False)]
ModelId = Annotated[str, typer.Argument(help="Id of a model.", show_default=False)]
PngFile = Path | None
_PROFILE: ContextVar[str | None] = ContextVar("presage_profile", default=None)


def client() -> Presage:
    """Create a client from the environment and the login file."""
    return Presage.from_env(profile=chosen_profile())


def chosen_profile() -> str | None:
    """Return the value of the option --profile of the running command; None if it is not given."""
    return _PROFILE.get()


def use_profile(name: str | None) -> None:
    """Set the value of the option --profile of the running command."""
    _PROFILE.set(name)


def families(service: Presage) -> tuple[Family, Family]:
    """Return the families language and vision, in the order in which ids are searched."""
    return service.language, service.vision


def find_dataset(service: Presage, dataset_id: int) -> Dataset:
    """Return the dataset with this id from either family (language or vision)."""
    # An id does not show its family, so both are searched.
    language, vision = families(service)
    try:
        return language.datasets.get(dataset_id)
    except NotFoundError:
        return vision.datasets.get(dataset_id)


def find_model(service: Presage, model_id: str) -> Model:
    """Return the model with this id from either family (language or vision)."""
    # The API finds models of both families below the path of either family.
    return service.language.models.get(model_id)


def family_of(service: Presage, model_type: str) -> Family:
    """Return the family (language or vision) to which a model type belongs."""
    return service.language if model_type.startswith("text") else service.vision


def pairs(items: list[str] | None, option: str, keys: Collection[str]) -> dict[str, Any]:
    """Parse options of the form NAME=VALUE with known names; convert numbers and booleans."""
    found: dict[str, Any] = {}
    for item in items or []:
        name, equals, text = item.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"write NAME=VALUE, not {item!r}", param_hint=option)
        # Options are written with hyphens, members with underscores, and in JSON with capitals.
        snake = re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name.replace("-", "_"))
        if snake not in keys:
            names = ", ".join(sorted(one.replace("_", "-") for one in keys))
            raise typer.BadParameter(f"{name} is unknown; known: {names}", param_hint=option)
        found[snake] = value(text)
    return found


def value(text: str | bool) -> Any:
    """Convert the text of an option to a number or boolean if it looks like one."""
    # An option without a value is a boolean already.
    if isinstance(text, bool):
        return text
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[+-]?\d*\.\d+", text) else text


def read_template(path: Path) -> dict[str, Any]:
    """Read a form template from a JSON file; raise PresageError if it cannot be read."""
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PresageError(f"The template {path} cannot be read: {error}.") from error
    return found


def shows_progress(quiet: bool) -> bool | None:
    """Return the argument `progress` of the client: False with --quiet, otherwise None."""
    # None lets the client show bars on a terminal only.
    return False if quiet else None
