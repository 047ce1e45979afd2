"""Commands of the README and docs that need no AWS account are run as printed."""
