"""Options for reading files, and error messages that name options instead of API fields."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Collection
from typing import Annotated, Any

import typer
import typer.main

from presage import records
from presage._sources import BatchOcrOptions, ReadingOptions, TrainParams
from presage.cli.context import pairs, value

# Options without a value.
_FLAGS = frozenset({"strict", "shrink"})
_HELP = {
    "format": "Format of the file, if it is not recognised, such as csv or coco.",
    "delimiter": "Delimiter of the columns.",
    "text_column": "Column of the texts: name or position; Subject,Body joins two.",
    "label_column": "Column of the labels: name or position.",
    "header": "true, false, or the number of the header row.",
    "sheet": "Sheet of a workbook: name or position.",
    "label_separator": "Text between the labels of a cell, for label tables of images.",
    "encoding": "Encoding of the file, such as windows-1252.",
    "strict": "Refuse a file that causes a warning.",
    "shrink": "Scale down images that are too large.",
}
# Fields of the API whose option has another name.
_RENAMED = {
    "numResults": "results",
    "formTemplate": "template",
    "fromReportOf": "report",
    "minimumConfidence": "confidence",
    "modelId": "model",
    "data": "file",
    "path": "file",
}
# Fields that a command takes as NAME=VALUE.
_NAMED = {
    "--set": {
        *ReadingOptions.__annotations__,
        *BatchOcrOptions.__annotations__,
        "num_results",
    },
    "--param": {*TrainParams.__annotations__},
}
# A word in quotes or camel case, with the word `field` or `parameter` before or after it, if any.
_WORD = re.compile(
    r"(?P<before>\b(?:field|parameter)s? )?"
    r"(?:(?P<mark>['`])(?:trainParams\.)?(?P<quoted>[A-Za-z]+)(?P=mark)"
    r"(?P<after> (?:field|parameter)s?\b)?|\b(?P<bare>[a-z]+[A-Z][A-Za-z]*)\b)"
)
# Words before a field whose name is an ordinary word. Elsewhere, such a word may be the name of a
# column or label.
_LEAD = re.compile(r"(?:^|\. |\b(?:[Ww]ith|[Ss]end|[Ee]ither|[Ll]eave|or the) )$")
_PLAIN_FIELDS = frozenset({"delimiter", "strict"})


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `ReadingOptions` to a command that collects them as keywords."""
    own = inspect.signature(command, eval_str=True)
    options = [_reading_parameter(name) for name in ReadingOptions.__annotations__]
    older = typer.Option("--set", help="The same as NAME=VALUE. Repeatable.", hidden=True)
    options.append(_parameter("older_form", Annotated[list[str] | None, older], None))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        sent = {name: given.pop(name) for name in ReadingOptions.__annotations__}
        named = pairs(given.pop("older_form"), "--set", ReadingOptions.__annotations__)
        chosen = {name: value(item) for name, item in sent.items() if item not in (None, False)}
        command(**given, **{**named, **chosen})

    kept = [item for item in own.parameters.values() if item.kind is not item.VAR_KEYWORD]
    # typer makes the options of a command from its signature.
    run.__dict__["__signature__"] = own.replace(parameters=[*kept, *options])
    return run


def _reading_parameter(name: str) -> inspect.Parameter:
    option = typer.Option(f"--{name.replace('_', '-')}", help=_HELP.get(name))
    if name in _FLAGS:
        return _parameter(name, Annotated[bool, option], default=False)
    return _parameter(name, Annotated[str | None, option], None)


def _parameter(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def known_options(call: Callable[..., object], collected: type = object) -> Collection[str]:
    """Return the names of a method's keyword arguments, including members of its TypedDict."""
    named = inspect.signature(call).parameters.values()
    # The commands declare these two as separate options.
    own = {item.name for item in named if item.kind is item.KEYWORD_ONLY} - {"progress", "partial"}
    has_more = any(item.kind is item.VAR_KEYWORD for item in named)
    return own | {*collected.__annotations__} if has_more else own


def in_options(message: str, command: Any) -> str:
    """Replace names of API fields in a message of the service by the options of a command."""
    options = {option for item in command.params for option in item.opts}
    arguments = {
        item.name: str(item.name).upper()
        for item in command.params
        if item.param_type_name == "argument"
    }

    def replaced(match: re.Match[str]) -> str:
        name = match["quoted"] or match["bare"]
        before, after = match["before"] or "", match["after"] or ""
        is_field = bool(before or after or name != name.lower() or name in _PLAIN_FIELDS)
        if not (is_field or _LEAD.search(message[: match.start()])):
            return match[0]
        shown = _option(name, options, arguments)
        if shown is None:
            return match[0]
        kind = "option" if shown.startswith("--") else "argument"
        return (
            re.sub("field|parameter", kind, before) + shown + re.sub("field|parameter", kind, after)
        )

    return _WORD.sub(replaced, message)


def _option(name: str, options: set[str], arguments: dict[str, str]) -> str | None:
    """Return the option for the API field `name`; None if the command has no such option."""
    snake = re.sub("[A-Z]", lambda sign: f"_{sign[0].lower()}", _RENAMED.get(name, name))
    own = f"--{snake.replace('_', '-')}"
    if own in options:
        return own
    if argument := arguments.get(snake) or arguments.get(f"{snake}_id"):
        return argument
    given = (option for option, names in _NAMED.items() if option in options and snake in names)
    option = next(given, None)
    return None if option is None else f"{option} {own.removeprefix('--')}"


def current_command(app: typer.Typer) -> Any:
    """Return the command with which this process was started."""
    command: Any = typer.main.get_command(app)
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def warning_line(warning: records.Warning, app: typer.Typer, name: str = "") -> str:
    """Return a warning as one line that names a command's options instead of API fields.

    The command is the one called `name` or, by default, the current command.
    """
    group: Any = typer.main.get_command(app)
    command = group.commands[name] if name else current_command(app)
    return f"warning: {in_options(warning.message, command)}"
