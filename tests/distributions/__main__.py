"""Installs the built distributions in an empty environment, starts the server and predicts.

Run: python -m tests.distributions FOLDER [--with-models]. The folder holds the wheels of
`make dist`. Needs a package registry; it reports the size of the installed packages, and fails
above 600 MB. With `--with-models` the model files are downloaded too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LIMIT_MB = 600
READY = "Presage is ready on "
PREDICT = """
from presage import Presage
model = next(iter(Presage.from_env().language.models.list()))
print(model.predict("When will my parcel arrive?").label)
"""


def main(folder: Path, with_models: bool) -> int:
    """Install, run and predict; return the exit status."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / "bin"
        before = _megabytes(home / "venv")
        pip = [programs / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *folder.glob("*.whl")], check=True)
        size = _megabytes(home / "venv") - before
        print(f"installed packages: {size:.0f} MB (limit {LIMIT_MB})")
        environment = {**os.environ, "XDG_DATA_HOME": name}
        if with_models:
            environment.pop("PRESAGE_MODEL_DIR", None)
        label = _first_prediction(programs, home, environment)
    print(f"first prediction: {label}")
    return 0 if size <= LIMIT_MB and label == "delivery-date" else 1


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _first_prediction(programs: Path, home: Path, environment: dict[str, str]) -> str:
    """Run the server until its demo is ready, and return the label that its client predicts."""
    command = [programs / "presage-server", "run", "--port", "0", "--aws-port", "0"]
    with subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            url = next(line for line in server.stdout if READY in line).split(READY)[1].strip()
            given = {
                "PRESAGE_URL": url,
                "PRESAGE_EMAIL": "demo@presage.example",
                "PRESAGE_KEY_FILE": str(home / "presage" / "demo.pem"),
            }
            done = subprocess.run(
                [programs / "python", "-c", PREDICT],
                cwd=home,
                env={**environment, **given},
                check=True,
                capture_output=True,
                text=True,
            )
        finally:
            server.terminate()
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--with-models" in sys.argv))
