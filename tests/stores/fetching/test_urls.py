"""URLs and file names from outside."""

from __future__ import annotations

import pytest

from chalicelib.errors import DownloadFailed
from chalicelib.stores.fetching.urls import clean_file_name, read_attachment_name, read_location


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "name"),
    [
        ("http://Example.org", "example.org", 80, "/", ""),
        ("https://example.org./a/b.csv?x=1#top", "example.org", 443, "/a/b.csv?x=1", "b.csv"),
        ("http://example.org:8080/a b.csv", "example.org", 8080, "/a%20b.csv", "a b.csv"),
        ("http://example.org/grüße.csv", "example.org", 80, "/gr%C3%BC%C3%9Fe.csv", "grüße.csv"),
        ("http://example.org/a%2Fb.csv", "example.org", 80, "/a%2Fb.csv", "b.csv"),
        ("https://[2606:4700::1]:8443/x", "2606:4700::1", 8443, "/x", "x"),
        ("https://bücher.example/x", "xn--bcher-kva.example", 443, "/x", "x"),
        (" http://example.org/x ", "example.org", 80, "/x", "x"),
        ("http://a.b/?X-Amz-Signature=a%2Bb&x=%20", "a.b", 80, "/?X-Amz-Signature=a%2Bb&x=%20", ""),
    ],
)
def test_read_location_when_urls_differ(
    url: str, host: str, port: int, target: str, name: str
) -> None:
    """A URL is split and its path encoded; encoded parts stay unchanged."""
    location = read_location(url)

    assert (host, port, target, name) == (
        location.host,
        location.port,
        location.target,
        location.file_name,
    )


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/x",
        "ftp://example.org/x",
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/_x",
        "data:text/plain,x",
        "http://",
        "http:///x",
        "http://:80/",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://@example.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org/a\r\nHost: b",
        "http://exa\nmple.org/",
        "http://exa mple.org/",
        "http://example.org:port/",
        "http://example.org:70000/",
        "http://example.org:0/",
        "http://%31%32%37.0.0.1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://exa<mple.org/",
        "http://" + "a" * 70 + "é.org/",
        "http://example.org/\ud800",
        "http://example.org/" + "a" * 5000,
    ],
)
def test_read_location_when_it_is_refused(url: str) -> None:
    """Other schemes, credentials, odd characters and broken URLs are refused without DNS."""
    with pytest.raises(DownloadFailed):
        read_location(url)


@pytest.mark.parametrize(
    ("url", "host_header"),
    [
        ("http://a.org/", "a.org"),
        ("http://a.org:80/", "a.org"),
        ("https://a.org:80/", "a.org:80"),
        ("http://[::1]:9000/", "[::1]:9000"),
    ],
)
def test_host_header_when_ports_differ(url: str, host_header: str) -> None:
    """The Host header contains the port only if it is not the default."""
    assert host_header == read_location(url).host_header


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("/b", "https://a.org/b"),
        ("c?d", "https://a.org/x/c?d"),
        ("//other.org/", "https://other.org/"),
        ("http://other.org/é".encode().decode("latin-1"), "http://other.org/é"),
        ("http://other.org/\xe9", "http://other.org/\xe9"),
    ],
)
def test_join_when_redirects_are_relative(reference: str, url: str) -> None:
    """A redirect is resolved against the URL that sent it."""
    assert url == read_location("https://a.org/x/y").join(reference).url


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "http://a@b/", "http://[x/"])
def test_join_when_the_target_is_refused(reference: str) -> None:
    """The target of a redirect must be an acceptable URL."""
    with pytest.raises(DownloadFailed):
        read_location("https://a.org/").join(reference)


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        (None, ""),
        ("attachment", ""),
        ('attachment; filename="a b.csv"', "a b.csv"),
        ("attachment; filename=../../etc/x.csv", "x.csv"),
        ('attachment; filename="C:\\\\data\\\\x.csv"', "x.csv"),
        ("attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe.csv", "grüße.csv"),
        ("attachment; filename*=nothing''x.csv", "x.csv"),
        ('attachment; filename=".."', ""),
    ],
)
def test_read_attachment_name_when_headers_differ(disposition: str | None, name: str) -> None:
    """The file name in a header loses its folders, however it is encoded."""
    assert name == read_attachment_name(disposition)


def test_clean_file_name_when_it_is_long() -> None:
    """A long name keeps its end with the extension."""
    assert clean_file_name("a" * 500 + "\x00.csv") == "a" * 176 + ".csv"
