"""Fetching over real connections on this machine: every way in which a server can be wrong ends in one clear line."""

from __future__ import annotations

import gzip
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import ClassVar

import pytest

from cli.version import __version__
from cli.web.connection import is_public
from cli.web.fetch import MIB, Fetched, Limits, fetch
from vault.errors import FetchFailed, Refused, RetainError, UsageError
from vault.text.urls import normalize_address, request_target, split_address

PATIENT = Limits(size_bytes=MIB, connect_s=60, silence_s=60, total_s=120)  # what is not about time is not timed
Route = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers as the test said; remembers the requests."""

    routes: ClassVar[dict[str, Route]] = {}
    seen: ClassVar[list[tuple[str, dict[str, str]]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has had enough, as it should
            self.routes[self.path](self)

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server on this machine, whose routes a test sets; no proxy in the environment."""
    for name in [n for n in os.environ if n.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    Handler.routes, Handler.seen = {}, []
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def got(address: str, limits: Limits = PATIENT) -> Fetched:
    return fetch(normalize_address(address), limits, lambda came, of: None)


def why_not(address: str, limits: Limits = PATIENT) -> str:
    with pytest.raises(RetainError) as caught:
        got(address, limits)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def page(body: bytes = b"<p>words</p>", status: int = 200, **headers: str) -> Route:
    return lambda handler: handler.answer(status, body, **{"content_type": "text/html; charset=utf-8", **headers})


def moved(to: str, status: int = 302) -> Route:
    return page(b"", status, location=to)


def test_a_document_comes_with_its_type_encoding_and_name(site: str) -> None:
    Handler.routes["/p?q=%C3%A4"] = page(
        "wörter".encode("latin-1"),
        content_type="Text/Plain; charset=ISO-8859-1",
        content_disposition='attachment; filename="../../etc/x y.txt"',
    )
    fetched = got(f"{site}/p?q=ä#part")
    assert fetched == Fetched(f"{site}/p?q=%C3%A4", "text/plain", "iso-8859-1", "x y.txt", "wörter".encode("latin-1"))


def test_the_request_says_who_asks_and_carries_nothing_else(site: str) -> None:
    Handler.routes |= {"/a": page(b"", 302, location="/b", set_cookie="id=1"), "/b": page()}
    got(f"{site}/a")
    for _, headers in Handler.seen:
        assert headers.pop("user-agent") == f"retain/{__version__}" and headers.pop("host") == site.split("/")[2]
        assert set(headers) == {"accept", "accept-encoding", "connection"}


def test_a_chain_of_redirects_is_followed_to_its_end_and_no_further(site: str) -> None:
    Handler.routes |= {f"/{n}": moved(f"/{n + 1}", (301, 302, 303, 307, 308)[n % 5]) for n in range(9)}
    Handler.routes["/9"] = page()
    assert got(f"{site}/4").address == f"{site}/9"
    assert "more than 5 redirects" in why_not(f"{site}/3")
    Handler.routes["/9"] = moved("/9")
    assert "more than 5 redirects" in why_not(f"{site}/9")


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("https://127.0.0.1:1/x", "redirects from http to https"),
        ("ftp://127.0.0.1/x", "not a web address"),
        ("file:///etc/passwd", "not a web address"),
        ("javascript:alert(1)", "not a web address"),
        ("http://me:secret@127.0.0.1/", "not a web address"),
        ("http://[::1", "not a web address"),
        ("", "without an address"),
    ],
)
def test_a_redirect_elsewhere_than_to_the_same_kind_of_address_is_refused(site: str, to: str, words: str) -> None:
    Handler.routes["/"] = moved(to)
    assert words in why_not(site)


def test_a_refused_redirect_names_the_address_to_give_instead(site: str) -> None:
    Handler.routes["/"] = moved("https://example.org/page")
    assert "retain add https://example.org/page" in why_not(site)


def test_a_page_of_the_open_net_must_not_lead_into_the_humans_own(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a proxy, as then the first address may be any public one; `site` plays the proxy, and the target."""
    monkeypatch.setenv("http_proxy", site)
    Handler.routes |= {"/inner": page(), "http://public.example/": moved(f"{site}/inner")}
    Handler.routes["http://public.example/named"] = moved("http://router.local/")
    for address in ("http://public.example/", "http://public.example/named"):
        with pytest.raises(Refused, match="your local network"):
            got(address)
    assert [path for path, _ in Handler.seen] == ["http://public.example/", "http://public.example/named"]
    assert got(f"{site}/inner").data == b"<p>words</p>", "the human's own word is enough"


@pytest.mark.parametrize("to", ["169.254.169.254/latest", "10.0.0.1/", "192.168.1.1/", "[fd00::1]/", "router.lan/"])
def test_a_server_on_this_machine_leads_to_no_other_private_one(site: str, to: str) -> None:
    Handler.routes["/"] = moved(f"http://{to}")
    with pytest.raises(Refused, match="your local network"):
        got(site)


def test_a_name_that_leads_to_this_machine_is_reported_before_anything_is_sent(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(site.rpartition(":")[2])
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer)
    Handler.routes["/"] = page()
    told: list[tuple[str, int]] = []

    def notice(words: str) -> None:
        told.append((words, len(Handler.seen)))

    for host in ("pages.example", "localhost", "127.0.0.1"):
        address = normalize_address(f"http://{host}:{port}/")
        assert fetch(address, PATIENT, lambda came, of: None, notice).data == b"<p>words</p>"
    assert told == [("pages.example resolves to this machine (127.0.0.1)", 0)]


def test_a_server_on_this_machine_may_lead_to_another_port_or_name_of_it(site: str) -> None:
    Handler.routes |= {"/": moved(f"{site.replace('127.0.0.1', 'localhost')}/there"), "/there": page()}
    assert got(site).data == b"<p>words</p>"


@pytest.mark.parametrize(
    "host", "localhost. 127.1 2130706433 0x7f.1 0x7f000001 127.0.0.1. nas nas. printer.home router.lan. a.corp".split()
)
def test_a_proxy_is_not_sent_to_what_only_means_something_at_home(
    site: str, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("http_proxy", site)
    Handler.routes |= {"http://public.example/": moved(f"http://{host}/"), f"http://{host}/": page()}
    with pytest.raises(Refused, match="your local network"):
        got("http://public.example/")
    assert len(Handler.seen) == 1


def test_a_redirect_and_a_name_in_utf8_are_read_as_such(site: str) -> None:
    Handler.routes["/"] = moved("/stra\u00c3\u009fe")  # the bytes of UTF-8, as they are sent
    Handler.routes["/stra%C3%9Fe"] = page(content_disposition='attachment; filename="ged\u00c3\u00a4chtnis.html"')
    fetched = got(site)
    assert (fetched.address, fetched.file_name) == (f"{site}/stra%C3%9Fe", "gedächtnis.html")


def test_an_address_with_two_slashes_is_asked_for_as_it_is() -> None:
    assert (
        request_target(split_address(normalize_address("http://a.example//b?c")), whole=True) == "http://a.example//b?c"
    )
    assert request_target(split_address(normalize_address("http://a.example//b?c")), whole=False) == "//b?c"


def test_a_proxy_gets_whole_addresses_and_its_password(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", site.replace("//", "//me:p%40ss@"))
    Handler.routes["http://public.example/x?y=1"] = page()
    assert got("http://public.example/x?y=1").data
    assert Handler.seen[0][1]["proxy-authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.parametrize(
    "address",
    """127.0.0.1 10.1.2.3 192.168.0.9 172.16.0.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1 255.255.255.255 ::1 ::
    fe80::1 fe80::1%eth0 fc00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1::
    ::127.0.0.1 ::ffff:0:7f00:1 64:ff9b:1::7f00:1 fec0::1""".split(),
)
def test_addresses_that_only_the_human_reaches_are_known(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_of_the_open_net_are_known(address: str) -> None:
    assert is_public(address)


def test_a_document_that_is_too_large_ends_before_it_is_there(site: str) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    Handler.routes |= {"/said": page(b"x", content_length=str(2 * MIB)), "/unsaid": endless}
    for path in ("/said", "/unsaid"):
        assert "larger than 1 MiB" in why_not(site + path, Limits(size_bytes=MIB))


def test_what_unpacks_to_too_much_ends_at_the_limit(site: str) -> None:
    bomb = gzip.compress(bytes(20 * MIB), 9)
    assert len(bomb) < MIB
    Handler.routes["/"] = page(bomb, content_encoding="gzip")
    assert "larger than 1 MiB" in why_not(site)


def test_packed_documents_are_unpacked_also_in_several_parts(site: str) -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two")
    Handler.routes |= {"/": page(packed, content_encoding="gzip"), "/br": page(b"x", content_encoding="br")}
    Handler.routes["/cut"] = page(packed[:-9], content_encoding="gzip")
    Handler.routes["/bad"] = page(b"no gzip at all", content_encoding="gzip")
    assert got(site).data == b"one two"
    assert "unknown content encoding: br" in why_not(f"{site}/br")
    assert "connection lost" in why_not(f"{site}/cut")
    assert "invalid server response" in why_not(f"{site}/bad")


def _drip(handler: Handler, before_head: bool) -> None:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n" if before_head else b"HTTP/1.0 200 OK\r\n\r\n")
    while True:  # until the client closes
        handler.wfile.write(b"x-a: y\r\n" if before_head else b"x")
        time.sleep(0.1)


def test_a_server_that_drips_or_falls_silent_is_given_up(site: str) -> None:
    Handler.routes |= {"/head": lambda h: _drip(h, True), "/body": lambda h: _drip(h, False)}
    over = Event()
    Handler.routes["/silent"] = lambda _: (over.wait(120), None)[1]
    dripping, silent = replace(PATIENT, total_s=1.0), replace(PATIENT, silence_s=0.3)
    assert "timeout after 1 s" in why_not(f"{site}/head", dripping)
    assert "timeout after 1 s" in why_not(f"{site}/body", dripping)
    try:
        assert "0.3 s without data" in why_not(f"{site}/silent", silent)
    finally:
        over.set()


def test_a_connection_that_breaks_off_leaves_no_half_document(site: str) -> None:
    Handler.routes["/"] = page(b"half", content_length="99")
    assert "connection lost" in why_not(site, Limits())


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "page not found (404)"),
        (403, "access denied (403)"),
        (401, "password required (401)"),
        (429, "try again later"),
        (503, "server error (503)"),
        (204, "no document (204)"),
        (304, "no document (304)"),
    ],
)
def test_each_refusal_of_a_server_is_told_as_what_it_is(site: str, status: int, words: str) -> None:
    Handler.routes["/"] = page(b"", status)
    said = why_not(site)
    assert words in said and site in said


def test_what_no_reader_reads_is_not_even_downloaded(site: str) -> None:
    Handler.routes |= {"/": page(b"x", content_type="video/mp4"), "/empty": page(b" \n")}
    assert "not a readable document: video/mp4" in why_not(site)
    assert "document is empty" in why_not(f"{site}/empty")


def test_a_server_that_talks_nonsense_or_is_not_there_is_named(site: str) -> None:
    def nonsense(handler: Handler) -> None:
        handler.wfile.write(b"\x1b[2J 220 this is no web server\r\n")

    Handler.routes["/"] = nonsense
    said = why_not(site)
    assert "invalid server response" in said and "\x1b" not in said
    assert "connection refused" in why_not("http://127.0.0.1:1/")
    assert "TLS connection" in why_not(site.replace("http:", "https:"))
    assert "unknown host nowhere.invalid" in why_not("http://nowhere.invalid/")


@pytest.mark.parametrize(
    "given",
    [
        *("ftp://example.org/x", "file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "http:///x"),
        *("http://user@example.org/", "http://u:p@example.org/", "http://exa mple.org/", "http://example.org/\x1b[0m"),
        *(
            "http://example..org/",
            f"http://{'a' * 64}.org/",
            "http://example.org:99999/",
            "http://[::1/",
            "http://-/",
            "http://" + "a" * 3000,
            "http://example.org\\@x/",
        ),
    ],
)
def test_what_is_no_plain_web_address_is_refused_before_anything_is_sent(given: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalize_address(given)
    assert "\x1b" not in str(caught.value) and ":p@" not in str(caught.value)


def test_addresses_are_written_as_they_are_asked_for() -> None:
    assert normalize_address(" https://Example.ORG:443#top ") == "https://example.org/"
    assert normalize_address("http://bücher.example/Straße?a=b c".replace(" ", "%20")) == (
        "http://xn--bcher-kva.example/Stra%C3%9Fe?a=b%20c"
    )
    assert normalize_address("http://[::1]:8000/x") == "http://[::1]:8000/x"
    assert isinstance(FetchFailed("x"), RetainError)
