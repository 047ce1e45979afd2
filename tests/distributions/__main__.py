"""Installs the built distributions in empty environments, starts the server and predicts.

Run: python -m tests.distributions FOLDER [--with-models]. The folder holds the wheels of
`make dist`. Needs a package registry; it reports the size of the installed packages, and fails
above 600 MB. A model that the server exports must answer alike in an environment without it, and so
must one of each type, to the bit, for 1,000 inputs. With `--with-models` the model files are
downloaded too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LIMIT_MB = 600
LIMIT_RUNTIME_BYTES = 60_000
ROOT = Path(__file__).parents[2]
READY = "Presage is ready on "
EQUAL_ANSWERS = "tests/services/exports/test_runtime.py"
PREDICT = """
from presage import Presage
model = next(iter(Presage.from_env().language.models.list()))
print(model.predict("When will my parcel arrive?").label)
model.export().save("model.zip", progress=False)
"""


def main(folder: Path, with_models: bool) -> int:
    """Install, run and predict; return the exit status."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / "bin"
        before = _megabytes(home / "venv")
        pip = [programs / "python", "-m", "pip", "install", "--quiet"]
        [runtime] = folder.glob("presage_runtime-*.whl")
        others = [wheel for wheel in folder.glob("*.whl") if wheel != runtime]
        subprocess.run([*pip, *others], check=True)
        size = _megabytes(home / "venv") - before
        print(f"installed packages: {size:.0f} MB (limit {LIMIT_MB})")
        environment = {**os.environ, "XDG_DATA_HOME": name}
        if with_models:
            environment.pop("PRESAGE_MODEL_DIR", None)
        label = _first_prediction(programs, home, environment)
        print(f"first prediction: {label}")
        is_alike = _verify_runtime(runtime.resolve(), home)
    is_small = size <= LIMIT_MB and runtime.stat().st_size <= LIMIT_RUNTIME_BYTES
    return 0 if is_small and is_alike and label == "delivery-date" else 1


def _verify_runtime(runtime: Path, home: Path) -> bool:
    """Install the runtime in an empty environment and compare it with the service."""
    print(f"wheel of the runtime: {runtime.stat().st_size} bytes (limit {LIMIT_RUNTIME_BYTES})")
    venv.create(home / "alone", with_pip=True)
    programs = home / "alone" / "bin"
    # The versions of the server, because others may answer differently in the last bit.
    pins = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    names = ("numpy", "onnxruntime", "tokenizers", "pillow")
    versions = [line.split()[0] for line in pins if line.startswith(names)]
    pip = [programs / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, runtime, *versions], check=True)
    command = [programs / "presage-runtime", "verify", home / "model.zip"]
    is_alike = subprocess.run(command, cwd=home, check=False).returncode == 0
    asked = {"PRESAGE_FULL_SIZE": "1", "PRESAGE_RUNTIME_PYTHON": str(programs / "python")}
    tests = [sys.executable, "-m", "pytest", "-q", "--timeout", "3600", EQUAL_ANSWERS]
    done = subprocess.run(tests, cwd=ROOT, env={**os.environ, **asked}, check=False)
    return is_alike and done.returncode == 0


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
