"""Backbones as an artifact's header names them."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.engines.vision.interface import BackboneUse


def read_uses(member: Mapping[str, str]) -> tuple[BackboneUse, ...]:
    """Read names with digests, by name.

    Args:
        member: sha256 by name.

    Raises:
        AttributeError: the member is no mapping.
    """
    return tuple(BackboneUse(str(name), str(sha256)) for name, sha256 in sorted(member.items()))
