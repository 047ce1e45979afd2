"""The command `presage`: its subcommands, errors and exit codes."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Annotated

import typer

from presage import Presage, PresageError, __version__
from presage._api_keys import hide_keys
from presage._settings import Login, load_login, local_url, read_api_key, save_login
from presage.agents.command import mcp
from presage.cli import (
    batches,
    compare,
    datasets,
    keys,
    predictions,
    rankings,
    templates,
    versions,
    webhooks,
)
from presage.cli.context import Json, chosen_profile, client, use_profile
from presage.cli.options import current_command, in_options
from presage.cli.output import PipeClosed, note, say, show
from presage.errors import ConfigurationError, UnreachableError, UnreadableAnswerError

# Exit codes: the service refused, wrong usage, no response, Ctrl-C.
REFUSED, USAGE, UNREACHABLE, INTERRUPTED = 1, 2, 3, 130

COLUMNS = shutil.get_terminal_size().columns
# On narrow terminals the frames of rich would cut off the names of options.
IS_NARROW = COLUMNS < 60

app = typer.Typer(
    no_args_is_help=True,
    help="Train on your examples, predict, read documents.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None if IS_NARROW else "rich",
    context_settings={"terminal_width": COLUMNS} if IS_NARROW else {},
)
app.add_typer(datasets.app, name="datasets")
app.add_typer(versions.app, name="models")
app.add_typer(batches.app, name="batch")
app.add_typer(templates.app, name="templates")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(keys.app, name="keys")
for command in (
    predictions.predict,
    predictions.detect,
    predictions.sentiment,
    predictions.ocr,
    predictions.feedback,
    rankings.rank,
    compare.compare,
    mcp,
):
    app.command()(command)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        say(f"presage {__version__}")
        # Ends the command before its arguments are checked.
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Saved login to use, in place of the default one."),
    ] = None,
) -> None:
    """Train on your examples, predict, read documents."""
    use_profile(profile)


@app.command()
def login(
    email: Annotated[str | None, typer.Option(help="Email address of the account.")] = None,
    key_file: Annotated[str | None, typer.Option(help="File with its private key.")] = None,
    api_key_file: Annotated[
        str | None, typer.Option(help="File with an API key, in place of the other two.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="PRESAGE_URL",
            help="Address of the service; by default the local one, on the port of PRESAGE_PORT.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Save the service and account for later calls; the key file is not copied."""
    url = url or local_url()
    if api_key_file is not None:
        if email is not None or key_file is not None:
            raise ConfigurationError("Pass --api-key-file, or --email and --key-file.")
        # Later calls may be made from another folder.
        place = _absolute(api_key_file)
        with Presage(url, api_key=read_api_key(place)) as service:
            made = Login(url, service.whoami().email, api_key_file=place)
    else:
        email = typer.prompt("Email") if email is None else email
        place = _absolute(typer.prompt("Key file") if key_file is None else key_file)
        with Presage(url, email, place) as service:
            # One call with the key, so that a wrong login is not saved.
            service.usage()
        made = Login(url, email, place)
    path = save_login(made, profile=chosen_profile())
    line = f"{made.email} is logged in at {url}; saved in {path}"
    show(made.members(), [line], as_json=as_json)


@app.command()
def logout(as_json: Json = False) -> None:
    """Remove the saved login, or that of --profile; key files stay where they are."""
    path = save_login(None, profile=chosen_profile())
    show(
        {"login_file": str(path)}, [f"logged out; {path} no longer has the login"], as_json=as_json
    )


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


@app.command()
def whoami(as_json: Json = False) -> None:
    """Show the account whose credentials the command uses."""
    with client() as service:
        found = service.whoami()
        url = str(service.transport.http.base_url)
    scope = "" if found.scope == "all" else f", scope {found.scope}"
    line = f"{found.email} (account {found.id}, plan {found.plan}{scope}) at {url}"
    show(found, [line], as_json=as_json)


@app.command()
def usage(as_json: Json = False) -> None:
    """Show how many predictions of this month are used."""
    with client() as service:
        found = service.usage()
    plan = found.plan_data[0].plan
    line = (
        f"{found.predictions_used:,} of {found.predictions_max:,} predictions used "
        f"({plan}), until {found.ends_at[:10]}"
    )
    show(found, [line], as_json=as_json)


@app.command()
def version(as_json: Json = False) -> None:
    """Show the versions of this command and of the service."""
    if not as_json:
        say(f"presage-client {__version__}")  # before the call, which may fail
    with Presage(_url()) as service:
        found = service.health().version
    versions = {"presage-client": __version__, "service": found}
    show(versions, [f"service {found}"], as_json=as_json)


def _url() -> str:
    """Return the address of the service to which calls are sent."""
    profile = chosen_profile()
    named = None if profile else os.environ.get("PRESAGE_URL")
    return named or load_login(profile=profile).url


def main() -> None:
    """Run the command. Report an error as one line on stderr, and exit with the error's code."""
    try:
        try:
            app(_profile_first(sys.argv[1:]), prog_name="presage")
        finally:
            sys.stdout.flush()
    except (UnreachableError, UnreadableAnswerError) as error:
        _end(str(error), UNREACHABLE)
    except ConfigurationError as error:
        _end(str(error), USAGE)
    except PresageError as error:
        _end(in_options(str(error), current_command(app)), REFUSED)
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)
    except (BrokenPipeError, PipeClosed):
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # so that Python does not report another error at exit
        sys.exit(0)
    except OSError as error:
        _end(f"{error.filename or 'A file'}: {error.strerror or error}", REFUSED)


def _profile_first(words: list[str]) -> list[str]:
    """Move `--profile NAME` before the command, so that users can write it anywhere."""
    before = words[: words.index("--")] if "--" in words else words
    for at, word in enumerate(before):
        name = before[at + 1 : at + 2] if word == "--profile" else []
        if word.startswith("--profile=") or (name and not name[0].startswith("-")):
            after = at + 1 + len(name)
            return [*words[at:after], *words[:at], *words[after:]]
    return words


def _end(text: str, status: int) -> None:
    note(f"presage: {hide_keys(text)}")
    sys.exit(status)
