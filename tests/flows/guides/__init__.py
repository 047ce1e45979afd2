"""Every command of README and docs that needs no AWS account, run as it is printed."""
