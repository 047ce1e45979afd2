"""A form template that was learned from examples. beyond.md, section 16."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.documents.form_template import FormTemplate


@dataclass(frozen=True, slots=True)
class FieldScore:
    """How often an entity's value was read correctly from documents left out of the learning."""

    entity: str
    right: int
    of: int
    """Number of documents with a value of the entity."""


@dataclass(frozen=True, slots=True)
class LearnedTemplate:
    """A template, and how well it reads."""

    template: FormTemplate
    scores: tuple[FieldScore, ...]
    """By entity; empty for a single document, which cannot be left out."""
    not_found: tuple[str, ...]
    """Entities without a key in the template."""

    @property
    def accuracy(self) -> float | None:
        """Return the fraction of values that were read right; None for a single document."""
        of = sum(each.of for each in self.scores)
        return sum(each.right for each in self.scores) / of if of else None


def as_sent(template: FormTemplate) -> dict[str, object]:
    """Return a template as callers send it."""
    keys = [
        {
            "key": {
                "entity": key.entity,
                "keyVariations": list(key.variations),
                "entityTypes": list(key.types),
            }
        }
        for key in template.keys
    ]
    whole = {"version": template.version, "keys": keys, "headerCells": []}
    hints = {"layout": list(template.layout)} if template.layout else {}
    return {**whole, "tableRecognition": template.finds_tables, **hints}
