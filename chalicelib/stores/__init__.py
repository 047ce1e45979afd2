"""Storage: DynamoDB rows, S3 artifacts, SQS jobs and downloads; answers are domain objects."""
