"""Waiting, and a lock by which the callers of a client take turns."""

from anyio import Lock as Lock
from anyio import sleep as sleep
