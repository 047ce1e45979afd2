"""Storage: DynamoDB rows, S3 objects, SQS jobs and downloads; answers are domain objects.

Every call of a store, and so of the services above, raises StorageUnavailable (503) when AWS does
not answer or refuses; single docstrings name other errors only.
"""
