# Written by client/tools/write_sync.py from presage._async: do not edit.
"""Waiting, and a lock by which the callers of a client take turns."""

from threading import Lock as Lock
from time import sleep as sleep
