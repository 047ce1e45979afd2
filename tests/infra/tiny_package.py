"""A project and packages small enough to be built in seconds."""

from __future__ import annotations

from infra.build import Plan
from infra.packaging.target import ARCHITECTURES, LambdaTarget, own_runtime

X86 = LambdaTarget(own_runtime(), ARCHITECTURES["x86_64"])
BINARY = b"\x7fELF and the rest"
REQUIRED = {"tiny": "tiny/_core*.so", "tool": "tool/bin/tool"}
APP = '''
"""A deployed application."""
from chalice import Chalice
from chalicelib.answer import ANSWER

app = Chalice(app_name="tiny")


@app.route("/")
def index():
    return ANSWER


@app.schedule("rate(1 minute)")
def sweep(event):
    pass
'''
CONFIG = '{"version": "2.0", "app_name": "tiny", "stages": {"dev": {"api_gateway_stage": "api"}}}'


def write(folder, files):
    """Write files by path; texts and bytes."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_project(folder):
    """Write a project with two functions."""
    files = {
        "app.py": APP,
        "entry.py": "from app import app\n",
        "chalicelib/__init__.py": "",
        "chalicelib/answer.py": "ANSWER = {'answer': 42}\n",
        "chalicelib/assets/samples/words.csv": "text,label\n",
        "chalicelib/__pycache__/answer.cpython-311.pyc": b"of another Python",
        ".chalice/config.json": CONFIG,
        "requirements.txt": "tiny==1.0\n",
        "LICENSE": "the licence of the project",
    }
    write(folder, files)
    return folder


def wheel_facts(name, tags):
    """Return what a wheel says of itself, as files by path."""
    lines = "".join(f"Tag: {tag}\n" for tag in tags)
    return {f"{name}-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\n{lines}"}


def make_packages(folder):
    """Write what an installation of two packages leaves behind."""
    info = "Metadata-Version: 2.4\nName: {0}\nVersion: 1.0\nLicense-Expression: MIT\n"
    files = {
        "tiny/__init__.py": "from tiny import _core\n",
        f"tiny/_core.cpython-{X86.runtime.tag}-x86_64-linux-gnu.so": BINARY,
        "tiny/_core.pyi": "types",
        "tiny/tests/test_tiny.py": "assert True\n",
        "tiny.libs/libbundled-1.so": BINARY,
        "tiny-1.0.dist-info/METADATA": info.format("Tiny"),
        "tiny-1.0.dist-info/licenses/LICENSE": "the licence of tiny",
        "tool/__init__.py": "",
        "tool/bin/tool": BINARY,
        "tool/LICENSE": "the licence of tool",
        "tool-1.0.dist-info/METADATA": info.format("tool"),
        "tool-1.0.dist-info/RECORD": "tool/__init__.py,,\ntool/LICENSE,,\n",
        "bin/tool": "#!/usr/bin/env python\n",
        **wheel_facts("tiny", [f"cp{X86.runtime.tag}-cp{X86.runtime.tag}-manylinux2014_x86_64"]),
        **wheel_facts("tool", ["py3-none-manylinux_2_28_x86_64"]),
    }
    write(folder, files)
    return folder


def install(target, folder):
    """Stand for the installation of packages."""
    make_packages(folder)


def tiny_plan(folder):
    """Plan a tiny package of a tiny project; both are in the folder."""
    return Plan(
        X86,
        project=make_project(folder / "project"),
        out=folder / "out" / "package",
        required=REQUIRED,
        functions=("APIHandler", "Sweep"),
        described=dict,
        install=install,
    )
