"""Repairs a damaged backup: removes unreadable pieces, and reports the lost data by name.

Lost rows are taken from the previous dump if possible. Incomplete datasets and models are
removed, so that nothing partial is restored. The caller stores a copy of the folder first, because
removed pieces may still be valuable.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import SOURCES
from chalicelib.domain.jobs.deletion import DATASET
from chalicelib.stores.aws.counters import BASES
from chalicelib.stores.datasets.datasets import load_counts
from chalicelib.stores.examples.layouts import PLAIN, ChunkLayout, load_layout
from infra.backups import tables
from infra.backups.dumping import KEYS, tables_by_name
from infra.backups.folder import BackupError, BackupFolder, Manifest
from infra.backups.replay import COUNTERS, DATASETS, DELETIONS, MODELS
from infra.backups.tables import Item

ACCOUNTS, LABELS, EXAMPLES = "accounts", "labels", "examples"
# Number of `#` in the key of a chunk, which has dataset, source and label.
_CHUNK_MARKS = 2
# Prefix of the keys of rows that point from an e-mail address to an account.
_EMAIL = "EMAIL#"
# Files of a dataset that cannot be computed again from its other data.
_NEEDED = ("chunks", "images")
# Files that only an unfinished upload needs.
_NEEDED_WHILE_OPEN = ("raw", "parts")
# Ids of examples to skip when the highest one is unknown, so that no id is reused.
_GAP = 1_000_000


def repair(
    settings: Settings, folder: BackupFolder, keep_copy: Callable[[], None]
) -> list[str] | None:
    """Remove damaged data from a backup.

    Args:
        settings: settings of the stack that was backed up.
        folder: the backup folder.
        keep_copy: called before anything in the folder changes.

    Returns:
        A line for each loss; None if the backup is undamaged, and therefore unchanged.
    """
    if folder.is_empty():
        return None
    lost: list[str] = []
    previous = folder.previous()
    try:
        base = folder.manifest()
        problem = "" if base else "the manifest is missing"
    except BackupError as error:
        base, problem = None, str(error)
    if base is None:
        since = f"what was saved after {previous.created_at}" if previous else "everything"
        lost.append(f"{since}: {problem}")
        base = previous or Manifest(settings.name, datetime.now(UTC).isoformat(timespec="seconds"))
        # Former API keys may have been revoked since.
        base.tables.pop(KEYS, None)
    work = _Repair(settings, folder, base, previous)
    if not work.damaged and not lost:
        return None
    keep_copy()
    folder.start_over()
    folder.switch(work.undamaged_manifest())
    return lost + work.lost


class _Repair:
    """Builds a valid manifest from a damaged backup."""

    def __init__(
        self, settings: Settings, folder: BackupFolder, base: Manifest, previous: Manifest | None
    ) -> None:
        self._folder = folder
        self._base = base
        self._previous = previous
        self._keys = {name: table.key_names for name, table in tables_by_name(settings).items()}
        self.damaged = {name for name in base.pieces() if not self._is_whole(name)}
        for name in self.damaged:
            folder.note_damage(name)
        # Lines for the user about lost data.
        self.lost: list[str] = []

    def undamaged_manifest(self) -> Manifest:
        """Return a manifest of the undamaged data. It names only pieces that exist."""
        base = self._base
        manifest = Manifest(base.name, base.created_at)
        for short in base.tables:
            self._take_table(manifest, short)
        manifest.objects.extend(item for item in base.objects if item.sha256 not in self.damaged)
        lost_files = [item.key for item in base.objects if item.sha256 in self.damaged]
        self._leave_out_incomplete(manifest, lost_files)
        if self._has_lost(COUNTERS):
            counters = _raised(self._rows(manifest, COUNTERS), self._highest_ids(manifest))
            self._put(manifest, COUNTERS, counters)
        return manifest

    def _is_whole(self, name: str) -> bool:
        try:
            self._folder.check(name)
        except BackupError:
            return False
        return True

    def _has_lost(self, short: str) -> bool:
        return not self.damaged.isdisjoint(self._base.tables.get(short, ()))

    def _rows(self, manifest: Manifest, short: str) -> Iterator[Item]:
        for name in manifest.tables.get(short, ()):
            yield from tables.read_piece(self._folder.read(name))

    def _put(self, manifest: Manifest, short: str, rows: Iterable[Item]) -> None:
        packed = tables.pieces(rows, self._keys[short])
        manifest.set_table(short, [(self._folder.add(content), n) for content, n in packed])

    def _take_table(self, manifest: Manifest, short: str) -> None:
        """Add a table's undamaged rows to the manifest, and older versions of lost rows."""
        names, number = self._base.tables[short], self._base.rows[short]
        manifest.tables[short] = [name for name in names if name not in self.damaged]
        manifest.rows[short] = number
        if not self._has_lost(short):
            return
        # A row's key decides its piece, so a lost piece can be replaced by its previous version.
        kept, keys = list(self._rows(manifest, short)), self._keys[short]
        covered = {tables.piece_of(row, keys) for row in kept}
        # Older API keys stay lost, because they may have been revoked since.
        former = self._previous.tables if self._previous and short != KEYS else {}
        older = [
            row
            for name in former.get(short, ())
            if name not in names and self._is_whole(name)
            for row in tables.read_piece(self._folder.read(name))
            if tables.piece_of(row, keys) not in covered
        ]
        text = f"table {short}: {number - len(kept)} of {number} rows"
        if self._previous and older:
            text += f"; {len(older)} are back as they were at {self._previous.created_at}"
        self.lost.append(text)
        self._put(manifest, short, [*kept, *older])

    def _leave_out_incomplete(self, manifest: Manifest, lost_files: list[str]) -> None:
        """Leave out datasets and models with missing parts, and report them."""
        datasets = {row["dataset_id"]["N"]: row for row in self._rows(manifest, DATASETS)}
        models = {row["model_id"]["S"]: row for row in self._rows(manifest, MODELS)}
        self._name_orphans(manifest, set(datasets), set(models))
        if self._has_lost(ACCOUNTS):
            self._name_accounts(manifest)
        incomplete = self._find_incomplete_datasets(manifest, datasets, lost_files)
        incomplete_models = {
            model_id
            for model_id, row in models.items()
            if any(
                key.startswith(f"models/{model_id}/{_text(row, 'version')}/") for key in lost_files
            )
        }
        for number in sorted(incomplete):
            self.lost.append(f"dataset {number} ({_text(datasets[number], 'name')})")
        for model_id in sorted(incomplete_models):
            self.lost.append(f"model {model_id} ({_text(models[model_id], 'name')})")
        changed = self._without_lost_versions(models, lost_files, incomplete_models)
        owned = {f"datasets/{n}" for n in incomplete} | {f"models/{m}" for m in incomplete_models}
        self.lost += [
            f"file {key}" for key in lost_files if "/".join(key.split("/")[:2]) not in owned
        ]
        if incomplete:
            self._put(
                manifest, DATASETS, (row for n, row in datasets.items() if n not in incomplete)
            )
        if incomplete_models or changed:
            rows = {**models, **changed}
            self._put(
                manifest, MODELS, (row for m, row in rows.items() if m not in incomplete_models)
            )

    def _without_lost_versions(
        self, models: dict[str, Item], lost_files: list[str], incomplete: set[str]
    ) -> dict[str, Item]:
        """Remove and report each version that lost a file; return the rows of changed models."""
        changed = {}
        for model_id in sorted(set(models) - incomplete):
            stored = json.loads(_text(models[model_id], "versions") or '{"kept": []}')
            lost = [
                one
                for one in stored["kept"]
                if any(key.startswith(f"models/{model_id}/{one['folder']}/") for key in lost_files)
            ]
            if not lost:
                continue
            stored["kept"] = [one for one in stored["kept"] if one not in lost]
            changed[model_id] = {**models[model_id], "versions": {"S": json.dumps(stored)}}
            self.lost += [f"model {model_id}: version {one['number']}" for one in lost]
        return changed

    def _name_accounts(self, manifest: Manifest) -> None:
        """Report accounts that lack one of two rows: the row by id, or the row by email address."""
        rows = {row["account_id"]["S"]: row for row in self._rows(manifest, ACCOUNTS)}
        for key, row in rows.items():
            email = key.removeprefix(_EMAIL) if key.startswith(_EMAIL) else _text(row, "email")
            if not email or {_text(row, "target") or key, _EMAIL + email.lower()} <= set(rows):
                continue
            self.lost.append(f"account {_text(row, 'target') or key} ({email})")

    def _find_incomplete_datasets(
        self, manifest: Manifest, datasets: dict[str, Item], lost_files: list[str]
    ) -> set[str]:
        """Return the datasets that lack necessary files, examples or labels."""
        labels = {row["label_id"]["N"] for row in self._rows(manifest, LABELS)}
        missing = set(lost_files)
        sizes = {
            _chunk_key(row): int(row["size"]["N"])
            for row in self._chunks(manifest)
            if _text(row, "artifact") not in missing
        }
        layouts = {
            _chunk_key(row): load_layout(row["body"]["B"])
            for row in self._rows(manifest, EXAMPLES)
            if _chunk_key(row)[1] < 0
        }
        files = defaultdict(set)
        for key in lost_files:
            owner, number, kind, *_ = [*key.split("/"), "", ""]
            if owner == "datasets":
                files[number].add(kind)
        incomplete = set()
        for number, row in datasets.items():
            needed = {*_NEEDED, *(_NEEDED_WHILE_OPEN if "open" in row else ())}
            is_counted = _is_counted(number, row, labels, sizes, layouts)
            if files[number] & needed or not is_counted:
                incomplete.add(number)
        return incomplete

    def _name_orphans(self, manifest: Manifest, datasets: set[str], models: set[str]) -> None:
        """Report datasets and models whose rows are lost, and leave out their data."""
        names: dict[str, list[str]] = defaultdict(list)
        for row in self._rows(manifest, LABELS):
            names[row["dataset_id"]["N"]].append(row["name"]["S"])
        for item in manifest.objects:
            kind, _, rest = item.key.partition("/")
            owner = rest.partition("/")[0]
            if kind == DATASETS:
                names.setdefault(owner, [])
            elif kind == MODELS and owner not in models and self._has_lost(MODELS):
                models.add(owner)
                self.lost.append(f"model {owner}: its row")
        for number in sorted(set(names) - datasets) if self._has_lost(DATASETS) else ():
            labels = f", labels {', '.join(names[number][:5])}" if names[number] else ""
            self.lost.append(f"dataset {number}: its row{labels}")

    def _highest_ids(self, manifest: Manifest) -> dict[str, int]:
        """Return the highest id of each kind in the remaining rows."""
        deleted = (
            int(row["object_id"]["S"])
            for row in self._rows(manifest, DELETIONS)
            if row["kind"]["S"] == DATASET
        )
        known = (int(row["dataset_id"]["N"]) for row in self._rows(manifest, DATASETS))
        labels = list(self._rows(manifest, LABELS))
        of_labels = (int(row["dataset_id"]["N"]) for row in labels)
        bodies = (row["body"]["B"] for row in self._chunks(manifest) if "body" in row)
        examples = (int(row[0]) for body in bodies for row in json.loads(zlib.decompress(body)))
        return {
            "datasets": max((*deleted, *known, *of_labels), default=0),
            "labels": max((int(row["label_id"]["N"]) for row in labels), default=0),
            "examples": max(examples, default=BASES["examples"]) + _GAP,
        }

    def _chunks(self, manifest: Manifest) -> Iterator[Item]:
        """Yield the rows with examples. The table also has rows with layouts and positions."""
        for row in self._rows(manifest, EXAMPLES):
            key, number = _chunk_key(row)
            if number >= 0 and key.count("#") == _CHUNK_MARKS:
                yield row


def _chunk_key(row: Item) -> tuple[str, int]:
    return row["sequence"]["S"], int(row["number"]["N"])


def _text(row: Item, name: str) -> str:
    return str(row.get(name, {}).get("S", ""))


def _is_counted(
    number: str,
    row: Item,
    labels: set[str],
    sizes: Mapping[tuple[str, int], int],
    layouts: Mapping[tuple[str, int], ChunkLayout],
) -> bool:
    """Return whether a dataset has as many examples as its row says."""
    for counts in load_counts(row.get("counts", {}).get("B")):
        if str(counts.label_id) not in labels:
            return False
        for source in SOURCES:
            key, fence = f"{number}#{source}#{counts.label_id}", counts.layout(source)
            layout = layouts.get((key, -fence)) if fence else PLAIN
            if layout is None:
                return False
            for block in layout.blocks(0, counts.count(source)):
                if sizes.get((key, block.number), 0) < block.skip + block.size:
                    return False
    return True


def _raised(rows: Iterable[Item], highest: dict[str, int]) -> list[Item]:
    """Return the rows of counters, none below the highest used id, so that no id is reused."""
    found = {row["name"]["S"]: row for row in rows}
    for kind, base in BASES.items():
        value = max(0, highest[kind] - base, int(found.get(kind, {}).get("value", {}).get("N", 0)))
        found[kind] = {"name": {"S": kind}, "value": {"N": str(value)}}
    return list(found.values())
