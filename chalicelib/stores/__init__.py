"""Storage: DynamoDB rows, S3 objects, SQS jobs and downloads. Stores return domain objects.

Every method of a store raises StorageUnavailable (503) if AWS does not answer, throttles or fails.
The docstrings of the methods list only other errors.
"""
