"""The command `presage`: text for people, `--json` for programs."""
