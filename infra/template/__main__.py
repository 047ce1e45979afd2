"""Prints the template of the service's stack or, with the argument `data`, of the data stack.

For the service, this is only the part that is merged into the template that Chalice generates.
"""

from __future__ import annotations

import json
import sys

from infra.template.merging import merge_template
from infra.template.storage import data_template

if __name__ == "__main__":
    made = data_template() if sys.argv[1:] == ["data"] else merge_template()
    json.dump(made, sys.stdout, indent=2)
    sys.stdout.write("\n")
