"""Use cases, one file each; services call stores and engines and never each other.

Every service raises StorageUnavailable (503) when the storage does not answer; jobs of queues are
then retried.
"""
