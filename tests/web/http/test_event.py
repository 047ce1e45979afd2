"""Damaged gateway events are read or are a 400."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import BadRequest
from chalicelib.web.http.request import read_request, whole_event

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3)
    ),
    max_leaves=8,
)
MEMBERS = (
    "headers",
    "pathParameters",
    "queryStringParameters",
    "multiValueQueryStringParameters",
    "requestContext",
    "body",
    "isBase64Encoded",
    "httpMethod",
    "resource",
    "path",
)


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON) | JSON)
def test_any_event_is_read(event):
    """No event makes the reader fail except with a 400."""
    request = read_request(whole_event(event))
    try:
        body = request.raw_body()
    except BadRequest:
        body = b""

    assert isinstance(body, bytes)
    assert all(isinstance(text, str) for text in request.query.values())


def test_path_variables_are_decoded_once():
    """Path variables, which the gateway passes on encoded, are decoded once."""
    event = {"pathParameters": {"token": "a%2Fb%2525"}}

    assert read_request(whole_event(event)).parameters == {"token": "a/b%25"}


def test_last_of_repeated_parameters_counts():
    """The last of repeated query parameters is used, in both event formats."""
    many = {"multiValueQueryStringParameters": {"a": ["1", "2"]}}
    single = {"queryStringParameters": {"a": "2"}}

    assert (
        read_request(whole_event(many)).query
        == read_request(whole_event(single)).query
        == {"a": "2"}
    )


@pytest.mark.parametrize(
    ("headers", "url"),
    [
        ({"HOST": "x.test:8000"}, "http://x.test:8000"),
        ({"host": "x.test", "x-forwarded-proto": "HTTPS"}, "https://x.test"),
        ({"Host": "[::1]:80"}, "http://[::1]:80"),
        ({"Host": "x.test/evil"}, ""),
        ({"Host": "a b"}, ""),
        ({}, ""),
    ],
)
def test_base_url(headers, url):
    """The caller's Host is used only if it is a valid host."""
    assert read_request(whole_event({"headers": headers})).base_url == url


def test_halves_of_surrogate_pairs_are_replaced():
    """Lone surrogates are replaced, because no answer could encode them."""
    event = {"pathParameters": {"model_id": "\ud800"}, "headers": {"a": "\udfff"}}

    request = read_request(whole_event(event))

    assert (request.parameters["model_id"], request.header("A")) == ("?", "?")
