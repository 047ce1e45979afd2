"""What `import app` must not do, so that cold starts and tests stay fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROBE = """
import gc, json, os, sys, time
class Watched(dict):
    def __init__(self, d): super().__init__(d); self.read = []
    def __getitem__(self, k): self.read.append(k); return super().__getitem__(k)
    def get(self, k, d=None): self.read.append(k); return super().get(k, d)
import chalice.app, msgspec, python_multipart
os.environ = watched = Watched(dict(os.environ))
before = set(watched)
import app
from botocore.client import BaseClient
print(json.dumps({
    "read": [k for k in watched.read if k.startswith(("PRESAGE", "AWS"))],
    "written": sorted(set(watched) - before),
    "native": sorted({"numpy", "onnxruntime", "tokenizers"} & set(sys.modules)),
    "clients": [type(o).__name__ for o in gc.get_objects() if isinstance(o, BaseClient)],
    "not shipped": sorted({"boto3", "s3transfer", "huggingface_hub"} & set(sys.modules)),
}))
"""


def run(code: str) -> str:
    """Run code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_import_has_no_side_effects():
    """Importing the application reads no environment, opens no client and loads no engine."""
    found = json.loads(run(PROBE))

    assert found == {"read": [], "written": [], "native": [], "clients": [], "not shipped": []}
