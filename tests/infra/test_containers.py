"""The image, the Compose file and the system service, without a container engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from infra.local.supervisor import SAVE_SECONDS
from infra.local.supervisor import STOP_SECONDS as END_SECONDS
from tests.distributions.containerfile import shipped
from tests.parts import ROOT

COMPOSE = ROOT / "compose.yaml"
UNIT = ROOT / "deploy" / "systemd" / "presage.service"
WHEEL = "build/dist/presage_server-*.whl"
USER = "10001:10001"
DRAIN_SECONDS, STOP_SECONDS = 20, 90


def last(name: str) -> str:
    """Return the text of the last instruction of a name, which is the one that counts."""
    return [one.text for one in shipped() if one.name == name][-1]


def variables() -> dict[str, str]:
    """Return the environment of the image."""
    return dict(re.findall(r"(\w+)=(\S+)", last("ENV")))


def services() -> dict[str, dict]:
    """Return the services of the Compose file."""
    return yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]


def test_image_is_small_and_runs_without_rights() -> None:
    """The image has two stages, a user without rights, a health check, and the command as PID 1."""
    found = shipped()

    assert [one.name for one in found].count("FROM") == 2
    assert last("USER") == USER
    assert last("STOPSIGNAL") == "SIGTERM"
    # The forms in brackets start no shell, so signals reach the service.
    assert json.loads(last("ENTRYPOINT")) == ["presage-server"]
    assert json.loads(last("CMD")) == ["run", "--no-demo"]
    assert "/v2/health" in json.loads(last("HEALTHCHECK").removeprefix("CMD "))[-1]
    assert "MODELS=" in [one.text for one in found if one.name == "ARG"]
    assert int(variables()["PRESAGE_DRAIN_SECONDS"]) == DRAIN_SECONDS


def test_image_has_nothing_but_the_wheel() -> None:
    """Nothing is fetched by ADD; every COPY is of the wheel or of the first stage."""
    found = shipped()
    copied = [one for one in found if one.name == "COPY"]

    assert not [one for one in found if one.name == "ADD"]
    assert [one.text.split()[0] for one in copied if "from" not in one.options] == [WHEEL]
    assert {one.options["from"] for one in copied if "from" in one.options} == {"build"}
    recipe = re.search(r"^dist:.*?(?=^\S+:)", (ROOT / "Makefile").read_text(), re.M | re.S)
    assert recipe
    assert "deploy/server" in recipe[0]
    assert "build/dist" in recipe[0]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert ignored[-4:] == ["*", "!build", "build/*", "!build/dist"]


def test_image_pins_every_package(tmp_path: Path) -> None:
    """The constraints made of the lock file in the wheel pin direct and indirect packages."""
    [install] = [one.text for one in shipped() if one.name == "RUN" and "pip install" in one.text]
    lock = "infra/packaging/install-lock.txt"
    assert f"/wheels/content/presage_server/_app/{lock}" in install
    place = tmp_path / "content" / "presage_server" / "_app" / lock
    place.parent.mkdir(parents=True)
    shutil.copy(ROOT / lock, place)
    [command] = re.findall(r"sed .*?pins\.txt", install)
    subprocess.run(["sh", "-ec", command.replace("/wheels", str(tmp_path))], check=True)

    pins = (tmp_path / "pins.txt").read_text("ascii").splitlines()
    assert {line.partition("==")[0] for line in pins} >= {"moto", "botocore", "werkzeug", "numpy"}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in pins)
    assert "--constraint /wheels/pins.txt" in install


def test_root_file_system_can_be_read_only() -> None:
    """Everything that the service writes to is a volume of the image and of the Compose file."""
    image = set(json.loads(last("VOLUME")))
    service = services()["presage"]

    named = variables()
    assert image == {named["PRESAGE_STATE_DIR"], named["PRESAGE_MODEL_DIR"], "/tmp"}  # noqa: S108 - of the image
    assert {one.split(":")[-1] for one in service["volumes"]} == image
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]


def test_compose_file_stops_checks_and_opens_the_service() -> None:
    """The service has the image's user and health check, time to drain, and no open port."""
    service = services()["presage"]

    assert service["user"] == USER
    assert service["stop_grace_period"] == f"{STOP_SECONDS}s"
    assert service["environment"]["PRESAGE_DRAIN_SECONDS"] == str(DRAIN_SECONDS)
    assert DRAIN_SECONDS + SAVE_SECONDS + END_SECONDS < STOP_SECONDS
    check = json.loads(last("HEALTHCHECK").removeprefix("CMD "))
    assert service["healthcheck"]["test"] == ["CMD", *check]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_profile_of_caddy_is_the_trusted_proxy() -> None:
    """Caddy starts only with its profile, uses the shipped file, and is trusted alone."""
    found = services()
    caddy = found["caddy"]

    assert caddy["profiles"] == ["tls"]
    assert "profiles" not in found["presage"]
    file = caddy["volumes"][0].split(":")[0]
    assert (ROOT / file).is_file()
    assert set(re.findall(r"\{\$(\w+)", (ROOT / file).read_text())) == set(caddy["environment"])
    trusted = found["presage"]["environment"]["PRESAGE_TRUSTED_PROXIES"]
    assert caddy["networks"]["inside"]["ipv4_address"] == trusted


def test_health_check_fails_without_a_service() -> None:
    """The command of the health check ends with a failure when nothing answers."""
    _, *arguments = json.loads(last("HEALTHCHECK").removeprefix("CMD "))
    closed = [one.replace(":8000/", ":1/") for one in arguments]

    assert subprocess.run([sys.executable, *closed], capture_output=True).returncode == 1


def test_unit_is_valid(tmp_path: Path) -> None:
    """The system service drains, cannot write elsewhere, and systemd finds no fault in it."""
    text = UNIT.read_text("utf-8")
    program = "/opt/presage/bin/presage-server"

    for line in (
        f"TimeoutStopSec={STOP_SECONDS}",
        f"Environment=PRESAGE_DRAIN_SECONDS={DRAIN_SECONDS}",
        "User=presage",
        "ProtectSystem=strict",
        f"ExecStart={program} run --no-demo",
    ):
        assert line in text.splitlines()
    if shutil.which("systemd-analyze"):
        # The program is not installed here, so the path of another one is verified.
        installed = tmp_path / "presage.service"
        installed.write_text(text.replace(program, sys.executable))
        read = subprocess.run(
            ["systemd-analyze", "verify", str(installed)], capture_output=True, text=True
        )
        assert (read.returncode, read.stderr) == (0, "")
