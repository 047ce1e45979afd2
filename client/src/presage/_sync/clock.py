# Written by client/tools/write_sync.py from presage._async: do not edit.
"""How a client waits, and lets its callers take turns."""

from threading import Lock as Lock
from time import sleep as sleep
