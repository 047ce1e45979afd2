"""The command `python -m infra.docs`: writes the parts of docs/ that are generated from code.

It also writes the deployer's policy as JSON, and the client's records, which are generated from
the service's records.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from chalicelib.domain.accounts.rates import COSTS, RATES
from chalicelib.domain.documents.form_template import FORM_TYPES
from chalicelib.formats.templates.form_template import standard_template
from chalicelib.metrics import EXPORTED
from chalicelib.routes import OPERATIONS
from infra import client_records, costs
from infra.deploying.deployer_policy import policy
from infra.local.telemetry.names import GAUGE_LABELS, GAUGES, labels_of

DOCS = Path(__file__).parents[1] / "docs"
_BEGIN, _END = "<!-- written by python -m infra.docs -->\n", "<!-- end -->\n"


def pages() -> dict[Path, str]:
    """Return the pages with updated tables, the deployer's policy and the client's records."""
    tables: dict[str, list[Iterable[str]]] = {
        "accounts.md": [_rates()],
        "api.md": [_calls()],
        "deploy.md": [costs.lines({})],
        "forms.md": [_entities()],
        "metrics.md": [_metrics()],
    }
    made = {
        DOCS / name: _replaced((DOCS / name).read_text("utf-8"), t) for name, t in tables.items()
    }
    policy_text = json.dumps(policy(), indent=1) + "\n"
    return {
        **made,
        DOCS / "deployer.json": policy_text,
        client_records.FILE: client_records.source(),
    }


def _replaced(text: str, tables: Iterable[Iterable[str]]) -> str:
    """Replace the text between each pair of markers in a page with the next table."""
    head, *rest = text.split(_BEGIN)
    made = [head]
    for table, part in zip(tables, rest, strict=True):
        made += [_BEGIN, *(f"{line}\n" for line in table), _END, part.split(_END)[1]]
    return "".join(made)


def _calls() -> Iterator[str]:
    """Yield the methods of each path; `{family}` stands for `language` or `vision`."""
    methods: dict[str, list[str]] = {}
    for operation in OPERATIONS:
        for _, path in sorted(operation.routes(), key=itemgetter(0)):
            methods.setdefault(path, []).append(operation.method)
    yield "```"
    shown = set()
    for path, found in methods.items():
        either = path.replace("/language/", "/{family}/").replace("/vision/", "/{family}/")
        families = [either.replace("{family}", family) for family in ("language", "vision")]
        # A path is listed once for both families only if both accept the same methods.
        same = all(methods.get(one) == found for one in families)
        call = f"{' '.join(found):<16}{either if same else path}"
        if call not in shown:
            yield call
        shown.add(call)
    yield "```"


def _entities() -> Iterator[str]:
    """Yield a table with the entities of each standard form, grouped by type of value."""
    yield "| `formType` | entities |"
    yield "|---|---|"
    for form_type in FORM_TYPES:
        entities: dict[str, list[str]] = {}
        for key in standard_template(form_type).keys:
            entities.setdefault(", ".join(key.types) or "TEXT", []).append(f"`{key.entity}`")
        kinds = (f"{types}: {', '.join(names)}" for types, names in entities.items())
        yield f"| `{form_type}` | {'<br>'.join(kinds)} |"


def _metrics() -> Iterator[str]:
    """Yield the table of metrics, each with its names in Prometheus and CloudWatch."""
    yield "| Prometheus | labels | CloudWatch |"
    yield "|---|---|---|"
    for metric in EXPORTED:
        yield f"| `{metric.exported}` | {', '.join(labels_of(metric))} | {metric.name} |"
    for name in GAUGES:
        yield f"| `{name}` | {GAUGE_LABELS.get(name, '')} | |"


def _rates() -> Iterator[str]:
    """Yield the table of calls per second, by plan and cost class."""
    yield f"| plan | {' | '.join(COSTS.values())} |"
    yield f"|---|{'---|' * len(COSTS)}"
    for plan, rates in RATES.items():
        yield f"| {plan} | {' | '.join(str(rates[cost]) for cost in COSTS)} |"


def main() -> int:
    """Write all generated files, and return the exit code."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
