"""The AWS key pair of this test process, used by its stacks and its stores."""

from __future__ import annotations

import secrets

# Random, so that no other process reaches the stacks; of the form that the local stack makes.
KEYS = {
    "AWS_ACCESS_KEY_ID": secrets.token_hex(10).upper(),
    "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20),
}
