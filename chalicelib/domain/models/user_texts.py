"""Sample texts from users, for adjusting a trained model. See beyond.md, section 15."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chalicelib.errors import BadRequest, InvalidParameter

# Label of a text that belongs to no label of the model.
OUT_OF_DOMAIN_LABEL = "out-of-domain"
LEAST_LABELLED = 20
LEAST_UNLABELLED = 200
MOST_TEXTS = 20_000
# All texts together, because a job must embed them within one function.
MOST_WORDS = 400_000
# Texts nearest to the threshold that the card of the version shows.
SHOWN_TEXTS = 50
_SHOWN_LABELS = 5


@dataclass(frozen=True)
class UserTexts:
    """Texts of users, each with its label. A text without a known label has an empty label."""

    texts: Sequence[str]
    labels: Sequence[str]

    @property
    def marked(self) -> int:
        """Return how many texts are marked as out of scope."""
        return sum(label == OUT_OF_DOMAIN_LABEL for label in self.labels)

    @property
    def unlabelled(self) -> int:
        """Return how many texts have no label."""
        return sum(not label for label in self.labels)

    @property
    def labelled(self) -> int:
        """Return how many texts have a label of the model."""
        return len(self.labels) - self.marked - self.unlabelled


def check_user_texts(
    texts: UserTexts, labels: Collection[str], rate: float | None, *, can_reject: bool
) -> None:
    """Raise an error if a model cannot be adjusted to user texts.

    `rate` is `outOfDomainRate` of the call; None if not sent. `can_reject` is whether the model was
    trained to reject out-of-scope texts.

    Raises:
        BadRequest: there are too few or too many texts, or a text has a label that the model does
            not have. Also raised if the model cannot reject texts, but a rate, unlabelled texts or
            out-of-scope texts were sent.
    """
    _check_labels(texts, labels)
    _check_amount(texts)
    if can_reject:
        return
    unusable = {
        "outOfDomainRate": rate is not None,
        f"texts labelled {OUT_OF_DOMAIN_LABEL}": texts.marked > 0,
        "texts without a label": texts.unlabelled > 0,
    }
    for what, is_sent in unusable.items():
        if is_sent:
            raise BadRequest(
                f"{what}: the model was not trained to reject texts, so it has no threshold to "
                "adjust. Send texts with the model's labels only, or train it with "
                "outOfDomainRate first.",
                "cannot_reject",
            )


def _check_labels(texts: UserTexts, labels: Collection[str]) -> None:
    if OUT_OF_DOMAIN_LABEL in labels:
        raise BadRequest(
            f"The model has a label called '{OUT_OF_DOMAIN_LABEL}', which here means that a text "
            "belongs to no label. Rename the label and train the model again.",
            "label_reserved",
        )
    known = {*labels, OUT_OF_DOMAIN_LABEL, ""}
    foreign = sorted({label for label in texts.labels if label not in known})
    if foreign:
        shown = ", ".join(f"'{label[:100]}'" for label in foreign[:_SHOWN_LABELS])
        raise InvalidParameter(
            "data",
            f"{len(foreign)} labels are not among the model's: {shown}. Use the model's labels, "
            f"'{OUT_OF_DOMAIN_LABEL}' for texts of none of them, or an empty label.",
        )


def _check_amount(texts: UserTexts) -> None:
    count, words = len(texts.texts), sum(len(text.split()) for text in texts.texts)
    if count > MOST_TEXTS or words > MOST_WORDS:
        raise InvalidParameter(
            "data",
            f"it has {count:,} texts with {words:,} words; at most {MOST_TEXTS:,} texts with "
            f"{MOST_WORDS:,} words are allowed. Send a random sample.",
        )
    labelled = count - texts.unlabelled
    if labelled < LEAST_LABELLED and texts.unlabelled < LEAST_UNLABELLED:
        raise InvalidParameter(
            "data",
            f"it has {labelled} texts with and {texts.unlabelled} without a label; at least "
            f"{LEAST_LABELLED} with or {LEAST_UNLABELLED} without are needed. Send more texts.",
        )
