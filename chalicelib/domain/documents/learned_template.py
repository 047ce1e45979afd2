"""A form template that was learned from examples. See beyond.md, section 16."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.domain.documents.form_template import FormTemplate


@dataclass(frozen=True, slots=True)
class FieldScore:
    """How often an entity was read correctly in documents that were not used for learning."""

    entity: str
    right: int
    of: int
    """Number of documents that have a value of this entity."""


@dataclass(frozen=True, slots=True)
class LearnedTemplate:
    """A template learned from examples, with its accuracy on held-out documents."""

    template: FormTemplate
    scores: tuple[FieldScore, ...]
    """One score per entity; empty if there was only one document, so that none was held out."""
    not_found: tuple[str, ...]
    """Entities for which no key was found, so that the template does not have them."""

    @property
    def accuracy(self) -> float | None:
        """Return the fraction of values that were read correctly; None without scores."""
        of = sum(each.of for each in self.scores)
        return sum(each.right for each in self.scores) / of if of else None


def as_sent(template: FormTemplate) -> dict[str, object]:
    """Return a template as the JSON object that a caller would send."""
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
