"""Use cases, one file each; services call stores and engines and never each other.

Any of them raises StorageUnavailable (503) when the storage does not answer; a queue tries again.
"""
