"""Storage: DynamoDB rows, S3 objects, SQS jobs and downloads; results are domain objects.

Every method of a store raises StorageUnavailable (503) when AWS does not answer or refuses. The
docstrings of methods name other errors only.
"""
