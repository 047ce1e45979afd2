"""The command `presage`, which prints text for people and, with `--json`, JSON for programs."""
