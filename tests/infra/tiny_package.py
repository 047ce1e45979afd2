"""A project and packages small enough to be built in seconds, and binaries made of few bytes."""

from __future__ import annotations

import struct
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from infra.build import Plan
from infra.packaging.bytecode import compile_with
from infra.packaging.target import ARCHITECTURES

X86 = ARCHITECTURES["x86_64"]
SCRIPT = Path(__file__).parents[2] / "infra" / "packaging" / "compile_tree.py"
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


def elf(*needed, machine=62, versions=("GLIBC_2.17",)):
    """Make a shared library that names what it needs and holds nothing else."""
    texts = b"\0libc.so.6\0" + b"".join(t.encode() + b"\0" for t in (*needed, *versions))

    def at(text):
        return texts.index(b"\0" + text.encode() + b"\0") + 1

    names = [(1, at(name)) for name in needed]
    strings, table = 64 + 2 * 56, 64 + 2 * 56 + len(texts)
    entries = [struct.pack("<HHIII", 1, len(versions), at("libc.so.6"), 16, 0)]
    for number, version in enumerate(versions, 1):
        following = 16 if number < len(versions) else 0
        entries.append(struct.pack("<IHHII", 0, 0, number, at(version), following))
    needs = b"".join(entries)
    dynamic = [
        *names,
        (5, strings),
        (0x6FFFFFFE, table),
        (0x6FFFFFFF, 1 if versions else 0),
        (0, 0),
    ]
    segment = b"".join(struct.pack("<qQ", tag, value) for tag, value in dynamic)
    where, size = table + len(needs), table + len(needs) + len(segment)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    dyn = struct.pack("<IIQQQQQQ", 2, 6, where, where, where, len(segment), len(segment), 8)
    return head + load + dyn + texts + needs + segment


def make_packages(folder):
    """Write what an installation of two packages leaves behind."""
    info = "Metadata-Version: 2.4\nName: {0}\nVersion: 1.0\nLicense-Expression: MIT\n"
    files = {
        "tiny/__init__.py": "from tiny import _core\n",
        "tiny/_core.cpython-313-x86_64-linux-gnu.so": elf("libbundled-1.so"),
        "tiny/_core.pyi": "types",
        "tiny/tests/test_tiny.py": "assert True\n",
        "tiny.libs/libbundled-1.so": elf(),
        "tiny-1.0.dist-info/METADATA": info.format("Tiny"),
        "tiny-1.0.dist-info/licenses/LICENSE": "the licence of tiny",
        "tool/__init__.py": "",
        "tool/bin/tool": elf(versions=()),
        "tool/LICENSE": "the licence of tool",
        "tool-1.0.dist-info/METADATA": info.format("tool"),
        "tool-1.0.dist-info/RECORD": "tool/__init__.py,,\ntool/LICENSE,,\n",
        "bin/tool": "#!/usr/bin/env python\n",
    }
    write(folder, files)
    return folder


def install(architecture, folder):
    """Stand for the installation of packages."""
    make_packages(folder)


def compile_here(folder, downloads, progress):
    """Make byte code with the Python that runs the tests."""
    return compile_with([sys.executable, "-I", str(SCRIPT)], folder, "this Python", MAGIC_NUMBER)


def tiny_plan(folder):
    """Plan a tiny package of a tiny project; both lie in the folder."""
    return Plan(
        X86,
        project=make_project(folder / "project"),
        out=folder / "out" / "package",
        required=REQUIRED,
        functions=("APIHandler", "Sweep"),
        described=dict,
        install=install,
        compiler=compile_here,
    )
