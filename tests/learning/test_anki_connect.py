"""A running Anki is reached on this machine alone, and whatever else answers there is told from it."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from learning.anki_connect import client
from learning.anki_connect.client import AnkiConnect, AnkiNotReached, AnkiRefused, connected
from tests.learning.connect_server import ConnectServer, serving
from vault.errors import UsageError


def test_whoever_runs_lets_us_in_and_answers() -> None:
    with serving(ConnectServer(None)) as server:
        anki = connected(server.url)
        assert anki.call("version") == 6
        answers = anki.each([("version", {}), ("version", {"nonsense": 1})])
        assert answers[0] == 6 and isinstance(answers[1], AnkiRefused)
        assert server.calls == ["requestPermission", "version", "version", "multi", "version", "version"]


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "LOCALHOST"])
def test_each_name_of_this_machine_will_do(name: str) -> None:
    with serving(ConnectServer(None)) as server:
        assert connected(f"http://{name}:{server.port}/").host == "127.0.0.1"


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.0.2:8765",
        "http://anki.example:8765",
        "http://127.0.0.1.example:8765",
        "https://127.0.0.1:8765",
        "http://127.0.0.1:8765/path",
        "http://user:word@127.0.0.1:8765",
        "http://127.0.0.1@evil.example:8765",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://[::1",
        "file:///etc/passwd",
        "0.0.0.0:8765",
        "",
    ],
)
def test_no_other_machine_and_no_other_protocol_is_spoken_to(url: str) -> None:
    with pytest.raises(UsageError):
        connected(url, "key")


def test_where_nothing_listens_it_says_how_to_start() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(AnkiNotReached, match="2055492159"):
        connected(f"http://127.0.0.1:{port}")


def test_a_key_is_asked_for_by_name_and_goes_with_each_action() -> None:
    with serving(ConnectServer(None, key="sesame")) as server:
        for wrong in ("", "other"):
            with pytest.raises(AnkiRefused, match="RETAIN_ANKI_KEY") as told:
                connected(server.url, wrong)
            assert "sesame" not in str(told.value) and (not wrong or wrong not in str(told.value))
        anki = connected(server.url, "sesame")
        assert anki.each([("version", {})]) == [6]
        assert "sesame" not in repr(anki)


def test_who_does_not_let_us_in_or_is_too_old_is_named() -> None:
    with (
        serving(ConnectServer(None, permission="denied")) as server,
        pytest.raises(AnkiRefused, match="refused access"),
    ):
        connected(server.url)
    with serving(ConnectServer(None, version=5)) as server, pytest.raises(AnkiRefused, match="version 5"):
        connected(server.url)
    with (
        serving(ConnectServer(None, raw=b"", status=403)) as server,
        pytest.raises(AnkiRefused, match="refused access"),
    ):
        connected(server.url)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"AnkiConnect v.6",
        b"[]",
        b"null",
        b'{"result": 6}',
        b'{"result": [], "error": null}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"result": {"permission": "granted"}, "error": null}',
    ],
)
def test_an_answer_of_another_form_is_no_anki(raw: bytes) -> None:
    with serving(ConnectServer(None, raw=raw)) as server, pytest.raises((AnkiNotReached, AnkiRefused)):
        connected(server.url)


@pytest.mark.parametrize("status", [301, 302, 307, 404, 500])
def test_a_redirect_is_not_followed_and_an_error_is_named(status: int) -> None:
    server = ConnectServer(None, raw=b"", status=status)
    with serving(server), pytest.raises(AnkiNotReached, match=str(status)):
        connected(server.url)


def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_REPLY", 1000)
    with (
        serving(ConnectServer(None, raw=b'"' + b"x" * 2000 + b'"')) as server,
        pytest.raises(AnkiNotReached, match="larger"),
    ):
        connected(server.url)


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(ConnectServer(None)) as server:
        assert connected(server.url).call("version") == 6


def _answering(sender: Any) -> tuple[int, threading.Thread]:
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listening, listening.accept()[0] as peer:
            peer.recv(65536)
            sender(peer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return listening.getsockname()[1], thread


@pytest.mark.parametrize(
    "said", [b"", b"\x00" * 200, b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]
)
def test_something_else_on_that_port_is_named_and_nothing_crashes(said: bytes) -> None:
    port, thread = _answering(lambda peer: peer.sendall(said))
    with pytest.raises(AnkiNotReached):
        connected(f"http://127.0.0.1:{port}")
    thread.join()


def test_who_says_nothing_is_not_waited_for_without_end() -> None:
    done = threading.Event()
    port, thread = _answering(lambda peer: done.wait(30))
    with pytest.raises(AnkiNotReached, match="in time"):
        AnkiConnect("127.0.0.1", port, timeout_s=0.2).call("version")
    done.set()
    thread.join()
