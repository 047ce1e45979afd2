"""Reads archives of exported models for an import: checks the archive, never loads a network.

The archive is untrusted. Only files with fixed names are accepted. Only the trained head, the
labels, the model card and the sample inputs are unpacked. See beyond.md, section 13.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, cast

from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember, open_archive
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.exports.bundles import (
    CARD_FILE,
    FORMAT,
    FORMAT_VERSION,
    GOLDEN_FILE,
    HEAD_FILE,
    MODEL_FILE,
    README_FILE,
)
from chalicelib.formats.texts.json_limits import is_too_deep

MAX_PACKED_BYTES = 200 * 1024 * 1024
MAX_UNPACKED_BYTES = 500 * 1024 * 1024
MAX_ENTRIES = 100
_MAX_JSON_BYTES = 4 * 1024 * 1024
_MAX_GOLDEN_CHARACTERS = 20_000
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
_NAMES = re.compile(
    "|".join(re.escape(name) for name in (MODEL_FILE, HEAD_FILE, CARD_FILE, README_FILE))
    + rf"|model\.onnx|golden/{_NAME}|licences/{_NAME}|(?:encoders|backbones)/{_NAME}/{_NAME}"
)


class Bundle:
    """The archive of an exported model. Its files are unpacked one at a time."""

    def __init__(self, file: BinaryIO, check: Callable[[], None]) -> None:
        """Check the directory of the archive, and read `model.json`.

        Args:
            file: the archive, seekable; it must stay open while files are read.
            check: called between steps; may raise an error to stop.

        Raises:
            InvalidUpload: the archive is not an exported model, or exceeds a limit.
        """
        packed = file.seek(0, 2)
        if packed > MAX_PACKED_BYTES:
            raise InvalidUpload(_over("packed", packed, MAX_PACKED_BYTES))
        self._archive = open_archive(file)
        self._members: dict[str, ZipMember] = {}
        for member in self._archive.members():
            self._add(member)
        unpacked = sum(member.size for member in self._members.values())
        if unpacked > MAX_UNPACKED_BYTES:
            raise InvalidUpload(_over("unpacked", unpacked, MAX_UNPACKED_BYTES))
        check()
        file.seek(0)
        self.sha256 = hashlib.file_digest(cast(Any, file), "sha256").hexdigest()
        """Digest of the archive."""
        self.manifest: Mapping[str, Any] = _document(
            MODEL_FILE, self._unpacked(MODEL_FILE, _MAX_JSON_BYTES)
        )
        """Content of `model.json`."""
        found = self.manifest.get("format"), self.manifest.get("version")
        if found != (FORMAT, FORMAT_VERSION):
            raise InvalidUpload(
                f"{MODEL_FILE} does not describe a model of format {FORMAT}, version "
                f"{FORMAT_VERSION}. Export the model again with this version of Presage."
            )

    def _add(self, member: ZipMember) -> None:
        shown = show_path(member.path)
        if member.problem:
            raise InvalidUpload(f"{shown}: {member.problem}")
        if not _NAMES.fullmatch(member.path):
            raise InvalidUpload(
                f"{shown} is not a file of an exported model. Send the archive as it was exported."
            )
        # Of two files with one name, readers disagree which one counts.
        if member.path in self._members:
            raise InvalidUpload(f"The archive holds {shown} twice. Export the model again.")
        self._members[member.path] = member
        if len(self._members) > MAX_ENTRIES:
            raise InvalidUpload(f"The archive has more than {MAX_ENTRIES} files.")

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file, after comparing its digest with the digest in `model.json`.

        Raises:
            InvalidUpload: the file is missing, damaged, changed or above its limit.
        """
        content = self._unpacked(name, limit)
        files = self.manifest.get("files")
        facts = files.get(name) if isinstance(files, dict) else None
        expected = facts.get("sha256") if isinstance(facts, dict) else None
        if hashlib.sha256(content).hexdigest() != expected:
            raise InvalidUpload(f"{name} was changed after the export. Export the model again.")
        return content

    def document(self, name: str) -> Any:
        """Return the parsed content of a JSON file."""
        return _document(
            name, self.read(name, _MAX_JSON_BYTES), dict if name == CARD_FILE else list
        )

    def read_golden_samples(self) -> Iterator[tuple[str | bytes, Any]]:
        """Yield each sample (a text, or an image as bytes) with the predictions of the exporter.

        Raises:
            InvalidUpload: there are no samples, or a sample does not have the expected form.
        """
        found = self.document(GOLDEN_FILE)
        if not 1 <= len(found) <= MAX_ENTRIES:
            raise InvalidUpload(f"{GOLDEN_FILE} must have 1 to {MAX_ENTRIES} inputs.")
        for one in found:
            members = one if isinstance(one, dict) else {}
            text, name, answer = (members.get(key) for key in ("text", "file", "answer"))
            if not _is_answer(answer):
                raise InvalidUpload(f"{GOLDEN_FILE} has an answer of another form.")
            if isinstance(text, str) and len(text) <= _MAX_GOLDEN_CHARACTERS:
                yield text, answer
            elif isinstance(name, str):
                yield self.read(f"golden/{name}", MAX_PREDICTED_IMAGE_BYTES), answer
            else:
                raise InvalidUpload(f"{GOLDEN_FILE} has an input that is not a text or a file.")

    def _unpacked(self, name: str, limit: int) -> bytes:
        member = self._members.get(name)
        if member is None:
            raise InvalidUpload(f"The archive has no {name}. Send the whole archive of an export.")
        try:
            return self._archive.read(member, limit)
        except MemberProblem as problem:
            raise InvalidUpload(f"{name}: {problem}") from problem


def _document(name: str, content: bytes, expected_type: type = dict) -> Any:
    try:
        text = content.decode()
        found = None if is_too_deep(text) else json.loads(text)
        # Escapes of half a character cannot be stored or sent again: a ValueError.
        json.dumps(found, ensure_ascii=False).encode()
    except ValueError:
        found = None
    if not isinstance(found, expected_type):
        raise InvalidUpload(f"{name} is not the JSON document of an export.")
    return found


def _is_answer(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("label"), str)
        and isinstance(one.get("probability"), float | int)
        and ("box" not in one or _is_box(one["box"]))
        for one in value
    )


def _is_box(value: object) -> bool:
    is_list = isinstance(value, list) and len(value) == 4
    return is_list and all(isinstance(side, float | int) for side in cast(list[Any], value))


def _over(part: str, size: int, limit: int) -> str:
    return f"The archive has {size:,} bytes {part}; at most {limit // 1024**2} MB are allowed."
