"""Use cases, one per file. A service calls stores and engines, and never another service.

Every service raises StorageUnavailable (503) if the storage does not answer. If a job raises this
error, the queue delivers the job again.
"""
