"""How large an answer is where a deployed function returns it: as a text inside JSON."""

from __future__ import annotations


def wire_bytes(encoded: bytes) -> int:
    """Return the size of an encoded answer inside JSON, in bytes.

    Quotes and backslashes, of which a text may consist, take two bytes there.
    """
    return len(encoded) + encoded.count(b'"') + encoded.count(b"\\")
