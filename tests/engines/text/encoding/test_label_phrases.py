"""Label names as phrases."""

from __future__ import annotations

import pytest

from chalicelib.engines.text.encoding.label_phrases import label_phrase


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("card_payment_fee_charged", "card payment fee charged"),
        ("cancel-order", "cancel order"),
        ("trackMyParcel", "track My Parcel"),
        ("HTTPServerDown", "HTTP Server Down"),
        ("Refund", "Refund"),
        ("science/technology", "science technology"),
        ("größe_ändern", "größe ändern"),
        ("返品", "返品"),
        ("cafe\u0301_ferme\u0301", "café fermé"),
        ("ﾗｰﾒﾝ", "ラーメン"),
        ("ｒｅｆｕｎｄ", "refund"),
        ("top_5_films", "top 5 films"),
        ("label_12", None),
        ("intent-7", None),
        ("17", None),
        ("A12", None),
        ("XK-42", None),
        ("QRSTV", None),
        ("", None),
        ("__", None),
        ("a1b2c3d4", None),
    ],
)
def test_label_phrase(name: str, phrase: str | None) -> None:
    """Words are separated at any joint; codes and numbers are not words."""
    assert label_phrase(name) == phrase
