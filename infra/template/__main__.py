"""Prints the template that is merged into Chalice's: `python -m infra.template`."""

from __future__ import annotations

import json
import sys

from infra.template.merging import merge_template

if __name__ == "__main__":
    json.dump(merge_template(), sys.stdout, indent=2)
    sys.stdout.write("\n")
